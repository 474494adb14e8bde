"""The wire: typed messages, the codec with its caps, fault names. No pipes are touched here."""

"""The referee: one match as a pure state machine, and the poll loop that plays many."""

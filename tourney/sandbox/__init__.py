"""A bot package becomes a running, limited, killable process, or an explained refusal."""

"""The command line: one command a file, thin, quick to show its help."""

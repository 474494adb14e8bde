"""`python -m tourney`."""

from tourney.cli.main import main

main()

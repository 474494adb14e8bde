"""The web pages and the API of the runs in a folder. Reads; starts nothing, writes nothing."""

from tourney.dashboard.app import create_app

__all__ = ("create_app",)

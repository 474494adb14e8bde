"""A client that asks an application in this process, without a server or a socket."""

import asyncio

import httpx

from tourney.dashboard import create_app
from tourney.store import Location

__all__ = ("Client", "client_of")


class Client:
    """Requests one by one; redirects are not followed."""

    def __init__(self, app: httpx.ASGITransport) -> None:
        self._app = app

    def get(self, address: str, headers: dict[str, str] | None = None) -> httpx.Response:
        return self.request("GET", address, headers)

    def request(
        self, method: str, address: str, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        async def ask() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=self._app, base_url="http://127.0.0.1"
            ) as asking:
                return await asking.request(method, address, headers=headers)

        return asyncio.run(ask())


def client_of(results: Location) -> Client:
    """A client of the dashboard of `results`."""
    return Client(httpx.ASGITransport(app=create_app(results)))

"""The API server of `horae dev`: on the usual port or the next free one, with a key that is revoked at the end."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from horae.boot.api_server import api_server
from horae.runtime.randomness import new_token
from horae.runtime.settings import Settings
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.identity import api_keys
from horae.store.store import Store

TRIED: Final = 20


class DevServer(NamedTuple):
    """The address of the API, and a key for it."""

    address: str
    key: str

    def command(self) -> str:
        """A command to paste into another terminal."""
        return f"curl -H 'Authorization: Bearer {self.key}' {self.address}/api/v1/jobs"


def placed(settings: Settings) -> Settings:
    """The settings with a free port for the API, and with the console there, so that messages of alerts link to it."""
    port = free_port(settings.api_host, settings.api_port)
    update: dict[str, object] = {"api_port": port}
    if port and settings.console_url is None:
        host = f"[{settings.api_host}]" if ":" in settings.api_host else settings.api_host
        update["console_url"] = f"http://{host}:{port}/console"
    return settings.model_copy(update=update)


@asynccontextmanager
async def dev_server(settings: Settings, store: Store, ctx: Context) -> AsyncIterator[DevServer]:
    """Run the API server during the block, with an admin and worker key of the tenant. It needs only a port."""
    made = await api_keys.create(ctx, f"horae-dev-{new_token().hex[:12]}", [Role.ADMIN, Role.WORKER])
    update = {"api_secret": settings.api_secret or new_token().hex + new_token().hex}
    try:
        async with api_server(settings.model_copy(update=update), store) as address:
            yield DevServer(address, made.text)
    finally:
        await api_keys.revoke(ctx, made.key.id)


def free_port(host: str, first: int) -> int:
    """The first free port from `first` on, or 0 for any.

    API processes may share a port, but `horae dev` must not share one with another process.
    """
    for port in range(first, first + TRIED):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    return 0

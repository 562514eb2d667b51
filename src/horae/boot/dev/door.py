"""The doors of `horae dev`: on the usual port or the next free one, with a key that goes when they close."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from horae.boot.doors import opened
from horae.runtime.chance import token
from horae.runtime.settings import Settings
from horae.security.roles import Role
from horae.service import keys
from horae.service.context import Context

TRIED: Final = 20


class Door(NamedTuple):
    """Where to ask, and the key to ask with."""

    address: str
    key: str

    def command(self) -> str:
        """What to paste into another terminal."""
        return f"curl -H 'Authorization: Bearer {self.key}' {self.address}/api/v1/jobs"


@asynccontextmanager
async def door(settings: Settings, ctx: Context) -> AsyncIterator[Door]:
    """An open door while the block lasts, with a key for admins and workers of the tenant; nothing is configured."""
    made = await keys.create(ctx, f"horae-dev-{token().hex[:12]}", [Role.ADMIN, Role.WORKER])
    update = {
        "api_secret": settings.api_secret or token().hex + token().hex,
        "api_port": free_port(settings.api_host, settings.api_port),
    }
    try:
        async with opened(settings.model_copy(update=update), ctx.store) as address:
            yield Door(address, made.text)
    finally:
        await keys.revoke(ctx, made.key.id)


def free_port(host: str, first: int) -> int:
    """This port or one of the next where nobody listens; else any. Doors share ports, which is not meant here."""
    for port in range(first, first + TRIED):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    return 0

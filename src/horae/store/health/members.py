"""Asks every member of a replicated cell, the standbys too, what it is."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from horae.domain.health.members import MemberFacts
from horae.runtime.clock import boottime
from horae.store.connections.direct_connection import SESSION
from horae.store.connections.primary import connect_to_member
from horae.store.connections.transports import Address, addresses_of
from horae.store.statements import sql
from horae.store.tx import UNREACHABLE

ANSWER_TIMEOUT_S: Final = 1.0
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class MemberAnswers(NamedTuple):
    """The members that answered, and the hosts that did not."""

    members: list[MemberFacts]
    silent: list[str]


async def read(dsn: str) -> MemberAnswers:
    """Ask all members at the same time."""
    addresses = addresses_of(dsn)
    found = await asyncio.gather(*(_try(dsn, address) for address in addresses))
    silent = [str(address) for address, facts in zip(addresses, found, strict=True) if facts is None]
    return MemberAnswers([facts for facts in found if facts is not None], silent)


async def _try(dsn: str, address: Address) -> MemberFacts | None:
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            return await ask(dsn, address)
    except UNREACHABLE:
        return None


async def ask(dsn: str, address: Address) -> MemberFacts:
    """Ask one member. Its clock is compared with the time since this machine started, not with a wall clock."""
    connection = await connect_to_member(dsn, address, ANSWER_TIMEOUT_S, SESSION)
    try:
        began = boottime()
        row = await connection.fetchrow(sql("health/members/ask"))
        ticks = timedelta(seconds=(began + boottime()) / 2)
    finally:
        connection.terminate()
    assert row is not None
    return MemberFacts(
        host=str(address),
        is_standby=row["is_standby"],
        zone=row["zone"],
        name=row["name"],
        synchronous=tuple((row["synchronous"] or "").split()) if row["sees_standbys"] else None,
        clock=row["now"] - EPOCH - ticks,
    )

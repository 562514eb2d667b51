"""From a session to who asks: the person's roles now, or those of the key it was opened with."""

from uuid import UUID

import msgspec

from horae.domain.people import Session
from horae.security.roles import known_roles
from horae.service.callers import Caller, Callers
from horae.store import bindings, keys, sessions, tenants
from horae.store.cells import Cell
from horae.store.tx import Tx
from horae.store.walls import Behalf, WalledCell


class Visitors(Callers):
    """Knows who is behind a session, remembered for as long as a key is. A session is known at its home only."""

    kind = "session"

    async def _look(self, cell: Cell, key_id: UUID) -> Caller | None:
        async with WalledCell(cell, Behalf(key=key_id)).statement() as tx:
            session = await sessions.find(tx, key_id)
        if session is None:
            return None
        async with WalledCell(cell, Behalf(session.tenant_id)).statement() as tx:
            tenant = await tenants.known(tx, session.tenant_id)
            roles = await bindings.roles_of(tx, session.tenant_id, session.principals)
            shown = await _as_its_key(tx, session)
        if tenant is None or shown is None:
            return None
        return Caller(shown, *tenant, known_roles(roles))

    async def _touch(self, tx: Tx, key_id: UUID) -> None:
        await sessions.touch(tx, key_id)


async def _as_its_key(tx: Tx, session: Session) -> Session | None:
    """A session of a key is as narrow as the key, and None when that is no longer good."""
    if session.key_id is None:
        return session
    key = await keys.find(tx, session.key_id)
    return None if key is None or not key.good(tx.now) else msgspec.structs.replace(session, scopes=key.scopes)

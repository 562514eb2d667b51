"""Finds the caller of a session: with the current roles of the person, or with those of its API key."""

from uuid import UUID

import msgspec

from horae.domain.identity.people import Session
from horae.security.roles import known_roles
from horae.service.identity.callers import Caller, Callers
from horae.store.identity import api_keys, role_bindings, sessions
from horae.store.protocol import CellProtocol
from horae.store.row_level_security import Behalf, RowSecurityCell
from horae.store.tenants import tenants
from horae.store.tx import Tx


class Visitors(Callers):
    """Knows the callers of sessions, for as long as `Callers` remembers a key. Sessions have no copies."""

    kind = "session"

    async def _look(self, cell: CellProtocol, key_id: UUID) -> Caller | None:
        async with RowSecurityCell(cell, Behalf(key=key_id)).statement() as tx:
            session = await sessions.find(tx, key_id)
        if session is None:
            return None
        async with RowSecurityCell(cell, Behalf(session.tenant_id)).statement() as tx:
            tenant = await tenants.known(tx, session.tenant_id)
            roles = await role_bindings.roles_of(tx, session.tenant_id, session.principals)
            key = await _as_its_key(tx, session)
        if tenant is None or key is None:
            return None
        return Caller(key, *tenant, known_roles(roles))

    async def _touch(self, tx: Tx, key_id: UUID) -> None:
        await sessions.touch(tx, key_id)


async def _as_its_key(tx: Tx, session: Session) -> Session | None:
    """Returns a session with the scopes of its API key; None when that key is no longer valid."""
    if session.key_id is None:
        return session
    key = await api_keys.find(tx, session.key_id)
    return None if key is None or not key.is_valid(tx.now) else msgspec.structs.replace(session, scopes=key.scopes)

"""F6: with one of two cells down people log in to a tenant of the other, and see which of theirs there are."""

import pytest

from horae.domain.identity.people import Person
from horae.domain.ids import shard_in
from horae.security.roles import Role
from horae.service.context import PlatformContext
from horae.service.identity import sessions
from horae.service.identity.sessions import Terms
from horae.store.connections import deadlines
from horae.store.store import Store
from horae.upkeep.identities import IdentityCopier
from tests.cell_down import WEATHERS, a_tenant_in, first_behind, mended_proxy
from tests.people.conftest import bind

ALICE = Person("alice", "Alice", ())


@pytest.mark.parametrize("weather", WEATHERS)
async def test_a_person_logs_in_to_a_tenant_of_the_cell_that_is_there(store, cells, monkeypatch, weather):
    monkeypatch.setattr(deadlines, "ANSWER_TIMEOUT_S", 1.0)
    away, here = [await a_tenant_in(store, cell, cell.name) for cell in store.cells]
    assert away.name < here.name
    for tenant in (away, here):
        await bind(store, tenant, "user:alice", Role.OPERATOR)
    await IdentityCopier(store).once()
    with mended_proxy(cells) as proxy:
        async with Store.of(first_behind(cells, proxy, "horae_api")) as own:
            ctx = PlatformContext(own, "test")
            getattr(proxy, weather)()
            try:
                opened = await sessions.open_as(ctx, ALICE, Terms(), tenant=None, login=bytes(32))
            except Exception as error:
                opened = error
            assert isinstance(opened, sessions.OpenedSession), repr(opened)
            assert opened.tenant.name == here.name
            assert own.cell(shard_in(opened.session.id)) is own.cells[1]
            assert here.name in [tenant.name for tenant in await sessions.tenants_of(ctx, ALICE.principals)]
            proxy.mend()

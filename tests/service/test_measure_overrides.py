"""With one of two cells down, a decision about a measure reaches the other one, and never stands without its record."""

import pytest

from horae.domain.errors import Unavailable
from horae.domain.measures.measures import MeasureName
from horae.domain.tenants.tenants import SYSTEM
from horae.service.context import PlatformContext
from horae.service.measures import overrides
from horae.service.measures.overrides import DecisionCopies, MeasureScope
from horae.service.tenants import tenants
from horae.store.store import Store
from horae.upkeep.copies import Copier
from tests.cell_down import a_tenant_in, first_behind, mended_proxy

RECORDS = "select tenant_id from audit_log where action = 'measure.overridden'"
NAME = MeasureName.PEAK_LOAD


async def in_cell(cell, statement):
    async with cell.statement() as tx:
        return [row["tenant_id"] for row in await tx.rows(statement)]


async def test_a_decision_needs_one_cell_and_one_about_a_tenant_its_home(cells, store):
    system = await tenants.create(PlatformContext(store, "test"), SYSTEM, width=1)
    away, here = await a_tenant_in(store, store.cells[0], "away"), await a_tenant_in(store, store.cells[1], "here")
    await Copier(store).once()
    with mended_proxy(cells) as proxy:
        async with Store.of(first_behind(cells, proxy, role="horae_api")) as own:
            ctx = PlatformContext(own, "someone")
            proxy.refuse()
            copies = DecisionCopies([own.cells[1].name], [own.cells[0].name])
            assert await overrides.lift(ctx, MeasureScope(NAME), "all of it") == copies
            assert await overrides.lift(ctx, MeasureScope(NAME, here.id), "a part") == copies
            with pytest.raises(Unavailable, match="nothing was changed"):
                await overrides.lift(ctx, MeasureScope(NAME, away.id), "not now")
            assert len(await overrides.listing(ctx)) == 2
            assert ctx.cells_down == {own.cells[0].name}
    assert set(await in_cell(store.cells[1], RECORDS)) == {system.id, here.id}
    assert await in_cell(store.cells[1], f"select tenant_id from measure where tenant_id = '{away.id}'") == []

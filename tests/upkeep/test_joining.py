"""A cell that was down when a process began joins it when it answers, unless it may not be served."""

import pytest
from structlog.testing import capture_logs

from horae.domain.errors import ShardClosed, Unfit
from horae.store.store import Store
from horae.upkeep.joining import CellJoiner
from tests.cell_down import first_behind, mended_proxy
from tests.steps import until


async def test_a_cell_joins_when_it_answers_and_only_where_it_may_be_served(cells):
    fit, joined = False, []

    async def check(cell):
        if not fit:
            raise Unfit(f"{cell.name}: migrations are missing")

    with mended_proxy(cells) as proxy:
        proxy.refuse()
        async with Store.of(first_behind(cells, proxy)) as own:
            first, second = own.cells
            joiner = CellJoiner([own], check, joined.append)
            assert own.shards_of(first) == []
            proxy.mend()
            with capture_logs() as logs:
                for _ in range(3):
                    await joiner.once()
            assert not first.is_open
            said = [log["reason"] for log in logs if log["event"] == "duty.cell_skipped"]
            assert said == ["cell-0: migrations are missing"]
            fit = True

            async def has_joined():
                await joiner.once()
                return joined == [first]

            await until(has_joined)
            assert first.is_open
            assert len(own.shards_of(first)) + len(own.shards_of(second)) == 4096
            assert all(own.holds(first, shard) for shard in own.shards_of(first))


async def test_a_process_does_not_know_the_shards_of_a_cell_that_never_answered(cells, store):
    away = store.shards_of(store.cells[0])[0]
    with mended_proxy(cells) as proxy:
        proxy.refuse()
        async with Store.of(first_behind(cells, proxy)) as own:
            with pytest.raises(ShardClosed, match=str(away)):
                own.cell(away)

"""F6: a cell that says nothing does not slow down the limits of another."""

import pytest

from horae.domain.limits.limits import Key, Limit
from horae.engine.quotas import Quotas
from horae.engine.quotas.renewer import QuotaRenewer
from horae.runtime.randomness import new_id, new_token
from horae.store.store import Store
from tests.cell_down import first_behind, mended_proxy
from tests.steps import until

ONE = Limit(concurrency=1)
ROUNDS = 3


@pytest.fixture
def rounds(monkeypatch):
    """Which rounds began and ended, in their order."""
    seen, renew = [], QuotaRenewer.renew

    async def noted(self, *args):
        seen.append(("began", self._cell.name))
        try:
            return await renew(self, *args)
        finally:
            seen.append(("ended", self._cell.name))

    monkeypatch.setattr(QuotaRenewer, "renew", noted)
    return seen


def key_in(store, cell):
    shard = store.shards_of(cell)[0]
    keys = (Key(new_id(shard, cell.clock.now()), f"k{n}") for n in range(1000))
    return next(key for key in keys if store.cell(key.shard) is cell)


async def test_a_healthy_cell_grants_again_and_again_while_one_round_waits_for_a_silent_one(cells, rounds):
    with mended_proxy(cells) as proxy:
        async with Store.of(first_behind(cells, proxy)) as own:
            away, here = (key_in(own, cell) for cell in own.cells)
            quotas = Quotas(own, new_token())
            proxy.cut()
            quotas.take(away, ONE)

            async def over():
                quotas.take(here, ONE)
                await quotas.once()
                return rounds.count(("ended", "cell-1")) >= ROUNDS and ("began", "cell-0") in rounds

            await until(over, 60)
            until_silence_ended = (
                rounds[: rounds.index(("ended", "cell-0"))] if ("ended", "cell-0") in rounds else rounds
            )
            assert until_silence_ended.count(("ended", "cell-1")) >= ROUNDS
            proxy.mend()
            await quotas.close()

"""Whether the cells are as our promises need them, asked before anything is fired."""

from horae.domain.doctor import unfit
from horae.domain.errors import Unfit
from horae.runtime.settings import Settings
from horae.store import health
from horae.store.cells import Store
from horae.store.tx import Tx


async def check(settings: Settings, store: Store) -> None:
    """Refuse to begin on a cell that misses migrations or, in production, may lose what it acknowledged."""
    found = []
    for cell in store.cells:
        async with cell.direct() as connection:
            facts = await health.facts(Tx(connection, cell.clock.now()))
        wrong = unfit(facts, production=settings.environment == "production")
        found += [f"{cell.name}: {one.name} is {one.found}: {one.advice}" for one in wrong]
    if found:
        raise Unfit("; ".join(found))

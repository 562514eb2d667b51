"""Who asks, for which tenant, and what they may lean on."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from horae.domain.errors import Unavailable
from horae.domain.tenants import Tenant
from horae.service.handed import Handed
from horae.service.memory import Memory
from horae.service.types import Types
from horae.store.cells import Cell, Store
from horae.store.definitions import Definitions
from horae.store.each import ask_by_statement, ask_each
from horae.store.tx import Tx
from horae.store.wakes import Wakes

Result = TypeVar("Result")


async def ask_cells(
    cells: Sequence[Cell], look: Callable[[Tx], Awaitable[Result]], cells_down: set[str]
) -> list[Result]:
    """What each cell that can be reached says; the names of the others go into `cells_down`. Raises where none can."""
    answers = await ask_each(cells, partial(ask_by_statement, look))
    if not answers.found:
        raise Unavailable("no cell answers now; ask again later")
    cells_down.update(answers.down)
    return list(answers.found.values())


class Context(NamedTuple):
    """One caller. The tenant comes from the credential, never from the request.

    `cells_down` gathers, for one request, the cells that an answer had to do without.
    """

    store: Store
    tenant: Tenant
    actor: str
    types: Types
    wakes: Wakes
    definitions: Definitions
    handed: Handed
    memory: Memory
    cells_down: set[str]

    @classmethod
    def of(cls, store: Store, tenant: Tenant, actor: str, memory: Memory | None = None) -> "Context":
        """A caller with the memory of its process, or with one of its own; the wakes are its process's."""
        kept = memory or Memory()
        types, definitions = Types(store, kept.types), kept.definitions(store.sealing, tenant.id)
        return cls(store, tenant, actor, types, store.wakes, definitions, kept.handed, kept, set())

    async def ask_each(
        self, look: Callable[[Tx], Awaitable[Result]], cells: Sequence[Cell] | None = None, *, whole: bool = False
    ) -> list[Result]:
        """What every cell says. One that is down is left out and noted; where the answer must be `whole`, it is 503."""
        missing = set[str]()
        found = await ask_cells(self.store.cells if cells is None else cells, look, missing)
        if whole and missing:
            raise Unavailable(f"{', '.join(sorted(missing))} cannot be reached, and this needs every cell; ask again")
        self.cells_down.update(missing)
        return found

"""The context of an operation: the caller, the tenant, and what the operation works with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, TypeVar

from horae.domain.errors import Unavailable
from horae.domain.tenants.tenants import Tenant
from horae.repositories.definitions import Definitions
from horae.service.memory import Memory
from horae.service.tasks.types import Types
from horae.service.workers.attempt_cache import HandedAttempts
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.nodes.wakes import Wakes
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx

Result = TypeVar("Result")
NOT_BOUND: Final[Mapping[str, str]] = MappingProxyType({})
"""The labels of a caller that may see all jobs of its tenant."""


async def ask_cells(
    cells: Sequence[CellProtocol], look: Callable[[Tx], Awaitable[Result]], cells_down: set[str]
) -> list[Result]:
    """Returns the answers of the reachable cells. The others go into `cells_down`. Raises if none is reachable."""
    answers = await ask_each(cells, partial(ask_by_statement, look))
    if not answers.found:
        raise Unavailable("no cell answers now; ask again later")
    cells_down.update(answers.down)
    return list(answers.found.values())


class CallerContext(Protocol):
    """What an operation on whole tenants needs of its caller. `Context` and `PlatformContext` have it."""

    @property
    def store(self) -> StoreProtocol:
        """The cells."""

    @property
    def actor(self) -> str:
        """The caller, for the audit log."""

    @property
    def cells_down(self) -> set[str]:
        """The cells that the answer had to leave out."""


@dataclass(frozen=True, slots=True)
class PlatformContext:
    """A caller without a tenant: the command line, a login, the setup of a deployment."""

    store: StoreProtocol
    actor: str
    cells_down: set[str] = field(default_factory=set)


class Context(NamedTuple):
    """One caller. The tenant comes from the credential, never from the request.

    `cells_down` collects, for one request, the cells that the answer had to leave out. A caller with `job_labels` is
    bound to the jobs that have all of them (`service/identity/bound_keys.py`).
    """

    store: StoreProtocol
    tenant: Tenant
    actor: str
    types: Types
    wakes: Wakes
    definitions: Definitions
    handed: HandedAttempts
    memory: Memory
    cells_down: set[str]
    job_labels: Mapping[str, str] = NOT_BOUND

    @classmethod
    def of(cls, store: StoreProtocol, tenant: Tenant, actor: str, memory: Memory | None = None) -> "Context":
        """Returns a caller with the memory of its process, or with a memory of its own."""
        kept = memory or Memory()
        types, definitions = Types(store, kept.types), kept.definitions(store.cipher, tenant.id)
        return cls(store, tenant, actor, types, store.wakes, definitions, kept.handed, kept, set())

    def now(self, shard: int | None = None) -> datetime:
        """Returns the time of the cell of a shard, or without a shard the time of any cell."""
        return (self.store if shard is None else self.store.cell(shard)).clock.now()

    async def ask_each(
        self,
        look: Callable[[Tx], Awaitable[Result]],
        cells: Sequence[CellProtocol] | None = None,
        *,
        whole: bool = False,
    ) -> list[Result]:
        """Returns the answers of all cells. A cell that is down is left out and recorded; with `whole` it raises."""
        missing = set[str]()
        found = await ask_cells(self.store.cells if cells is None else cells, look, missing)
        if whole and missing:
            raise Unavailable(f"{', '.join(sorted(missing))} cannot be reached, and this needs every cell; ask again")
        self.cells_down.update(missing)
        return found

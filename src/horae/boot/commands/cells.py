"""`horae migrate` and `horae cells …`."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from horae.boot.preparing import prepare
from horae.boot.session import load, out, run
from horae.boot.telling import Verbs, answer
from horae.domain.errors import NotFound
from horae.store import clock
from horae.store.cells import Cell, Store

app = Verbs(no_args_is_help=True)


def migrate() -> None:
    """Bring every cell up to this release; make the configured tenant on the first run."""

    async def work() -> None:
        done = await prepare(load())
        answer({"done": done}, lambda: out.print("\n".join(done or ["nothing to do"]), highlight=False))

    run(work)


@app.command("move-clock")
def move_clock(seconds: Annotated[float, typer.Argument(help="How far; negative moves back.")]) -> None:
    """Move time in every cell, for trying things out. Refused in production."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            for cell in store.cells:
                async with cell.tx() as tx:
                    await clock.move(tx, timedelta(seconds=seconds))
                await cell.sync_clock()
            _show(store.cells, "")

    run(work)


@app.command("trust-clock")
def trust_clock(
    name: Annotated[str | None, typer.Argument(help="One cell; all of them where it is left out.")] = None,
) -> None:
    """Say that a database's clock is right after it jumped: nodes that stopped over it go on within a heartbeat."""

    async def work() -> None:
        async with Store.of(load().all_cells()) as store:
            meant = [cell for cell in store.cells if name in (None, cell.name)]
            if not meant:
                raise NotFound(f"there is no cell {name!r}")
            for cell in meant:
                async with cell.statement() as tx:
                    await clock.vouch(tx)
            _show(meant, " is trusted")

    run(work)


def _show(cells: Sequence[Cell], then: str) -> None:
    told = [{"cell": cell.name, "now": cell.clock.now()} for cell in cells]
    lines = [f"{cell.name}: {cell.clock.now():%Y-%m-%d %H:%M:%S} UTC{then}" for cell in cells]
    answer(told, lambda: out.print("\n".join(lines), highlight=False))

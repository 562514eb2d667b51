"""`horae hold …`."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.holds import HoldView
from horae.boot.commands.schedules import moment
from horae.boot.output import answer
from horae.boot.session import caller, out
from horae.boot.verbs import Verbs
from horae.service.limits import holds

app = Verbs(no_args_is_help=True)


@app.callback()
def holding() -> None:
    """Holds: which targets and limits hold calls back, and why."""


@app.command("list")
async def list_(limit: Annotated[int, typer.Option(help="Maximum number of holds.")] = 50) -> None:
    """List the targets and limits that hold calls of the tenant back, most waiting calls first."""
    async with caller() as ctx:
        found = [HoldView.of(hold) for hold in (await holds.listing(ctx))[:limit]]
    table = Table("waiting", "reason", "lane", "since (UTC)", "next try (UTC)", "name")
    for one in found:
        tries = moment(one.next_try_at)
        table.add_row(str(one.waiting), one.reason, one.lane, moment(one.since), tries, one.name)
    answer(found, lambda: out.print(table))

"""`horae hold …`."""

from typing import Annotated

import typer

from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae_client.asked import instances as asked

app = Verbs(no_args_is_help=True)


@app.callback()
def holding() -> None:
    """Holds: which targets and limits hold calls back, and why."""


@app.command("list")
async def list_(limit: Annotated[int, typer.Option(help="Maximum number of holds.")] = 50) -> None:
    """List the targets and limits that hold calls of the tenant back, most waiting calls first."""
    async with remote() as api:
        found = await api.items(asked.holds(), limit)
    columns = ("waiting", "reason", "lane", "since (UTC)", "next try (UTC)", "name")
    rows = [
        (one.waiting, one.reason, one.lane, moment(one.since), moment(one.next_try_at), one.name) for one in found.value
    ]
    answer_rows(found.facts, columns, rows, empty="nothing is held back", least=("lane",), wraps=("name",))

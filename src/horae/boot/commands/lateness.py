"""`horae lateness`."""

from typing import Annotated

import typer

from horae.boot.output import name_cells_down
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae_client.asked import scheduler as asked


async def lateness(
    minutes: Annotated[int, typer.Option(min=1, max=60, help="Fires that ended within the last minutes.")] = 10,
) -> None:
    """Show how late fires were, by the second of the minute at which they were due.

    Needs a key of the tenant `system`.
    """
    async with remote() as api:
        reply = await api.ask(asked.lateness(minutes))
    name_cells_down(reply.value.cells_down)
    rows = [(f":{one.second:02}", one.fires, one.p50_ms, one.p95_ms) for one in reply.value.seconds]
    columns = ("second", "fires", "half within (ms)", "95 % within (ms)")
    answer_rows(reply.facts, columns, rows, empty=f"no fire ended within the last {minutes} minutes")

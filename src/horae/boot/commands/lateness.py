"""`horae lateness`."""

from datetime import timedelta
from typing import Annotated

import typer
from rich.table import Table

from horae.boot.output import answer
from horae.boot.session import caller, out
from horae.service.health import lateness as service


async def lateness(
    minutes: Annotated[int, typer.Option(min=1, max=60, help="Fires that ended within the last minutes.")] = 10,
) -> None:
    """Show how late fires were, by the second of the minute at which they were due."""
    async with caller() as ctx:
        found = await service.by_second(ctx.store, timedelta(minutes=minutes))
    table = Table("second", "fires", "half within (ms)", "95 % within (ms)")
    for one in found.seconds:
        table.add_row(f":{one.second:02}", str(one.fires), str(one.p50_ms), str(one.p95_ms))
    facts = {"seconds": [one._asdict() for one in found.seconds], "cells_down": found.cells_down}
    answer(facts, lambda: out.print(table))

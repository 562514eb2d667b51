"""`horae job problems`: the worst jobs now."""

from typing import Annotated

import typer

from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae_client.asked import jobs as asked


async def problems(
    owner: Annotated[str | None, typer.Option(help="Only jobs of this owner.")] = None, limit: int = 50
) -> None:
    """List the jobs with open dead letters or overdue instances, the worst first."""
    async with remote() as api:
        found = await api.items(asked.problems(owner), limit)
    rows = [
        (
            one.name,
            "failing" if one.is_failing else "",
            one.dead,
            one.dead_last_hour,
            one.overdue,
            one.retries,
            moment(one.last_dead_at),
            moment(one.overdue_since),
            one.owner,
            one.job_id,
        )
        for one in found.value
    ]
    columns = (
        "name",
        "last run",
        "dead",
        "hour",
        "overdue",
        "retries",
        "last dead (UTC)",
        "overdue since",
        "owner",
        "id",
    )
    least = ("id", "since", "last dead (UTC)", "retries", "hour")
    answer_rows(found.facts, columns, rows, empty="no job has dead letters or overdue instances", least=least)

"""`horae why`: opens PostgreSQL, so that it also answers while no API runs. It only reads, so it needs no reason."""

from typing import Annotated

import typer

from horae.boot.output import answer, out
from horae.boot.session import caller
from horae.domain.errors import ShardClosed, Unavailable
from horae.service.explanations import explanations
from horae.service.explanations.findings import Explanation, utc


async def why(
    subject: Annotated[str, typer.Argument(help="A job by name or id, JOB/KEY for a task, or the id of an instance.")],
) -> None:
    """Say why a job, a task or an instance has not run, and what it waits for. It reads PostgreSQL, not the API."""
    async with caller(owner=True) as ctx:
        try:
            found = await explanations.explain(ctx, subject)
        except ShardClosed as error:
            down = [cell.name for cell in ctx.store.cells if not cell.is_open]
            if not down:
                raise
            text = f"{', '.join(down)} cannot be reached, and {subject} may lie there: nothing fires in such a cell"
            raise Unavailable(text) from error
    answer(found, lambda: out.print(_text(found), highlight=False, soft_wrap=True))


def _text(found: Explanation) -> str:
    lines = [f"{found.kind} {found.subject}, at {utc(found.at)}:"]
    return "\n".join([*lines, *(f"- {one.text}" for one in found.findings)])

"""`horae shard move|rebalance|drain|abort|status`."""

from typing import Annotated, Any

import typer

from horae.boot.output import answer
from horae.boot.remote import Reply, remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae_client.asked import scheduler as asked
from horae_client.models import ShardMove

app = Verbs(no_args_is_help=True)


@app.command("move")
async def move(
    shards: Annotated[list[int], typer.Argument(help="The numbers of the shards.")],
    to: Annotated[str, typer.Option(help="The cell they go to.")],
) -> None:
    """Move shards to another cell while their jobs fire. Needs a key of the tenant `system`."""
    async with remote() as api:
        _show(await api.ask(asked.request_moves("MOVE", shards, to)))


@app.command("rebalance")
async def rebalance() -> None:
    """Move shards until every cell holds about as many, for example after a cell was added."""
    async with remote() as api:
        _show(await api.ask(asked.request_moves("REBALANCE", (), None)))


@app.command("drain")
async def drain(cell: Annotated[str, typer.Argument(help="The cell to empty.")]) -> None:
    """Move all shards of a cell to the others. It may be removed when the last day of its history is dropped."""
    async with remote() as api:
        _show(await api.ask(asked.request_moves("DRAIN", (), cell)))


@app.command("abort")
async def abort(shard: Annotated[int, typer.Argument(help="The number of the shard.")]) -> None:
    """Abort the move of a shard. If the shard is active in its new cell already, the move is completed."""
    async with remote() as api:
        reply = await api.ask(asked.abort_move(shard))
    answer(reply.facts, lambda: typer.echo(f"shard {shard}: the move to {reply.value.target} will be aborted"))


@app.command("status")
async def status() -> None:
    """Show the moves of shards: those that have not ended, then the newest."""
    async with remote() as api:
        _show(await api.ask(asked.moves()))


def _show(reply: Reply[list[ShardMove]]) -> None:
    columns = ("shard", "from", "to", "step", "rows", "pause (ms)", "changed (UTC)", "error")
    rows: list[tuple[Any, ...]] = [
        (
            one.shard,
            one.source,
            one.target,
            f"{one.step}, to be aborted" if one.abort_requested and one.ended_at is None else one.step,
            one.rows_copied,
            "" if one.pause_ms is None else one.pause_ms,
            moment(one.changed_at),
            one.error or "",
        )
        for one in reply.value
    ]
    answer_rows(reply.facts, columns, rows, empty="no shard moves", least=("rows",), wraps=("error",))

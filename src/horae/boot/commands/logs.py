"""`horae logs`: the lines that the attempts of an instance logged."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
import typer

from horae.boot.output import answer, out, to_json, wants_json
from horae.boot.remote import remote
from horae.domain.foreign import printable
from horae_client.asked import instances
from horae_client.models import LogLine

Id = Annotated[str, typer.Argument(metavar="INSTANCE", help="An instance's id, ins_….")]
FollowLines = Annotated[
    bool, typer.Option("--follow", "-f", help="Print lines as they are written, until the instance ends.")
]


async def logs(id_: Id, follow: FollowLines = False) -> None:
    """Print the lines that the attempts of an instance logged; with -f as they are written."""
    async with remote() as api:
        if follow:
            async for line in api.client.instances.tail(id_):
                _print(to_json(msgspec.to_builtins(line)) if wants_json() else line_text(line))
            return
        found = await api.items(instances.log_lines(id_))
    answer(found.facts, lambda: _print_all(found.value))


def line_text(line: LogLine) -> str:
    """A line as people read it: time, level, text. A mark says how many lines are missing."""
    if line.dropped:
        return f"… {line.dropped:,} lines of attempt {line.attempt} are missing here: they were dropped"
    written_at = "" if line.at is None else _time(line.at)
    return f"{written_at}  {line.level or '':<8}{printable(line.text or '')}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _print_all(lines: list[LogLine]) -> None:
    for line in lines:
        _print(line_text(line))


def _print(text: Any) -> None:
    out.file.write(f"{text}\n")
    out.file.flush()

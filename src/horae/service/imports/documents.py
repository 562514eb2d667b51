"""Writes imported jobs in the form of `jobs.yaml`, with a comment for each difference."""

import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from horae.domain.cron import Gap, Overlap
from horae.domain.names import LONGEST_NAME
from horae.domain.schedules.triggers import CronTrigger, ManualTrigger
from horae.service.imports.results import Found, ImportedJob, RefusedEntry

UNFIT: Final = re.compile(r"[/\x00-\x1f\x7f\s]+")


def with_valid_names(found: Iterable[Found]) -> list[Found]:
    """Returns the entries with valid job names, each of them unique."""
    taken: set[str] = set()
    done: list[Found] = []
    for one in found:
        base = valid_name(one.name)
        name = next(name for name in _numbered(base) if name not in taken)
        taken.add(name)
        done.append(replace(one, name=name))
    return done


def valid_name(name: str) -> str:
    """Returns a valid job name."""
    return UNFIT.sub("-", name).strip("- ")[: LONGEST_NAME - 4] or "job"


def words(made: ImportedJob, *, url: str | None = None, shadow: bool = False) -> dict[str, Any]:
    """Returns one job as a file declares it. `url` may contain `{name}`; without it the job waits in a queue."""
    said = _trigger(made)
    policies = msgspec.to_builtins(made.policies)
    said |= {"policies": policies} if policies else {}
    said |= {"target": {"kind": "http", "url": url.replace("{name}", quote(made.name, safe=""))}} if url else {}
    said |= {"payload": made.payload} if made.payload else {}
    said |= {"description": made.description} if made.description else {}
    said |= {"owner": made.owner} if made.owner else {}
    said |= {"paused": True} if made.paused else {}
    return said | ({"shadow": True} if shadow else {})


def comments(one: Found) -> list[str]:
    """Returns the comments of an entry: its source and each difference, or why it was refused."""
    if isinstance(one, RefusedEntry):
        return [f"refused: {one.name} ({_line(one.source)}): {_line(one.reason)}"]
    return [f"was: {_line(one.source)}", *(f"{differs.kind}: {_line(differs.text)}" for differs in one.differences)]


def _trigger(made: ImportedJob) -> dict[str, Any]:
    trigger = made.trigger
    if isinstance(trigger, CronTrigger):
        said = {"cron": trigger.expression, "dialect": trigger.dialect.value, "timezone": trigger.zone}
        if (trigger.dst_gap, trigger.dst_overlap) == (Gap.FIRE_AFTER, Overlap.FIRST):
            return said
    if isinstance(trigger, ManualTrigger):
        return {}
    return {"trigger": {key: one for key, one in msgspec.to_builtins(trigger).items() if key not in {"salt", "tzdata"}}}


def _line(text: str) -> str:
    return " ".join(text.split())


def _numbered(base: str) -> Iterable[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1

"""What an importer finds: a schedule in our words, or a refusal; and how ours will differ from theirs."""

from enum import StrEnum
from typing import Any

import msgspec

from horae.domain.cron import Dialect
from horae.domain.dst import ELAPSED
from horae.domain.errors import InvalidSchedule
from horae.domain.schedule import Policies
from horae.domain.timeline import line
from horae.domain.triggers import CronTrigger, Trigger, cron
from horae.domain.zones import zone

YEAR_2020 = 1_577_836_800


class Kind(StrEnum):
    """What a difference is about."""

    ZONE = "zone"
    DST = "dst"
    DAYS = "days"
    REWRITTEN = "rewritten"
    RHYTHM = "rhythm"
    MISSED = "missed"
    OVERLAP = "overlap"
    DISABLED = "disabled"
    IGNORED = "ignored"


class Difference(msgspec.Struct, frozen=True):
    """One sentence for the person who moves house."""

    kind: Kind
    text: str


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule in our words. `payload` holds what it used to run."""

    name: str
    source: str
    trigger: Trigger
    policies: Policies
    payload: dict[str, Any] = {}
    differences: tuple[Difference, ...] = ()
    paused: bool = False


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """What could not be taken over, and why."""

    name: str
    source: str
    reason: str


Found = Imported | Refused


def cron_in(expression: str, dialect: Dialect, zone_name: str, salt: str) -> CronTrigger:
    """A cron trigger in its zone; refused as everywhere when it means nothing."""
    zone(zone_name)
    return cron(expression, dialect=dialect, zone_name=zone_name, salt=salt)


def differs_by_dst(trigger: CronTrigger, theirs: str) -> list[Difference]:
    """What their clock changes do otherwise, for a schedule that names its hours; nothing where clocks never change."""
    if trigger.compiled().elapsed or not _changes(trigger.zone):
        return []
    ours = f"ours follows the job's policy (now {trigger.dst_gap.value} and {trigger.dst_overlap.value})"
    return [Difference(Kind.DST, f"{theirs}; {ours}")]


def too_wide(expression: str, widest: tuple[int, ...]) -> tuple[str, list[Difference]]:
    """Steps that leave their field, such as */60 minutes, mean the first value only: write that instead."""
    words, found = expression.split(), []
    for place, (word, most) in enumerate(zip(words, widest, strict=False)):
        scope, slash, step = word.partition("/")
        if slash and step.isdigit() and int(step) > most and "," not in word:
            first = "0" if scope == "*" and most in {23, 59} else "1" if scope == "*" else scope.partition("-")[0]
            words[place] = first
            found.append(Difference(Kind.REWRITTEN, f"{word!r} steps out of its field and only ever meant {first!r}"))
    return " ".join(words), found


def refused(name: str, source: str, error: InvalidSchedule | ValueError) -> Refused:
    """The refusal, in the words of the error."""
    return Refused(name=name, source=source, reason=str(error))


def _changes(zone_name: str) -> bool:
    """Whether the zone's clocks have changed since 2020 or will."""
    return any(at > YEAR_2020 for at in line(zone(zone_name), ELAPSED).starts)

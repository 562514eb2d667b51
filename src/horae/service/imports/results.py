"""The result of an importer: a job or a refusal, and how the job will differ from the original."""

from enum import StrEnum
from typing import Any

import msgspec

from horae.domain.cron import Dialect
from horae.domain.errors import InvalidSchedule
from horae.domain.jobs.people import LONGEST_DESCRIPTION, LONGEST_OWNER, UNPRINTABLE
from horae.domain.schedules import Policies
from horae.domain.schedules.triggers import CronTrigger, Trigger, cron
from horae.domain.zones.dst import ELAPSED
from horae.domain.zones.timeline import timeline_of
from horae.domain.zones.zones import zone

YEAR_2020_EPOCH_S = 1_577_836_800


class DifferenceTopic(StrEnum):
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


class ImportDifference(msgspec.Struct, frozen=True):
    """One difference to the original, as a sentence for the person who migrates."""

    kind: DifferenceTopic
    text: str


class ImportedJob(msgspec.Struct, frozen=True, kw_only=True):
    """An imported schedule. `payload` holds the command or handler that it used to run.

    `description` and `owner` are the texts of the original, as far as a job can have them.
    """

    name: str
    source: str
    trigger: Trigger
    policies: Policies
    payload: dict[str, Any] = {}
    description: str | None = None
    owner: str | None = None
    differences: tuple[ImportDifference, ...] = ()
    paused: bool = False


class RefusedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that could not be imported, and why."""

    name: str
    source: str
    reason: str


Found = ImportedJob | RefusedEntry


def cron_in(expression: str, dialect: Dialect, zone_name: str, salt: str) -> CronTrigger:
    """Returns a cron trigger in its zone. An invalid expression is refused as everywhere."""
    zone(zone_name)
    return cron(expression, dialect=dialect, zone_name=zone_name, salt=salt)


def differs_by_dst(trigger: CronTrigger, theirs: str) -> list[ImportDifference]:
    """Returns the difference at clock changes, for a schedule that names its hours in a zone with clock changes."""
    if trigger.compiled().elapsed or not _changes(trigger.zone):
        return []
    ours = f"ours follows the job's policy (now {trigger.dst_gap.value} and {trigger.dst_overlap.value})"
    return [ImportDifference(DifferenceTopic.DST, f"{theirs}; {ours}")]


def narrow_steps(expression: str, widest: tuple[int, ...]) -> tuple[str, list[ImportDifference]]:
    """Rewrites steps that exceed their field, such as */60 minutes: they match the first value only."""
    words, found = expression.split(), []
    for place, (word, most) in enumerate(zip(words, widest, strict=False)):
        scope, slash, step = word.partition("/")
        if slash and step.isdigit() and int(step) > most and "," not in word:
            first = "0" if scope == "*" and most in {23, 59} else "1" if scope == "*" else scope.partition("-")[0]
            words[place] = first
            found.append(
                ImportDifference(
                    DifferenceTopic.REWRITTEN, f"{word!r} steps out of its field and only ever meant {first!r}"
                )
            )
    return " ".join(words), found


def description_in(text: object) -> str | None:
    """Returns the text of an original as a description; None where it is empty. A longer text is cut."""
    return UNPRINTABLE.sub(" ", str(text or "")).strip()[:LONGEST_DESCRIPTION] or None


def owner_in(text: object) -> str | None:
    """Returns the name of an author as an owner; None where it is empty. A longer name is cut."""
    return " ".join(UNPRINTABLE.sub(" ", str(text or "")).split())[:LONGEST_OWNER].strip() or None


def refused_entry(name: str, source: str, error: InvalidSchedule | ValueError) -> RefusedEntry:
    """Returns a refusal with the text of an error."""
    return RefusedEntry(name=name, source=source, reason=str(error))


def _changes(zone_name: str) -> bool:
    """Whether the zone's clocks have changed since 2020 or will."""
    return any(at > YEAR_2020_EPOCH_S for at in timeline_of(zone(zone_name), ELAPSED).starts)

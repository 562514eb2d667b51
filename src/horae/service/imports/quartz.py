"""Reads Quartz cron triggers. The expression is taken over unchanged; misfire and overlap rules are translated."""

import re

from horae.domain.cron import Dialect
from horae.domain.errors import InvalidSchedule
from horae.domain.schedules import Misfire, OnMisfire, OnOverlap, Policies
from horae.service.imports.results import (
    DifferenceTopic,
    Found,
    ImportDifference,
    ImportedJob,
    cron_in,
    differs_by_dst,
    refused_entry,
)

MISFIRES = {
    "SMART_POLICY": OnMisfire.ONCE,
    "FIRE_ONCE_NOW": OnMisfire.ONCE,
    "DO_NOTHING": OnMisfire.SKIP,
    "IGNORE_MISFIRE_POLICY": OnMisfire.ALL,
}
SHORT_MONTHS = re.compile(r"\b(29|30|31)W\b")
BEYOND = re.compile(r"\bL-(2[89]|30)W\b")


def read(
    name: str,
    expression: str,
    *,
    zone_name: str,
    misfire: str = "SMART_POLICY",
    concurrent: bool = True,
    salt: str = "",
) -> Found:
    """Reads one trigger. `concurrent` is False for a job class that disallows concurrent execution."""
    words = expression.split()
    dialect = Dialect.QUARTZ7 if len(words) == 7 else Dialect.QUARTZ6
    try:
        policy = _misfire(misfire)
        # Quartz queues fires also with misfire 'all'; our `Policies` refuse 'all' with 'queue_one'.
        overlap = OnOverlap.ALLOW if concurrent or policy.policy is OnMisfire.ALL else OnOverlap.QUEUE_ONE
        trigger = cron_in(expression, dialect, zone_name, f"{salt}/{name}")
    except InvalidSchedule as error:
        return refused_entry(name, expression, error)
    differences = [
        *_days(expression),
        *differs_by_dst(trigger, "Quartz moves or drops times that a clock change removes"),
    ]
    differences += _around(policy, overlap, concurrent)
    return ImportedJob(
        name=name,
        source=expression,
        trigger=trigger,
        policies=Policies(misfire=policy, overlap=overlap),
        differences=tuple(differences),
    )


def _misfire(name: str) -> Misfire:
    if name not in MISFIRES:
        raise InvalidSchedule(f"{name!r} is no misfire instruction of a Quartz cron trigger")
    return Misfire(MISFIRES[name])


def _days(expression: str) -> list[ImportDifference]:
    found = []
    if SHORT_MONTHS.search(expression):
        found.append(
            ImportDifference(
                DifferenceTopic.DAYS,
                "in a month without that day Quartz's W picks another day, or none; ours picks none",
            )
        )
    if BEYOND.search(expression):
        found.append(
            ImportDifference(
                DifferenceTopic.DAYS, "where L-n reaches before the first of the month Quartz may never answer"
            )
        )
    return found


def _around(policy: Misfire, overlap: OnOverlap, concurrent: bool) -> list[ImportDifference]:
    found = []
    if policy.policy is OnMisfire.ALL:
        found.append(
            ImportDifference(
                DifferenceTopic.MISSED, "Quartz fires all it missed at once; ours at most the newest thousand"
            )
        )
    if overlap is OnOverlap.QUEUE_ONE:
        found.append(
            ImportDifference(
                DifferenceTopic.OVERLAP, "Quartz lets every fire wait for the running one; ours lets one wait"
            )
        )
    elif not concurrent:
        found.append(
            ImportDifference(
                DifferenceTopic.OVERLAP, "this job ran one at a time; together with misfire 'all' ours may overlap"
            )
        )
    return found

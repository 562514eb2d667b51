"""Reads crontab lines, of a user or of the system (with a user name before the command)."""

import re
from collections.abc import Iterator
from typing import Any

from horae.domain.cron import Dialect
from horae.domain.errors import InvalidSchedule
from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.service.imports.results import (
    DifferenceTopic,
    Found,
    ImportDifference,
    ImportedJob,
    cron_in,
    differs_by_dst,
    narrow_steps,
    refused_entry,
)

SETTING = re.compile(r"^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")
RANDOM = re.compile(r"(?<![\w-])(\d*)~(\d*)")
WIDEST = (59, 23, 31, 12, 7)
"""The highest value of each field: minute, hour, day of the month, month, weekday."""
# cron does not run what it missed while the machine was off.
AS_CRON = Policies(misfire=Misfire(OnMisfire.SKIP))


def read(text: str, *, machine_zone: str, system: bool = False, salt: str = "") -> Iterator[Found]:
    """Yields every line that schedules something, in order. `machine_zone` is the zone of the machine's clock."""
    zone_name, given = machine_zone, False
    settings: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        setting = SETTING.match(stripped)
        if setting:
            if setting[1] == "CRON_TZ":
                zone_name, given = setting[2].strip("'\""), True
            else:
                settings[setting[1]] = setting[2].strip("'\"")
            continue
        yield _line(f"line {number}", stripped, (zone_name, given), system, salt, dict(settings))


def _line(place: str, line: str, zone: tuple[str, bool], system: bool, salt: str, settings: dict[str, str]) -> Found:
    schedule, user, command = _parts(line, system)
    (zone_name, zone_given), name = zone, _name(command) or place
    differences = [ImportDifference(DifferenceTopic.MISSED, "cron drops what it missed; taken over as misfire 'skip'")]
    if not zone_given:
        differences.append(
            ImportDifference(DifferenceTopic.ZONE, f"cron follows the machine's clock; the job is fixed to {zone_name}")
        )
    try:
        expression, rewritten = narrow_steps(schedule, WIDEST)
        expression, spread = _spread(expression)
        trigger = cron_in(expression, Dialect.UNIX5, zone_name, f"{salt}/{name}")
    except InvalidSchedule as error:
        return refused_entry(name, line, error)
    differences += rewritten + spread + _dst(trigger.expression, differs_by_dst(trigger, "cron's rules are fixed"))
    if "%" in command.replace("\\%", ""):
        differences.append(
            ImportDifference(DifferenceTopic.IGNORED, "an unescaped % in the command fed the rest to its input")
        )
    payload: dict[str, Any] = {"command": command} | ({"user": user} if user else {})
    if settings:
        payload["environment"] = settings
        if settings.get("MAILTO"):
            differences.append(
                ImportDifference(DifferenceTopic.IGNORED, f"its output is not mailed to {settings['MAILTO']}")
            )
    return ImportedJob(
        name=name,
        source=line,
        trigger=trigger,
        policies=AS_CRON,
        payload=payload,
        differences=tuple(differences),
    )


def _parts(line: str, system: bool) -> tuple[str, str, str]:
    """Returns the schedule, the user (empty where there is none) and the command."""
    fields = 1 if line.startswith("@") else 5
    words = line.split(None, fields + system)
    schedule = " ".join(words[:fields])
    user = words[fields] if system and len(words) > fields else ""
    return schedule, user, words[fields + system] if len(words) > fields + system else ""


def _name(command: str) -> str:
    """Returns the name of the program, without folder and arguments, so that a moved line keeps its name."""
    words = [word for word in command.split() if not SETTING.match(word)]
    return words[0].rstrip("/").rpartition("/")[2] if words else ""


def _spread(expression: str) -> tuple[str, list[ImportDifference]]:
    """Replaces a random value, such as 0~59, by a hash of the job: it differs between jobs and never changes."""
    words = expression.split()
    found = []
    for place, word in enumerate(words):
        match = RANDOM.fullmatch(word)
        if match:
            ranged = match[1] and match[2]
            words[place] = f"H({match[1]}-{match[2]})" if ranged else "H"
            found.append(
                ImportDifference(
                    DifferenceTopic.REWRITTEN, f"{word!r} was drawn anew at each start; ours is fixed by hash"
                )
            )
    return " ".join(words), found


def _dst(expression: str, found: list[ImportDifference]) -> list[ImportDifference]:
    """Returns the difference at clock changes. Cron follows the clock for a job whose minute begins with a star."""
    words = expression.split()
    if not found or not words[0].startswith("*") or words[0].startswith("@"):
        return []  # a fixed time: cron runs it right after a gap and once in an overlap, as our defaults do
    text = "cron follows the clock when the minute is starred: nothing in a gap, twice in an overlap"
    return [
        ImportDifference(
            DifferenceTopic.DST, f"{text}; ours applies the job's policy to every schedule that names its hours"
        )
    ]

"""Who keeps time when clocks change: 1,080 cases for us and for five others, judged by the plain oracle of the tests.

Twelve zones, the five newest jumps forward and the five newest jumps back of each before 2025, nine schedules around
each. Rules for fixed times differ from one to the other, so each is judged by the rule that fits its answers best
(jumped over: fire right after, at the time moved by the jump, or not at all; shown twice: first, second or both), and
by the rule of the classic cron (right after, first). What follows the clock must follow it.
"""

import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim
from tests.domain.cron import quartz
from tests.domain.cron.oracle import Plain, Wall, plain_zone

from benchmarks.measure import Bound, judged
from horae.domain.cron import parse
from horae.domain.zones.dst import ELAPSED
from horae.domain.zones.timeline import timeline_of
from horae.domain.zones.zones import tzdata_version, zone

ZONES = (
    *("America/New_York", "Europe/London", "Europe/Berlin", "Europe/Dublin", "Australia/Sydney", "Australia/Lord_Howe"),
    *("America/Santiago", "America/Havana", "Asia/Beirut", "Africa/Cairo", "Atlantic/Azores", "Asia/Jerusalem"),
)
BEFORE, EACH = 1_735_689_600, 5  # 2025: every rival's own zone rules agree on what came before
HOUR = 3_600
REACH = 26 * HOUR
RULES = {
    "gap": (("after", ("fire_after", "first")), ("skipped", ("skip", "first"))),
    "overlap": (("first", ("skip", "first")), ("second", ("skip", "second")), ("both", ("skip", "both"))),
}
CLASSIC = {"gap": "after", "overlap": "first", "clock": "clock"}
GO_SOURCES = Path("/usr/share/gocode/src/github.com/robfig/cron")
BOUNDS = (Bound("table.horae.wrong_by_classic_rule", most=0), Bound("rate", least=1_000))


class Case(NamedTuple):
    """One schedule around one change. `kind` is what the table counts it under."""

    zone: str
    since: int
    until: int
    text: str
    kind: str
    expected: dict[str, tuple[int, ...]]  # by rule


def cases() -> Iterator[Case]:
    """All of them, with the answers."""
    for name in ZONES:
        spans = timeline_of(zone(name), ELAPSED).spans
        jumps = [(b.start, a.offset, b.offset) for a, b in pairwise(spans) if b.start < BEFORE]
        forward = [jump for jump in jumps if jump[2] > jump[1]][-EACH:]
        back = [jump for jump in jumps if jump[2] < jump[1]][-EACH:]
        for kind, chosen in (("gap", forward), ("overlap", back)):
            for at, before, after in chosen:
                wall = Wall(plain_zone(name), at - REACH - 2 * HOUR, at + REACH + 2 * HOUR)
                for text, follows in schedules(at, before, after):
                    plain, since, until = Plain.read(text, "unix5"), at - REACH, at + REACH
                    answers = {
                        rule: tuple(wall.expected(plain, *policy, since + 1, until)) for rule, policy in RULES[kind]
                    }
                    if kind == "gap":
                        answers["moved"] = tuple(sorted({*answers["skipped"], *moved(plain, at, before, after)}))
                    if follows:
                        answers = {"clock": answers[RULES[kind][0][0]]}
                    yield Case(name, since, until, text, "clock" if follows else kind, answers)


def moved(plain: Plain, at: int, before: int, after: int) -> Iterator[int]:
    """Times that are jumped over, each later by the jump."""
    for local in range(at + before, at + after, 60):
        shown = datetime.fromtimestamp(local, UTC)
        if plain.on(shown.date()) and shown.hour in plain.hours and shown.minute in plain.minutes:
            yield local - before


def schedules(at: int, before: int, after: int) -> Iterator[tuple[str, bool]]:
    """Nine schedules near the change, and whether each follows the clock rather than naming a time."""
    begin = datetime.fromtimestamp(at + min(before, after), UTC)
    inside = begin + timedelta(seconds=abs(after - before) // 2)
    behind = begin + timedelta(seconds=abs(after - before))
    ahead = begin - timedelta(hours=1)
    for moment in (inside, begin, behind, ahead):
        yield f"{moment.minute} {moment.hour} * * *", False
    yield f"{inside.minute} {inside.hour} * * {inside:%a}".upper(), False
    yield f"{inside.minute} {inside.hour} {inside.day} * *", False
    yield "*/15 * * * *", True
    yield "0 * * * *", True
    yield f"{inside.minute} * * * *", True


def ours(asked: list[Case]) -> Iterator[tuple[int, ...]]:
    """Ours, with the default policy."""
    for case in asked:
        begin, end = (datetime.fromtimestamp(at, UTC) for at in (case.since + 1, case.until))
        yield tuple(int(at.timestamp()) for at in parse(case.text).fires(begin, end, zone(case.zone)))


def stepping(following: Callable[[Case, ZoneInfo], Callable[[], datetime]]) -> Callable[[list[Case]], Iterator[Any]]:
    """A rival that is asked for one fire after the other."""

    def answers(asked: list[Case]) -> Iterator[tuple[int, ...]]:
        for case in asked:
            here = plain_zone(case.zone)
            step, found = following(case, here), []
            while (at := int(step().timestamp())) < case.until and len(found) < 1_000:
                found.append(at)
            yield tuple(found)

    return answers


def by_cronsim(case: Case, here: ZoneInfo) -> Callable[[], datetime]:
    """The iterator of cronsim."""
    return CronSim(case.text, datetime.fromtimestamp(case.since, here)).__next__


def by_croniter(case: Case, here: ZoneInfo) -> Callable[[], datetime]:
    """The iterator of croniter."""
    running = croniter(case.text, datetime.fromtimestamp(case.since, here))
    return lambda: running.get_next(datetime)


def by_apscheduler(case: Case, here: ZoneInfo) -> Callable[[], datetime]:
    """APScheduler's trigger, asked as its scheduler asks."""
    trigger = CronTrigger.from_crontab(case.text, timezone=here)
    last: datetime | None = None

    def step() -> datetime:
        nonlocal last
        now = datetime.fromtimestamp(case.since + 1, here) if last is None else last
        last = trigger.get_next_fire_time(last, now)
        assert last is not None
        return last

    return step


def by_quartz(asked: list[Case]) -> Iterator[tuple[int, ...]]:
    """The real Quartz."""
    with tempfile.TemporaryDirectory() as workdir:
        questions = [(case.since, case.zone, 260, _for_quartz(case.text)) for case in asked]
        for case, fires in zip(asked, quartz.Quartz(workdir).fires(questions), strict=True):
            yield tuple(at for at in fires if at < case.until)


def _for_quartz(text: str) -> str:
    minute, hour, day, month, weekday = text.split()
    return f"0 {minute} {hour} ? {month} {weekday}" if weekday != "*" else f"0 {minute} {hour} {day} {month} ?"


def by_robfig(asked: list[Case]) -> Iterator[tuple[int, ...]]:
    """The cron of Kubernetes, built from Debian's sources."""
    with tempfile.TemporaryDirectory() as workdir:
        source = shutil.copy(Path(__file__).parent / "bare" / "robfig.go", workdir)
        around = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": f"{workdir}/cache", "GOFLAGS": ""}
        go = shutil.which("go") or "go"
        subprocess.run([go, "build", "-o", f"{workdir}/robfig", source], env=around, check=True)
        lines = "".join(f"{case.since}\t{case.zone}\t{case.until}\t{case.text}\n" for case in asked)
        done = subprocess.run([f"{workdir}/robfig"], input=lines, capture_output=True, text=True, check=True)
    for answer in done.stdout.splitlines():
        yield tuple(map(int, answer.split()))


def rivals() -> dict[str, Callable[[list[Case]], Iterator[tuple[int, ...]]]]:
    """Everyone who can be asked on this machine."""
    found: dict[str, Callable[[list[Case]], Iterator[tuple[int, ...]]]] = {
        "horae": ours,
        f"cronsim {version('cronsim')}": stepping(by_cronsim),
        f"croniter {version('croniter')}": stepping(by_croniter),
        f"APScheduler {version('apscheduler')}": stepping(by_apscheduler),
    }
    if not quartz.missing():
        found["Quartz 2.3.2"] = by_quartz
    if shutil.which("go") and GO_SOURCES.exists():
        found["robfig/cron 3.0.1 (Kubernetes)"] = by_robfig
    return found


def main(seconds: float) -> dict[str, Any]:
    """How many of the cases each gets wrong, by its own rule and by the classic one."""
    asked = list(cases())
    table = {name: judge(asked, list(answers(asked))) for name, answers in rivals().items()}
    found = {
        "settings": {
            "tzdata": tzdata_version(),
            "zones": len(ZONES),
            "cases": len(asked),
            **Counter(case.kind for case in asked),
        },
        "rate": len(asked),
        "bare": None,
        "table": table,
    }
    return judged(found, BOUNDS)


def judge(asked: list[Case], given: list[tuple[int, ...]]) -> dict[str, Any]:
    """The rule that fits best for each kind of change, and what breaks even that one."""
    rules, wrong, examples = {}, {}, {}
    for kind in CLASSIC:
        pairs = [(case, got) for case, got in zip(asked, given, strict=True) if case.kind == kind]
        misses = {
            rule: [(case, got) for case, got in pairs if got != case.expected[rule]] for rule in pairs[0][0].expected
        }
        rules[kind] = min(misses, key=lambda rule: len(misses[rule]))
        wrong[kind] = len(misses[rules[kind]])
        if wrong[kind]:
            examples[kind] = _example(*misses[rules[kind]][0], rules[kind])
    classic = sum(got != case.expected[CLASSIC[case.kind]] for case, got in zip(asked, given, strict=True))
    return {
        "rule": rules,
        "wrong": sum(wrong.values()),
        "wrong_by_kind": wrong,
        "wrong_by_classic_rule": classic,
        "examples": examples,
    }


def _example(case: Case, got: tuple[int, ...], rule: str) -> str:
    """The first fire that differs, in local time."""
    here = plain_zone(case.zone)
    expected = set(case.expected[rule])
    extra, missing = sorted(set(got) - expected), sorted(expected - set(got))
    said = [
        f"{word} {datetime.fromtimestamp(times[0], here):%F %H:%M%z}"
        for word, times in (("fires", extra), ("misses", missing))
        if times
    ]
    return f"{case.text} in {case.zone}: {', '.join(said)}"

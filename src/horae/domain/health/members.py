"""What the members of a replicated cell must be like, so that a failover loses nothing and stops nothing.

A DSN that names several hosts says that one of them may replace another. Only then these checks apply.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from horae.domain.health.doctor import Diagnosis, Severity

CLOCK_FAULT: Final = timedelta(seconds=2)
"""A clock that jumps by more than this at a failover stops the cell until a person vouches for it."""
CLOCK_HINT: Final = timedelta(milliseconds=500)
UNKNOWN: Final = "an unknown zone"


class MemberFacts(NamedTuple):
    """What one member says of itself.

    `name` is the name by which the primary knows a standby. `synchronous` are the standbys that the primary waits for;
    None where the role may not see them. `clock` is the clock of the member, compared with a clock that all share.
    """

    host: str
    is_standby: bool
    zone: str | None
    name: str | None
    synchronous: tuple[str, ...] | None
    clock: timedelta


def examine_members(members: Sequence[MemberFacts], silent: Sequence[str], *, production: bool) -> list[Diagnosis]:
    """Check the members that answered; `silent` are the hosts that did not."""
    return [
        _examine_answers(members, silent),
        _examine_primaries(members),
        _examine_zones(members, production=production),
        _examine_clocks(members),
    ]


def _examine_answers(members: Sequence[MemberFacts], silent: Sequence[str]) -> Diagnosis:
    name = "members"
    if not silent:
        return Diagnosis(Severity.OK, name, f"{len(members)} answer")
    found = f"{len(members)} answer; silent: {', '.join(silent)}"
    return Diagnosis(Severity.HINT, name, found, "start it, or rebuild it: the next failure may stop the cell")


def _examine_primaries(members: Sequence[MemberFacts]) -> Diagnosis:
    name = "primaries"
    hosts = [member.host for member in members if not member.is_standby]
    if len(hosts) == 1:
        return Diagnosis(Severity.OK, name, hosts[0])
    if not hosts:
        return Diagnosis(Severity.FAULT, name, "none", "see `patronictl list`: no member takes writes")
    advice = "stop the old primary: its agent hangs, and what reads from it reads the past"
    return Diagnosis(Severity.FAULT, name, ", ".join(hosts), advice)


def _examine_zones(members: Sequence[MemberFacts], *, production: bool) -> Diagnosis:
    """The synchronous standby stands in another zone than the primary, or a lost zone loses both."""
    name = "zone of the synchronous standby"
    primary = next((member for member in members if not member.is_standby), None)
    if primary is None or primary.synchronous is None:
        advice = "`grant pg_read_all_stats to horae_engine`: only then the standbys are visible"
        return Diagnosis(Severity.HINT, name, "unknown", advice)
    zones = {member.name: member.zone for member in members if member.is_standby}
    standbys = [(standby, zones.get(standby)) for standby in primary.synchronous]
    if not standbys:
        return Diagnosis(Severity.HINT, name, "no synchronous standby now", "start a standby: commits wait for one")
    placed = ", ".join(f"{standby} in {zone or UNKNOWN}" for standby, zone in standbys)
    found = f"{placed}; primary in {primary.zone or UNKNOWN}"
    if primary.zone is None or any(zone is None for _, zone in standbys):
        advice = "set horae.zone in postgresql.conf of every member to the name of its zone"
        return Diagnosis(Severity.HINT, name, found, advice)
    if any(zone != primary.zone for _, zone in standbys):
        return Diagnosis(Severity.OK, name, found)
    advice = "put a standby into another zone: a lost zone would lose acknowledged commits"
    return Diagnosis(Severity.FAULT if production else Severity.HINT, name, found, advice)


def _examine_clocks(members: Sequence[MemberFacts]) -> Diagnosis:
    name = "clocks of the members"
    if not members:
        return Diagnosis(Severity.HINT, name, "unknown", "no member answers")
    clocks = [member.clock for member in members]
    apart = max(clocks) - min(clocks)
    found = f"{apart.total_seconds() * 1000:.0f} ms apart"
    level = Severity.FAULT if apart >= CLOCK_FAULT else Severity.HINT if apart >= CLOCK_HINT else Severity.OK
    advice = "run a time service (chrony) on every member: the cell follows the clock of its primary"
    return Diagnosis(level, name, found, "" if level is Severity.OK else advice)

"""The report of a drill: its facts, and the page for people."""

from datetime import datetime
from typing import Final

import msgspec

from horae.domain.drills.drills import DrillKind

RTO_TARGET_S: Final = 1800.0
RPO_TARGET_S: Final = 60.0
"""The targets of seed 002 §12, where a drill is given no others."""


class DrillStep(msgspec.Struct, frozen=True):
    """Something that a drill did or saw, `at_s` seconds after its load began."""

    at_s: float
    step: str
    detail: str = ""


class DrillResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a drill found, as its report and its history have it.

    `rto_s` is None where it was not reached before the time limit. `faults` say why a drill did not pass.
    """

    kind: DrillKind
    environment: str
    deployment: str
    actor: str
    reason: str
    how: str
    began_at: datetime
    broken_at: datetime | None
    restored_at: datetime | None
    ended_at: datetime
    rto_s: float | None
    rpo_s: float | None
    rto_target_s: float = RTO_TARGET_S
    rpo_target_s: float = RPO_TARGET_S
    caught_up_s: float = 0.0
    fires_per_s: int = 0
    effects: int = 0
    late: int = 0
    lost: int = 0
    late_p95_ms: int | None = None
    writes: int = 0
    expected_fires: int = 0
    findings: int = 0
    faults: tuple[str, ...] = ()
    steps: tuple[DrillStep, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing was wrong."""
        return not self.faults


def faults_of(result: DrillResult) -> tuple[str, ...]:
    """Why a drill did not pass: the faults that it met, and the targets that it missed."""
    found = list(result.faults)
    if result.rto_s is None:
        found.append("all was not well again before the end")
    elif result.rto_s > result.rto_target_s:
        found.append(f"RTO {result.rto_s:g} s is above its target of {result.rto_target_s:g} s")
    if result.rpo_s is None:
        found.append("it is not known what was lost")
    elif result.rpo_s > result.rpo_target_s:
        found.append(f"RPO {result.rpo_s:g} s is above its target of {result.rpo_target_s:g} s")
    if result.findings:
        found.append(f"the audit of fires has {result.findings} findings")
    return tuple(found)


def markdown(result: DrillResult, picture: str) -> str:
    """The report for people."""
    rows = {
        "verdict": "passed" if result.passed else "failed",
        "environment": " ".join(filter(None, [result.environment, result.deployment])),
        "how": result.how,
        "by": f"{result.actor}: {result.reason}",
        "began": _moment(result.began_at),
        "broken": _moment(result.broken_at),
        "way back": _moment(result.restored_at),
        "ended": _moment(result.ended_at),
        "RTO": f"{_figure(result.rto_s)} (target {result.rto_target_s:g} s)",
        "RPO": f"{_figure(result.rpo_s)} (target {result.rpo_target_s:g} s)",
        "caught up": _figure(result.caught_up_s),
        "load": f"{result.fires_per_s} fires a second, {result.effects} effects, {result.writes} acknowledged writes",
        "lateness": f"p95 {result.late_p95_ms} ms, {result.late} late, {result.lost} without an effect",
        "audit of fires": f"{result.expected_fires} expected, {result.findings} findings",
    }
    lines = [f"# Drill {result.kind}", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {_cell(text)} |" for name, text in rows.items()]
    lines += ["", *(f"- {_cell(fault)}" for fault in result.faults), *([""] if result.faults else [])]
    lines += [f"![load, lateness and steps]({picture})", "", "| second | step | |", "|---|---|---|"]
    lines += [f"| {one.at_s:.1f} | {_cell(one.step)} | {_cell(one.detail)} |" for one in result.steps]
    return "\n".join(lines) + "\n"


def _figure(seconds: float | None) -> str:
    return "not reached" if seconds is None else f"{seconds:g} s"


def _moment(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

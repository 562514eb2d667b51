"""The mode follows from the causes, and each figure beyond its limit is one of them."""

from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import UUID

from horae.domain.health.causes import (
    CauseKind,
    HealthFigures,
    budget_causes,
    cell_causes,
    figure_causes,
    in_order,
    mode_of,
    target_causes,
)
from horae.domain.health.signals import HealthMode
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import GateKind, GateName, HeldLane, Hold

NOW = datetime(2030, 1, 1, tzinfo=UTC)
FIGURES = {
    CauseKind.LATE: ("trigger_delay_p95_ms", 2000, 2001),
    CauseKind.FAILING: ("success_rate", 0.995, 0.9949),
    CauseKind.RETRIES: ("retry_backlog", 200_000, 200_001),
    CauseKind.DEAD_LETTERS: ("dead_letters_per_min", 1_000, 1_001),
}


def a_hold(url, reason, waiting=1, seconds_ago=0):
    return Hold(
        tenant_id=UUID(int=1),
        gate=GateName(GateKind.TARGET, url),
        lane=HeldLane.FIRST,
        reason=reason,
        since=NOW - timedelta(seconds=seconds_ago),
        waiting=waiting,
    )


def test_in_every_combination_a_figure_beyond_its_limit_is_a_cause_and_makes_it_degraded():
    for beyond in product([False, True], repeat=len(FIGURES)):
        wrong = {kind for kind, is_beyond in zip(FIGURES, beyond, strict=True) if is_beyond}
        values = {name: bad if kind in wrong else limit for kind, (name, limit, bad) in FIGURES.items()}
        found = figure_causes(HealthFigures(**values))
        assert {cause.kind for cause in found} == wrong
        assert mode_of(found) == (HealthMode.DEGRADED if wrong else HealthMode.NORMAL)


def test_every_kind_of_cause_makes_it_degraded_and_what_explains_the_rest_comes_first():
    causes = [
        *figure_causes(HealthFigures(9_999, 0.5, 300_000, 2_000)),
        *budget_causes(["a"]),
        *target_causes([a_hold("https://x/1", HoldReason.BREAKER), a_hold("https://y/1", HoldReason.NO_ANSWER)]),
        *cell_causes(["b"], {"a": 12, "c": 0}),
    ]
    assert {cause.kind for cause in causes} == set(CauseKind)
    assert [cause.kind for cause in in_order(causes)] == list(CauseKind)
    assert {mode_of([cause]) for cause in causes} == {HealthMode.DEGRADED}
    assert mode_of([]) == HealthMode.NORMAL


def test_a_sick_target_is_named_by_its_host_with_all_that_waits_there():
    holds = [
        a_hold("https://user:secret@shop:8443/a?key=secret", HoldReason.NO_ANSWER, 30, 20),
        a_hold("https://shop:8443/b", HoldReason.TARGET_CAP, 12),
        a_hold("https://busy/", HoldReason.TARGET_CAP, 99),
        a_hold("https://shop:8443/c", HoldReason.NO_ANSWER, 1, 40),
    ]
    [cause] = target_causes(holds)
    assert (cause.kind, cause.target, cause.count) == (CauseKind.TARGET_SILENT, "shop:8443", 43)
    assert cause.since == NOW - timedelta(seconds=40)


def test_at_most_ten_targets_are_named_those_with_most_waiting_calls():
    causes = target_causes(a_hold(f"https://host{n:02}/", HoldReason.BREAKER, n) for n in range(30))
    assert [cause.target for cause in causes] == [f"host{n:02}" for n in range(29, 19, -1)]

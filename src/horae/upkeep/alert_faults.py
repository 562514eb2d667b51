"""Finds what the alert rules are about, in the rows of one cell."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.alerts.alerts import RuleFault
from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import NamedRule, WatchedJob
from horae.domain.errors import Unavailable
from horae.domain.health.delay_causes import find_delay_causes, newest_late_minute, text_of
from horae.domain.health.signals import Signal, add_signals, percentile_ms
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.clock import boottime
from horae.store.alerts import faults
from horae.store.alerts.alerts import OpenGroup
from horae.store.alerts.faults import EndedRuns, LastSourceRound, OverdueFires
from horae.store.databases import archived_days, partitions
from horae.store.health import delay_causes, service_level, signals
from horae.store.tx import Tx
from horae.store.workers import queues
from horae.upkeep.alert_rules import TenantRules

MINUTE: Final = timedelta(minutes=1)
DELAYS_SPAN: Final = timedelta(minutes=5)
SUCCESS_RATE_SPAN: Final = timedelta(minutes=10)
LEAST_ATTEMPTS: Final = 10
"""Attempts below which a success rate says nothing."""
QUEUES_PAGE: Final = 100
FAILURES_PAGE: Final = 200
"""Jobs whose last runs one statement counts."""
MAX_CHECKS_S: Final = 5.0
"""Seconds after which no further state of a tenant is checked in a round: the other tenants wait meanwhile."""
MAX_TARGETS: Final = 10_000
"""Targets that take no calls which one round looks at."""
NODE_REMEMBERED: Final = timedelta(minutes=10)
"""How long a node that fell silent is a fault: later it is replaced, or nobody misses it."""
ARCHIVE_PATIENCE: Final = timedelta(days=2)
"""A day is archived after it has ended, which takes a round."""


class RuleCheck(NamedTuple):
    """A rule to check in a transaction of a cell. `objective` is the part of all due times that is to be in time."""

    cell: str
    tx: Tx
    tenant: TenantRules
    rule: NamedRule
    objective: float

    def fault(self, subject: str, reason: str, count: int = 1, job_id: UUID | None = None) -> RuleFault:
        """A fault of this rule."""
        return RuleFault(self.tenant.tenant_id, self.rule, subject, reason, max(1, count), job_id)

    @property
    def of_tenant(self) -> UUID | None:
        """The tenant whose signals count; None: all tenants."""
        return None if self.tenant.name == SYSTEM else self.tenant.tenant_id

    @property
    def limit_span(self) -> timedelta:
        """The threshold of the rule, where it is in seconds."""
        return timedelta(seconds=self.rule.rule.limit)


def dead_and_missed(
    tenants: dict[UUID, TenantRules], ended: Iterable[EndedRuns], jobs: dict[UUID, WatchedJob]
) -> list[RuleFault]:
    """Faults about runs that ended: dead letters, missed fires, first attempts that were late."""
    found = []
    for one in ended:
        job, tenant = jobs.get(one.job_id), tenants.get(one.tenant_id)
        if tenant is None or job is None:
            continue
        for rule in tenant.rules:
            limit, kind = rule.limit_for(job), rule.rule.kind
            if limit is None:
                continue
            if kind is AlertKind.DEAD_LETTER and one.dead:
                text, count = f"dead letters, last with {one.error_code}", one.dead
            elif kind is AlertKind.MISSED and one.missed:
                text, count = f"fires were skipped, last with {one.skip_reason}", one.missed
            elif kind is AlertKind.LATE and one.delay_ms >= limit * 1000:
                text, count = f"the first attempt came {one.delay_ms / 1000:.0f} s after the fire time", 1
            else:
                continue
            found.append(RuleFault(one.tenant_id, rule, str(one.job_id), text, count, one.job_id, job))
    return found


def late(
    tenants: dict[UUID, TenantRules], overdue: Iterable[OverdueFires], jobs: dict[UUID, WatchedJob]
) -> list[RuleFault]:
    """Faults about fires that still wait for their first attempt."""
    found = []
    for one in overdue:
        job, tenant = jobs.get(one.job_id), tenants.get(one.tenant_id)
        for rule in () if tenant is None or job is None else tenant.of_kind(AlertKind.LATE):
            assert job is not None
            limit = rule.limit_for(job)
            if limit is not None and one.late_s >= limit:
                text = f"no attempt {one.late_s:.0f} s after the fire time; {one.fires} fires wait"
                found.append(RuleFault(one.tenant_id, rule, str(one.job_id), text, one.fires, one.job_id, job))
    return found


def jobs_to_count(ended: Iterable[EndedRuns], open_groups: Iterable[OpenGroup]) -> dict[UUID, set[UUID]]:
    """The jobs whose last runs are counted, by tenant: those with a new dead letter, and those of open alerts."""
    found: dict[UUID, set[UUID]] = defaultdict(set)
    for run in ended:
        if run.dead:
            found[run.tenant_id].add(run.job_id)
    for group in open_groups:
        if group.kind == AlertKind.FAILURES_IN_A_ROW and group.job_id:
            found[group.tenant_id].add(group.job_id)
    return found


async def failures(
    tx: Tx, tenant: TenantRules, asked: Collection[UUID], jobs: dict[UUID, WatchedJob]
) -> list[RuleFault]:
    """Faults about jobs of a tenant whose last runs all failed."""
    found = []
    for rule in tenant.of_kind(AlertKind.FAILURES_IN_A_ROW):
        limits = {id_: rule.limit_for(jobs[id_]) for id_ in sorted(asked) if id_ in jobs}
        counts = [(id_, max(1, int(limit))) for id_, limit in limits.items() if limit is not None]
        for start in range(0, len(counts), FAILURES_PAGE):
            page = dict(counts[start : start + FAILURES_PAGE])
            found += [
                RuleFault(
                    tenant.tenant_id, rule, str(id_), f"the last {page[id_]} runs failed", page[id_], id_, jobs[id_]
                )
                for id_ in sorted(await faults.failing(tx, page))
            ]
    return found


async def _no_success(check: RuleCheck) -> list[RuleFault]:
    since = check.tx.now - check.limit_span
    ids = await faults.without_success(check.tx, check.tenant.tenant_id, check.rule.rule, since)
    text = f"no success for {check.rule.rule.limit:.0f} s"
    return [check.fault(str(id_), text, job_id=id_) for id_ in ids]


async def stopped_targets(tx: Tx, tenants: dict[UUID, TenantRules]) -> list[RuleFault]:
    """Faults about targets that take no calls. Every tenant has this rule, so one statement asks for all of them."""
    found = []
    for one in await faults.stopped_targets(tx, MAX_TARGETS):
        tenant = tenants.get(one.tenant_id)
        place = one.target.partition("?")[0]  # a query may hold a credential, and messages leave the house
        what = f"the circuit breaker of {place} is open" if one.is_open else f"{place} answers nothing"
        for rule in () if tenant is None else tenant.of_kind(AlertKind.BREAKER_OPEN):
            if tx.now - one.since >= timedelta(seconds=rule.rule.limit):
                text = f"{what}; {one.waiting} calls wait"
                found.append(RuleFault(one.tenant_id, rule, place, text, max(1, one.waiting)))
    return found


async def _source_drift(check: RuleCheck) -> list[RuleFault]:
    return await _of_rounds(check, lambda one: one.counts.drift, "tasks differ from the list of the source")


async def _source_pending_dead(check: RuleCheck) -> list[RuleFault]:
    return await _of_rounds(check, lambda one: one.counts.dead, "tasks are pending in the source and dead letters here")


async def _of_rounds(check: RuleCheck, count: Callable[[LastSourceRound], int], what: str) -> list[RuleFault]:
    rounds = await faults.source_rounds(check.tx, check.tenant.tenant_id)
    return [
        check.fault(one.source, f"{count(one)} {what} {one.source}", count(one), one.job_id)
        for one in rounds
        if count(one) >= max(1, check.rule.rule.limit)
    ]


async def _rolling_coverage(check: RuleCheck) -> list[RuleFault]:
    found = await faults.lost_coverages(check.tx, check.tenant.tenant_id)
    return [
        check.fault(str(one.job_id), f"{one.fresh} of {one.subjects} subjects are fresh", job_id=one.job_id)
        for one in found
    ]


async def _stuck_intakes(check: RuleCheck) -> list[RuleFault]:
    found = await faults.stuck_intakes(check.tx, check.tenant.tenant_id, check.tx.now - check.limit_span)
    text = "the intake {} takes nothing; {} messages wait"
    return [check.fault(one.intake, text.format(one.intake, one.waiting), one.waiting) for one in found]


async def _unattended_queues(check: RuleCheck) -> list[RuleFault]:
    mine = check.tenant.tenant_id
    place: tuple[UUID, str] | None = (mine, "")
    found = []
    while place is not None and place[0] == mine:
        some, place = await queues.unattended(check.tx, place, QUEUES_PAGE, check.limit_span)
        found += [one for one in some if one.tenant_id == mine]
    return [
        check.fault(
            one.name, f"work waits in the queue {one.name} since {one.oldest:%H:%M:%S} UTC, and nobody polls it"
        )
        for one in found
    ]


async def _counted(check: RuleCheck, span: timedelta) -> list[tuple[datetime, Signal]]:
    return await signals.since(check.tx, check.tx.now - span - MINUTE, check.of_tenant)


def _sum(counted: Iterable[tuple[datetime, Signal]]) -> Signal:
    return add_signals([signal for _, signal in counted])


async def _trigger_delay(check: RuleCheck) -> list[RuleFault]:
    """Late fires. The platform also gets the likely causes, which may name tenants; tenants do not see each other."""
    limit, counted = check.rule.rule.limit, await _counted(check, DELAYS_SPAN)
    p95 = percentile_ms(_sum(counted).delays, 0.95)
    if p95 <= limit:
        return []
    text = f"95 % of the fires of the last 5 minutes were sent within {p95} ms; the limit is {limit:g} ms"
    minute = newest_late_minute(counted, limit) if check.of_tenant is None else None
    if minute is not None:
        found = find_delay_causes({check.cell: await delay_causes.read(check.tx, minute)}, limit)
        text = "; ".join([text, *(text_of(cause) for cause in found)])
    return [check.fault("", text)]


async def _success_rate(check: RuleCheck) -> list[RuleFault]:
    counted = _sum(await _counted(check, SUCCESS_RATE_SPAN))
    attempts = counted.success + counted.failed + counted.dead
    if attempts < LEAST_ATTEMPTS or counted.success_rate >= check.rule.rule.limit:
        return []
    text = f"{counted.success_rate:.1%} of {attempts} attempts of the last 10 minutes succeeded"
    return [check.fault("", text, attempts - counted.success)]


async def _retry_backlog(check: RuleCheck) -> list[RuleFault]:
    waiting = (await signals.backlog(check.tx, check.tx.now - 3 * MINUTE, check.of_tenant)).retry_backlog
    return (
        [check.fault("", f"{waiting} instances wait for a retry", waiting)] if waiting > check.rule.rule.limit else []
    )


async def _dead_letter_growth(check: RuleCheck) -> list[RuleFault]:
    counted = await signals.since(check.tx, check.tx.now - 3 * MINUTE, check.of_tenant)
    newest = max((minute for minute, _ in counted), default=None)
    grown = sum(signal.dead for minute, signal in counted if minute == newest)
    return [check.fault("", f"{grown} dead letters in a minute", grown)] if grown > check.rule.rule.limit else []


async def _silent_nodes(check: RuleCheck) -> list[RuleFault]:
    found = await faults.silent_nodes(check.tx, check.tx.now - NODE_REMEMBERED)
    return [check.fault(one.name, f"the node {one.name} was last seen at {one.seen_at:%H:%M:%S} UTC") for one in found]


async def _clock_untrusted(check: RuleCheck) -> list[RuleFault]:
    doubt = await faults.clock_doubt(check.tx)
    if doubt is None:
        return []
    return [check.fault("", f"the clock of the database jumped ahead by {doubt.total_seconds():.0f} s")]


async def _partition_missing(check: RuleCheck) -> list[RuleFault]:
    days = await partitions.days_ahead(check.tx)
    return [] if days >= check.rule.rule.limit else [check.fault("", f"tables exist for {days} days ahead")]


async def _archive_behind(check: RuleCheck) -> list[RuleFault]:
    found = await archived_days.unarchived(check.tx, (check.tx.now - ARCHIVE_PATIENCE).date())
    days = found.days
    return [check.fault("", f"{days} days wait for the archive", days)] if days >= max(1, check.rule.rule.limit) else []


async def _burning_budgets(check: RuleCheck) -> list[RuleFault]:
    levels = await service_level.read(check.tx, check.of_tenant, check.objective)
    found = []
    for priority, level in levels.items():
        rules = level.burning
        if len(rules) >= max(1, check.rule.rule.limit):
            name, rate = priority.name.lower(), level.burn_rate(rules[0].long)
            text = f"due times of priority {name} are late {rate:.1f} times as often as allowed ({rules[0].long})"
            found.append(check.fault(name, text, len(rules)))
    return found


CHECKS: Final[dict[AlertKind, Callable[[RuleCheck], Awaitable[list[RuleFault]]]]] = {
    AlertKind.NO_SUCCESS: _no_success,
    AlertKind.SOURCE_DRIFT: _source_drift,
    AlertKind.SOURCE_PENDING_DEAD: _source_pending_dead,
    AlertKind.ROLLING_COVERAGE: _rolling_coverage,
    AlertKind.INTAKE_STUCK: _stuck_intakes,
    AlertKind.QUEUE_UNPOLLED: _unattended_queues,
    AlertKind.TRIGGER_DELAY_P95: _trigger_delay,
    AlertKind.RUN_SUCCESS_RATE_10M: _success_rate,
    AlertKind.RETRY_BACKLOG: _retry_backlog,
    AlertKind.DLQ_GROWTH_RATE: _dead_letter_growth,
    AlertKind.NODE_STUCK: _silent_nodes,
    AlertKind.CLOCK_UNTRUSTED: _clock_untrusted,
    AlertKind.PARTITION_MISSING: _partition_missing,
    AlertKind.ARCHIVE_BEHIND: _archive_behind,
    AlertKind.ERROR_BUDGET_BURNING: _burning_budgets,
}
"""How to find each state. Faults of single runs, stopped targets and cells that are down are found elsewhere."""


def checked_rules(tenant: TenantRules) -> list[NamedRule]:
    """The rules of a tenant about states."""
    return [rule for rule in tenant.rules if rule.rule.kind in CHECKS]


async def states(cell: str, tx: Tx, tenant: TenantRules, objective: float) -> list[RuleFault]:
    """Check every rule of a tenant about a state of a cell. Raises `Unavailable` where they take too long together."""
    found, began_at = [], boottime()
    for rule in checked_rules(tenant):
        if boottime() - began_at > MAX_CHECKS_S:
            raise Unavailable(f"the alert rules of the tenant take longer than {MAX_CHECKS_S:.0f} s")
        found += await CHECKS[rule.rule.kind](RuleCheck(cell, tx, tenant, rule, objective))
    return await _with_jobs(tx, found)


async def _with_jobs(tx: Tx, found: Iterable[RuleFault]) -> list[RuleFault]:
    """Add what the rules know of a job, where a fault only has its id. Jobs that are not active are left out."""
    found = list(found)
    jobs = await faults.watched_jobs(tx, sorted({one.job_id for one in found if one.job_id is not None}))
    return [
        one if one.job_id is None else one._replace(job=jobs[one.job_id])
        for one in found
        if one.job_id is None or one.job_id in jobs
    ]

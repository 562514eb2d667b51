"""Alert rules: what is a fault, where messages about it go, and how often.

A tenant with an alert channel named `default` has rules without any setup: `default_rules`. A rule of the tenant for
the same kind and without a selector replaces the default rule of that kind.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from horae.domain.alerts.kinds import AlertKind, AlertScope, AlertSeverity
from horae.domain.errors import Invalid
from horae.domain.names import LONGEST_NAME
from horae.domain.tenants.tenants import SYSTEM

DEFAULT_CHANNEL: Final = "default"
"""The channel that a rule without channels uses, and whose presence turns on the default rules."""
DEFAULT_RULE: Final = "default:"
"""How the names of default rules begin. No rule of a tenant can be named so."""
MOST_CHANNELS: Final = 8
MOST_LABELS: Final = 8
LONGEST_OWNER: Final = 128
"""Characters."""
SHORTEST_REPEAT_S: Final = 300
"""A group sends at most one message about its alert in this time."""
SHORTEST_RESOLVE_S: Final = 30
"""States are looked at every 10 seconds: one that lasts must not be taken for one that ended."""
LONGEST_TIME_S: Final = 30 * 86_400
LATE_AFTER_S: Final = 60


class KindLimits(NamedTuple):
    """The default threshold of a kind and its unit, and how long it must be quiet until the alert is resolved.

    - `adds`: each fault is something that happened, such as a death; otherwise it is a state that was seen again.
    - `per_job`: a rule of this kind can select jobs.
    """

    threshold: float
    unit: str
    resolve_after_s: int
    adds: bool = False
    per_job: bool = False


LIMITS: Final[dict[AlertKind, KindLimits]] = {
    AlertKind.DEAD_LETTER: KindLimits(1, "dead letters", 300, adds=True, per_job=True),
    AlertKind.FAILURES_IN_A_ROW: KindLimits(3, "runs", 60, per_job=True),
    AlertKind.LATE: KindLimits(LATE_AFTER_S, "seconds after the fire time", 60, per_job=True),
    AlertKind.MISSED: KindLimits(1, "fires", 300, adds=True, per_job=True),
    AlertKind.NO_SUCCESS: KindLimits(86_400, "seconds without a success", 60, per_job=True),
    AlertKind.QUEUE_UNPOLLED: KindLimits(60, "seconds", 60),
    AlertKind.SOURCE_PENDING_DEAD: KindLimits(1, "tasks in a round of the source", 60),
    AlertKind.BREAKER_OPEN: KindLimits(10, "seconds", 60),
    AlertKind.SOURCE_DRIFT: KindLimits(1, "differences in a round of the source", 60),
    AlertKind.ROLLING_COVERAGE: KindLimits(0, "seconds", 60),
    AlertKind.INTAKE_STUCK: KindLimits(60, "seconds", 60),
    AlertKind.TRIGGER_DELAY_P95: KindLimits(2000, "milliseconds", 120),
    AlertKind.RUN_SUCCESS_RATE_10M: KindLimits(0.99, "part of the attempts", 120),
    AlertKind.RETRY_BACKLOG: KindLimits(1000, "instances", 120),
    AlertKind.DLQ_GROWTH_RATE: KindLimits(100, "dead letters in a minute", 120),
    AlertKind.NODE_STUCK: KindLimits(0, "seconds", 60),
    AlertKind.CELL_DOWN: KindLimits(10, "seconds", 60),
    AlertKind.CLOCK_UNTRUSTED: KindLimits(0, "seconds", 60),
    AlertKind.PARTITION_MISSING: KindLimits(3, "days ahead", 60),
    AlertKind.ARCHIVE_BEHIND: KindLimits(1, "days", 60),
    AlertKind.ERROR_BUDGET_BURNING: KindLimits(1, "windows", 120),
}
"""Every kind that a rule can have."""
DEFAULT_TENANT_KINDS: Final = (
    AlertKind.DEAD_LETTER,
    AlertKind.BREAKER_OPEN,
    AlertKind.LATE,
    AlertKind.FAILURES_IN_A_ROW,
)
"""The default rules of a tenant. The last two watch only jobs that set `late_after` or `fail_after`."""


class WatchedJob(NamedTuple):
    """What the rules know of a job.

    `contacts` are further alert channels. `late_after` and `fail_after` are the job's own thresholds.
    """

    name: str
    labels: Mapping[str, str] = {}
    owner: str | None = None
    contacts: tuple[str, ...] = ()
    late_after: int | None = None
    fail_after: int | None = None
    runbook: str | None = None


class AlertRule(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A rule: the kind of fault, the jobs it is about (all without a selector), and where messages go.

    - `threshold`: from where on it is a fault, in the unit of its kind; `resolve_after`: seconds without the fault
      until the alert is resolved. None: the default of the kind.
    - `channels`: names of alert channels; none: the channel `default`. The contacts of a job are added.
    - `group_by`: one alert for each job, or one for the whole tenant.
    - `repeat_after`: seconds after which an alert that is still open is sent again; 0: never.
    """

    kind: AlertKind
    job: str | None = None
    labels: dict[str, str] = {}
    owner: str | None = None
    threshold: float | None = None
    resolve_after: int | None = None
    channels: tuple[str, ...] = ()
    severity: AlertSeverity | None = None
    group_by: Literal["job", "tenant"] = "job"
    repeat_after: int = 3600
    enabled: bool = True

    def __post_init__(self) -> None:
        if self.selects_jobs and not LIMITS[self.kind].per_job:
            raise Invalid(f"a rule of the kind {self.kind} is about the whole tenant, so it selects no jobs")
        if self.threshold is not None and not 0 <= self.threshold <= 1e9:
            raise Invalid("a threshold is 0 to 1,000,000,000")
        if self.threshold is not None and LIMITS[self.kind].adds:
            raise Invalid(f"a rule of the kind {self.kind} is about each single one, so it has no threshold")
        if self.resolve_after is not None and not SHORTEST_RESOLVE_S <= self.resolve_after <= LONGEST_TIME_S:
            raise Invalid(f"an alert is resolved after {SHORTEST_RESOLVE_S} to {LONGEST_TIME_S} seconds")
        if self.repeat_after and not SHORTEST_REPEAT_S <= self.repeat_after <= LONGEST_TIME_S:
            raise Invalid(f"an alert is repeated after {SHORTEST_REPEAT_S} to {LONGEST_TIME_S} seconds, or never (0)")
        if len(self.channels) > MOST_CHANNELS or len(set(self.channels)) < len(self.channels):
            raise Invalid(f"a rule names up to {MOST_CHANNELS} different channels")
        if (
            len(self.labels) > MOST_LABELS
            or len(self.job or "") > LONGEST_NAME
            or len(self.owner or "") > LONGEST_OWNER
        ):
            raise Invalid("the selector of a rule is too long")

    @property
    def selects_jobs(self) -> bool:
        """Whether the rule is about some jobs only."""
        return self.job is not None or bool(self.labels) or self.owner is not None

    @property
    def limit(self) -> float:
        """The threshold that applies."""
        return LIMITS[self.kind].threshold if self.threshold is None else self.threshold

    @property
    def quiet_s(self) -> int:
        """Seconds without the fault until the alert is resolved."""
        return LIMITS[self.kind].resolve_after_s if self.resolve_after is None else self.resolve_after

    def covers(self, job: WatchedJob | None) -> bool:
        """Whether the rule is about a job, or about something that is no job (None)."""
        return covers_job(self.job, self.labels, self.owner, job)


class NamedRule(NamedTuple):
    """A rule of a tenant by its name. `is_default`: the tenant has it without any setup."""

    name: str
    rule: AlertRule
    is_default: bool = False

    def limit_for(self, job: WatchedJob) -> float | None:
        """Return the threshold for a job; None where the rule does not watch it.

        The job's own `late_after` and `fail_after` come first. A default rule watches only jobs that have them.
        """
        kind = self.rule.kind
        own = {AlertKind.LATE: job.late_after, AlertKind.FAILURES_IN_A_ROW: job.fail_after}.get(kind)
        if not self.rule.covers(job) or (self.is_default and own is None and kind is not AlertKind.DEAD_LETTER):
            return None
        return self.rule.limit if own is None else own

    def channels_for(self, job: WatchedJob | None) -> tuple[str, ...]:
        """Return the channels of the rule and of the job; `default` where neither names one."""
        contacts = () if job is None else job.contacts
        return tuple(dict.fromkeys((*self.rule.channels, *contacts))) or (DEFAULT_CHANNEL,)


def covers_job(name: str | None, labels: Mapping[str, str], owner: str | None, job: WatchedJob | None) -> bool:
    """Whether a selector is about a job. An empty selector is about everything."""
    if name is None and not labels and owner is None:
        return True
    if job is None:
        return False
    return (
        (name is None or name == job.name)
        and (owner is None or owner == job.owner)
        and labels.items() <= dict(job.labels).items()
    )


def rules_of(tenant: str, own: Iterable[NamedRule], channels: Iterable[str]) -> list[NamedRule]:
    """Return the rules that apply in a tenant: its own that are enabled, and the default rules it did not replace."""
    own = list(own)
    replaced = {one.rule.kind for one in own if not one.rule.selects_jobs}
    defaults = [one for one in default_rules(tenant) if one.rule.kind not in replaced]
    return [one for one in own if one.rule.enabled] + (defaults if DEFAULT_CHANNEL in set(channels) else [])


def default_rules(tenant: str) -> list[NamedRule]:
    """Return the rules without any setup: of a tenant, or of the platform (the tenant `system`)."""
    kinds = [*DEFAULT_TENANT_KINDS]
    if tenant == SYSTEM:
        kinds += [kind for kind in AlertKind if kind.scope is AlertScope.PLATFORM]
    return [NamedRule(DEFAULT_RULE + kind, AlertRule(kind=kind), is_default=True) for kind in kinds]


def check_scope(tenant: str, rule: AlertRule) -> None:
    """Refuse a rule about the platform in a tenant that is not `system`."""
    about_platform = {kind for kind in AlertKind if kind.scope is AlertScope.PLATFORM and kind not in OF_ONE_TENANT}
    if tenant != SYSTEM and rule.kind in about_platform:
        raise Invalid(f"only the tenant `{SYSTEM}` can have a rule of the kind {rule.kind}")


OF_ONE_TENANT: Final = frozenset(
    {
        AlertKind.TRIGGER_DELAY_P95,
        AlertKind.RUN_SUCCESS_RATE_10M,
        AlertKind.RETRY_BACKLOG,
        AlertKind.DLQ_GROWTH_RATE,
        AlertKind.ERROR_BUDGET_BURNING,
    }
)
"""Kinds about the platform that a tenant can also have for its own instances."""

"""The kinds of alerts: how serious each is by default, and whom it concerns. Each has a page in `docs/runbooks`."""

from enum import StrEnum
from typing import Final, NamedTuple


class AlertSeverity(StrEnum):
    """How serious an alert is. CRITICAL: a person acts now. WARNING: on the same day. INFO: nobody has to act."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


class AlertScope(StrEnum):
    """Who acts on an alert: the people of a tenant, or the operators of the platform."""

    TENANT = "tenant"
    PLATFORM = "platform"


class AlertKind(StrEnum):
    """What an alert is about. The value is also the name of its rule and of its runbook."""

    DEAD_LETTER = "dead_letter"
    FAILURES_IN_A_ROW = "failures_in_a_row"
    LATE = "late"
    MISSED = "missed"
    NO_SUCCESS = "no_success"
    QUEUE_UNPOLLED = "queue_unpolled"
    SOURCE_PENDING_DEAD = "source_pending_dead"
    BREAKER_OPEN = "breaker_open"
    SOURCE_DRIFT = "source_drift"
    ROLLING_COVERAGE = "rolling_coverage"
    INTAKE_STUCK = "intake_stuck"
    TRIGGER_DELAY_P95 = "trigger_delay_p95"
    RUN_SUCCESS_RATE_10M = "run_success_rate_10m"
    RETRY_BACKLOG = "retry_backlog"
    DLQ_GROWTH_RATE = "dlq_growth_rate"
    NODE_STUCK = "node_stuck"
    CELL_DOWN = "cell_down"
    CLOCK_UNTRUSTED = "clock_untrusted"
    PARTITION_MISSING = "partition_missing"
    ARCHIVE_BEHIND = "archive_behind"
    ERROR_BUDGET_BURNING = "error_budget_burning"

    @property
    def severity(self) -> AlertSeverity:
        """The severity that a rule of this kind has by default."""
        return DEFAULTS[self].severity

    @property
    def scope(self) -> AlertScope:
        """Who acts on it by default."""
        return DEFAULTS[self].scope

    @property
    def runbook_page(self) -> str:
        """The path of its runbook below `docs`."""
        return f"runbooks/{self.value}.md"


class KindDefaults(NamedTuple):
    """What applies to a kind unless a rule says otherwise."""

    severity: AlertSeverity
    scope: AlertScope


_TENANT_CRITICAL: Final = KindDefaults(AlertSeverity.CRITICAL, AlertScope.TENANT)
_TENANT_WARNING: Final = KindDefaults(AlertSeverity.WARNING, AlertScope.TENANT)
_PLATFORM_CRITICAL: Final = KindDefaults(AlertSeverity.CRITICAL, AlertScope.PLATFORM)
_PLATFORM_WARNING: Final = KindDefaults(AlertSeverity.WARNING, AlertScope.PLATFORM)

DEFAULTS: Final[dict[AlertKind, KindDefaults]] = {
    AlertKind.DEAD_LETTER: _TENANT_CRITICAL,
    AlertKind.FAILURES_IN_A_ROW: _TENANT_WARNING,
    AlertKind.LATE: _TENANT_WARNING,
    AlertKind.MISSED: _TENANT_CRITICAL,
    AlertKind.NO_SUCCESS: _TENANT_CRITICAL,
    AlertKind.QUEUE_UNPOLLED: _TENANT_CRITICAL,
    AlertKind.SOURCE_PENDING_DEAD: _TENANT_CRITICAL,
    AlertKind.BREAKER_OPEN: _TENANT_WARNING,
    AlertKind.SOURCE_DRIFT: _TENANT_WARNING,
    AlertKind.ROLLING_COVERAGE: _TENANT_WARNING,
    AlertKind.INTAKE_STUCK: _TENANT_CRITICAL,
    AlertKind.TRIGGER_DELAY_P95: _PLATFORM_WARNING,
    AlertKind.RUN_SUCCESS_RATE_10M: _PLATFORM_WARNING,
    AlertKind.RETRY_BACKLOG: _PLATFORM_WARNING,
    AlertKind.DLQ_GROWTH_RATE: _PLATFORM_WARNING,
    AlertKind.NODE_STUCK: _PLATFORM_CRITICAL,
    AlertKind.CELL_DOWN: _PLATFORM_CRITICAL,
    AlertKind.CLOCK_UNTRUSTED: _PLATFORM_CRITICAL,
    AlertKind.PARTITION_MISSING: _PLATFORM_CRITICAL,
    AlertKind.ARCHIVE_BEHIND: _PLATFORM_WARNING,
    AlertKind.ERROR_BUDGET_BURNING: _PLATFORM_CRITICAL,
}

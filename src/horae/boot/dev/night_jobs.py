"""What the night of `horae dev --night` consists of: jobs with owners, rules, channels, a calendar, two more tenants.

Each fault has an alert:

| fault | alert |
|---|---|
| the target of a job is down | `dead_letter` |
| the fires of one tenant crowd a second | `trigger_delay_p95` of the platform |
| nobody polls a queue | `queue_unpolled` |
| a calendar silences a job | `no_success` |
| a node is frozen | `node_stuck` of the platform |
"""

from base64 import b64encode
from datetime import datetime, timedelta
from typing import Final

from horae.boot.dev.receiver import DOWN, SLOW
from horae.domain.alerts.channels import WebhookChannel
from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import DEFAULT_CHANNEL, AlertRule
from horae.domain.errors import Invalid
from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.jobs import Definition, Job
from horae.domain.schedules.calendars import Calendar, CalendarMode, CalendarUse
from horae.domain.schedules.policies import Policies
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger, cron
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.randomness import new_token
from horae.service.alerts import channels
from horae.service.context import Context, PlatformContext
from horae.service.encryption import secrets
from horae.service.jobs import jobs
from horae.service.schedules import calendars
from horae.service.tasks.batches import TaskIntent, schedule_many
from horae.service.tenants import tenants

HERD_TENANT: Final = "flash-sale"
DOWN_JOB: Final = "charge_cards"
HERD_TYPE: Final = "send_coupon"
QUEUE_JOB: Final = "print_labels"
SILENCED_JOB: Final = "settle_orders"
CALENDAR: Final = "stocktaking"
ALERTS: Final = "/alerts"
SETTLE: Final = "/settle"
HERD_CALLS: Final = 400
"""At 20 slots and 0.2 s a call they take at least four seconds, which is beyond the limit of two."""
DOWN_INTERVAL_S: Final = 20.0
QUEUE_INTERVAL_S: Final = 30.0
FIRST_FIRE_DELAY: Final = timedelta(seconds=2)
NO_SUCCESS_S: Final = 15
UNPOLLED_S: Final = 10
KEPT_OPEN_S: Final = 86_400
"""A circuit breaker holds the calls to a target that is down, so no dead letter follows: the alert stays open."""
SIGNING: Final = "alert-signing"
WIKI: Final = "https://wiki.example.com/runbooks"
RULES: Final = {
    "dead-letters": AlertRule(kind=AlertKind.DEAD_LETTER, resolve_after=KEPT_OPEN_S),
    "settlement": AlertRule(kind=AlertKind.NO_SUCCESS, job=SILENCED_JOB, threshold=NO_SUCCESS_S),
    "queues": AlertRule(kind=AlertKind.QUEUE_UNPOLLED, threshold=UNPOLLED_S),
}


async def make_tenants(ctx: Context) -> tuple[Context, Context]:
    """Create the tenants of the platform and of the herd; gives a context of each."""
    if ctx.tenant.name in {SYSTEM, HERD_TENANT}:
        raise Invalid(f"the night has a tenant {ctx.tenant.name} of its own: set another HORAE_TENANT, or none")
    caller = PlatformContext(ctx.store, ctx.actor)
    platform = await tenants.create(caller, SYSTEM, width=1)
    herd = await tenants.create(caller, HERD_TENANT)
    return Context.of(ctx.store, platform, ctx.actor), Context.of(ctx.store, herd, ctx.actor)


async def make_channel(ctx: Context, url: str) -> None:
    """Send the messages about alerts of a tenant to the receiver. A channel named `default` turns on default rules."""
    await secrets.put(ctx, SIGNING, "whsec_" + b64encode(new_token().bytes + new_token().bytes).decode())
    await channels.put_channel(ctx, DEFAULT_CHANNEL, WebhookChannel(url=url + ALERTS, signing=SIGNING))


async def make_jobs(ctx: Context, herd: Context, url: str, now: datetime) -> None:
    """Create the jobs of the night and the rules that watch them. Nothing is wrong yet but the target and the queue."""
    for name, rule in RULES.items():
        await channels.put_rule(ctx, name, rule)
    await calendars.put(ctx, _closed_days(now, days=0))
    soon = now + FIRST_FIRE_DELAY
    await jobs.create(
        ctx,
        DOWN_JOB,
        _definition(
            "payments-team",
            "Charges the cards of the orders of the last minutes.",
            trigger=IntervalTrigger(DOWN_INTERVAL_S, soon),
            target=HttpTarget(url + DOWN),
            retry=RetryPolicy(max_failures=1),
        ),
    )
    await jobs.create(
        ctx,
        QUEUE_JOB,
        _definition(
            "warehouse-team",
            "Prints the labels of parcels.",
            trigger=IntervalTrigger(QUEUE_INTERVAL_S, soon),
            target=QueueTarget(QUEUE_JOB),
        ),
    )
    await jobs.create(
        ctx,
        SILENCED_JOB,
        _definition(
            "finance-team",
            "Settles the orders that were paid.",
            trigger=cron("*/5 * * * * *"),
            target=HttpTarget(url + SETTLE),
            policies=Policies(calendars=(CalendarUse(CALENDAR, CalendarMode.EXCLUDE),)),
        ),
    )
    coupons = _definition(
        "growth-team", "Sends a coupon to a customer.", trigger=KeyedTrigger(), target=HttpTarget(url + SLOW)
    )
    await jobs.create(herd, HERD_TYPE, coupons)


async def silence(ctx: Context, now: datetime) -> None:
    """Put today and the days after it into the calendar that the job excludes."""
    await calendars.put(ctx, _closed_days(now, days=3))


def is_of_herd(job: Job) -> bool:
    """Whether a job is that of the herd: a line for each of its calls would hide all others."""
    return job.name == HERD_TYPE


async def plan_herd(herd: Context, number: int, at: datetime) -> None:
    """Let many calls of one tenant be due at the same time."""
    wishes = [TaskIntent(f"round-{number}-customer-{one}", at) for one in range(HERD_CALLS)]
    for answer in await schedule_many(herd, HERD_TYPE, wishes):
        if isinstance(answer, Exception):
            raise answer


def _closed_days(now: datetime, days: int) -> Calendar:
    first = now.date()
    closed = frozenset(first + timedelta(days=number) for number in range(days))
    return Calendar(name=CALENDAR, first=first, last=first + timedelta(days=365), added=closed)


def _definition(owner: str, description: str, **facts: object) -> Definition:
    page = f"{WIKI}/{owner}"
    return Definition(owner=owner, description=description, runbook=page, **facts)  # type: ignore[arg-type]

"""The node that the settings describe, and those of its duties that have settings of their own."""

import socket
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from horae import archive
from horae.boot.monitoring import node_cells
from horae.boot.shard_roles import ShardRoles
from horae.delivery.broker_connections import Lines
from horae.delivery.outlets import Outlets
from horae.delivery.push import Sender
from horae.domain.health.doctor import DURABLE
from horae.domain.health.growth import RetentionTerms
from horae.domain.health.readiness import ready_state
from horae.domain.ids import shard_in
from horae.domain.measures.measures import MeasureLines
from horae.engine.allowances import Allowances
from horae.engine.node import Node
from horae.repositories.secret_book import SecretBook
from horae.runtime.settings import Settings
from horae.store.protocol import CellProtocol
from horae.store.store import Store
from horae.upkeep.anchors import Anchorer, AnchorWebhook
from horae.upkeep.archive import DayArchiver
from horae.upkeep.days import DayDropper
from horae.upkeep.doctor import Doctor
from horae.upkeep.growth import GrowthMeter
from horae.upkeep.heartbeat import HeartbeatSender, HeartbeatTarget
from horae.upkeep.marks import Marker
from horae.upkeep.measures import MeasureJudge
from horae.upkeep.old_rows import OldRowForgetter


def node_of(
    settings: Settings,
    store: Store,
    sender: Sender,
    allowances: Allowances,
    owner: Store | None = None,
    relayed_from: Callable[[str], int] = lambda _cell: 0,
) -> Node:
    """The node that the settings describe, not yet started. `owner`: the same cells as the owner of the tables."""
    ttl = timedelta(seconds=settings.lease_ttl)
    return Node(
        store,
        socket.gethostname(),
        ttl,
        sender,
        allowances,
        slots=settings.slots,
        long_slots=settings.long_slots,
        enforced=settings.leases,
        secrets=book_of(sender),
        owner=owner,
        safety_look=timedelta(seconds=settings.safety_look),
        relayed_from=relayed_from,
        share=settings.lane_share(),
    )


def book_of(sender: Sender) -> SecretBook | None:
    """The sender's `SecretBook`; None if it only has the secrets of this deployment."""
    return sender.secrets if isinstance(sender.secrets, SecretBook) else None


def doctor_of(settings: Settings, store: Store) -> Doctor:
    """The duty that watches the cells, and ends sessions that hold a snapshot for too long.

    The private database of `horae dev` may lose commits in a power cut: it is gone at the end anyway.
    """
    limit = settings.snapshot_limit
    accepted = DURABLE if settings.environment == "dev" else ()
    return Doctor(store, None if limit is None else timedelta(seconds=limit), accepted)


def day_archiver_of(settings: Settings, store: Store) -> DayArchiver | None:
    """The duty that archives days of history; None without an archive. Raises where its libraries are missing."""
    if settings.archive is None:
        return None
    target = archive.load("object_store").open_target(settings)
    return DayArchiver(store, target, timedelta(days=settings.history_days), timedelta(days=settings.archive_days))


def day_dropper_of(settings: Settings, store: Store, archiver: DayArchiver | None) -> DayDropper:
    """The duty that drops days of history, events, results and logs, with the terms of the settings."""
    kept, held = timedelta(days=settings.history_days), timedelta(days=settings.history_held_days)
    return DayDropper(store, kept, held, archiver, timedelta(days=settings.log_days))


def ended_jobs_kept(settings: Settings) -> timedelta:
    """A job outlives its history, so that every ended instance has one."""
    archived = 0 if settings.archive is None else settings.archive_days
    with_history = settings.history_days + max(settings.history_held_days, archived) + 1
    return timedelta(days=max(settings.ended_job_days, with_history))


def growth_meter_of(settings: Settings, store: Store, archiver: DayArchiver | None) -> GrowthMeter:
    """The duty that measures how cells grow, and tells the terms of this node."""
    terms = RetentionTerms(
        history=settings.history_days,
        held=settings.history_held_days,
        logs=settings.log_days,
        dead_letters=settings.dead_letter_days,
        ended_jobs=ended_jobs_kept(settings).days,
        audit=settings.audit_days,
        archive=None if settings.archive is None else settings.archive_days,
    )
    return GrowthMeter(store, settings.history_days, settings.disks(), terms, archiver)


def old_row_forgetter_of(settings: Settings, owner: Store) -> OldRowForgetter:
    """The duty that deletes old rows."""
    dead_letters_kept = timedelta(days=settings.dead_letter_days)
    return OldRowForgetter(owner, dead_letters_kept=dead_letters_kept, ended_jobs_kept=ended_jobs_kept(settings))


def marker_of(settings: Settings, owner: Store, mine: Callable[[CellProtocol], bool]) -> Marker:
    """The duty that maps times to transactions, for as long as days are kept."""
    return Marker(owner, mine, timedelta(days=settings.history_days + settings.history_held_days + 1))


def anchorer_of(settings: Settings, store: Store, sender: Sender) -> Anchorer:
    """The duty that records the heads of the audit chains, and where."""
    url, webhook = settings.audit_anchor_url, None
    if url is not None:
        webhook = AnchorWebhook(sender.client, url, settings.audit_anchor_secret, store.clock.now)
    return Anchorer(store, settings.audit_anchors, webhook)


def measure_judge_of(settings: Settings, store: Store, roles: ShardRoles) -> MeasureJudge:
    """The duty that judges protective measures, with the lines of the settings."""
    lines = MeasureLines(
        trigger_delay_p95_ms=settings.measure_trigger_delay_p95_ms,
        run_success_rate_10m=settings.measure_run_success_rate_10m,
        retry_backlog=settings.measure_retry_backlog,
        dlq_growth_per_min=settings.measure_dlq_growth_per_min,
        peak_load=settings.measure_peak_load,
    )
    return MeasureJudge(store, roles.speaks_for_all, lines, acts=settings.measures)


def heartbeat_of(
    settings: Settings, store: Store, sender: Sender, node: Node, roles: ShardRoles
) -> HeartbeatSender | None:
    """The duty that sends heartbeats to an outside service; None where no service is configured."""
    if settings.heartbeat_url is None:
        return None
    target = HeartbeatTarget(sender.client, settings.heartbeat_url, settings.heartbeat_secret)
    return HeartbeatSender(
        store,
        target,
        roles.speaks_for_all,
        lambda: ready_state(list(node_cells(node, store)), 0.0).reasons,
    )


def outlets_of(store: Store, sender: Sender, lines: Lines) -> Outlets:
    """The sinks of subscriptions."""

    async def learn(tenant_id: UUID, name: str) -> None:
        if (book := book_of(sender)) is not None:
            await book.learn(store.cell(shard_in(tenant_id)), {tenant_id: [name]})

    return Outlets(lines, sender.client, sender.secrets, learn, sender.wall)

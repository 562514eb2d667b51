"""The upkeep of a node: how often each duty runs, and what is closed behind it."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from horae.boot import fitness
from horae.boot.alerts import alert_sender_of, mailer_of, pages_of
from horae.boot.node_parts import (
    anchorer_of,
    book_of,
    day_archiver_of,
    day_dropper_of,
    doctor_of,
    ended_jobs_kept,
    growth_meter_of,
    heartbeat_of,
    marker_of,
    measure_judge_of,
    old_row_forgetter_of,
    outlets_of,
)
from horae.boot.senders import egress_of
from horae.boot.shard_roles import ShardRoles
from horae.delivery.broker_connections import Lines
from horae.delivery.push import Sender
from horae.engine.node import Node
from horae.repositories.envelopes import Envelopes
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.garbage import GarbageCollector
from horae.runtime.loop import Duty, Loop
from horae.runtime.settings import Settings
from horae.store.cells import Cell
from horae.store.nodes.pulses import Sign
from horae.store.store import Store
from horae.upkeep.alert_delivery import AlertDeliverer
from horae.upkeep.alert_watch import AlertWatcher
from horae.upkeep.audit_chain import AuditChainer, Dropper
from horae.upkeep.copies import Copier
from horae.upkeep.coverages import Coverer
from horae.upkeep.dead_letter_triage import CauseSorter, PacedReplayer
from horae.upkeep.edges import EdgeFollower
from horae.upkeep.feed import Feed
from horae.upkeep.fire_audit import FireAuditor
from horae.upkeep.gauges import GaugeReader
from horae.upkeep.generations import GenerationWatch
from horae.upkeep.holds import HoldSweeper
from horae.upkeep.idempotency import Forgetter
from horae.upkeep.intakes import Intakes
from horae.upkeep.joining import CellJoiner
from horae.upkeep.key_rotation import Reencrypter, Rewrapper
from horae.upkeep.ledgers import KeyForgetter
from horae.upkeep.measures import MeasureReader
from horae.upkeep.old_versions import VersionForgetter
from horae.upkeep.partitions import Partitioner
from horae.upkeep.purges import Purger
from horae.upkeep.queue_workers import WorkerForgetter
from horae.upkeep.reconciler import Reconciler
from horae.upkeep.recovery import RecoveryExecutor
from horae.upkeep.relay import Relay, RelayProgress
from horae.upkeep.removed_types import RemovedTypeForgetter
from horae.upkeep.service_level import LevelReader
from horae.upkeep.shard_mover import ShardMover
from horae.upkeep.signals import Signaller
from horae.upkeep.tombstones import TombstoneForgetter
from horae.upkeep.vacuum import Vacuumer

AUDIT_CHAIN_INTERVAL_S: Final = 1.0
SECRETS_INTERVAL_S: Final = 1.0
RELAY_INTERVAL_S: Final = 1.0
RECONCILER_INTERVAL_S: Final = 1.0
FEED_INTERVAL_S: Final = 1.0
EDGES_INTERVAL_S: Final = 1.0
INTAKES_INTERVAL_S: Final = 1.0
ALERT_DELIVERY_INTERVAL_S: Final = 1.0
ALERT_WATCH_INTERVAL_S: Final = 2.0
COPY_INTERVAL_S: Final = 2.0
CELL_JOIN_INTERVAL_S: Final = 2.0
SHARD_MOVE_INTERVAL_S: Final = 2.0
VACUUM_INTERVAL_S: Final = 3.0
MARKS_INTERVAL_S: Final = 5.0
GENERATIONS_INTERVAL_S: Final = 5.0
DOCTOR_INTERVAL_S: Final = 15.0
FIRE_AUDIT_INTERVAL_S: Final = 15.0
PURGE_INTERVAL_S: Final = 30.0
REENCRYPT_INTERVAL_S: Final = 30.0
SIGNALS_INTERVAL_S: Final = 60.0
MEASURE_JUDGE_INTERVAL_S: Final = 15.0
MEASURE_READ_INTERVAL_S: Final = 1.0
CAUSE_SORT_INTERVAL_S: Final = 2.0
PACED_REPLAY_INTERVAL_S: Final = 1.0
RECOVERY_INTERVAL_S: Final = 1.0
"""The pause between two rounds of recovery; also the pace at which it replays pages of dead letters."""
EXPIRED_ROWS_INTERVAL_S: Final = 60.0
"""The pause between two rounds that delete expired idempotency keys, expired sessions and old tombstones."""
COVERAGE_INTERVAL_S: Final = 60.0
GARBAGE_INTERVAL_S: Final = 60.0
HOLDS_INTERVAL_S: Final = 60.0
QUEUE_WORKERS_INTERVAL_S: Final = 60.0
AUDIT_DROP_INTERVAL_S: Final = 3600.0
GAUGES_INTERVAL_S: Final = 30.0
OLD_ROWS_INTERVAL_S: Final = 3600.0
KEYS_INTERVAL_S: Final = 6 * 3600.0
ANCHOR_INTERVAL_S: Final = 3600.0
PARTITION_INTERVAL_S: Final = 3600.0
DAY_DROP_INTERVAL_S: Final = 600.0
GROWTH_INTERVAL_S: Final = 600.0
ARCHIVE_INTERVAL_S: Final = 300.0


class PeriodicDuty(NamedTuple):
    """A duty that runs at fixed intervals."""

    duty: Duty
    pause_s: float


class PulsedDuty(NamedTuple):
    """A duty that also runs when the pulse of a cell has this sign."""

    duty: Duty
    pause_s: float
    sign: Sign


@dataclass(frozen=True, kw_only=True)
class DutyParts:
    """What the duties of a node are made of.

    Duties use `store`, or `owner`, the same cells, where only the owner of the tables may write. Duties that belong to
    shards work only on shards that this node holds. `relayed` tells how far requests were relayed in each cell.
    """

    settings: Settings
    store: Store
    owner: Store
    sender: Sender
    lines: Lines
    node: Node
    roles: ShardRoles
    generations: GenerationWatch
    relayed: Mapping[str, RelayProgress]


class NodeUpkeep:
    """The duties of a node, from their start to their end."""

    def __init__(self, parts: DutyParts) -> None:
        node = parts.node
        self._connections = AsyncExitStack()
        periodic = [*_cell_duties(parts), *_duties_of_rows(parts), *_audit_duties(parts)]
        prompted = [*_prompted_duties(parts), *self._duties_with_connections(parts)]
        self._signaller = Signaller(parts.store, node.identity.incarnation, node.load.take, node.strain.take)
        self._loops = [
            Loop("signaller", self._signaller, SIGNALS_INTERVAL_S),
            *(Loop(_name(one.duty), one.duty, one.pause_s) for one in periodic),
            *(node.prompted_loop(_name(one.duty), *one) for one in prompted),
        ]
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Run all duties."""
        self._tasks = [asyncio.create_task(loop.run()) for loop in self._loops]

    async def stop(self) -> None:
        """End all duties, close their connections, and write the last signals."""
        await cancel_and_wait(*self._tasks)
        await self._connections.aclose()
        with suppress(Exception):  # the last counts; a cell that is down does not stop us
            await self._signaller.once()

    def _duties_with_connections(self, parts: DutyParts) -> list[PulsedDuty]:
        """Duties that talk to other systems than the cells, over connections that are closed at the end."""
        settings, store, owner, roles = parts.settings, parts.store, parts.owner, parts.roles
        outlets, mailer = outlets_of(store, parts.sender, parts.lines), mailer_of(settings)
        reconciler = Reconciler(store, roles.held_shards, parts.sender, egress_of(settings))
        intakes = Intakes(owner, settings.brokers, roles.held_shards)
        feed = Feed(owner, outlets, roles.held_shards)
        follower = EdgeFollower(owner, roles.held_shards)
        sender = alert_sender_of(store, parts.sender, book_of(parts.sender), mailer)
        deliverer = AlertDeliverer(owner, roles.chains_audit, sender)
        if mailer is not None:
            self._connections.callback(mailer.close)
        for one in (deliverer, outlets, follower, feed, intakes, reconciler):  # closed in the opposite order
            self._connections.push_async_callback(one.close)
        return [
            PulsedDuty(reconciler, RECONCILER_INTERVAL_S, Sign.SOURCES),
            PulsedDuty(feed, FEED_INTERVAL_S, Sign.SUBSCRIPTIONS),
            PulsedDuty(follower, EDGES_INTERVAL_S, Sign.EDGES),
            PulsedDuty(intakes, INTAKES_INTERVAL_S, Sign.INTAKES),
            PulsedDuty(deliverer, ALERT_DELIVERY_INTERVAL_S, Sign.ALERTS),
        ]


def _cell_duties(parts: DutyParts) -> list[PeriodicDuty]:
    """Duties that watch cells and nodes."""
    settings, store, owner, node, roles = parts.settings, parts.store, parts.owner, parts.node, parts.roles
    gauges = GaugeReader(
        owner,
        timedelta(days=settings.history_days),
        lambda cell: parts.relayed[cell].lowest(),
        archives=settings.archive is not None,
    )
    levels = LevelReader(store, settings.service_level)
    mover = ShardMover(owner, node.identity.incarnation, node.followed_stores)
    node.metric_sources += [gauges, levels, mover.metrics]
    joiner = CellJoiner(node.followed_stores, partial(_check_joining, settings, parts.generations), node.join)
    duties = [
        PeriodicDuty(joiner, CELL_JOIN_INTERVAL_S),
        PeriodicDuty(parts.generations, GENERATIONS_INTERVAL_S),
        PeriodicDuty(mover, SHARD_MOVE_INTERVAL_S),
        PeriodicDuty(measure_judge_of(settings, store, roles), MEASURE_JUDGE_INTERVAL_S),
        PeriodicDuty(gauges, GAUGES_INTERVAL_S),
        PeriodicDuty(levels, GAUGES_INTERVAL_S),
        PeriodicDuty(doctor_of(settings, store), DOCTOR_INTERVAL_S),
        PeriodicDuty(Coverer(store, roles.held_shards), COVERAGE_INTERVAL_S),
        PeriodicDuty(GarbageCollector(lambda: node.admission.waiting > 0), GARBAGE_INTERVAL_S),
    ]
    if (heartbeat := heartbeat_of(settings, store, parts.sender, node, roles)) is not None:
        duties.append(PeriodicDuty(heartbeat, settings.heartbeat_interval))
    return duties


def _duties_of_rows(parts: DutyParts) -> list[PeriodicDuty]:
    """Duties that make room for rows, and archive, encrypt again or delete old ones."""
    settings, store, owner, chains = parts.settings, parts.store, parts.owner, parts.roles.chains_audit
    archiver, ended_kept = day_archiver_of(settings, store), ended_jobs_kept(settings)
    keys = KeyForgetter(owner, timedelta(days=settings.dead_letter_days), chains)
    duties = [
        PeriodicDuty(Partitioner(store), PARTITION_INTERVAL_S),
        PeriodicDuty(day_dropper_of(settings, store, archiver), DAY_DROP_INTERVAL_S),
        PeriodicDuty(growth_meter_of(settings, store, archiver), GROWTH_INTERVAL_S),
        PeriodicDuty(Purger(owner), PURGE_INTERVAL_S),
        PeriodicDuty(Forgetter(owner), EXPIRED_ROWS_INTERVAL_S),
        PeriodicDuty(TombstoneForgetter(owner), EXPIRED_ROWS_INTERVAL_S),
        PeriodicDuty(keys, KEYS_INTERVAL_S),
        PeriodicDuty(old_row_forgetter_of(settings, owner), OLD_ROWS_INTERVAL_S),
        PeriodicDuty(RemovedTypeForgetter(owner, ended_kept), OLD_ROWS_INTERVAL_S),
        PeriodicDuty(VersionForgetter(owner, ended_kept, chains), OLD_ROWS_INTERVAL_S),
        PeriodicDuty(HoldSweeper(store), HOLDS_INTERVAL_S),
        PeriodicDuty(WorkerForgetter(store), QUEUE_WORKERS_INTERVAL_S),
    ]
    if archiver is not None:
        duties.append(PeriodicDuty(archiver, ARCHIVE_INTERVAL_S))
    if isinstance(store.cipher, Envelopes):
        duties.append(PeriodicDuty(Rewrapper(store, store.cipher), REENCRYPT_INTERVAL_S))
        duties.append(PeriodicDuty(Reencrypter(store), REENCRYPT_INTERVAL_S))
    return duties


def _audit_duties(parts: DutyParts) -> list[PeriodicDuty]:
    """Duties that audit fires, and keep what the audit log says."""
    settings, owner = parts.settings, parts.owner
    return [
        PeriodicDuty(FireAuditor(owner, parts.roles.chains_audit), FIRE_AUDIT_INTERVAL_S),
        PeriodicDuty(Dropper(owner, timedelta(days=settings.audit_days)), AUDIT_DROP_INTERVAL_S),
        PeriodicDuty(anchorer_of(settings, parts.store, parts.sender), ANCHOR_INTERVAL_S),
    ]


def _prompted_duties(parts: DutyParts) -> list[PulsedDuty]:
    """Duties that a change of rows prompts."""
    settings, store, owner, node, roles = parts.settings, parts.store, parts.owner, parts.node, parts.roles
    incarnation, chains = node.identity.incarnation, roles.chains_audit
    replayer = PacedReplayer(owner, lambda cell: roles.own_cell(cell).measures.in_force)
    relay = Relay(owner, roles.relayed_shards, parts.relayed)
    watcher = AlertWatcher(owner, chains, pages_of(settings), settings.service_level)
    duties = [
        PulsedDuty(MeasureReader(store, node.follow_measures), MEASURE_READ_INTERVAL_S, Sign.MEASURES),
        PulsedDuty(RecoveryExecutor(owner, incarnation), RECOVERY_INTERVAL_S, Sign.INCIDENTS),
        PulsedDuty(CauseSorter(owner), CAUSE_SORT_INTERVAL_S, Sign.UNSORTED_DEAD_LETTERS),
        PulsedDuty(replayer, PACED_REPLAY_INTERVAL_S, Sign.PACED_REPLAYS),
        PulsedDuty(Copier(store), COPY_INTERVAL_S, Sign.COPIES),
        PulsedDuty(Vacuumer(store), VACUUM_INTERVAL_S, Sign.ROWS_WRITTEN),
        PulsedDuty(AuditChainer(owner, chains), AUDIT_CHAIN_INTERVAL_S, Sign.UNCHAINED),
        PulsedDuty(relay, RELAY_INTERVAL_S, Sign.COMPENSATIONS),
        PulsedDuty(watcher, ALERT_WATCH_INTERVAL_S, Sign.ALERTS),
        PulsedDuty(marker_of(settings, owner, chains), MARKS_INTERVAL_S, Sign.ROWS_WRITTEN),
    ]
    if (book := book_of(parts.sender)) is not None:
        duties.append(PulsedDuty(book, SECRETS_INTERVAL_S, Sign.SECRETS))
    return duties


async def _check_joining(settings: Settings, watch: GenerationWatch, cell: Cell) -> None:
    """Check a cell that joins later like those that were there at the start."""
    await fitness.check_cell(settings, cell)
    await watch.check(cell, datetime.now(UTC))


def _name(duty: Duty) -> str:
    return type(duty).__name__.lower()

"""A node with its upkeep in this process, as `horae node`, `horae serve` and `horae dev` run it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from horae import archive
from horae.boot import fitness
from horae.boot.alerts import alert_sender_of, mailer_of, pages_of
from horae.boot.monitoring import node_cells
from horae.boot.senders import client_of, egress_of, sender_of
from horae.boot.tracing import ProcessTraces, tracing
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
from horae.repositories.envelopes import Envelopes
from horae.repositories.secret_book import SecretBook
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.garbage import GarbageCollector, freeze_present_objects
from horae.runtime.loop import Duty, Loop
from horae.runtime.settings import Settings
from horae.store.cells import Cell
from horae.store.nodes.pulses import Sign
from horae.store.protocol import CellProtocol
from horae.store.store import Store
from horae.upkeep.alert_delivery import AlertDeliverer
from horae.upkeep.alert_watch import AlertWatcher
from horae.upkeep.anchors import Anchorer, AnchorWebhook
from horae.upkeep.archive import DayArchiver
from horae.upkeep.audit_chain import AuditChainer, Dropper
from horae.upkeep.copies import Copier
from horae.upkeep.coverages import Coverer
from horae.upkeep.days import DayDropper
from horae.upkeep.dead_letter_triage import CauseSorter, PacedReplayer
from horae.upkeep.doctor import Doctor
from horae.upkeep.edges import EdgeFollower
from horae.upkeep.feed import Feed
from horae.upkeep.fire_audit import FireAuditor
from horae.upkeep.gauges import GaugeReader
from horae.upkeep.generations import GenerationWatch
from horae.upkeep.growth import GrowthMeter
from horae.upkeep.heartbeat import HeartbeatSender, HeartbeatTarget
from horae.upkeep.holds import HoldSweeper
from horae.upkeep.idempotency import Forgetter
from horae.upkeep.intakes import Intakes
from horae.upkeep.joining import CellJoiner
from horae.upkeep.key_rotation import Reencrypter, Rewrapper
from horae.upkeep.ledgers import KeyForgetter
from horae.upkeep.marks import Marker
from horae.upkeep.measures import MeasureJudge, MeasureReader
from horae.upkeep.old_rows import OldRowForgetter
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


def _ended_jobs_kept(settings: Settings) -> timedelta:
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
        ended_jobs=_ended_jobs_kept(settings).days,
        audit=settings.audit_days,
        archive=None if settings.archive is None else settings.archive_days,
    )
    return GrowthMeter(store, settings.history_days, settings.disks(), terms, archiver)


def old_row_forgetter_of(settings: Settings, owner: Store) -> OldRowForgetter:
    """The duty that deletes old rows."""
    dead_letters_kept = timedelta(days=settings.dead_letter_days)
    return OldRowForgetter(owner, dead_letters_kept=dead_letters_kept, ended_jobs_kept=_ended_jobs_kept(settings))


def marker_of(settings: Settings, owner: Store, mine: Callable[[CellProtocol], bool]) -> Marker:
    """The duty that maps times to transactions, for as long as days are kept."""
    return Marker(owner, mine, timedelta(days=settings.history_days + settings.history_held_days + 1))


def anchorer_of(settings: Settings, store: Store, sender: Sender) -> Anchorer:
    """The duty that records the heads of the audit chains, and where."""
    url, webhook = settings.audit_anchor_url, None
    if url is not None:
        webhook = AnchorWebhook(sender.client, url, settings.audit_anchor_secret, store.clock.now)
    return Anchorer(store, settings.audit_anchors, webhook)


def measure_judge_of(settings: Settings, store: Store, worker: Node) -> MeasureJudge:
    """The duty that judges protective measures, with the lines of the settings."""
    lines = MeasureLines(
        trigger_delay_p95_ms=settings.measure_trigger_delay_p95_ms,
        run_success_rate_10m=settings.measure_run_success_rate_10m,
        retry_backlog=settings.measure_retry_backlog,
        dlq_growth_per_min=settings.measure_dlq_growth_per_min,
        peak_load=settings.measure_peak_load,
    )
    return MeasureJudge(store, lambda: _speaks_for_all(store, worker), lines, acts=settings.measures)


def heartbeat_of(settings: Settings, store: Store, sender: Sender, worker: Node) -> HeartbeatSender | None:
    """The duty that sends heartbeats to an outside service; None where no service is configured."""
    if settings.heartbeat_url is None:
        return None
    target = HeartbeatTarget(sender.client, settings.heartbeat_url, settings.heartbeat_secret)
    return HeartbeatSender(
        store,
        target,
        lambda: _speaks_for_all(store, worker),
        lambda: ready_state(list(node_cells(worker, store)), 0.0).reasons,
    )


def outlets_of(store: Store, sender: Sender, lines: Lines) -> Outlets:
    """The sinks of subscriptions."""

    async def learn(tenant_id: UUID, name: str) -> None:
        if (book := book_of(sender)) is not None:
            await book.learn(store.cell(shard_in(tenant_id)), {tenant_id: [name]})

    return Outlets(lines, sender.client, sender.secrets, learn, sender.wall)


@asynccontextmanager
async def run_node(
    settings: Settings,
    store: Store,
    secrets: SecretBook,
    make_sender: Callable[..., Sender] = Sender,
    shared_traces: ProcessTraces | None = None,
) -> AsyncIterator[Node]:
    """Run a node with its upkeep during the block; then release its shards and let running attempts end.

    `make_sender` takes the arguments of `Sender`.
    """
    allowances, lines = Allowances.of(store), Lines(settings.brokers)
    async with tracing(settings, shared_traces) as traces, store.as_owner() as owner:
        tracer = None if traces is None else traces.tracer
        sender = make_sender(client_of(settings), secrets, egress_of=allowances.egress, lines=lines, tracer=tracer)
        async with _run_node(settings, store, owner, sender, allowances, lines) as node:
            if traces is not None:
                node.metric_sources.append(traces.exporter)
            yield node


def _own_cell(store: Store, cell: CellProtocol) -> Cell:
    """The cell of this store; `cell` may be the owner's view of it."""
    [own] = [one for one in store.cells if one.name == cell.name]
    return own


def _held_shards(store: Store, worker: Node, cell: CellProtocol) -> frozenset[int]:
    """The shards of a cell that this node holds."""
    return worker.leases.held_shards(_own_cell(store, cell))


def _chains_audit(store: Store, worker: Node, cell: CellProtocol) -> bool:
    """Whether this node chains the audit rows of a cell: the node that holds the first shard does."""
    return min(store.shards_of(_own_cell(store, cell)), default=-1) in _held_shards(store, worker, cell)


def _relayed_shards(store: Store, worker: Node, cell: CellProtocol) -> frozenset[int]:
    """The shards whose requests this node relays in a cell: those that it holds.

    The node that chains the audit rows also relays what moved shards have left there.
    """
    held = _held_shards(store, worker, cell)
    return held | store.left_shards(_own_cell(store, cell)) if _chains_audit(store, worker, cell) else held


def _speaks_for_all(store: Store, worker: Node) -> bool:
    """Whether this node sends heartbeats: the node that holds the first shard of the first cell that answers does."""
    cell = next((cell for cell in store.cells if cell.is_open and not cell.reach.is_down), None)
    return cell is not None and _chains_audit(store, worker, cell)


def _name(duty: Duty) -> str:
    return type(duty).__name__.lower()


async def _check_joining(settings: Settings, watch: GenerationWatch, cell: Cell) -> None:
    """Check a cell that joins later like those that were there at the start."""
    await fitness.check_cell(settings, cell)
    await watch.check(cell, datetime.now(UTC))


@asynccontextmanager
async def _run_node(
    settings: Settings, store: Store, owner: Store, sender: Sender, allowances: Allowances, lines: Lines
) -> AsyncIterator[Node]:
    """Start a node and its duties, and stop them in the opposite order.

    1. Refuse cells that do not have what the guarantees of Horae need, and close those that were restored elsewhere.
    2. Build the node. Duties use `store`, or `owner` where only the owner of the tables may write. Duties that belong
       to shards work only on shards that this node holds.
    3. `duties` run at fixed intervals. `prompted` duties run when the pulse of a cell has their sign.
    4. Start the upkeep, then the node.
    5. At the end, stop the node first, so that running attempts can finish; then the upkeep and its connections; and
       write the last signals.
    """
    await fitness.check(settings, store)
    watch = GenerationWatch(store)
    await watch.once()
    relayed = {cell.name: RelayProgress() for cell in owner.cells}
    worker = node_of(settings, store, sender, allowances, owner, lambda cell: relayed[cell].lowest())
    stores = worker.followed_stores = [store] if owner is store else [store, owner]
    outlets = outlets_of(store, sender, lines)
    intakes = Intakes(owner, settings.brokers, partial(_held_shards, store, worker))
    feed = Feed(owner, outlets, partial(_held_shards, store, worker))
    follower = EdgeFollower(owner, partial(_held_shards, store, worker))
    relay = Relay(owner, partial(_relayed_shards, store, worker), relayed)
    reconciler = Reconciler(store, partial(_held_shards, store, worker), sender, egress_of(settings))
    archiver = day_archiver_of(settings, store)
    chains = partial(_chains_audit, store, worker)
    mailer = mailer_of(settings)
    watcher = AlertWatcher(owner, chains, pages_of(settings), settings.service_level)
    deliverer = AlertDeliverer(owner, chains, alert_sender_of(store, sender, book_of(sender), mailer))
    gauges = GaugeReader(
        owner,
        timedelta(days=settings.history_days),
        lambda cell: relayed[cell].lowest(),
        archives=settings.archive is not None,
    )
    levels = LevelReader(store, settings.service_level)
    mover = ShardMover(owner, worker.identity.incarnation, stores)
    measure_reader = MeasureReader(store, worker.follow_measures)
    worker.metric_sources += [gauges, levels, mover.metrics]
    duties: tuple[tuple[Duty, float], ...] = (
        (CellJoiner(stores, partial(_check_joining, settings, watch), worker.join), CELL_JOIN_INTERVAL_S),
        (watch, GENERATIONS_INTERVAL_S),
        (mover, SHARD_MOVE_INTERVAL_S),
        (measure_judge_of(settings, store, worker), MEASURE_JUDGE_INTERVAL_S),
        (Partitioner(store), PARTITION_INTERVAL_S),
        (day_dropper_of(settings, store, archiver), DAY_DROP_INTERVAL_S),
        (growth_meter_of(settings, store, archiver), GROWTH_INTERVAL_S),
        (Purger(owner), PURGE_INTERVAL_S),
        (Forgetter(owner), EXPIRED_ROWS_INTERVAL_S),
        (TombstoneForgetter(owner), EXPIRED_ROWS_INTERVAL_S),
        (KeyForgetter(owner, timedelta(days=settings.dead_letter_days), chains), KEYS_INTERVAL_S),
        (old_row_forgetter_of(settings, owner), OLD_ROWS_INTERVAL_S),
        (RemovedTypeForgetter(owner, _ended_jobs_kept(settings)), OLD_ROWS_INTERVAL_S),
        (VersionForgetter(owner, _ended_jobs_kept(settings), chains), OLD_ROWS_INTERVAL_S),
        (HoldSweeper(store), HOLDS_INTERVAL_S),
        (WorkerForgetter(store), QUEUE_WORKERS_INTERVAL_S),
        (gauges, GAUGES_INTERVAL_S),
        (levels, GAUGES_INTERVAL_S),
        (doctor_of(settings, store), DOCTOR_INTERVAL_S),
        (FireAuditor(owner, chains), FIRE_AUDIT_INTERVAL_S),
        (Coverer(store, partial(_held_shards, store, worker)), COVERAGE_INTERVAL_S),
        (Dropper(owner, timedelta(days=settings.audit_days)), AUDIT_DROP_INTERVAL_S),
        (anchorer_of(settings, store, sender), ANCHOR_INTERVAL_S),
        (GarbageCollector(lambda: worker.admission.waiting > 0), GARBAGE_INTERVAL_S),
    )
    prompted: tuple[tuple[Duty, float, Sign], ...] = (
        (measure_reader, MEASURE_READ_INTERVAL_S, Sign.MEASURES),
        (RecoveryExecutor(owner, worker.identity.incarnation), RECOVERY_INTERVAL_S, Sign.INCIDENTS),
        (CauseSorter(owner), CAUSE_SORT_INTERVAL_S, Sign.UNSORTED_DEAD_LETTERS),
        (
            PacedReplayer(owner, lambda cell: _own_cell(store, cell).measures.in_force),
            PACED_REPLAY_INTERVAL_S,
            Sign.PACED_REPLAYS,
        ),
        (Copier(store), COPY_INTERVAL_S, Sign.COPIES),
        (Vacuumer(store), VACUUM_INTERVAL_S, Sign.ROWS_WRITTEN),
        (AuditChainer(owner, chains), AUDIT_CHAIN_INTERVAL_S, Sign.UNCHAINED),
        (relay, RELAY_INTERVAL_S, Sign.COMPENSATIONS),
        (reconciler, RECONCILER_INTERVAL_S, Sign.SOURCES),
        (feed, FEED_INTERVAL_S, Sign.SUBSCRIPTIONS),
        (follower, EDGES_INTERVAL_S, Sign.EDGES),
        (intakes, INTAKES_INTERVAL_S, Sign.INTAKES),
        (watcher, ALERT_WATCH_INTERVAL_S, Sign.ALERTS),
        (deliverer, ALERT_DELIVERY_INTERVAL_S, Sign.ALERTS),
        (marker_of(settings, owner, chains), MARKS_INTERVAL_S, Sign.ROWS_WRITTEN),
    )
    if (heartbeat := heartbeat_of(settings, store, sender, worker)) is not None:
        duties += ((heartbeat, settings.heartbeat_interval),)
    if archiver is not None:
        duties += ((archiver, ARCHIVE_INTERVAL_S),)
    if isinstance(store.cipher, Envelopes):
        duties += ((Rewrapper(store, store.cipher), REENCRYPT_INTERVAL_S), (Reencrypter(store), REENCRYPT_INTERVAL_S))
    if (book := book_of(sender)) is not None:
        prompted += ((book, SECRETS_INTERVAL_S, Sign.SECRETS),)
    loops = [Loop(_name(duty), duty, pause) for duty, pause in duties]
    loops += [worker.prompted_loop(_name(duty), duty, pause, sign) for duty, pause, sign in prompted]
    signaller = Signaller(store, worker.identity.incarnation, worker.load.take, worker.strain.take)
    loops.append(Loop("signaller", signaller, SIGNALS_INTERVAL_S))
    upkeep = [asyncio.create_task(loop.run()) for loop in loops]
    await worker.start()
    freeze_present_objects()
    try:
        yield worker
    finally:
        await worker.stop(settings.grace)
        await cancel_and_wait(*upkeep)
        await reconciler.close()
        await intakes.close()
        await feed.close()
        await follower.close()
        await outlets.close()
        await deliverer.close()
        if mailer is not None:
            mailer.close()
        with suppress(Exception):  # the last counts; a cell that is down does not stop us
            await signaller.once()


async def drain(settings: Settings, store: Store) -> int:
    """Run upkeep and everything that is due now, once; returns how much was done."""
    await fitness.check(settings, store)
    for duty in (GenerationWatch(store), Copier(store), Partitioner(store), Vacuumer(store)):
        await duty.once()
    allowances = Allowances.of(store)
    worker = node_of(settings, store, await sender_of(settings, store, allowances.egress), allowances)
    try:
        return await worker.drain()
    finally:
        await worker.leave()

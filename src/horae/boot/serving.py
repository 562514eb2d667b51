"""A node with its upkeep in this process: what `horae node` and `horae dev` have in common."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

from horae.boot import fitness
from horae.boot.secrets import secrets_of
from horae.delivery.client import Client
from horae.delivery.lines import Lines
from horae.delivery.names import shorten_lookups
from horae.delivery.outlets import Outlets
from horae.delivery.push import Sender
from horae.domain.egress import Egress
from horae.domain.ids import shard_in
from horae.engine.node import Node
from horae.runtime.ending import ended
from horae.runtime.garbage import GarbageCollector, keep_what_is_here
from horae.runtime.loop import Duty, Loop
from horae.runtime.settings import Settings
from horae.store.cells import Cell, Store
from horae.store.envelopes import Envelopes
from horae.store.pulses import Sign
from horae.store.secret_book import SecretBook
from horae.upkeep.anchors import Anchorer, Webhook
from horae.upkeep.copies import Copier
from horae.upkeep.coverages import Coverer
from horae.upkeep.doctor import Doctor
from horae.upkeep.feed import Feed
from horae.upkeep.holds import HoldSweeper
from horae.upkeep.idempotency import Forgetter
from horae.upkeep.intakes import Intakes
from horae.upkeep.joining import CellJoiner
from horae.upkeep.marks import Marker
from horae.upkeep.partitions import Partitioner
from horae.upkeep.purges import Purger
from horae.upkeep.reconciler import Reconciler
from horae.upkeep.relay import Relay
from horae.upkeep.resealing import Resealer, Rewrapper
from horae.upkeep.sealer import Dropper, Sealer
from horae.upkeep.signals import Signaller
from horae.upkeep.tombstones import TombstoneForgetter
from horae.upkeep.vacuum import Vacuumer

SEAL, SECRETS, COPY, VACUUM, VISIT, PURGE, RESEAL, SIGNAL, FORGET = 1.0, 1.0, 2.0, 3.0, 15.0, 30.0, 30.0, 60.0, 60.0
RELAY = RECONCILE = FEED = INTAKE = 1.0
MARK = 5.0
JOIN: Final = 2.0
COVER = COLLECT = SWEEP = 60.0
DROP = ANCHOR = PARTITION = 3600.0
ENDS: Final = (signal.SIGTERM, signal.SIGINT)


def told_to_end() -> asyncio.Event:
    """Set by SIGTERM or SIGINT from now on, and by the end of its terminal, unless that is to be ignored (`nohup`)."""
    told = asyncio.Event()
    for name in ENDS if ignores_hangups() else (*ENDS, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, told.set)
    return told


def ignores_hangups() -> bool:
    """Whether this process is to outlive its terminal."""
    return signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def ignore_hangups() -> None:
    """It ends already. Kernel and shell both tell of the end of a terminal; the second must not cut it short."""
    if not ignores_hangups():
        asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


async def sender_of(settings: Settings, store: Store) -> Sender:
    """What sends the attempts of a node, with this deployment's secrets."""
    return Sender(client_of(settings), await secrets_of(settings, store))


def client_of(settings: Settings) -> Client:
    """What connects to targets, and where it may."""
    shorten_lookups()
    return Client(egress_of(settings))


def egress_of(settings: Settings) -> Egress:
    """Where calls may go by the deployment's rules."""
    allowed = settings.all_egress()
    return Egress(tuple(allowed.networks), tuple(allowed.ports), allowed.plain)


def node_of(settings: Settings, store: Store, sender: Sender, owner: Store | None = None) -> Node:
    """The node that the settings describe, not yet started; `owner` reaches the same cells as the tables' owner."""
    ttl = timedelta(seconds=settings.lease_ttl)
    return Node(
        store,
        socket.gethostname(),
        ttl,
        sender,
        slots=settings.slots,
        enforced=settings.leases,
        secrets=book_of(sender),
        owner=owner,
        safety_look=timedelta(seconds=settings.safety_look),
    )


def book_of(sender: Sender) -> SecretBook | None:
    """What the sender's secrets are looked up in, where that is more than this deployment's own."""
    return sender.secrets if isinstance(sender.secrets, SecretBook) else None


def doctor_of(settings: Settings, store: Store) -> Doctor:
    """Who looks after the cells, and ends what holds them back for too long."""
    limit = settings.snapshot_limit
    return Doctor(store, None if limit is None else timedelta(seconds=limit))


def anchorer_of(settings: Settings, store: Store, sender: Sender) -> Anchorer:
    """Who notes the heads of the audit chains, and where."""
    url, webhook = settings.audit_anchor_url, None
    if url is not None:
        webhook = Webhook(sender.client, url, settings.audit_anchor_secret, store.clock.now)
    return Anchorer(store, settings.audit_anchors, webhook)


def outlets_of(settings: Settings, store: Store, sender: Sender) -> Outlets:
    """Where subscriptions lead."""

    async def learn(tenant_id: UUID, name: str) -> None:
        if (book := book_of(sender)) is not None:
            await book.learn(store.cell(shard_in(tenant_id)), {tenant_id: [name]})

    sender.lines = Lines(settings.brokers)
    return Outlets(sender.lines, sender.client, sender.secrets, learn, sender.wall)


@asynccontextmanager
async def serving(settings: Settings, store: Store, sender: Sender) -> AsyncIterator[Node]:
    """A node with its upkeep while the block lasts; then it hands its shards back and lets what is in flight end."""
    async with store.owning() as owner, _serving(settings, store, owner, sender) as node:
        yield node


def _held(store: Store, worker: Node, cell: Cell) -> frozenset[int]:
    """The shards of a cell that this node holds; the cell may be the owner's view of it."""
    [own] = [one for one in store.cells if one.name == cell.name]
    return worker.leases.held(own)


def _seals(store: Store, worker: Node, cell: Cell) -> bool:
    """Whether it is this node that seals a cell's audit: the one that holds the first of its shards."""
    [own] = [one for one in store.cells if one.name == cell.name]
    return min(store.shards_of(own), default=-1) in worker.leases.held(own)


def _name(duty: Duty) -> str:
    return type(duty).__name__.lower()


@asynccontextmanager
async def _serving(settings: Settings, store: Store, owner: Store, sender: Sender) -> AsyncIterator[Node]:
    await fitness.check(settings, store)
    worker = node_of(settings, store, sender, owner)
    outlets = outlets_of(settings, store, sender)
    intakes = Intakes(owner, settings.brokers, partial(_held, store, worker))
    feed = Feed(owner, outlets, partial(_held, store, worker))
    relay = Relay(owner, partial(_held, store, worker))
    reconciler = Reconciler(store, partial(_held, store, worker), sender, egress_of(settings))
    stores = [store] if owner is store else [store, owner]
    duties: tuple[tuple[Duty, float], ...] = (
        (CellJoiner(stores, partial(fitness.check_cell, settings), worker.join), JOIN),
        (Partitioner(store), PARTITION),
        (Purger(owner), PURGE),
        (Forgetter(owner), FORGET),
        (TombstoneForgetter(owner), FORGET),
        (HoldSweeper(store), SWEEP),
        (doctor_of(settings, store), VISIT),
        (Coverer(store, partial(_held, store, worker)), COVER),
        (Dropper(owner, timedelta(days=settings.audit_days)), DROP),
        (anchorer_of(settings, store, sender), ANCHOR),
        (GarbageCollector(lambda: worker.gatekeeper.waiting > 0), COLLECT),
    )
    prompted: tuple[tuple[Duty, float, Sign], ...] = (
        (Copier(store), COPY, Sign.COPIES),
        (Vacuumer(store), VACUUM, Sign.ROWS_WRITTEN),
        (Sealer(owner, partial(_seals, store, worker)), SEAL, Sign.UNSEALED),
        (relay, RELAY, Sign.COMPENSATIONS),
        (reconciler, RECONCILE, Sign.SOURCES),
        (feed, FEED, Sign.SUBSCRIPTIONS),
        (intakes, INTAKE, Sign.INTAKES),
        (Marker(owner, partial(_seals, store, worker)), MARK, Sign.ROWS_WRITTEN),
    )
    if isinstance(store.sealing, Envelopes):
        duties += ((Rewrapper(store, store.sealing), RESEAL), (Resealer(store), RESEAL))
    if (book := book_of(sender)) is not None:
        prompted += ((book, SECRETS, Sign.SECRETS),)
    for name, pulse in worker.pulses.items():
        pulse.relayed_from = partial(relay.reached, name)
    loops = [Loop(_name(duty), duty, pause) for duty, pause in duties]
    loops += [worker.prompted(_name(duty), duty, pause, sign) for duty, pause, sign in prompted]
    signaller = Signaller(store, worker.who.incarnation)
    loops.append(Loop("signaller", signaller, SIGNAL))
    upkeep = [asyncio.create_task(loop.run()) for loop in loops]
    await worker.start()
    keep_what_is_here()
    try:
        yield worker
    finally:
        await worker.stop(settings.grace)
        await ended(*upkeep)
        await reconciler.close()
        await intakes.close()
        await feed.close()
        await outlets.close()
        with suppress(Exception):  # what was counted last; a cell that is down does not keep us
            await signaller.once()


async def drain(settings: Settings, store: Store) -> int:
    """Upkeep and everything that is due now, once, to the end; returns how much that was."""
    await fitness.check(settings, store)
    for duty in (Copier(store), Partitioner(store), Vacuumer(store)):
        await duty.once()
    worker = node_of(settings, store, await sender_of(settings, store))
    try:
        return await worker.drain()
    finally:
        await worker.leave()

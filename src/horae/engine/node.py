"""One scheduler process: it leases shards in every cell, fires, sends, settles and rescues."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Final

from horae.delivery.push import Sender
from horae.domain.ids import shard_in
from horae.domain.limits import Key
from horae.domain.wakes import LONGEST_SAFETY_LOOK, Wake
from horae.engine.admission.gatekeeper import Gatekeeper
from horae.engine.admission.ready import Desk
from horae.engine.allowances import Allowances
from horae.engine.cell_duty import CellDuty
from horae.engine.holds import HoldWriter
from horae.engine.leases import Leases, Who
from horae.engine.post import Post
from horae.engine.progress import PATIENCE, Progress
from horae.engine.pulse import Pulse
from horae.engine.quotas import Quotas
from horae.runtime import chance
from horae.runtime.clock import boottime
from horae.runtime.ending import ended
from horae.runtime.loop import Duty, Loop
from horae.runtime.prompts import PromptedDuty
from horae.runtime.telemetry import log
from horae.store import leases
from horae.store.cells import Cell, Store
from horae.store.listener import Listener
from horae.store.pulses import Sign
from horae.store.secret_book import SecretBook
from horae.store.tx import GONE

SLOTS: Final = 2000
STUCK: Final = 60.0
"""Seconds without a fire after which `drain` leaves to others what waits for a limit."""
LOOK, AHEAD, RESCUE, LISTEN, RENEW, RECORD, CHECK, BACKFILL, TENANCIES = 5.0, 0.9, 2.0, 5.0, 0.05, 0.5, 2.0, 1.0, 1.0
ROLL = PULSE = 1.0
ACCEPTED_INTERVAL_S: Final = 1.0
EXPIRY_INTERVAL_S: Final = 5.0
"""Seconds between two rounds that end what waited too long; the duty itself says when a walk begins."""
ZONE_RULES_INTERVAL_S: Final = 5.0
"""Seconds between two looks for cursors that other zone rules have placed; with nothing to look at it asks nothing."""
HOLDS_INTERVAL_S: Final = 2.0
"""Seconds between two rounds of telling what is held back; a round with nothing to tell asks nothing."""
UNHURRIED: Final = {Sign.RUNNING, Sign.ROWS_WRITTEN}
"""Signs that are there all the time while a node works: their duties keep to their pauses."""


class Node:
    """One process over all cells. Its identity is new at every start, whatever the host is called."""

    def __init__(
        self,
        store: Store,
        name: str,
        ttl: timedelta,
        sender: Sender,
        *,
        slots: int = SLOTS,
        enforced: bool = True,
        secrets: SecretBook | None = None,
        owner: Store | None = None,
        safety_look: timedelta = LONGEST_SAFETY_LOOK,
    ) -> None:
        """`owner`: the same cells by the role that may read every sign of the pulse, where that is another role."""
        self.store = store
        self.safety_look = safety_look
        self.pulses = {cell.name: Pulse(cell) for cell in (owner or store).cells}
        self._secrets = secrets
        self.sender = sender
        self.who = Who(chance.token(), name, ttl)
        self.leases = Leases(store.cells, self.who, self._changed, enforced=enforced)
        self.quotas = Quotas(store, self.who.incarnation, self._granted)
        self.allowances = Allowances(lambda tenant_id: store.cell(shard_in(tenant_id)))
        sender.egress_of = self.allowances.egress
        self.gatekeeper = Gatekeeper(
            slots,
            weight_of=self.allowances.weight,
            limits_of=self.allowances.limits,
            permits=self.quotas,
            wall=store.clock.seconds,
        )
        self.posts = {cell.name: self._post(cell, sender) for cell in store.cells}
        cell_of_desk: dict[Desk, Cell] = {post.desk: post.cell for post in self.posts.values()}
        self.holds = HoldWriter(self.gatekeeper, self.who.incarnation, cell_of_desk)
        self._listeners = {cell.name: Listener(cell, partial(self._woken, cell)) for cell in store.cells}
        self._looks = {
            name: Loop("feeder", CellDuty("feeder", post.cell, post.feeder), LOOK) for name, post in self.posts.items()
        }
        self._accepted_loops = {
            name: Loop("accepted", CellDuty("accepted", post.cell, post.accepted), ACCEPTED_INTERVAL_S)
            for name, post in self.posts.items()
        }
        for cell_name, post in self.posts.items():
            post.agenda.hungry = self._looks[cell_name].waker.wake
        self.progress = Progress({name: sign for cell in store.cells for name, sign in self._signs(cell)})
        self._tasks: list[asyncio.Task[None]] = []
        self._started = self._turning = False

    async def start(self) -> None:
        """Begin: leases first, then everything else."""
        self._started = True
        await self.leases.start()
        in_cells = [
            *self._looks.items(),
            *((name, loop) for name, post in self.posts.items() for loop in self._loops(post)),
            *((name, Loop("listener", listener, LISTEN)) for name, listener in self._listeners.items()),
        ]
        for name, loop in in_cells:
            self.progress.watch(f"{loop.name} of {name}", loop)
        ours = [
            Loop("quotas", self.quotas, RENEW),
            Loop("record", self, RECORD),
            Loop("holds", self.holds, HOLDS_INTERVAL_S),
        ]
        loops = [*(loop for _, loop in in_cells), *ours, Loop("progress", self.progress, CHECK)]
        self._tasks = [asyncio.create_task(loop.run()) for loop in loops]
        self._tasks += [asyncio.create_task(post.run()) for post in self.posts.values()]
        log.info("node.started", node=self.who.name, cells=len(self.posts))

    async def stop(self, grace: float) -> None:
        """Hand the shards back at once; what is in flight may end within the grace; then say goodbye."""
        tasks, self._tasks = self._tasks, []
        if not tasks:
            return  # it never began, or was told before
        await self.leases.leave()
        self.gatekeeper.clear()
        await ended(*tasks)
        try:
            async with asyncio.timeout(grace):
                await asyncio.gather(*(post.desk.idle() for post in self.posts.values()))
        except TimeoutError:
            log.warning("node.grace_over", advice="what is still in flight is due again at once, uncounted")
        for post in self.posts.values():
            post.desk.close()
        with suppress(Exception):  # nobody waits here any more; where a cell cannot be told, the rows end with the node
            await self.holds.once()
        await self.quotas.close()
        await self.sender.client.close()
        for listener in self._listeners.values():
            await listener.close()
        await self.leases.stop()
        log.info("node.stopped", node=self.who.name)

    async def once(self) -> int:
        """Record what gates have held for long, ask limits again, land overdue calls; returns 0, there is no hurry."""
        for ready in self.gatekeeper.unrecorded():  # before they ask again: who asks has left its queue
            ready.desk.record(ready)
        self.gatekeeper.ask_again()
        for post in self.posts.values():
            post.desk.land_overdue()
        self.turn()
        return 0

    async def drain(self) -> int:
        """Do everything that is due now in every cell, to the end, without starting; returns how much that was.

        What waits for a shared limit goes as the limit lets it; where nothing of it goes for long, it stays due.
        """
        renewing = asyncio.create_task(Loop("quotas", self.quotas, RENEW).run())
        done, went_at = 0, boottime()
        try:
            while True:
                more = sum([await self._round_or_none(post) for post in self.posts.values()])
                done, went_at = done + more, boottime() if more else went_at
                if not more and not self.gatekeeper.limited:
                    return done
                if boottime() - went_at > STUCK:
                    log.warning("drain.limited", left=self.gatekeeper.limited, advice="they stay due: run it again")
                    return done
                if not more:
                    await asyncio.sleep(RENEW)
                self.gatekeeper.ask_again()
        finally:
            await ended(renewing)

    async def leave(self) -> None:
        """After `drain`: hand everything back."""
        for post in self.posts.values():
            with suppress(*GONE):  # a lease that cannot be handed back runs out
                async with post.cell.tx() as tx:
                    await leases.release(tx, self.who.incarnation)
            post.hold(())
        await self.quotas.close()
        await self.sender.client.close()

    def prompted(self, name: str, duty: Duty, pause: float, sign: Sign, *cells: str) -> Loop:
        """A loop whose duty asks nothing until a sign in one of these cells (none named: in any) gives reason to."""
        duty = PromptedDuty(duty, self.safety_look.total_seconds())
        loop = Loop(name, duty, pause)
        for cell in cells or self.pulses:
            self.pulses[cell].on(sign, duty.prompt)
            if sign not in UNHURRIED:
                self.pulses[cell].on(sign, loop.waker.wake)
        return loop

    def _loops(self, post: Post) -> Iterator[Loop]:
        """What goes round in a cell, beside the looks and the listener."""
        cell = post.cell.name

        def prompted(name: str, duty: Duty, pause: float, sign: Sign) -> Loop:
            return self.prompted(name, CellDuty(name, post.cell, duty), pause, sign, cell)

        self.pulses[cell].on(Sign.ROWS_WRITTEN, post.feeder.suspect)
        yield Loop("pulse", CellDuty("pulse", post.cell, self.pulses[cell]), PULSE)
        yield Loop("ahead", CellDuty("ahead", post.cell, post), AHEAD)
        yield self._accepted_loops[cell]
        yield Loop("expiry", CellDuty("expiry", post.cell, post.expirer), EXPIRY_INTERVAL_S)
        yield Loop("zone rules", CellDuty("zone rules", post.cell, post.replanner), ZONE_RULES_INTERVAL_S)
        yield prompted("rescue", post.rescuer, RESCUE, Sign.RUNNING)
        yield prompted("tenancies", post.tenancies, TENANCIES, Sign.HELD_TENANTS)
        yield prompted("backfill", post.backfiller, BACKFILL, Sign.BACKFILLS)
        yield prompted("rolling", post.roller, ROLL, Sign.ROLLING_SETS)

    def turn(self) -> None:
        """Someone may pass now: look once, however many ask for it in this moment."""
        if not self._turning:
            self._turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._turning = False
        self.gatekeeper.dispatch()

    def _post(self, cell: Cell, sender: Sender) -> Post:
        alive = partial(self._alive, cell)
        own, sealing = self.who.incarnation, self.store.sealing
        return Post(
            cell,
            own,
            self.gatekeeper,
            self.allowances,
            sender,
            self.quotas.pacer,
            alive,
            self.turn,
            sealing,
            self._secrets,
            self.safety_look,
        )

    def _alive(self, cell: Cell) -> bool:
        """Whether this node may act in a cell. While draining by hand there is no thread that keeps the lease."""
        return not self._started or self.leases.alive(cell)

    def _signs(self, cell: Cell) -> Iterator[tuple[str, Callable[[], bool]]]:
        """What must be so for work to go on in a cell."""
        post, listener = self.posts[cell.name], self._listeners[cell.name]
        yield f"lease of {cell.name}", partial(self.leases.alive, cell)
        yield f"clock of {cell.name}", lambda: cell.clock.trusted
        yield f"ear of {cell.name}", lambda: not listener.deaf
        yield f"timers of {cell.name}", lambda: boottime() - post.matured_at < PATIENCE

    def join(self, cell: Cell) -> None:
        """A cell that was down at the start has answered: its shards are known from now on."""
        [own] = [one for one in self.store.cells if one.name == cell.name]
        self._changed(own, [], [])

    def _changed(self, cell: Cell, _gained: list[int], _lost: list[int]) -> None:
        self.posts[cell.name].hold(self.leases.held(cell), self.store.shards_of(cell))
        if self._tasks and not self.leases.alive(cell):
            cell.forsake()  # whatever cut the lease off may have cut the pool's connections off too
        self.pulses[cell.name].prompt_all()
        self._accepted_loops[cell.name].waker.wake()
        self._looks[cell.name].waker.wake()

    def _woken(self, cell: Cell, wake: Wake) -> None:
        post = self.posts[cell.name]
        if wake.shards is None or wake.shards & post.territory.shards:
            post.feeder.name(wake.earliest, wake.latest)
            self._looks[cell.name].waker.wake()

    def _granted(self, key: Key) -> None:
        self.gatekeeper.granted(key)
        self.turn()

    async def _round_or_none(self, post: Post) -> int:
        """One round of a drain; where the cell is down, what is due there stays due."""
        try:
            return await self._round(post)
        except GONE:
            post.hold(())
            return 0

    async def _round(self, post: Post) -> int:
        async with post.cell.tx() as tx:
            await leases.heartbeat(tx, *self.who)
            here = self.store.shards_of(post.cell)
            post.hold(await leases.take(tx, self.who.incarnation, here), here)
        await post.cell.sync_clock()
        return await post.drain()

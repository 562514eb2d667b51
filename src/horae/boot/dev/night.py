"""`horae dev --night`: five things are broken on purpose, so that a stranger can find them in the console.

1. `Night.create()` makes two more tenants and a key of the platform; `make()` the jobs, see `night_jobs.py`.
2. `running()` breaks the rest in the background: a calendar silences a job once it has succeeded; the herd of one
   tenant comes, again every few minutes; and once all of its calls were made, a second node is stopped.
3. Every message about an alert is printed when it arrives, with its link to the console.
4. At the end of the block the stopped node is killed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final, NamedTuple, Self

import msgspec
from rich.text import Text

from horae.boot.dev import event_lines, night_jobs
from horae.boot.dev.receiver import SLOW
from horae.boot.dev.second_node import freeze, second_node
from horae.delivery.alert_channels.webhook import WebhookBody
from horae.domain.alerts.kinds import AlertKind
from horae.domain.tenants.tenants import SYSTEM
from horae.engine.node import Node
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.loop import Loop
from horae.runtime.settings import Settings
from horae.runtime.telemetry import log
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.identity import api_keys
from horae.upkeep.signals import Signaller

SLOTS: Final = 20
"""So few that a herd of a few hundred calls is late."""
HERD_INTERVAL_S: Final = 240.0
"""Less than five minutes, so that the delay stays beyond its limit; and rare enough that it is not usual."""
HERD_DELAY: Final = timedelta(seconds=3)
SIGNALS_INTERVAL_S: Final = 5.0
"""Counts are written once a minute otherwise, and nobody wants to wait for the night."""
KEY: Final = "horae-dev-night"

Say = Callable[[Text], None]


class NightFault(NamedTuple):
    """A fault of the night: the kind of its alert, the tenant that gets it, and what was done."""

    kind: AlertKind
    tenant: str
    done: str


def settings_of(settings: Settings) -> Settings:
    """The settings of the nodes of a night."""
    return settings.model_copy(update={"slots": SLOTS})


class Night:
    """What was made, and the key of the people who operate the platform."""

    def __init__(self, ctx: Context, platform: Context, herd: Context, key: str, say: Say) -> None:
        self.ctx, self.platform, self.herd = ctx, platform, herd
        self.key = key
        self._say = say
        self._settled, self._crowded = asyncio.Event(), asyncio.Event()
        self._herd_calls = 0

    @classmethod
    async def create(cls, ctx: Context, say: Say) -> Self:
        """Create the tenants of the platform and of the herd, and a key of the platform."""
        platform, herd = await night_jobs.make_tenants(ctx)
        made = await api_keys.create(platform, KEY, [Role.ADMIN])
        return cls(ctx, platform, herd, made.text, say)

    async def make(self, url: str) -> None:
        """Create the jobs, and the channels and rules that watch them. `url` is the receiver's."""
        for ctx in (self.ctx, self.platform):
            await night_jobs.make_channel(ctx, url)
        await night_jobs.make_jobs(self.ctx, self.herd, url, self.ctx.now())

    def faults(self) -> list[NightFault]:
        """The five faults."""
        own = self.ctx.tenant.name
        return [
            NightFault(AlertKind.DEAD_LETTER, own, f"the target of the job {night_jobs.DOWN_JOB} is down"),
            NightFault(AlertKind.QUEUE_UNPOLLED, own, f"nobody polls the queue {night_jobs.QUEUE_JOB}"),
            NightFault(AlertKind.NO_SUCCESS, own, f"a calendar silences the job {night_jobs.SILENCED_JOB}"),
            NightFault(AlertKind.NODE_STUCK, SYSTEM, "a second node is frozen (SIGSTOP)"),
            NightFault(
                AlertKind.TRIGGER_DELAY_P95,
                SYSTEM,
                f"{night_jobs.HERD_CALLS} calls of the tenant {night_jobs.HERD_TENANT} crowd one second",
            ),
        ]

    def lines(self) -> list[str]:
        """What was broken and where to begin, in a few lines."""
        return [
            "Five faults, made on purpose. Each has an alert: its message appears below within a minute, with a link.",
            *(f"  {one.kind:<18} {one.done} (tenant {one.tenant})" for one in self.faults()),
            f"Log in with the key above for the alerts of tenant {self.ctx.tenant.name}. The key of the platform is",
            f"  {self.key}",
        ]

    def hear(self, path: str, body: bytes) -> None:
        """Print a message about an alert; note the calls that the next fault waits for."""
        if path == night_jobs.ALERTS:
            self._say(event_lines.alert(self.ctx.now(), msgspec.json.decode(body, type=WebhookBody).data))
        elif path == night_jobs.SETTLE:
            self._settled.set()
        elif path == SLOW:
            self._herd_calls += 1
            if self._herd_calls == night_jobs.HERD_CALLS:
                self._crowded.set()

    @asynccontextmanager
    async def running(self, settings: Settings, dsn: str, node: Node) -> AsyncIterator[None]:
        """Break what is not broken yet while the block runs."""
        signaller = Signaller(self.ctx.store, node.identity.incarnation)
        tasks = [
            asyncio.create_task(Loop("nightsignals", signaller, SIGNALS_INTERVAL_S).run()),
            asyncio.create_task(_or_log(self._silence())),
            asyncio.create_task(_or_log(self._crowd_and_freeze(settings, dsn))),
        ]
        try:
            yield
        finally:
            await cancel_and_wait(*tasks)

    async def _silence(self) -> None:
        await self._settled.wait()
        await night_jobs.silence(self.ctx, self.ctx.now())

    async def _crowd_and_freeze(self, settings: Settings, dsn: str) -> None:
        """The node freezes after the first herd: shards that wait for a new node make fires late, too."""
        await self._crowd(0)
        await self._crowded.wait()
        with second_node(settings, dsn) as process:
            await freeze(self.platform, process)
            number = 1
            while True:
                await asyncio.sleep(HERD_INTERVAL_S)
                await self._crowd(number)
                number += 1

    async def _crowd(self, number: int) -> None:
        await night_jobs.plan_herd(self.herd, number, self.herd.now() + HERD_DELAY)


async def _or_log(work: Awaitable[None]) -> None:
    try:
        await work
    except Exception:
        log.exception("night.failed")

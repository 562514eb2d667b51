"""What a test holds in its hand: make jobs, move time, look at the calls."""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from msgspec.structs import replace

from horae.boot.sources import Source, modules, source_of, yaml
from horae.domain.errors import Invalid
from horae.domain.jobs import Definition, Job
from horae.domain.plans import Declared
from horae.domain.targets import HttpTarget
from horae.runtime.settings import CellSettings, Settings
from horae.service import instances, jobs, plans, tasks
from horae.service.plans import Plan
from horae.service.tasks import Answer
from horae.testing import databases
from horae.testing.background import Background
from horae.testing.calls import Call
from horae.testing.receiver import Receiver, receiving
from horae.testing.world import Handler, World, opened

Result = TypeVar("Result")
TENANT: Final = "test"


class Server:
    """A scheduler whose time stands still until the test moves it.

    `calls` holds everything its targets and workers were given, in order; those of one moment by fire time and name.
    `answers` says what the targets answer: `horae.answers["report"] = [503, 200]`, by job or path.
    """

    def __init__(self, background: Background, world: World, receiver: Receiver) -> None:
        self.calls: list[Call] = []
        self.receiver = receiver
        self.answers = receiver.answers
        self.url = world.door.address
        self.key = world.door.key
        self._background = background
        self._world = world
        self._triggered = 0

    @property
    def now(self) -> datetime:
        """What time it is for the server."""
        return self._world.time

    def job(self, name: str, **words: Any) -> Job:
        """Make a job, in the words of `jobs.yaml`. Without a target it calls the receiver, at `/name`."""
        said = {"target": {"kind": "http", "url": f"{self.receiver.url}/{quote(name, safe='')}"}} | words
        [declared] = self._declared(Source("test", {name: said}))
        return self._do(jobs.create(self._world.ctx, name, declared.definition, paused=bool(declared.paused)))

    def apply(self, source: str | Path | Mapping[str, Any], owner: str = "test") -> Plan:
        """Apply a `jobs.yaml`, a module or what such a file would say. Every URL becomes the receiver's, path kept."""
        made = self._do(plans.plan(self._world.ctx, owner, self._declared(_source(source, owner))))
        refused = [f"{step.name}: {getattr(step, 'reason', '')}" for step in made.steps if hasattr(step, "reason")]
        if refused:
            raise Invalid("; ".join(refused))
        for done in self._do(plans.apply(self._world.ctx, made)):
            if not done.ok:
                raise Invalid(f"{done.name}: {done.message}")
        return made

    def task(self, type_name: str, key: str, at: datetime | str | None = None, payload: Any = None) -> Answer:
        """Set the time of a business key of a type."""
        moment = None if at is None else moment_of(at)
        return self._do(tasks.schedule(self._world.ctx, type_name, key, at=moment, payload=payload))

    def trigger(self, name: str, payload: Any = None) -> None:
        """Fire a job now; it is sent by the next `advance` or `settle`."""
        self._triggered += 1
        key = f"test-{self._triggered}"
        work = instances.trigger(self._world.ctx, name, key, payload=payload, even_if_down=True)
        self._do(work)

    def worker(self, queue: str) -> Callable[[Handler], Handler]:
        """Take what waits in a queue: the decorated function is given each call. What it raises is a failed attempt."""

        def take(handler: Handler) -> Handler:
            self._world.handlers[queue] = handler
            return handler

        return take

    def advance(self, **by: float) -> list[Call]:
        """Let time pass (`days=3`, `hours=…`), event by event; returns the calls of that time when all has settled."""
        return self.advance_to(self.now + timedelta(**by))

    def advance_to(self, moment: datetime | str) -> list[Call]:
        """The same, up to a moment."""
        to, known = moment_of(moment), len(self.calls)
        if to < self.now:
            raise Invalid(f"time goes forward: it is {self.now:%Y-%m-%d %H:%M:%S} UTC already")
        self._background.run(self._world.advance(to, self._collect))
        return self.calls[known:]

    def settle(self) -> list[Call]:
        """Do what is due now; returns the calls."""
        known = len(self.calls)
        self._do(self._world.settle(self._collect))
        return self.calls[known:]

    def history(self, name: str, limit: int = 100) -> Sequence[Any]:
        """What became of a job's fires, newest first: also of those that were skipped."""
        return self._background.run(instances.of_job(self._world.ctx, name, limit=limit))

    def _do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do it at the time that stands, however long the test took to come here."""
        self._background.run(self._world.hold())
        return self._background.run(work)

    def _collect(self) -> None:
        """Take over what arrived in this moment, in an order that is always the same."""
        fresh = [*self.receiver.arrived, *self._world.taken]
        self.receiver.arrived.clear()
        self._world.taken.clear()
        self.calls += sorted(fresh, key=lambda call: call.place)

    def _declared(self, source: Source) -> list[Declared]:
        found = source.declared(self._world.ctx.tenant, self.now)
        return [replace(one, definition=self._near(one.definition)) for one in found]

    def _near(self, definition: Definition) -> Definition:
        """Nothing leaves the machine: a test has neither the hosts nor the secrets of production."""
        target = definition.target
        if not isinstance(target, HttpTarget):
            return definition
        url = self.receiver.url + (urlsplit(target.url).path or "/")
        return replace(definition, target=replace(target, url=url, auth=None, signing=None, ca=None))


@contextmanager
def serving(
    at: datetime | str | None = None, *, cells: int = 1, on: Sequence[CellSettings] | None = None
) -> Iterator[Server]:
    """A server of its own, gone at the end of the block. `at`: where its time begins. `on`: migrated test cells."""
    with ExitStack() as stack:
        if on is None:
            on = stack.enter_context(stack.enter_context(databases.throwaway(cells)).fresh())
        settings = Settings(cells=list(on), environment="test", tenant=TENANT, api_port=0)
        background = stack.enter_context(Background())
        context = opened(settings)
        world = background.run(context.__aenter__())
        stack.callback(lambda: background.run(context.__aexit__(None, None, None)))
        receiver = stack.enter_context(receiving(world.now, world.sender.about))
        world.time = world.time.replace(microsecond=0) if at is None else moment_of(at)
        server = Server(background, world, receiver)
        server.settle()
        yield server


def moment_of(given: datetime | str) -> datetime:
    """A moment as a test writes it; without an offset it is UTC."""
    at = datetime.fromisoformat(given) if isinstance(given, str) else given
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _source(given: str | Path | Mapping[str, Any], owner: str) -> Source:
    if isinstance(given, Mapping):
        return source_of(dict(given), owner, "the mapping")
    file = Path(given)
    if file.suffix in {".yaml", ".yml"}:
        return source_of(yaml.read(file.read_text("utf-8"), str(file)), owner, str(file))
    return modules.read(str(given), owner)

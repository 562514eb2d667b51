"""The object that a test uses: create jobs, move the clock, check the calls."""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from msgspec.structs import replace

from horae.boot.schedule_files import ScheduleFile, modules, source_of, yaml
from horae.domain.errors import Invalid
from horae.domain.jobs.jobs import Definition, Job
from horae.domain.plans.plans import DeclaredJob
from horae.domain.targets.targets import HttpTarget
from horae.runtime.settings import CellSettings, Settings
from horae.service import plans
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.plans import SourcePlan
from horae.service.tasks import tasks
from horae.service.tasks.tasks import ScheduleAnswer
from horae.testing import databases
from horae.testing.background import Background
from horae.testing.receiver import Receiver, receiving
from horae.testing.world import Handler, World, open_world
from horae_client.testing.calls import ReceivedCall

Result = TypeVar("Result")
TENANT: Final = "test"


class TestServer:
    """A scheduler whose clock stands still until the test moves it.

    `calls` holds everything that its targets and workers received, in order; calls of one moment are sorted by fire
    time and name. `answers` sets what targets answer, by job or path: `horae.answers["report"] = [503, 200]`.
    """

    def __init__(self, background: Background, world: World, receiver: Receiver) -> None:
        self.calls: list[ReceivedCall] = []
        self.receiver = receiver
        self.answers = receiver.answers
        self.url = world.server.address
        self.key = world.server.key
        self._background = background
        self._world = world
        self._triggered = 0

    @property
    def now(self) -> datetime:
        """The current time of the server."""
        return self._world.time

    def job(self, name: str, **words: Any) -> Job:
        """Create a job from the fields of `jobs.yaml`. Without a target it calls the receiver at `/name`.

        A step of a graph without a target calls it at `/name/step`.
        """
        url = f"{self.receiver.url}/{quote(name, safe='')}"
        said = {"target": {"kind": "http", "url": url}} | words
        if "steps" in words:
            steps = [{"target": {"kind": "http", "url": f"{url}/{step['name']}"}} | step for step in words["steps"]]
            said = words | {"steps": steps}
        [declared] = self._declared(ScheduleFile("test", {name: said}))
        return self._do(jobs.create(self._world.ctx, name, declared.definition, paused=bool(declared.paused)))

    def apply(self, source: str | Path | Mapping[str, Any], owner: str = "test") -> SourcePlan:
        """Apply a `jobs.yaml`, a module or a mapping. Every URL is changed to the receiver's, with the same path."""
        made = self._do(plans.plan(self._world.ctx, owner, self._declared(_source(source, owner))))
        refused = [f"{step.name}: {getattr(step, 'reason', '')}" for step in made.steps if hasattr(step, "reason")]
        if refused:
            raise Invalid("; ".join(refused))
        for done in self._do(plans.apply(self._world.ctx, made)):
            if not done.ok:
                raise Invalid(f"{done.name}: {done.message}")
        return made

    def task(self, type_name: str, key: str, at: datetime | str | None = None, payload: Any = None) -> ScheduleAnswer:
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
        """Claim from a queue: the decorated function receives each call. An exception is a failed attempt."""

        def take(handler: Handler) -> Handler:
            self._world.handlers[queue] = handler
            return handler

        return take

    def advance(self, **by: float) -> list[ReceivedCall]:
        """Let time pass (`days=3`, `hours=…`), event by event; returns the calls when everything is settled."""
        return self.advance_to(self.now + timedelta(**by))

    def advance_to(self, moment: datetime | str) -> list[ReceivedCall]:
        """Like `advance`, up to a moment."""
        to, known = moment_of(moment), len(self.calls)
        if to < self.now:
            raise Invalid(f"time goes forward: it is {self.now:%Y-%m-%d %H:%M:%S} UTC already")
        self._background.run(self._world.advance(to, self._collect))
        return self.calls[known:]

    def settle(self) -> list[ReceivedCall]:
        """Do what is due now; returns the calls."""
        known = len(self.calls)
        self._background.run(self._world.settle_now(self._collect))
        return self.calls[known:]

    def history(self, name: str, limit: int = 100) -> Sequence[Any]:
        """The fires of a job with their results, newest first, including skipped ones."""
        return self._background.run(instances.of_job(self._world.ctx, name, limit=limit))

    def begin_command(self) -> None:
        """Set the clock back to the server's time, before a request to its API."""
        self._background.run(self._world.hold())

    def end_command(self) -> None:
        """Remember up to when the requests to its API wrote."""
        self._world.note()

    def _do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run `work` at the server's current time."""
        return self._background.run(self._world.run(work))

    def _collect(self) -> None:
        """Collect the calls of this moment, in an order that is always the same."""
        fresh = [*self.receiver.arrived, *self._world.taken]
        self.receiver.arrived.clear()
        self._world.taken.clear()
        self.calls += sorted(fresh, key=lambda call: call.place)

    def _declared(self, source: ScheduleFile) -> list[DeclaredJob]:
        found = source.parse(self._world.ctx.tenant, self.now)
        return [replace(one, definition=self._near(one.definition)) for one in found]

    def _near(self, definition: Definition) -> Definition:
        """Send the call to the receiver instead: a test has neither the hosts nor the secrets of production."""
        target, plan = definition.target, definition.graph_plan
        if plan is not None:
            steps = tuple(replace(step, definition=self._near(step.definition)) for step in plan.steps)
            return replace(definition, graph_plan=replace(plan, steps=steps))
        if not isinstance(target, HttpTarget):
            return definition
        url = self.receiver.url + (urlsplit(target.url).path or "/")
        return replace(definition, target=replace(target, url=url, auth=None, signing=None, ca=None))


@contextmanager
def serving(
    at: datetime | str | None = None, *, cells: int = 1, on: Sequence[CellSettings] | None = None
) -> Iterator[TestServer]:
    """A separate server, stopped at the end of the block. `at`: its first time. `on`: migrated test cells."""
    with ExitStack() as stack:
        if on is None:
            on = stack.enter_context(stack.enter_context(databases.throwaway(cells)).fresh())
        settings = Settings(cells=list(on), environment="test", tenant=TENANT, api_port=0)
        background = stack.enter_context(Background())
        context = open_world(settings, None if at is None else moment_of(at))
        world = background.run(context.__aenter__())
        stack.callback(lambda: background.run(context.__aexit__(None, None, None)))
        receiver = stack.enter_context(receiving(world.now, world.sender.about))
        server = TestServer(background, world, receiver)
        server.settle()
        yield server


def moment_of(given: datetime | str) -> datetime:
    """A moment as a test writes it; UTC if it has no offset."""
    at = datetime.fromisoformat(given) if isinstance(given, str) else given
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _source(given: str | Path | Mapping[str, Any], owner: str) -> ScheduleFile:
    if isinstance(given, Mapping):
        return source_of(dict(given), owner, "the mapping")
    file = Path(given)
    if file.suffix in {".yaml", ".yml"}:
        return source_of(yaml.read(file.read_text("utf-8"), str(file)), owner, str(file))
    return modules.read(str(given), owner)

"""The object that a test uses: create jobs, move the clock, check the calls."""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from horae_client.client import Client
from horae_client.errors import refusal
from horae_client.models import Decision, Instance, Job, Plan
from horae_client.schedules import jobs_in
from horae_client.testing.calls import ReceivedCall, status_for
from horae_client.testing.process import ServerProcess

Result = TypeVar("Result")
Handler = Callable[[ReceivedCall], Any]
OWNER: Final = "test"
UNSENT: Final = ("auth", "signing", "ca")
"""Fields of an HTTP target that a test leaves out: it has neither the hosts nor the secrets of production."""
FILES: Final = {".yaml", ".yml"}


class TestServer:
    """A scheduler whose clock stands still until the test moves it.

    `calls` holds everything that its targets and workers received, in order; calls of one moment are sorted by fire
    time and name. `answers` sets what targets answer, by job or path: `horae.answers["report"] = [503, 200]`. `client`
    is a client of its API with the role admin.
    """

    __test__ = False

    def __init__(self, process: ServerProcess, client: Client, facts: Mapping[str, Any]) -> None:
        self.calls: list[ReceivedCall] = []
        self.answers: dict[str, Any] = {}
        self.client = client
        self.url: str = facts["url"]
        self.key: str = facts["key"]
        self.now = datetime.fromisoformat(facts["now"])
        self._receiver: str = facts["receiver"]
        self._process = process
        self._handlers: dict[str, Handler] = {}
        self._declared: dict[str, Mapping[str, Any]] = {}

    def job(self, name: str, **fields: Any) -> Job:
        """Create a job from the fields of `jobs.yaml`. Without a target it calls the receiver at `/name`.

        A step of a graph without a target calls it at `/name/step`.
        """
        url = f"{self._receiver}/{quote(name, safe='')}"
        near = {"target": {"kind": "http", "url": url}} | fields
        if "steps" in fields:
            steps = msgspec.to_builtins(fields["steps"])
            called = [{"target": {"kind": "http", "url": f"{url}/{step['name']}"}} | step for step in steps]
            near = fields | {"steps": called}
        self._declared[name] = near
        self.apply({"jobs": self._declared})
        return self.client.jobs.get(name)

    def apply(self, source: str | Path | Mapping[str, Any], owner: str = OWNER) -> Plan:
        """Apply a `jobs.yaml`, a module or a mapping. Every URL is changed to the receiver's, with the same path."""
        jobs = {name: self._near(fields or {}) for name, fields in self._jobs_of(source).items()}
        done = self._do(lambda: self.client.plans.apply(owner, jobs))
        wrong = [f"{step.name}: {step.reason}" for step in done.steps if step.reason is not None]
        wrong += [f"{one.name}: {one.message}" for one in done.done if one.code is not None]
        if wrong:
            raise refusal(422, {"code": "SCH_422_INVALID", "detail": "; ".join(wrong)})
        return done

    def task(self, type_name: str, key: str, at: datetime | str | None = None, payload: Any = None) -> Decision:
        """Set the time of a business key of a type."""
        moment = None if at is None else moment_of(at)
        given = msgspec.UNSET if payload is None else payload
        return self._do(lambda: self.client.tasks.schedule(type_name, key, at=moment, payload=given))

    def trigger(self, name: str, payload: Any = None) -> None:
        """Fire a job now; it is sent by the next `advance` or `settle`."""
        self._do(lambda: self.client.jobs.trigger(name, payload=payload))

    def worker(self, queue: str) -> Callable[[Handler], Handler]:
        """Claim from a queue: the decorated function receives each call. An exception is a failed attempt."""

        def take(handler: Handler) -> Handler:
            self._handlers[queue] = handler
            return handler

        return take

    def advance(self, **by: float) -> list[ReceivedCall]:
        """Let time pass (`days=3`, `hours=…`), event by event; returns the calls when everything is settled."""
        return self.advance_to(self.now + timedelta(**by))

    def advance_to(self, moment: datetime | str) -> list[ReceivedCall]:
        """Like `advance`, up to a moment."""
        return self._move("advance", to=moment_of(moment))

    def settle(self) -> list[ReceivedCall]:
        """Do what is due now; returns the calls."""
        return self._move("settle")

    def history(self, name: str, limit: int = 100) -> Sequence[Instance]:
        """The fires of a job with their results, newest first, including skipped ones."""
        return list(islice(self.client.jobs.history(name, limit=limit), limit))

    def _do(self, work: Callable[[], Result]) -> Result:
        """Send requests at the server's current time, however long the test has taken so far."""
        self._process.run("hold")
        try:
            return work()
        finally:
            self._process.run("note")

    def _move(self, command: str, **facts: Any) -> list[ReceivedCall]:
        moved = self._process.run(
            command, self._reply, queues=list(self._handlers), answers=bool(self.answers), **facts
        )
        self.now = datetime.fromisoformat(moved["now"])
        fresh = msgspec.convert(moved["calls"], list[ReceivedCall])
        self.calls += fresh
        return fresh

    def _reply(self, what: str, call: ReceivedCall) -> Any:
        if what == "answer":
            return status_for(self.answers, call)
        try:
            self._handlers[what.removeprefix("work:")](call)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def _jobs_of(self, source: str | Path | Mapping[str, Any]) -> Mapping[str, Any]:
        if isinstance(source, Mapping):
            defaults = source.get("defaults") or {}
            return {name: {**defaults, **(fields or {})} for name, fields in source["jobs"].items()}
        if Path(source).suffix in FILES:
            read: Mapping[str, Any] = self._process.run("read", path=str(Path(source).absolute()))
            return read
        return jobs_in(vars(importlib.import_module(str(source))))

    def _near(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """The job with a call to the receiver instead."""
        if "steps" in fields:
            return {**fields, "steps": [self._near(step) for step in msgspec.to_builtins(fields["steps"])]}
        target = fields.get("target")
        if not isinstance(target, Mapping) or target.get("kind") != "http":
            return fields
        kept = {name: value for name, value in target.items() if name not in UNSENT}
        return {**fields, "target": kept | {"url": self._receiver + (urlsplit(target["url"]).path or "/")}}


@contextmanager
def serving(
    at: datetime | str | None = None, *, cells: int = 1, on: ServerProcess | None = None
) -> Iterator[TestServer]:
    """A separate server, stopped at the end of the block. `at`: its first time. `on`: a process that runs already."""
    with ExitStack() as stack:
        process = stack.enter_context(ServerProcess()) if on is None else on
        facts = process.run("open", at=None if at is None else moment_of(at), cells=cells)
        stack.callback(process.run, "close")
        client = stack.enter_context(Client(facts["url"], facts["key"]))
        yield TestServer(process, client, facts)


def moment_of(given: datetime | str) -> datetime:
    """A moment as a test writes it; UTC if it has no offset.

    >>> from horae_client.testing.server import moment_of
    >>> moment_of("2030-01-01T09:00:00+08:00")
    datetime.datetime(2030, 1, 1, 1, 0, tzinfo=datetime.timezone.utc)
    """
    at = datetime.fromisoformat(given) if isinstance(given, str) else given
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)

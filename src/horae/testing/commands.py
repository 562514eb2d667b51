"""Serves the commands of a test that runs in another process."""

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from horae.boot.schedule_files import source_of, yaml
from horae.domain.errors import HoraeError
from horae.domain.workers.workers import FailureReport, Report
from horae.testing.databases import Databases, throwaway
from horae.testing.server import TestServer, serving
from horae_client.testing.calls import ReceivedCall

OWNER = "test"


class CommandServer:
    """One server at a time, opened and closed by commands. Databases are kept until the input ends."""

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        self._commands = commands
        self._answers = answers
        self._asking = threading.Lock()
        self._kept = ExitStack()
        self._opened = ExitStack()
        self._databases = lru_cache(lambda cells: self._kept.enter_context(throwaway(cells)))
        self._server: TestServer | None = None
        self._has_answers = False

    def serve(self) -> None:
        """Run commands until the input ends."""
        with self._kept, self._opened:
            for line in self._commands:
                self._write(self._answer(msgspec.json.decode(line)))

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"result": getattr(self, f"_run_{message.pop('run')}")(**message)}
        except HoraeError as error:
            return {"refused": {"status": error.status, "code": error.code, "detail": str(error)}}

    def _run_open(self, at: str | None, cells: int) -> dict[str, Any]:
        databases: Databases = self._databases(cells)
        on = self._opened.enter_context(databases.fresh())
        self._server = server = self._opened.enter_context(serving(at, on=on))
        server.receiver.status_for = self._status_for
        facts = {"url": server.url, "key": server.key, "receiver": server.receiver.url}
        return facts | {"now": server.now.isoformat()}

    def _run_close(self) -> None:
        self._server = None
        self._opened.close()

    def _run_hold(self) -> None:
        self._open_server.begin_command()

    def _run_note(self) -> None:
        self._open_server.end_command()

    def _run_read(self, path: str) -> Mapping[str, Any]:
        return source_of(yaml.read(Path(path).read_text("utf-8"), path), OWNER, path).jobs

    def _run_settle(self, queues: list[str], answers: bool) -> dict[str, Any]:
        return self._moved(queues, answers, self._open_server.now, settle=True)

    def _run_advance(self, queues: list[str], answers: bool, to: str) -> dict[str, Any]:
        return self._moved(queues, answers, datetime.fromisoformat(to))

    def _moved(self, queues: list[str], answers: bool, to: datetime, *, settle: bool = False) -> dict[str, Any]:
        server = self._open_server
        for queue in queues:
            server.worker(queue)(partial(self._work, queue))
        self._has_answers = answers
        calls = server.settle() if settle else server.advance_to(to)
        return {"calls": calls, "now": server.now.isoformat()}

    @property
    def _open_server(self) -> TestServer:
        if self._server is None:
            raise LookupError("no server is open")
        return self._server

    def _status_for(self, call: ReceivedCall) -> int:
        return int(self._ask("answer", call)) if self._has_answers else 200

    def _work(self, queue: str, call: ReceivedCall) -> Report | None:
        failure = self._ask(f"work:{queue}", call)
        return None if failure is None else FailureReport(failure)

    def _ask(self, what: str, call: ReceivedCall) -> Any:
        """Ask the test, and wait for its reply. The thread that reads commands waits for the running one meanwhile."""
        with self._asking:
            self._write({"ask": what, "call": call})
            return msgspec.json.decode(self._commands.readline())["reply"]

    def _write(self, message: Mapping[str, Any]) -> None:
        self._answers.write(msgspec.json.encode(message) + b"\n")

"""The server of tests as a process of its own, which takes commands from its standard input.

Every message is one line of JSON. The test sends a command and reads until its result. Before the result the server may
ask what a target answers or what a worker does, and waits for the reply.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

import msgspec

from horae_client.errors import refusal
from horae_client.testing.calls import ReceivedCall

Ask = Callable[[str, ReceivedCall], Any]
"""Replies to a question of the server: the status of a target (`answer`), or the failure of a worker (`work`)."""
ENVIRONMENT: Final = ("HORAE_DSN", "HORAE_CELLS", "HORAE_CONFIG")
"""Settings that are not for the server of a test: it has databases of its own."""


class ServerProcess:
    """The process `python -m horae.testing`. It ends with the block, or with the test's own process."""

    def __init__(self, python: str = sys.executable) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
        self._process = subprocess.Popen(  # noqa: S603
            [python, "-m", "horae.testing"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def run(self, command: str, reply: Ask | None = None, **facts: Any) -> Any:
        """Run a command and return its result; the server's questions go to `reply`. A refusal raises."""
        self._write({"run": command, **facts})
        while True:
            message = self._read()
            if "ask" in message:
                call = msgspec.convert(message["call"], ReceivedCall)
                self._write({"reply": None if reply is None else reply(message["ask"], call)})
            elif "refused" in message:
                raise refusal(message["refused"]["status"], message["refused"])
            else:
                return message["result"]

    def close(self) -> None:
        """End the process: it drops its databases when its input ends."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # it has ended before, with a command unread
                self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(message) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._ended()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._ended()
        return msgspec.json.decode(line, type=dict[str, Any])

    def _ended(self) -> None:
        status = self._process.wait()
        raise RuntimeError(
            f"the server of the test ended with status {status}; is the package `horae` installed beside this one?"
        )

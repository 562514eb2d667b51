"""The REST API of a Patroni member: who leads its cluster, and a switch to another member.

It is a plain blocking client: a drill asks it from a thread, and its guardian process has no event loop.
"""

import base64
import http.client
import os
import ssl
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from horae.domain.errors import Invalid
from horae.domain.foreign import Unreadable, read_json, read_text
from horae.security.keyrings import is_open_to_others

TIMEOUT_S: Final = 30.0
"""A switchover is answered when it is done."""
LEADERS: Final = frozenset({"leader", "standby_leader"})
SYNCHRONOUS: Final = "sync_standby"
STREAMING_STATES: Final = frozenset({"running", "streaming"})
HTTP_OK: Final = 200
MAX_SAID_BYTES: Final = 200
"""How much of a refusal is repeated."""


class PatroniMemberState(msgspec.Struct, frozen=True):
    """A member as Patroni lists it."""

    name: str
    role: str
    state: str = ""


class PatroniState(msgspec.Struct, frozen=True):
    """The members of a cluster."""

    members: list[PatroniMemberState] = []


class PatroniMember:
    """One member by the URL of its REST API.

    The file of the credential has `user:password` in one line, and only its owner may read it.
    """

    def __init__(self, url: str, credential_file: Path | None = None, ca_file: Path | None = None) -> None:
        self._address = urlsplit(url)
        if self._address.scheme not in {"http", "https"} or self._address.hostname is None:
            raise Invalid(f"{url} is not the address of a REST API")
        self._headers = {"Content-Type": "application/json"}
        if credential_file is not None:
            self._headers["Authorization"] = f"Basic {_credential(credential_file)}"
        self._ca_file = ca_file

    def leader(self) -> str:
        """The name of the member that leads. Raises LookupError while none does."""
        return next(iter(self._names(*LEADERS)))

    def synchronous_standby(self) -> str:
        """The name of the member that may be promoted. Raises LookupError while there is none."""
        return next(iter(self._names(SYNCHRONOUS)))

    def is_whole(self, members: int) -> bool:
        """Whether a primary and a synchronous standby are there, and all other members stream."""
        try:
            found = self._members()
            roles = {one.role for one in found}
            running = sum(one.state in STREAMING_STATES for one in found)
        except (OSError, LookupError):
            return False
        return bool(roles & LEADERS) and SYNCHRONOUS in roles and running >= members

    def count(self) -> int:
        """How many members the cluster has."""
        return len(self._members())

    def switch_over(self, leader: str, candidate: str) -> str:
        """Let another member lead; returns what Patroni says. Raises OSError where it refuses."""
        return read_text(self._ask("POST", "/switchover", {"leader": leader, "candidate": candidate}))

    def _names(self, *roles: str) -> list[str]:
        found = [one.name for one in self._members() if one.role in roles]
        if not found:
            raise LookupError(f"no member is {' or '.join(sorted(roles))}")
        return found

    def _members(self) -> list[PatroniMemberState]:
        said = self._ask("GET", "/cluster")
        try:
            return read_json(said, PatroniState).members
        except Unreadable as error:
            raise OSError(f"{self._address.netloc} does not answer as Patroni does: {error}") from error

    def _ask(self, method: str, path: str, body: object = None) -> bytes:
        connection = self._connect()
        try:
            content = None if body is None else msgspec.json.encode(body)
            connection.request(method, self._address.path.rstrip("/") + path, content, self._headers)
            answer = connection.getresponse()
            said = answer.read()
        except http.client.HTTPException as error:
            raise OSError(f"{self._address.netloc} does not speak HTTP: {error!r}") from error
        finally:
            connection.close()
        if answer.status != HTTP_OK:
            raise OSError(f"{path} was answered with {answer.status}: {read_text(said[:MAX_SAID_BYTES])}")
        return said

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._address.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
        context = ssl.create_default_context(cafile=self._ca_file)
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)


def _credential(file: Path) -> str:
    try:
        found, text = file.stat(), file.read_text().strip()
    except OSError as error:
        raise Invalid(f"the credential of Patroni {file} cannot be read: {error.strerror}") from error
    if is_open_to_others(found.st_mode, found.st_uid, os.geteuid()):
        raise Invalid(f"the credential of Patroni {file} is open to others than its owner; `chmod 600` closes it")
    if ":" not in text:
        raise Invalid(f"the credential of Patroni {file} is not `user:password`")
    return base64.b64encode(text.encode()).decode()

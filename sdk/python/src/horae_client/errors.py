"""All errors of the client, as one tree.

Each code of a refusal has its own class, so that a program can catch the errors it can handle::

    HoraeError
    ├── Unreachable               no answer: no connection, a lost connection, or a timeout
    ├── Unreadable                an answer that is not from Horae: a proxy's page, a truncated body
    └── Refused                   the server refused; `code`, `status`, `detail`, `errors`, `retry_after`
        ├── BadRequest            SCH_400_BAD_REQUEST
        │   └── KeyRequired       SCH_400_IDEMPOTENCY_KEY
        ├── Unauthenticated       SCH_401_UNAUTHENTICATED
        ├── Forbidden             SCH_403_FORBIDDEN
        ├── NotFound              SCH_404_NOT_FOUND
        │   └── NoLongerKept      SCH_410_GONE
        ├── NotAllowed            SCH_405_METHOD
        ├── Conflict              SCH_409_CONFLICT
        │   ├── Contended         SCH_409_CONTENDED
        │   ├── CountReached      SCH_409_COUNT_REACHED
        │   ├── Duplicate         SCH_409_DUPLICATE
        │   ├── NameTaken         SCH_409_NAME_TAKEN
        │   └── Unopenable        SCH_409_UNOPENABLE
        ├── TooLarge              SCH_413_TOO_LARGE
        ├── UnsupportedMedia      SCH_415_MEDIA_TYPE
        ├── Invalid               SCH_422_INVALID
        │   ├── InvalidSchedule   SCH_422_SCHEDULE
        │   └── ResultTooLarge    SCH_422_RESULT_SIZE
        ├── Limited               any 429
        │   ├── RateLimited       SCH_429_RATE_LIMITED
        │   └── RetryLimited      SCH_429_RETRY_LIMITED
        ├── ServerFault           SCH_500_INTERNAL
        └── Unavailable           SCH_503_UNAVAILABLE
            ├── ArchiveUnavailable SCH_503_ARCHIVE
            ├── DispatcherDown    SCH_503_DISPATCHER_DOWN
            ├── KeysUnavailable   SCH_503_KEYS
            ├── NewerRelease      SCH_503_RELEASE
            └── ShardClosed       SCH_503_SHARD_CLOSED
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class HoraeError(Exception):
    """The base class of all errors of the client."""


class Unreachable(HoraeError):
    """There was no answer. It is unknown whether the request took effect. The client has retried where that is safe."""


class Unreadable(HoraeError):
    """The answer is not from Horae. It is unknown whether the request took effect."""

    def __init__(self, detail: str, status: int | None = None, retry_after: float | None = None) -> None:
        self.status, self.retry_after = status, retry_after
        super().__init__(detail)


class Refused(HoraeError):
    """The server refused the request. `facts` holds all other fields of the problem.

    >>> from horae_client import errors
    >>> try:
    ...     client.jobs.get("no_such_job")
    ... except errors.NotFound as refusal:
    ...     print(refusal.code, refusal.status)
    SCH_404_NOT_FOUND 404
    """

    BY_CODE: ClassVar[dict[str, type["Refused"]]] = {}
    BY_STATUS: ClassVar[dict[int, type["Refused"]]] = {}

    def __init_subclass__(cls, code: str | None = None, status: int | None = None) -> None:
        if code is not None:
            cls.BY_CODE[code] = cls
        if status is not None:
            cls.BY_STATUS[status] = cls

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.code = str(problem.get("code", ""))
        self.detail = str(problem.get("detail", ""))
        self.errors: Sequence[Mapping[str, Any]] = problem.get("errors") or ()
        self.facts = dict(problem)
        self.retry_after = retry_after
        super().__init__(f"{self.code or status}: {self.detail}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.facts, self.retry_after)


class BadRequest(Refused, code="SCH_400_BAD_REQUEST", status=400):
    """The server could not read the request."""


class KeyRequired(BadRequest, code="SCH_400_IDEMPOTENCY_KEY"):
    """The request needs an Idempotency-Key, because it must not run twice. This client always sends one."""


class Unauthenticated(Refused, code="SCH_401_UNAUTHENTICATED", status=401):
    """The key is missing, invalid, expired or revoked."""


class Forbidden(Refused, code="SCH_403_FORBIDDEN", status=403):
    """The key's roles or scopes do not allow the request."""


class NotFound(Refused, code="SCH_404_NOT_FOUND", status=404):
    """The tenant has nothing with that name or id."""


class NoLongerKept(NotFound, code="SCH_410_GONE", status=410):
    """It is older than what is kept, so nobody can say any more whether it existed."""


class NotAllowed(Refused, code="SCH_405_METHOD", status=405):
    """The path exists, but not with this method; the server may be older than the client."""


class Conflict(Refused, code="SCH_409_CONFLICT", status=409):
    """The resource is not in the expected state or version."""


class Contended(Conflict, code="SCH_409_CONTENDED"):
    """The row kept changing; nothing was written."""


class CountReached(Conflict, code="SCH_409_COUNT_REACHED"):
    """The tenant has reached its allowed number of these."""


class Duplicate(Conflict, code="SCH_409_DUPLICATE"):
    """This idempotency key was used for another request, or its request is still running."""


class Unopenable(Conflict, code="SCH_409_UNOPENABLE"):
    """The stored value cannot be decrypted because it was changed; a retry does not help."""


class NameTaken(Conflict, code="SCH_409_NAME_TAKEN"):
    """Another job has that name."""


class TooLarge(Refused, code="SCH_413_TOO_LARGE", status=413):
    """The request has too many bytes."""


class UnsupportedMedia(Refused, code="SCH_415_MEDIA_TYPE", status=415):
    """The body is not JSON."""


class Invalid(Refused, code="SCH_422_INVALID", status=422):
    """The request is not valid; `errors` says where."""


class ResultTooLarge(Invalid, code="SCH_422_RESULT_SIZE"):
    """The result of an attempt is larger than the server stores."""


class InvalidSchedule(Invalid, code="SCH_422_SCHEDULE"):
    """The trigger is not valid, or never fires."""


class Limited(Refused, status=429):
    """A limit is exceeded; `retry_after` says when to retry."""


class RateLimited(Limited, code="SCH_429_RATE_LIMITED"):
    """Too many requests."""


class RetryLimited(Limited, code="SCH_429_RETRY_LIMITED"):
    """Retries and replays exceed the tenant's budget."""


class ServerFault(Refused, code="SCH_500_INTERNAL", status=500):
    """An error inside the server."""


class Unavailable(Refused, code="SCH_503_UNAVAILABLE", status=503):
    """Not possible at the moment; nothing was changed."""


class ArchiveUnavailable(Unavailable, code="SCH_503_ARCHIVE"):
    """The archive cannot be read at the moment, or not in time."""


class DispatcherDown(Unavailable, code="SCH_503_DISPATCHER_DOWN"):
    """No node holds the shard; nothing was triggered."""


class KeysUnavailable(Unavailable, code="SCH_503_KEYS"):
    """Encryption or decryption is not possible at the moment."""


class NewerRelease(Unavailable, code="SCH_503_RELEASE"):
    """A newer release of the server wrote the row; the process that was asked cannot read it."""


class ShardClosed(Unavailable, code="SCH_503_SHARD_CLOSED"):
    """The shard is moving to another cell."""


def refusal(status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> Refused:
    """The error class for a problem. A code that this client does not know is mapped by its status.

    >>> from horae_client.errors import refusal
    >>> type(refusal(404, {"code": "SCH_404_NOT_FOUND", "detail": "no such job"})).__name__
    'NotFound'
    """
    kind = Refused.BY_CODE.get(str(problem.get("code"))) or Refused.BY_STATUS.get(status) or by_hundred(status)
    return kind(status, problem, retry_after)


def by_hundred(status: int) -> type[Refused]:
    """The class for a status that has no class of its own."""
    return ServerFault if status >= 500 else Refused

"""Everything that can go wrong, as one tree.

Refusals have a class per code, so that a program catches what it can act on::

    HoraeError
    ├── Unreachable               no answer: nobody listens, the line broke, or it took too long
    ├── Unreadable                an answer that is not ours: a proxy's page, a body that was cut
    └── Refused                   an answer, and it is no; `code`, `status`, `detail`, `errors`, `retry_after`
        ├── BadRequest            SCH_400_BAD_REQUEST
        │   └── KeyRequired       SCH_400_IDEMPOTENCY_KEY
        ├── Unauthenticated       SCH_401_UNAUTHENTICATED
        ├── Forbidden             SCH_403_FORBIDDEN
        ├── NotFound              SCH_404_NOT_FOUND
        ├── NotAllowed            SCH_405_METHOD
        ├── Conflict              SCH_409_CONFLICT
        │   ├── Contended         SCH_409_CONTENDED
        │   ├── CountReached      SCH_409_COUNT_REACHED
        │   ├── Duplicate         SCH_409_DUPLICATE
        │   └── NameTaken         SCH_409_NAME_TAKEN
        ├── TooLarge              SCH_413_TOO_LARGE
        ├── UnsupportedMedia      SCH_415_MEDIA_TYPE
        ├── Invalid               SCH_422_INVALID
        │   └── InvalidSchedule   SCH_422_SCHEDULE
        ├── Limited               any 429
        │   ├── RateLimited       SCH_429_RATE_LIMITED
        │   └── RetryLimited      SCH_429_RETRY_LIMITED
        ├── ServerFault           SCH_500_INTERNAL
        └── Unavailable           SCH_503_UNAVAILABLE
            ├── DispatcherDown    SCH_503_DISPATCHER_DOWN
            └── ShardClosed       SCH_503_SHARD_CLOSED
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class HoraeError(Exception):
    """The root of all of them."""


class Unreachable(HoraeError):
    """There was no answer. Whether the request was done is not known; the client has tried again where that is safe."""


class Unreadable(HoraeError):
    """There was an answer that Horae does not give. Whether the request was done is not known."""

    def __init__(self, detail: str, status: int | None = None, retry_after: float | None = None) -> None:
        self.status, self.retry_after = status, retry_after
        super().__init__(detail)


class Refused(HoraeError):
    """An answer, and it is no. `facts` holds whatever else the problem said.

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
    """The request could not be read."""


class KeyRequired(BadRequest, code="SCH_400_IDEMPOTENCY_KEY"):
    """What must not happen twice needs an Idempotency-Key; this client always sends one."""


class Unauthenticated(Refused, code="SCH_401_UNAUTHENTICATED", status=401):
    """No key, or none that is good now."""


class Forbidden(Refused, code="SCH_403_FORBIDDEN", status=403):
    """The key's roles or scopes do not cover it."""


class NotFound(Refused, code="SCH_404_NOT_FOUND", status=404):
    """Nothing of yours has that name or id."""


class NotAllowed(Refused, code="SCH_405_METHOD", status=405):
    """The path is there, the method is not: perhaps an older server."""


class Conflict(Refused, code="SCH_409_CONFLICT", status=409):
    """Not in the state, or at the version, you thought."""


class Contended(Conflict, code="SCH_409_CONTENDED"):
    """The row kept moving; nothing was changed."""


class CountReached(Conflict, code="SCH_409_COUNT_REACHED"):
    """The tenant has as many of these as its allowance says."""


class Duplicate(Conflict, code="SCH_409_DUPLICATE"):
    """This idempotency key was used for another request, or its request still runs."""


class Unopenable(Conflict, code="SCH_409_UNOPENABLE"):
    """What is stored is not as it was sealed; asking again does not help."""


class NameTaken(Conflict, code="SCH_409_NAME_TAKEN"):
    """Another living job has that name."""


class TooLarge(Refused, code="SCH_413_TOO_LARGE", status=413):
    """More bytes than a request may have."""


class UnsupportedMedia(Refused, code="SCH_415_MEDIA_TYPE", status=415):
    """A body that is not JSON."""


class Invalid(Refused, code="SCH_422_INVALID", status=422):
    """What was asked cannot be done as written; `errors` says where."""


class InvalidSchedule(Invalid, code="SCH_422_SCHEDULE"):
    """A trigger that means nothing, or never fires."""


class Limited(Refused, status=429):
    """Too much of something; `retry_after` says when to come back."""


class RateLimited(Limited, code="SCH_429_RATE_LIMITED"):
    """Too many requests."""


class RetryLimited(Limited, code="SCH_429_RETRY_LIMITED"):
    """Retries and replays above the tenant's budget."""


class ServerFault(Refused, code="SCH_500_INTERNAL", status=500):
    """The server's own fault."""


class Unavailable(Refused, code="SCH_503_UNAVAILABLE", status=503):
    """Not now; nothing was changed."""


class DispatcherDown(Unavailable, code="SCH_503_DISPATCHER_DOWN"):
    """No node holds the shard; nothing was triggered."""


class KeysUnavailable(Unavailable, code="SCH_503_KEYS"):
    """What is sealed cannot be opened, or sealed, just now."""


class ShardClosed(Unavailable, code="SCH_503_SHARD_CLOSED"):
    """The shard is moving to another cell."""


def refusal(status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> Refused:
    """The refusal that a problem stands for. A code we do not know yet is told by its status.

    >>> from horae_client.errors import refusal
    >>> type(refusal(404, {"code": "SCH_404_NOT_FOUND", "detail": "no such job"})).__name__
    'NotFound'
    """
    kind = Refused.BY_CODE.get(str(problem.get("code"))) or Refused.BY_STATUS.get(status) or by_hundred(status)
    return kind(status, problem, retry_after)


def by_hundred(status: int) -> type[Refused]:
    """What a status means that nobody gave a name."""
    return ServerFault if status >= 500 else Refused

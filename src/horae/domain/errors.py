"""Everything that can be refused, as one tree.

The class carries the public code and the HTTP status; one handler at the door speaks them::

    HoraeError
    ├── BadRequest            SCH_400_BAD_REQUEST       not readable: no JSON, or not as strict as we read it
    │   └── KeyRequired       SCH_400_IDEMPOTENCY_KEY   this route needs an Idempotency-Key
    ├── Unauthenticated       SCH_401_UNAUTHENTICATED   no credential, or not one that is good now
    ├── Forbidden             SCH_403_FORBIDDEN         a good credential whose roles do not cover this
    ├── NotAllowed            SCH_405_METHOD            the path is there, the method is not
    ├── TooLarge              SCH_413_TOO_LARGE         more bytes than a request may have
    ├── UnsupportedMedia      SCH_415_MEDIA_TYPE        a body that is not application/json
    ├── Invalid               SCH_422_INVALID           what was asked cannot be done as written
    │   └── InvalidSchedule   SCH_422_SCHEDULE          a trigger that means nothing, or never fires
    ├── NotFound              SCH_404_NOT_FOUND         nothing of yours has that name or id
    ├── Conflict              SCH_409_CONFLICT          the row is not in the state, or version, you thought
    │   ├── Duplicate         SCH_409_DUPLICATE         this idempotency key was used for another request
    │   │   └── InFlight      SCH_409_DUPLICATE         the first request with this key has not ended yet
    │   ├── NameTaken         SCH_409_NAME_TAKEN        another living job has that name
    │   ├── CountReached      SCH_409_COUNT_REACHED     the tenant has as many of these as it may
    │   ├── Contended         SCH_409_CONTENDED         the row kept moving under us; ask again
    │   └── Unopenable        SCH_409_UNOPENABLE        what is stored is not as it was sealed, or not where it was
    ├── RetryLimited          SCH_429_RETRY_LIMITED     retries or replays above their budget
    ├── RateLimited           SCH_429_RATE_LIMITED      more requests than the tenant or the address may make
    └── Unavailable           SCH_503_UNAVAILABLE       not now; nothing was changed
        ├── ShardClosed       SCH_503_SHARD_CLOSED      the shard is moving to another cell
        ├── DispatcherDown    SCH_503_DISPATCHER_DOWN   no node holds the shard's lease
        ├── KeysUnavailable   SCH_503_KEYS              what is sealed cannot be opened, or sealed, just now
        └── Unfit             SCH_503_UNFIT             a cell is not as our promises need it; `horae doctor` says why
"""

from typing import ClassVar


class HoraeError(Exception):
    """The root: a refusal with a public code. The message is written for the person who asked, facts for programs."""

    code: ClassVar[str] = "SCH_500_INTERNAL"
    status: ClassVar[int] = 500

    def __init__(self, message: str = "", **facts: object) -> None:
        super().__init__(message)
        self.facts = facts


class BadRequest(HoraeError):
    """The request could not be read."""

    code, status = "SCH_400_BAD_REQUEST", 400


class KeyRequired(BadRequest):
    """What must not happen twice needs an Idempotency-Key."""

    code = "SCH_400_IDEMPOTENCY_KEY"


class Unauthenticated(HoraeError):
    """No credential, or none that is good now. It never says which part was wrong."""

    code, status = "SCH_401_UNAUTHENTICATED", 401


class Forbidden(HoraeError):
    """The credential is good, but its roles or scopes do not cover what was asked."""

    code, status = "SCH_403_FORBIDDEN", 403


class NotAllowed(HoraeError):
    """There is such a path, but not with this method."""

    code, status = "SCH_405_METHOD", 405


class TooLarge(HoraeError):
    """More bytes than a request may have."""

    code, status = "SCH_413_TOO_LARGE", 413


class UnsupportedMedia(HoraeError):
    """A body that is not `application/json`."""

    code, status = "SCH_415_MEDIA_TYPE", 415


class Invalid(HoraeError):
    """What was asked cannot be done as written."""

    code, status = "SCH_422_INVALID", 422


class InvalidSchedule(Invalid):
    """A trigger that means nothing in its dialect, contradicts itself or never fires."""

    code = "SCH_422_SCHEDULE"


class NotFound(HoraeError):
    """Nothing of this tenant has that name or id."""

    code, status = "SCH_404_NOT_FOUND", 404


class Conflict(HoraeError):
    """The row is not in the state, or not at the version, the request assumed."""

    code, status = "SCH_409_CONFLICT", 409


class Duplicate(Conflict):
    """This idempotency key was used for a different request, or is still in flight."""

    code = "SCH_409_DUPLICATE"


class InFlight(Duplicate):
    """The first request with this idempotency key has not ended; asking again later is safe."""


class NameTaken(Conflict):
    """Another living job of the tenant has that name."""

    code = "SCH_409_NAME_TAKEN"


class CountReached(Conflict):
    """The tenant has as many of these as its allowance says."""

    code = "SCH_409_COUNT_REACHED"


class Contended(Conflict):
    """The row kept moving under us; nothing was changed and asking again is safe."""

    code = "SCH_409_CONTENDED"


class Unopenable(Conflict):
    """A sealed value is not as it was sealed, or not where it was. Asking again does not help."""

    code = "SCH_409_UNOPENABLE"


class RetryLimited(HoraeError):
    """Retries or replays above their budget, or a measure in force."""

    code, status = "SCH_429_RETRY_LIMITED", 429


class RateLimited(HoraeError):
    """More requests than the tenant, or the address, may make now; `retry_after` says when to come back."""

    code, status = "SCH_429_RATE_LIMITED", 429

    def __init__(self, message: str, retry_after: float, **facts: object) -> None:
        super().__init__(message, **facts)
        self.retry_after = retry_after


class Unavailable(HoraeError):
    """Not now. Nothing was changed; asking again later is safe."""

    code, status = "SCH_503_UNAVAILABLE", 503


class ShardClosed(Unavailable):
    """The shard is moving to another cell, or lives in another one than the caller believed."""

    code = "SCH_503_SHARD_CLOSED"


class DispatcherDown(Unavailable):
    """No node holds the shard's lease, so a manual trigger would wait for nobody."""

    code = "SCH_503_DISPATCHER_DOWN"


class KeysUnavailable(Unavailable):
    """The keys that seal and open payloads cannot be had just now."""

    code = "SCH_503_KEYS"


class Unfit(Unavailable):
    """A cell is not as our promises need it: a node does not begin there."""

    code = "SCH_503_UNFIT"

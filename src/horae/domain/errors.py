"""All refusals, as one tree of exceptions.

A class has the public code and the HTTP status; one handler of the API server turns them into an answer::

    HoraeError
    ├── BadRequest            SCH_400_BAD_REQUEST       not readable: no JSON, or not in its strict form
    │   └── KeyRequired       SCH_400_IDEMPOTENCY_KEY   this route needs an Idempotency-Key
    ├── Unauthenticated       SCH_401_UNAUTHENTICATED   no credential, or none that is valid now
    ├── Forbidden             SCH_403_FORBIDDEN         a valid credential whose roles do not cover the action
    ├── MethodNotAllowed      SCH_405_METHOD            the path exists, the method does not
    ├── TooLarge              SCH_413_TOO_LARGE         more bytes than a request may have
    ├── UnsupportedMedia      SCH_415_MEDIA_TYPE        a body that is not application/json
    ├── Invalid               SCH_422_INVALID           the request cannot be done as written
    │   ├── InvalidSchedule   SCH_422_SCHEDULE          a trigger that has no meaning, or never fires
    │   ├── ResultTooLarge    SCH_422_RESULT_SIZE       the result of an attempt has more than 64 KiB
    │   └── ChannelRefused    SCH_422_INVALID           an alert channel that a person must change first
    ├── NotFound              SCH_404_NOT_FOUND         the tenant has nothing with that name or id
    │   └── NoLongerKept      SCH_410_GONE              older than what is kept
    ├── Conflict              SCH_409_CONFLICT          the row has another state, or version, than assumed
    │   ├── Duplicate         SCH_409_DUPLICATE         this idempotency key was used for another request
    │   │   └── InFlight      SCH_409_DUPLICATE         the first request with this key has not ended yet
    │   ├── NameTaken         SCH_409_NAME_TAKEN        another living job has that name
    │   ├── CountReached      SCH_409_COUNT_REACHED     the tenant has as many of these as it may
    │   ├── Contended         SCH_409_CONTENDED         the row kept changing; send the request again
    │   └── Unopenable        SCH_409_UNOPENABLE        an encrypted value was changed, or moved to another row
    ├── RetryLimited          SCH_429_RETRY_LIMITED     retries or replays above their budget
    ├── RateLimited           SCH_429_RATE_LIMITED      more requests than the tenant or the address may make
    └── Unavailable           SCH_503_UNAVAILABLE       not possible now; nothing was changed
        ├── ShardClosed       SCH_503_SHARD_CLOSED      the shard is moving to another cell
        ├── DispatcherDown    SCH_503_DISPATCHER_DOWN   no node holds the shard's lease
        ├── ArchiveUnavailable SCH_503_ARCHIVE          the archive cannot be read now, or not in time
        ├── KeysUnavailable   SCH_503_KEYS              values cannot be encrypted or decrypted now
        ├── NewerRelease      SCH_503_RELEASE           a newer release wrote the row; this one cannot read it
        └── Unfit             SCH_503_UNFIT             a cell breaks our promises; `horae doctor` says why
"""

from typing import ClassVar


class HoraeError(Exception):
    """The root: a refusal with a public code. The message is for the person, `facts` are for programs."""

    code: ClassVar[str] = "SCH_500_INTERNAL"
    status: ClassVar[int] = 500

    def __init__(self, message: str = "", **facts: object) -> None:
        super().__init__(message)
        self.facts = facts


class BadRequest(HoraeError):
    """The request could not be parsed."""

    code, status = "SCH_400_BAD_REQUEST", 400


class KeyRequired(BadRequest):
    """The request must not be done twice, and needs an Idempotency-Key."""

    code = "SCH_400_IDEMPOTENCY_KEY"


class Unauthenticated(HoraeError):
    """No credential, or none that is valid now. The message never says which part was wrong."""

    code, status = "SCH_401_UNAUTHENTICATED", 401


class Forbidden(HoraeError):
    """The credential is valid, but its roles or scopes do not cover the action."""

    code, status = "SCH_403_FORBIDDEN", 403


class MethodNotAllowed(HoraeError):
    """The path exists, but not with this method."""

    code, status = "SCH_405_METHOD", 405


class TooLarge(HoraeError):
    """More bytes than a request may have."""

    code, status = "SCH_413_TOO_LARGE", 413


class UnsupportedMedia(HoraeError):
    """A body that is not `application/json`."""

    code, status = "SCH_415_MEDIA_TYPE", 415


class Invalid(HoraeError):
    """The request cannot be done as written."""

    code, status = "SCH_422_INVALID", 422


class InvalidSchedule(Invalid):
    """A trigger that has no meaning in its dialect, contradicts itself or never fires."""

    code = "SCH_422_SCHEDULE"


class ResultTooLarge(Invalid):
    """The result of an attempt is larger than a row may hold. Nothing was written."""

    code = "SCH_422_RESULT_SIZE"


class ChannelRefused(Invalid):
    """The alert channel cannot take any message as it is: sending again does not help before a person changes it."""


class NotFound(HoraeError):
    """The tenant has nothing with that name or id."""

    code, status = "SCH_404_NOT_FOUND", 404


class NoLongerKept(NotFound):
    """It is older than what is kept, so nobody can say any more whether it existed."""

    code, status = "SCH_410_GONE", 410


class Conflict(HoraeError):
    """The row has another state, or another version, than the request assumed."""

    code, status = "SCH_409_CONFLICT", 409


class Duplicate(Conflict):
    """This idempotency key was used for a different request, or its first request is still in flight."""

    code = "SCH_409_DUPLICATE"


class InFlight(Duplicate):
    """The first request with this idempotency key has not ended; sending it again later is safe."""


class NameTaken(Conflict):
    """Another living job of the tenant has that name."""

    code = "SCH_409_NAME_TAKEN"


class CountReached(Conflict):
    """The tenant has as many of these as its allowance permits."""

    code = "SCH_409_COUNT_REACHED"


class Contended(Conflict):
    """The row kept changing; nothing was written, and sending the request again is safe."""

    code = "SCH_409_CONTENDED"


class Unopenable(Conflict):
    """An encrypted value was changed, or moved to another row. Sending the request again does not help."""

    code = "SCH_409_UNOPENABLE"


class RetryLimited(HoraeError):
    """Retries or replays exceed their budget, or a measure is in force."""

    code, status = "SCH_429_RETRY_LIMITED", 429


class RateLimited(HoraeError):
    """More requests than the tenant, or the address, may make now; `retry_after` is in seconds."""

    code, status = "SCH_429_RATE_LIMITED", 429

    def __init__(self, message: str, retry_after: float, **facts: object) -> None:
        super().__init__(message, **facts)
        self.retry_after = retry_after


class Unavailable(HoraeError):
    """Not possible now. Nothing was changed, and sending the request again later is safe."""

    code, status = "SCH_503_UNAVAILABLE", 503


class ShardClosed(Unavailable):
    """The shard is moving to another cell, or lives in another cell than the caller assumed."""

    code = "SCH_503_SHARD_CLOSED"


class DispatcherDown(Unavailable):
    """No node holds the shard's lease, so a manual trigger would not be dispatched."""

    code = "SCH_503_DISPATCHER_DOWN"


class ArchiveUnavailable(Unavailable):
    """The archive cannot be read now, or not within the time that a read of it may take."""

    code = "SCH_503_ARCHIVE"


class KeysUnavailable(Unavailable):
    """The keys that encrypt and decrypt payloads are not available now."""

    code = "SCH_503_KEYS"


class NewerRelease(Unavailable):
    """A newer release wrote a row that this one cannot read. A process of that release can."""

    code = "SCH_503_RELEASE"


class Unfit(Unavailable):
    """A cell does not fulfil what our promises need; a node does not start there."""

    code = "SCH_503_UNFIT"

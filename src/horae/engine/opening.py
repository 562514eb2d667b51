"""Opens what attempts carry, at the moment they are sent, and closes what comes back of it."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from horae.domain import confidential
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.outcomes import ErrorCode, Outcome, Probed, Unrecoverable
from horae.domain.sealed import Sealed, answer_of, payload_of
from horae.engine.births import Flight
from horae.runtime.telemetry import log
from horae.security.envelopes import version_of
from horae.security.sealing import Sealing
from horae.store.tx import CUT, GONE

CLOSED: tuple[type[Exception], ...] = (KeysUnavailable, Unopenable, *GONE, *CUT)
NOT_NOW: Final = Probed(ErrorCode.SEALED, "what its job says is sealed, and cannot be opened now")


class Opener:
    """One of a node. Fires without a payload never ask it for a key."""

    def __init__(self, sealing: Sealing) -> None:
        self._sealing = sealing

    async def learn(self, flights: Sequence[Flight]) -> None:
        """Have the keys of what is about to be sent at hand. One that cannot be had now keeps nobody else waiting."""
        closed = {(ran.tenant_id, version_of(ran.payload)) for _, ran, _ in flights if self._lacks_key(ran)}
        for tenant_id, version in closed:
            try:
                await self._sealing.learn(tenant_id, version)
            except CLOSED as error:
                log.warning("payload.closed", tenant=str(tenant_id), reason=str(error) or type(error).__name__)

    def open(self, ran: Instance, job: Job) -> Instance | Outcome:
        """The instance as it is sent. Without its key it is tried again, uncounted; what was tampered with is dead."""
        if job.definition.sealed is not None:
            return NOT_NOW
        if not _is_sealed(ran):
            return ran
        try:
            payload = self._sealing.opened(ran.tenant_id, payload_of(ran.job_id, ran.idem_key), ran.payload)
        except KeysUnavailable as error:
            return Probed(ErrorCode.SEALED, str(error))
        except Unopenable as error:
            return Unrecoverable(ErrorCode.SEALED, str(error))
        return replace(ran, payload=payload)

    def answer(self, ran: Instance, job: Job, answer: str | None) -> str | Sealed | None:
        """An answer as it is kept: sealed where the call carried something that was, for it may repeat that."""
        if answer is None or (ran.payload is None and not _tells(job)):
            return answer
        key = self._sealing.known(ran.tenant_id)
        return answer if key is None else key.seal(answer_of(ran.job_id, ran.idem_key), answer)

    def _lacks_key(self, ran: Instance) -> bool:
        """Not where it names none: then it is no sealed value of ours, and opening it will say so."""
        try:
            return _is_sealed(ran) and self._sealing.key_to(ran.tenant_id, ran.payload) is None
        except Unopenable:
            return False


def _tells(job: Job) -> bool:
    """Whether every call of a job says something that is not for all: parts of its definition, or who we are."""
    return confidential.any_in(job.definition) or getattr(job.definition.target, "auth", None) is not None


def _is_sealed(ran: Instance) -> bool:
    return type(ran.payload) is Sealed

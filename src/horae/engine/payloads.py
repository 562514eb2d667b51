"""Decrypts the payload of an attempt when it is sent, and encrypts its answer when it is stored."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from horae.domain.encryption import confidential
from horae.domain.encryption.encrypted_values import EncryptedValue, answer_of, payload_of
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import ErrorCode, FailedProbe, Outcome, Unrecoverable
from horae.domain.jobs.jobs import Job
from horae.engine.fire_parts import Flight
from horae.runtime.telemetry import log
from horae.security.envelopes import version_of
from horae.security.payload_cipher import PayloadCipher
from horae.store.tx import CUT, GONE

UNDECRYPTABLE: tuple[type[Exception], ...] = (KeysUnavailable, Unopenable, *GONE, *CUT)
NOT_NOW: Final = FailedProbe(ErrorCode.SEALED, "its job's definition is encrypted and cannot be decrypted now")


class Opener:
    """One per cell. Attempts without a payload need no key."""

    def __init__(self, cipher: PayloadCipher) -> None:
        self._cipher = cipher

    async def learn(self, flights: Sequence[Flight]) -> None:
        """Load the keys of payloads that are about to be sent. A key that is unavailable now is logged and left out."""
        closed = {(ran.tenant_id, version_of(ran.payload)) for _, ran, _ in flights if self._lacks_key(ran)}
        if closed:
            await self._cipher.learn_all(closed)
        for tenant_id, version in closed:
            try:
                await self._cipher.learn(tenant_id, version)
            except UNDECRYPTABLE as error:
                log.warning("payload.undecryptable", tenant=tenant_id, reason=str(error) or type(error).__name__)

    def decrypt(self, ran: Instance, job: Job) -> Instance | Outcome:
        """The instance with its payload decrypted, or an outcome if that fails.

        Without the key it is tried again, and no failure is counted. If the value was tampered with, it is dead.
        """
        if job.definition.sealed is not None:
            return NOT_NOW
        if not _is_encrypted(ran):
            return ran
        try:
            payload = self._cipher.decrypt_in_memory(ran.tenant_id, payload_of(ran.job_id, ran.idem_key), ran.payload)
        except KeysUnavailable as error:
            return FailedProbe(ErrorCode.SEALED, str(error))
        except Unopenable as error:
            return Unrecoverable(ErrorCode.SEALED, str(error))
        return replace(ran, payload=payload)

    def encrypt_answer(self, ran: Instance, job: Job, answer: str | None) -> str | EncryptedValue | None:
        """An answer as it is stored: encrypted if the call carried confidential values, which the answer may repeat."""
        if answer is None or (ran.payload is None and not _is_confidential(job)):
            return answer
        key = self._cipher.key_in_memory(ran.tenant_id)
        return answer if key is None else key.encrypt(answer_of(ran.job_id, ran.idem_key), answer)

    def _lacks_key(self, ran: Instance) -> bool:
        """Whether the key of an encrypted payload is missing. A value that names no key fails later, in `decrypt`."""
        try:
            return _is_encrypted(ran) and self._cipher.key_to(ran.tenant_id, ran.payload) is None
        except Unopenable:
            return False


def _is_confidential(job: Job) -> bool:
    """Whether every call of a job carries confidential values: parts of its definition, or credentials."""
    return confidential.has_private_parts(job.definition) or getattr(job.definition.target, "auth", None) is not None


def _is_encrypted(ran: Instance) -> bool:
    return type(ran.payload) is EncryptedValue

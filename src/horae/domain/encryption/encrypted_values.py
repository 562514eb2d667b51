"""Encrypted values: how rows hold them, and the place that each is bound to."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

MARK: Final = "$sealed"
"""The only key of an encrypted value in JSON."""
NOBODY: Final = UUID(int=0)
"""The owner of values that belong to the tenant as a whole."""


class EncryptedValue(msgspec.Struct, frozen=True, rename={"text": MARK}):
    """An encrypted value. In JSON it is an object with one key that no clear value has: `{"$sealed": "…"}`."""

    text: str


class UndecryptableValue(EncryptedValue, frozen=True):
    """Replaces an encrypted value that cannot be decrypted for a reader; `code` is the refusal's. Never stored."""

    code: str = ""


def undecryptable_code(value: Any) -> str | None:
    """Return why a value could not be decrypted for a reader; None for any other value."""
    return value.code if isinstance(value, UndecryptableValue) else None


class Spot(NamedTuple):
    """The place of an encrypted value: owner, name and field. It cannot be decrypted as if it were in another place.

    The name of a payload is its idempotency key. A move, a replacement, a replay and the end of an instance keep that
    key, so a payload that SQL copies between rows of one intended effect stays readable.
    """

    owner_id: UUID
    name: str
    field: str


def payload_of(job_id: UUID, idem_key: str) -> Spot:
    """Return the spot of the payload of one intended effect."""
    return Spot(job_id, idem_key, "payload")


def answer_of(job_id: UUID, idem_key: str) -> Spot:
    """Return the spot of a target's answer, encrypted because it may repeat encrypted parts of the call."""
    return Spot(job_id, idem_key, "answer")


def definition_of(job_id: UUID) -> Spot:
    """Return the spot of the private parts of a job's definition."""
    return Spot(job_id, "", "definition")


def secret_of(name: str, hosts: Sequence[str] = ()) -> Spot:
    """Return the spot of a tenant's secret. It includes the hosts: a row whose hosts were changed does not decrypt."""
    return Spot(NOBODY, name, f"secret for {' '.join(hosts)}" if hosts else "secret")


def compensation_of(instance_id: UUID) -> Spot:
    """Return the spot of a compensation's payload, until its task is created."""
    return Spot(instance_id, "", "compensation")


def result_of(instance_id: UUID) -> Spot:
    """Return the spot of what an attempt of an instance returned."""
    return Spot(instance_id, "", "result")


def progress_of(instance_id: UUID) -> Spot:
    """Return the spot of the text that says how far an instance is."""
    return Spot(instance_id, "", "progress")


def log_of(instance_id: UUID) -> Spot:
    """Return the spot of lines that attempts of an instance logged."""
    return Spot(instance_id, "", "log")


def parked_of(id_: UUID) -> Spot:
    """Return the spot of a parked message."""
    return Spot(id_, "", "parked")


def request_of(route: str, resource: str, key: str) -> Spot:
    """Return the spot of the stored answer to a request with an Idempotency-Key."""
    return Spot(NOBODY, f"{route}\0{resource}\0{key}", "request")


def read(value: Any) -> Any:
    """Return a value from a row, as an `EncryptedValue` where it is encrypted."""
    if type(value) is dict and len(value) == 1 and MARK in value:
        return EncryptedValue(value[MARK])
    return value

"""Values that only their tenant's key opens: how rows hold them, and what each of them is bound to."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

MARK: Final = "$sealed"
NOBODY: Final = UUID(int=0)


class Sealed(msgspec.Struct, frozen=True, rename={"text": MARK}):
    """A sealed value. In JSON it is an object with one key that no clear value has: `{"$sealed": "…"}`."""

    text: str


class Unopened(Sealed, frozen=True):
    """Stands for a sealed value that cannot be opened, towards a reader: the code of the refusal. Never stored."""

    code: str = ""


def unopened_code(value: Any) -> str | None:
    """Why a value could not be opened for a reader; None for one that could."""
    return value.code if isinstance(value, Unopened) else None


class Spot(NamedTuple):
    """Where a sealed value belongs: whose it is, under which name, in which field. Elsewhere it does not open.

    A payload is named by its idempotency key, which a move, a replacement, a replay and the end of an instance keep:
    what SQL carries from row to row for the same intended effect stays readable, and nothing else does.
    """

    owner_id: UUID
    name: str
    field: str


def payload_of(job_id: UUID, idem_key: str) -> Spot:
    """The payload of one intended effect."""
    return Spot(job_id, idem_key, "payload")


def answer_of(job_id: UUID, idem_key: str) -> Spot:
    """What a target answered to a call that carried something sealed: it may repeat it."""
    return Spot(job_id, idem_key, "answer")


def definition_of(job_id: UUID) -> Spot:
    """What a job's definition says that may be private."""
    return Spot(job_id, "", "definition")


def secret_of(name: str, hosts: Sequence[str] = ()) -> Spot:
    """The value of a tenant's named secret. Its hosts belong to the place: whoever changes them cannot open it."""
    return Spot(NOBODY, name, f"secret for {' '.join(hosts)}" if hosts else "secret")


def compensation_of(instance_id: UUID) -> Spot:
    """The payload of a task that an instance asked for with its end, until that task is made."""
    return Spot(instance_id, "", "compensation")


def parked_of(id_: UUID) -> Spot:
    """A message that an intake could make nothing of."""
    return Spot(id_, "", "parked")


def request_of(route: str, resource: str, key: str) -> Spot:
    """The kept answer of a request that was made under an Idempotency-Key."""
    return Spot(NOBODY, f"{route}\0{resource}\0{key}", "request")


def read(value: Any) -> Any:
    """A value out of a row: clear, or known to be sealed."""
    if type(value) is dict and len(value) == 1 and MARK in value:
        return Sealed(value[MARK])
    return value

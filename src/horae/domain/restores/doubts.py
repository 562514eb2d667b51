"""Finds what a restore puts in doubt: permissions whose removal may have been lost with the end of the cell's history.

A key that was revoked after the target of the restore is valid again in the restored cell. Other cells have copies of
API keys, role bindings, secrets and tenants, so most of such losses can be seen.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

Row = Mapping[str, Any]
"""One row by its columns, as PostgreSQL writes it in JSON."""


class DoubtKind(StrEnum):
    """What may be in doubt."""

    API_KEY = "api-key"
    ROLE_BINDING = "role-binding"
    SECRET = "secret"  # noqa: S105 - a kind, not a value
    TENANT = "tenant"


class KindFacts(NamedTuple):
    """The table of a kind, the column that identifies a row within its tenant, and the column that people know."""

    table: str
    identity: str
    label: str


class Doubt(NamedTuple):
    """A row that stays shut until a person decides. `evidence` says why; `content` is the row of the backup."""

    kind: DoubtKind
    tenant_id: UUID
    identity: str
    name: str
    evidence: str
    content: Row


class CopyComparison(NamedTuple):
    """The doubts of one kind, and the copies of other cells that are newer than the rows of the backup."""

    doubts: list[Doubt]
    newer: list[Row]


KINDS: Final = {
    DoubtKind.API_KEY: KindFacts("api_key", "id", "name"),
    DoubtKind.ROLE_BINDING: KindFacts("role_binding", "principal", "principal"),
    DoubtKind.SECRET: KindFacts("secret", "name", "name"),
}
"""The kinds whose rows have copies in other cells. A tenant has a copy in another form."""
UNKNOWN_ELSEWHERE: Final = "no other cell has it as it is in the backup"


def is_live(kind: DoubtKind, row: Row) -> bool:
    """Whether a row still grants something: a key that is not revoked, a binding with roles, a secret with a value."""
    match kind:
        case DoubtKind.API_KEY:
            return row["revoked_at"] is None
        case DoubtKind.ROLE_BINDING:
            return bool(row["roles"])
        case DoubtKind.SECRET:
            return row["sealed"] is not None
        case DoubtKind.TENANT:
            return bool(row["status"] == "ACTIVE")


def compare(kind: DoubtKind, own: Sequence[Row], copies: Mapping[str, Sequence[Row]]) -> CopyComparison:
    """Compare the rows of a restored cell with the copies that other cells have.

    1. A copy with a higher version is newer: the cell takes it over. If it grants nothing any more, the row is in
       doubt, and stays shut by the copy itself.
    2. A copy with the same version says that nothing was changed as far as the other cell has heard.
    3. A row without either is in doubt: nobody can tell whether it was removed.
    """
    newest: dict[tuple[str, str], tuple[str, Row]] = {}
    for cell, rows in copies.items():
        for row in rows:
            key = _key(kind, row)
            if key not in newest or newest[key][1]["version"] < row["version"]:
                newest[key] = cell, row
    by_key = {_key(kind, row): row for row in own}
    newer = [row for key, (_, row) in newest.items() if key not in by_key or by_key[key]["version"] < row["version"]]
    return CopyComparison(list(_doubts(kind, by_key, newest)), newer)


def _doubts(
    kind: DoubtKind, own: Mapping[tuple[str, str], Row], newest: Mapping[tuple[str, str], tuple[str, Row]]
) -> Iterable[Doubt]:
    for key, row in own.items():
        if not is_live(kind, row):
            continue
        cell, copy = newest.get(key, ("", None))
        if copy is None or copy["version"] < row["version"]:
            yield _doubt(kind, row, UNKNOWN_ELSEWHERE)
        elif copy["version"] > row["version"] and not is_live(kind, copy):
            yield _doubt(kind, row, f"{cell} knows that it was removed at {copy['changed_at']}")


def _doubt(kind: DoubtKind, row: Row, evidence: str) -> Doubt:
    facts = KINDS[kind]
    return Doubt(kind, UUID(row["tenant_id"]), row[facts.identity], row[facts.label], evidence, row)


def _key(kind: DoubtKind, row: Row) -> tuple[str, str]:
    return row["tenant_id"], row[KINDS[kind].identity]


def doubted_tenants(own: Sequence[Row], copies: Mapping[str, Sequence[Row]]) -> list[Doubt]:
    """The tenants of a restored cell that were paused or removed elsewhere, or that no other cell knows as they are.

    A row has the columns of `tenant` and, as `copy_version`, the version of the cell's own copy.
    """
    newest: dict[str, tuple[str, Row]] = {}
    for cell, rows in copies.items():
        for row in rows:
            if row["id"] not in newest or newest[row["id"]][1]["version"] < row["version"]:
                newest[row["id"]] = cell, row
    found = []
    for row in own:
        if not is_live(DoubtKind.TENANT, row):
            continue
        cell, copy = newest.get(row["id"], ("", None))
        if copy is None or copy["version"] < row["copy_version"]:
            evidence = UNKNOWN_ELSEWHERE
        elif copy["version"] > row["copy_version"] and (standing := _standing(copy["body"])) != "ACTIVE":
            evidence = f"{cell} knows that it is {standing} since {copy['changed_at']}"
        else:
            continue
        found.append(Doubt(DoubtKind.TENANT, UUID(row["id"]), row["id"], row["name"], evidence, row))
    return found


def _standing(body: Row) -> str:
    """The status of a tenant by its copy."""
    if body.get("purged"):
        return "REMOVED"
    held = body.get("held")
    return str(held["status"]) if held else "ACTIVE"

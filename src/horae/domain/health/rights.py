"""Whether the role of a connection has the rights that its process needs, and what to change where it has not."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from horae.domain.health.doctor import Diagnosis, Severity

NAMED_RIGHTS: Final = 3
"""Missing rights that a finding names; the others are counted."""
PAGE: Final = 'the page "Database roles" (docs/database-roles.md)'


class RoleRights(NamedTuple):
    """A role of a connection, and what it lacks of the rights of the role that a deployment has for this purpose.

    `lacking` has words such as `update on job`. `unowned`: how many tables other roles own, by owner.
    """

    role: str
    model: str
    lacking: tuple[str, ...]
    unowned: Mapping[str, int]


def examine_rights(rights: RoleRights, *, name: str, setting: str) -> Diagnosis:
    """Check that a role has every right of its model. `setting` names where the DSN comes from."""
    if not rights.lacking:
        return Diagnosis(Severity.OK, name, rights.role)
    named = ", ".join(rights.lacking[:NAMED_RIGHTS])
    more = len(rights.lacking) - NAMED_RIGHTS
    found = f"{rights.role}, which lacks {named}{f' and {more} more' if more > 0 else ''}"
    return Diagnosis(Severity.FAULT, name, found, f"connect as {rights.model} ({setting}), as {PAGE} says")


def examine_ownership(rights: RoleRights, *, name: str) -> Diagnosis:
    """Check that a role owns the tables, as upkeep needs it: only an owner may vacuum them and drop their old days."""
    if not rights.unowned:
        return Diagnosis(Severity.OK, name, rights.role)
    owners, tables = ", ".join(rights.unowned), sum(rights.unowned.values())
    advice = f"set HORAE_UPKEEP_DSN (or upkeep_dsn in HORAE_CELLS) to the DSN of their owner, {owners}"
    return Diagnosis(Severity.FAULT, name, f"{rights.role}, which does not own {tables} tables", advice)

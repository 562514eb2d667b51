"""S-04: no role of ours becomes another one, whatever it is a member of."""

from tests.steps import query
from tests.store.test_row_level_security import ROLES

ALLOWED = {
    ("horae_engine", "pg_read_all_stats"),
    ("horae_engine", "pg_signal_backend"),
    ("horae_migrate", "pg_database_owner"),  # of the database that it owns
}


async def test_no_membership_leads_from_one_role_to_another(store):
    found = await query(
        store.cells[0],
        """
        select r.rolname as role, g.rolname as member_of from pg_roles r, pg_roles g
        where r.rolname = any($1) and g.oid <> r.oid and pg_has_role(r.oid, g.oid, 'member')
        """,
        ROLES,
    )
    assert {(row["role"], row["member_of"]) for row in found} <= ALLOWED


async def test_the_roles_of_requests_are_members_of_no_role_at_all(store):
    """A policy also serves the members of its role."""
    found = await query(
        store.cells[0],
        "select g.rolname as granted from pg_auth_members m join pg_roles g on g.oid = m.roleid"
        " join pg_roles r on r.oid = m.member where r.rolname in ('horae_api', 'horae_readonly')",
    )
    assert found == []

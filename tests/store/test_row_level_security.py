"""The second wall: what PostgreSQL itself refuses, whatever a statement says."""

import asyncio
import random
from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

import asyncpg
import pytest
from benchmarks.query_plans import connect as connect_as_store

from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import JobFilter
from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.jobs import jobs
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.row_level_security import PLATFORM, Behalf, is_enforced, restrict
from horae.store.statements import sql
from horae.store.store import Store
from horae.store.tenants import tenants as rows
from horae.store.tx import Tx
from horae.upkeep.copies import Copier
from tests.pgbouncer import PROGRAM, connected, pooled, pooling
from tests.steps import a_job, a_type, query
from tests.store.forbidden import FORBIDDEN, FORBIDDEN_TO_ALL
from tests.store.walls import as_role

ROLES = ("horae_migrate", "horae_api", "horae_engine", "horae_relay", "horae_readonly")
PLAIN = {
    "cell",
    "cell_generation",
    "cell_witness",
    "clock_offset",
    "shard",
    "node",
    "schema_migration",
    "audit_block",
    "audit_checkpoint",
    "relay",
    "archived_day",
    "dropped_day",
    "feed_mark",
    "growth",
    "incident",
    "incident_entry",
    "alert_position",
    "fire_audit_position",
    "shard_move",
}
"""Tables of the cell itself: they hold nothing of any tenant."""


@pytest.fixture
async def connect(cells):
    opened = []

    async def connect(role):
        [cell, _] = as_role(cells, role)
        opened.append(await asyncpg.connect(cell.dsn))
        return opened[-1]

    yield connect
    for connection in opened:
        await connection.close()


async def test_every_table_with_a_tenant_is_behind_the_wall(store):
    found = await query(
        store.cells[0],
        """
        select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced, c.relispartition as part,
               exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') as owned,
               (select array_agg(p.polname::text) from pg_policy p where p.polrelid = c.oid) as policies,
               (select bool_and(pg_get_expr(p.polqual, p.polrelid) like '%current_setting%')
                from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant_wall') as reads,
               (select bool_and(pg_get_expr(p.polwithcheck, p.polrelid) like '%horae.tenant%')
                from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant_wall') as writes
        from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
        """,
    )
    assert len(found) > 20
    for table in found:
        if table["name"] in PLAIN:
            assert not table["owned"]
            continue
        assert table["owned"] or table["name"] == "tenant", f"{table['name']} has no tenant_id"
        assert table["forced"], f"{table['name']}: call raise_wall() in the migration that makes it"
        if not table["part"]:
            assert "tenant_wall" in table["policies"], table["name"]
            assert (table["reads"], table["writes"]) == (True, True), table["name"]


async def test_no_role_has_bypassrls_or_is_a_superuser(store):
    found = await query(store.cells[0], "select * from pg_roles where rolname = any($1)", ROLES)
    assert {row["rolname"] for row in found} == set(ROLES)
    assert not any(row["rolbypassrls"] or row["rolreplication"] for row in found)
    assert not any(row["rolsuper"] or row["rolcreaterole"] or row["rolcreatedb"] for row in found)


async def test_three_roles_see_all_rows_by_policies_and_of_a_partition_only_its_owner(store):
    found = await query(
        store.cells[0],
        """
        select c.relname as name, c.relispartition as part,
               array(select r.rolname::text from pg_policy p, unnest(p.polroles) o(id), pg_roles r
                     where p.polrelid = c.oid and r.oid = o.id and p.polpermissive and p.polcmd = '*'
                       and pg_get_expr(p.polqual, c.oid) = 'true' and pg_get_expr(p.polwithcheck, c.oid) = 'true'
                     order by 1) as roles,
               (select count(*) from pg_policy p where p.polrelid = c.oid and p.polroles <> '{0}') as many
        from pg_class c where c.relrowsecurity and c.relnamespace = 'public'::regnamespace
        """,
    )
    assert any(table["part"] for table in found)
    for table in found:
        wanted = ["horae_migrate"] if table["part"] else ["horae_engine", "horae_migrate", "horae_relay"]
        assert (table["roles"], table["many"]) == (wanted, len(wanted)), table["name"]


async def test_a_detached_day_is_still_seen_by_its_owner_and_by_no_other(store, connect):
    cell = store.cells[0]
    await query(cell, "select ensure_partitions('2031-05-05', 1)")
    await query(
        cell,
        "insert into outbox (at, shard_id, tenant_id, event, body)"
        " values ('2031-05-05', 1, gen_random_uuid(), 'x', '{}')",
    )
    await query(cell, "alter table outbox detach partition outbox_20310505")
    for role, many in (("horae_migrate", 1), ("horae_engine", 0), ("horae_relay", 0), ("horae_api", 0)):
        await query(cell, f"grant select on outbox_20310505 to {role}")
        assert await (await connect(role)).fetchval("select count(*) from outbox_20310505") == many, role


async def test_views_show_what_their_reader_may_see(store):
    views = await query(
        store.cells[0],
        "select relname, reloptions from pg_class where relkind = 'v' and relnamespace = 'public'::regnamespace",
    )
    assert len(views) >= 4
    assert all("security_invoker=true" in view["reloptions"] for view in views)


async def test_no_partition_is_open_beside_its_parent(connect):
    for role in ("horae_api", "horae_engine", "horae_relay", "horae_readonly"):
        found = await (await connect(role)).fetch(
            "select relname from pg_class where relispartition and relkind = 'r'"
            " and has_table_privilege(oid, 'select, insert, update, delete')"
        )
        assert not found


@pytest.mark.parametrize("role", ROLES)
async def test_what_a_role_has_no_need_for_it_may_not_do(connect, role):
    connection = await connect(role)
    await connection.execute("set default_transaction_read_only = off")  # anybody may
    for statement in [*FORBIDDEN_TO_ALL, *FORBIDDEN[role]]:
        assert await _refused(connection, statement), f"{role} may {statement}"


async def test_the_same_statements_are_not_refused_to_a_superuser_for_a_wrong_name(store):
    """A statement that names no such table or function is refused to everybody, and would prove nothing."""
    async with store.cells[0].direct() as connection:
        for statement in {one for role in FORBIDDEN.values() for one in role if not one.startswith("set ")}:
            reason = await _mistake(connection, statement)
            assert reason is None, f"{statement}: {reason}"


async def _mistake(connection, statement):
    """What is wrong with the words of a statement; nothing of it stays."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute(statement)
    except asyncpg.InsufficientPrivilegeError:
        return None  # the table itself refuses it to everybody
    except asyncpg.SyntaxOrAccessError as error:
        return error
    except asyncpg.PostgresError:
        return None
    finally:
        await transaction.rollback()
    return None


async def _refused(connection, statement):
    try:
        await connection.execute(statement)
    except asyncpg.InsufficientPrivilegeError:
        return True
    return False


async def test_without_a_tenant_nothing_is_seen_and_nothing_can_be_written(ctx, cells, connect):
    await a_job(ctx, "j")
    await a_type(ctx)
    for role in ("horae_api", "horae_readonly"):
        connection = await connect(role)
        for table in ("tenant", "job", "job_version", "job_cursor", "reference", "instance_live", "audit_log"):
            assert await connection.fetchval(f"select count(*) from {table}") == 0
    api = await connect("horae_api")
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await api.execute(
            "insert into idempotency select now(), now(), 1, gen_random_uuid(), null, 'r', 'x', 'k', '', null"
        )


async def test_on_one_tenants_behalf_no_row_of_another_can_be_read_written_or_given_away(ctx, store, cells):
    other = await tenants.create(PlatformContext(store, "test"), "globex")
    job = await a_job(ctx, "j")
    async with Store.of(as_role(cells, "horae_api")) as doors:
        theirs = Context.of(restrict(doors, Behalf(other.id)), other, "them")
        assert await jobs.page(theirs, JobFilter()) == []
        for walled in theirs.store.cells:
            async with walled.tx() as tx:
                assert await tx.rows("select from job") == []
                assert await tx.rows("update job set name = 'mine' returning id") == []
                assert await tx.rows("select from tenant") == ([] if walled.name != _home(store, other) else [()])
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            async with theirs.store.tx(job.shard) as tx:
                await tx.run("insert into quota_bucket values (now(), 1, 1, $1, 'k')", ctx.tenant.id)
        mine = Context.of(restrict(doors, Behalf(ctx.tenant.id)), ctx.tenant, "me")
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            async with mine.store.tx(job.shard) as tx:
                await tx.run("update job set tenant_id = $1", other.id)
        assert [one.name for one in await jobs.page(mine, JobFilter())] == ["j"]


def _home(store, tenant):
    return store.cell(shard_in(tenant.id)).name


async def test_the_platform_reads_copies_of_tenants_and_no_other_copies(ctx, store, cells):
    await a_type(ctx, "t")
    await Copier(store).once()
    async with Store.of(as_role(cells, "horae_api")) as doors:
        for walled in restrict(doors, PLATFORM).cells:
            async with walled.statement() as tx:
                found = await rows.find_copy(tx, ctx.tenant.name)
                assert (found.id, found.name) == (ctx.tenant.id, ctx.tenant.name)
                assert {row["kind"] for row in await tx.rows("select kind from reference")} == {"tenant"}


async def test_the_platform_sees_tenants_and_keys_and_nothing_else(ctx, cells):
    await a_job(ctx, "j")
    await api_keys.create(ctx, "k", [Role.VIEWER])
    async with Store.of(as_role(cells, "horae_api")) as doors:
        found = {}
        for cell in restrict(doors, PLATFORM).cells:
            async with cell.tx() as tx:
                for table in ("tenant", "api_key", "role_binding", "job", "instance_live", "audit_log", "reference"):
                    found[table] = found.get(table, 0) + len(await tx.rows(f"select from {table}"))
        assert found == {
            "tenant": 1,
            "api_key": 1,
            "role_binding": 1,
            "job": 0,
            "instance_live": 0,
            "audit_log": 0,
            "reference": 1,  # the copy of the tenant itself
        }


async def test_a_thousand_interleaved_tenants_and_cancelled_requests_see_only_their_own_rows(store, cells):
    """One pool of few connections, a thousand tenants, every fifth request cancelled somewhere on its way."""
    many, dice = 1000, random.Random(7)
    ids = [uuid4() for _ in range(many)]
    async with store.cells[0].tx() as tx:
        await tx.run(
            "insert into quota_bucket (refilled_at, tokens, shard_id, tenant_id, key)"
            " select now(), 1, 1, id, id::text from unnest($1::uuid[]) id",
            ids,
        )
    async with Store.of(as_role(cells, "horae_api")) as doors:
        assert await _interleaved(doors, ids, dice) >= many * 0.7


async def _interleaved(doors, ids, dice):
    seen = 0

    async def ask(tenant):
        nonlocal seen
        async with restrict(doors, Behalf(tenant)).cells[0].statement() as tx:
            for _ in range(2):
                rows = await tx.rows("select key from quota_bucket")
                assert [row["key"] for row in rows] == [str(tenant)]
        seen += 1

    async def one(tenant):
        asking = asyncio.create_task(ask(tenant))
        if dice.random() < 0.2:
            for _ in range(dice.randrange(12)):
                await asyncio.sleep(0)
            asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking

    for start in range(0, len(ids), 100):
        await asyncio.gather(*(one(tenant) for tenant in ids[start : start + 100]))
    return seen


@pytest.mark.parametrize(
    ("role", "held"),
    [
        ("horae_api", True),
        ("horae_readonly", True),
        ("horae_engine", False),
        ("horae_relay", False),
        ("horae_migrate", False),
        ("postgres", False),
    ],
)
async def test_row_level_security_holds_the_roles_of_requests_and_no_other(connect, role, held):
    """The cells are empty: the engine's role sees no row there, and must not be taken for one that is held."""
    assert await is_enforced(Tx(await connect(role), datetime.now(UTC))) is held


@pytest.mark.parametrize(
    ("hole", "mended"),
    [
        ("create policy all_jobs on job using (true)", "drop policy all_jobs on job"),
        ("alter role horae_api set horae.tenant = '{tenant}'", "alter role horae_api reset horae.tenant"),
        ("alter table job disable row level security", "alter table job enable row level security"),
        ("alter table job no force row level security", "alter table job force row level security"),
        ("alter table job owner to horae_api", "alter table job owner to horae_migrate"),
        ("grant horae_engine to horae_api", "revoke horae_engine from horae_api"),
        ("alter role horae_api bypassrls", "alter role horae_api nobypassrls"),
    ],
)
async def test_whatever_shows_the_api_rows_without_a_tenant_is_found(ctx, store, cells, hole, mended):
    job = await a_job(ctx, "j")
    number = store.cells.index(store.cell(job.shard))
    admin = await asyncpg.connect(as_role(cells, "postgres")[number].dsn)
    await admin.execute(hole.format(tenant=ctx.tenant.id))
    try:
        async with Store.of(as_role(cells, "horae_api")) as doors, doors.cells[number].statement() as tx:
            assert not await is_enforced(tx)
    finally:
        await admin.execute(mended)
        await admin.close()
    async with Store.of(as_role(cells, "horae_api")) as doors, doors.cells[number].statement() as tx:
        assert await is_enforced(tx)


async def test_the_trial_reads_only_the_first_pages_of_a_table(cells):
    """However large a table is, the API starts at once: the condition of row-level security fits no index."""
    [cell, _] = as_role(cells, "horae_api")
    connection = await connect_as_store(cell.dsn)
    for table in ("job", "instance_history"):
        statement = sql("row_level_security/shows_rows").format(table=table, column="tenant_id", pages=64)
        plan = await connection.fetch(f"explain (costs off) {statement}")
        scans = [row[0].strip() for row in plan if "Scan" in row[0]]
        assert scans
        assert all(scan.lstrip("-> ").startswith("Tid Range Scan") for scan in scans), scans
    await connection.close()


async def test_the_engine_the_relay_and_the_owner_see_rows_of_all_tenants(ctx, store, connect):
    await tenants.create(PlatformContext(store, "test"), "globex")
    await Copier(store).once()
    await query(store.cells[0], "grant select on reference to horae_migrate")
    for role, many in (("horae_engine", 2), ("horae_relay", 2), ("horae_migrate", 2), ("horae_api", 0)):
        found = await (await connect(role)).fetchval("select count(*) from reference where kind = 'tenant'")
        assert found == many, role


async def test_the_migrating_role_needs_no_superuser(cluster):
    admin = await asyncpg.connect(cluster.dsn("postgres"))
    name = f"owned_{uuid4().hex[:8]}"
    await admin.execute(f'create database "{name}" owner horae_migrate')
    try:
        [cell] = as_role([CellSettings(name="cell-0", dsn=cluster.dsn(name))], "horae_migrate")
        assert await migrations.migrate([cell], "test")
        assert await migrations.migrate([cell], "test") == []
        connection = await asyncpg.connect(cell.dsn)
        assert not await connection.fetchval(
            "select has_database_privilege('horae_api', current_database(), 'temporary')"
        )
        await connection.close()
    finally:
        await admin.execute(f'drop database "{name}" with (force)')
        await admin.close()


@pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")
async def test_the_wall_holds_through_a_pooler_in_transaction_mode(ctx, store, cells):
    await a_job(ctx, "j")
    other = await tenants.create(PlatformContext(store, "test"), "globex")
    ids = [uuid4() for _ in range(1000)]
    async with store.cells[0].tx() as tx:
        await tx.run(
            "insert into quota_bucket (refilled_at, tokens, shard_id, tenant_id, key)"
            " select now(), 1, 1, id, id::text from unnest($1::uuid[]) id",
            ids,
        )
    with pooling(*(cell.dsn for cell in cells)) as pooler:
        through = pooled(cells, pooler)
        await connected(through[0].dsn)
        async with Store.of(through) as doors:
            assert await _interleaved(doors, ids, random.Random(7)) >= 700
            mine = Context.of(restrict(doors, Behalf(ctx.tenant.id)), ctx.tenant, "me")
            theirs = Context.of(restrict(doors, Behalf(other.id)), other, "them")
            await jobs.create(mine, "through", (await jobs.find(ctx, "j")).definition)
            assert [job.name for job in await jobs.page(mine, JobFilter())] == ["j", "through"]
            assert await jobs.page(theirs, JobFilter()) == []
            await doors.cells[0].sync_clock()

"""`horae restore`: a cell whose server changed is closed, until a person opens it.

A recorded timeline that is older than the server's is what a restore leaves behind. `tests/system/test_restore.py`
restores for real.
"""

import asyncio
import json
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.domain.errors import Conflict, Unauthenticated
from horae.domain.ids import shard_in
from horae.domain.moves.moves import ROWS_KEPT, MoveStep
from horae.domain.restores.generations import NodeMark
from horae.runtime.settings import CellSettings
from horae.security import credentials
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.encryption import secrets
from horae.service.identity import api_keys, role_bindings
from horae.service.identity.callers import Callers
from horae.service.restores import plans, restores
from horae.service.tenants import lifecycle, tenants
from horae.store import migrations
from horae.store.connections import admission
from horae.store.connections.admission import CellClosedError, unchecked
from horae.store.moves import shard_states
from horae.store.store import Store
from horae.upkeep.copies import Copier
from horae.upkeep.generations import GenerationWatch
from horae.upkeep.identities import IdentityCopier
from horae.upkeep.shard_mover import ShardMover
from tests.keyring import sealed
from tests.steps import move_clock, query
from tests.upkeep.moving import active_cells, ask_for_move, is_empty, lose_lease, read_move, rows_in, run_until

RESTORED = "update cell_generation set timeline = timeline - 1"
WHY = ("--reason", "the disk is gone")


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test learns of generations is forgotten after it, as by a restart."""
    monkeypatch.setattr(admission, "_generations", {})
    monkeypatch.setattr(admission, "_marks", {})


@pytest.fixture
def restore(cells, monkeypatch):
    """Runs a command in a thread of its own, and returns its facts."""
    monkeypatch.setenv("HORAE_CELLS", json.dumps([cell.model_dump() for cell in cells]))
    monkeypatch.setenv("HORAE_URL", "http://127.0.0.1:1")

    async def call(*words, status=0):
        done = await asyncio.to_thread(CliRunner().invoke, whole(), ["restore", *words, "--json"])
        assert done.exit_code == status, (done.output, done.exception)
        return json.loads(done.stdout) if status == 0 else " ".join(done.output.split())

    return call


async def mark_as_restored(store, cell):
    async with cell.statement() as tx:
        await tx.run(RESTORED)


async def may_call(store, made):
    """Whether a process that starts now accepts a key."""
    try:
        await Callers(store).find(credentials.read(made.text))
    except Unauthenticated:
        return False
    return True


async def homes(store):
    """A tenant at home in each cell, by the name of the cell."""
    found, number = {}, 0
    while len(found) < len(store.cells):
        number += 1
        tenant = await tenants.create(PlatformContext(store, "test"), f"tenant-{number}")
        found.setdefault(store.cell(shard_in(tenant.id)).name, tenant)
    return found


async def test_a_closed_cell_admits_nobody_until_it_is_opened(store, cells, restore):
    await mark_as_restored(store, store.cells[0])
    async with Store.of(cells) as own:
        assert [cell.is_open for cell in own.cells] == [False, True], "one cell down hurts only its shards"
    with pytest.raises(CellClosedError, match="horae restore plan"):
        async with Store.of(cells[:1]):
            pass
    found = await restore("plan", "cell-0")
    assert (found["closed"], found["next_generation"]) == (True, 2)
    assert (await restore("open", "cell-0", *WHY))["generation"] == 2
    admission._generations.clear()  # as a restart does
    async with Store.of(cells) as own:
        assert all(cell.is_open for cell in own.cells)


async def see_node(cell, incarnation, seen_at):
    """A heartbeat of a node, with a lease of eight seconds."""
    row = "insert into node values ($2, $2, $2::timestamptz + interval '8 s', $1, false, 'node')"
    await query(cell, row, incarnation, seen_at)


@pytest.mark.parametrize(("later", "follows"), [(timedelta(seconds=2), True), (timedelta(seconds=60), False)])
async def test_a_node_follows_a_promotion_unless_another_one_was_seen_a_lease_later(store, cells, later, follows):
    mark = NodeMark(uuid4(), datetime(2026, 1, 1, tzinfo=UTC))
    await see_node(store.cells[0], *mark)
    await see_node(store.cells[0], uuid4(), mark.seen_at + later)
    async with store.cells[0].direct() as connection:
        key = await admission.admit(connection)
        await mark_as_restored(store, store.cells[0])
        admission.remember(key, mark)
        with nullcontext() if follows else pytest.raises(CellClosedError, match="horae restore plan"):
            await admission.admit(connection)
    [[timeline]] = await query(store.cells[0], "select timeline from cell_generation")
    assert timeline == int(follows)


async def test_a_process_of_the_generation_before_is_refused(store, cells, restore):
    async with Store.of(cells) as old:
        await mark_as_restored(store, store.cells[0])
        await restore("open", "cell-0", *WHY)
        old.cells[0].discard_idle_connections()
        with pytest.raises(CellClosedError, match="restart this process"):
            await old.cells[0].sync_clock()


async def test_opening_ends_sessions_raises_epochs_and_forgets_nodes(store, restore):
    await query(store, "insert into node select now(), now(), now() + '1 h', gen_random_uuid(), false, 'old'")
    [[before]] = await query(store.cells[0], "select max(epoch) from shard where state = 'ACTIVE'")
    await mark_as_restored(store, store.cells[0])
    await restore("open", "cell-0", *WHY)
    [[low]] = await query(store.cells[0], "select min(epoch) from shard")
    assert low > before + 1000
    assert await query(store.cells[0], "select from node") == []
    [row] = await query(store.cells[0], "select detail from audit_log where action = 'cell.opened'")
    assert row["detail"]["reason"] == "the disk is gone"


async def test_what_another_cell_saw_removed_stays_shut_until_a_person_allows_it(store, restore):
    tenant = (await homes(store))["cell-0"]
    ctx = Context.of(sealed(store), tenant, "test")
    lost = await api_keys.create(ctx, "lost", [Role.ADMIN])
    kept = await api_keys.create(ctx, "kept", [Role.ADMIN])
    await role_bindings.bind(ctx, "user:ann", [Role.VIEWER])
    await secrets.put(ctx, "token", "value")
    home = store.cell(shard_in(tenant.id))
    names = ("api_key", "role_binding", "secret")
    before = {name: await query(store.cells[0], f"select to_jsonb(t) as row from {name} t") for name in names}
    await IdentityCopier(store).once()
    await Copier(store).once()
    await api_keys.revoke(ctx, lost.key.id)
    await role_bindings.bind(ctx, "user:ann", [])
    await secrets.remove(ctx, "token")
    await IdentityCopier(store).once()
    await Copier(store).once()
    async with home.statement() as tx:  # the cell goes back to where the removals had not happened
        for name, rows in before.items():
            await tx.run(f"delete from {name}")
            for row in rows:
                await tx.run(f"insert into {name} select (jsonb_populate_record(null::{name}, $1)).*", row["row"])
    assert await may_call(store, lost), "the backup still has the key"
    await mark_as_restored(store, home)
    found = await restore("plan", "cell-0")
    shut = {(one["kind"], one["name"]) for one in found["doubts"] if one["kind"] != "tenant"}
    roles_of_key = lost.key.principal
    assert shut == {
        ("api-key", "lost"),
        ("role-binding", roles_of_key),
        ("role-binding", "user:ann"),
        ("secret", "token"),
    }
    assert all("cell-1 knows" in one["evidence"] for one in found["doubts"] if one["kind"] != "tenant")
    await restore("open", "cell-0", *WHY)
    assert not await may_call(store, lost)
    assert await may_call(store, kept)
    waiting = {one["name"]: one["number"] for one in await restore("doubts", "cell-0")}
    await restore(
        "allow", "cell-0", str(waiting["lost"]), str(waiting[roles_of_key]), "--reason", "it was never revoked"
    )
    assert await may_call(store, lost)
    await restore("allow", "cell-0", "--kind", "secret", "--reason", "still needed")
    [[value]] = await query(store.cells[0], "select sealed is not null from secret where name = 'token'")
    assert value
    await restore("refuse", "cell-0", str(waiting["user:ann"]), "--reason", "she has left")
    assert "no undecided doubt" in await restore("allow", "cell-0", "99", "--reason", "x", status=3)
    assert {one["decision"] for one in await restore("doubts", "cell-0", "--decided")} >= {"ALLOWED", "REFUSED"}


async def test_a_tenant_that_was_removed_elsewhere_is_paused_and_one_that_is_known_goes_on(store, restore):
    tenant = (await homes(store))["cell-0"]
    platform = PlatformContext(store, "test")
    await Copier(store).once()
    await lifecycle.remove(platform, tenant.name, confirm=tenant.name)
    await Copier(store).once()
    await query(store.cells[0], "update tenant set status = 'ACTIVE'")
    back = "update reference set version = version - 1, body = body - 'held' where kind = 'tenant' and body ? 'held'"
    await query(store.cells[0], back)
    await mark_as_restored(store, store.cells[0])
    await restore("open", "cell-0", *WHY)
    status = "select status from tenant where name = $1"
    async with store.cells[0].statement() as tx:
        assert await tx.value(status, tenant.name) == "PAUSED"
        assert await tx.value("select count(*) from tenant where status = 'PAUSED'") == 1
    await restore("allow", "cell-0", "--kind", "tenant", *WHY)
    async with store.cells[0].statement() as tx:
        assert await tx.value(status, tenant.name) == "ACTIVE"


async def test_a_single_cell_shuts_everything_that_nobody_vouches_for(store, cells, restore, monkeypatch):
    tenant = (await homes(store))["cell-0"]
    ctx = Context.of(store, tenant, "test")
    await api_keys.create(ctx, "only", [Role.ADMIN])
    monkeypatch.setenv("HORAE_CELLS", json.dumps([cells[0].model_dump()]))
    await mark_as_restored(store, store.cells[0])
    assert "no cell holds them" in await restore("open", "cell-0", *WHY, status=4), "half of the shards are missing"
    async with store.cells[0].statement() as tx:
        await tx.run("update shard set state = 'ACTIVE'")
    opened = await restore("open", "cell-0", "--trust", "tenant", *WHY)
    assert {one["kind"] for one in await restore("doubts", "cell-0")} == {"api-key", "role-binding"}
    assert opened["doubts"] == 2, "the key, and its roles"


async def test_a_shard_that_moved_after_the_target_is_left_to_its_cell(store, restore):
    shard = next(iter(store.shards_of(store.cells[0])))
    await query(store.cells[1], f"update shard set state = 'ACTIVE' where shard_id = {shard}")
    await mark_as_restored(store, store.cells[0])
    assert (await restore("open", "cell-0", *WHY))["shards_left"] == 1
    [[state]] = await query(store.cells[0], f"select state from shard where shard_id = {shard}")
    [[step, target]] = await query(store.cells[0], "select step, target from shard_move")
    assert (state, step, target) == ("ELSEWHERE", "DELETE", "cell-1"), "nodes delete its rows"


DATA_KEY = """
    insert into data_key (shard_id, tenant_id, version, revision, wrapped, created_at, changed_at)
    values ($1, $2, 9, $3, 'wrapped', now(), now())"""
CHANNEL = """
    insert into channel (shard_id, tenant_id, kind, name, id, version, body, changed_by, created_at, changed_at)
    values ($1, $2, 'subscription', 'news', gen_random_uuid(), $3, '{}', 'test', now(), now())"""


@pytest.fixture
async def third_cell(cluster, cells, monkeypatch):
    """A third cell, which has no shard, and which the commands know."""
    name = await cluster.make_empty()
    third = CellSettings(name="cell-2", dsn=cluster.dsn(name))
    await migrations.migrate([*cells, third], "test")
    yield third
    await cluster.drop([name])


async def test_with_three_cells_the_newest_copy_of_each_row_is_taken_over(
    store, cells, third_cell, restore, monkeypatch
):
    monkeypatch.setenv("HORAE_CELLS", json.dumps([cell.model_dump() for cell in (*cells, third_cell)]))
    tenant = (await homes(store))["cell-0"]
    shard = shard_in(tenant.id)
    async with Store.of([*cells, third_cell]) as own:
        for version, cell in enumerate(own.cells, 1):
            await query(cell, DATA_KEY, shard, tenant.id, version)
            await query(cell, CHANNEL, shard, tenant.id, version)
        await mark_as_restored(store, store.cells[0])
        assert (await restore("open", "cell-0", *WHY))["rows_adopted"] == 2
    [[revision]] = await query(store.cells[0], "select revision from data_key where version = 9")
    [[version]] = await query(store.cells[0], "select version from channel where name = 'news'")
    assert (revision, version) == (3, 3)


async def test_a_shard_that_the_backup_shows_closed_by_a_move_is_open_again(store, restore):
    source, target = store.cells
    shard = next(iter(store.shards_of(source)))
    _, move = await run_until(source, target, await ask_for_move(source, target, shard), MoveStep.CATCH_UP)
    assert await active_cells(store, shard) == []
    await mark_as_restored(store, source)
    assert (await restore("open", "cell-0", *WHY))["moves_aborted"] == 1
    admission._generations.clear()  # as a restart does
    await ShardMover(store, uuid4()).once()
    assert (await read_move(source, move)).step == MoveStep.ABORTED
    assert await active_cells(store, shard) == [source]


@pytest.mark.parametrize("past", ["ACTIVE", "ELSEWHERE"])
async def test_a_shard_that_was_about_to_open_in_the_lost_cell_is_open_in_the_cell_that_it_leaves(store, restore, past):
    restored, source = store.cells
    tenant = (await homes(store))["cell-1"]
    shard = shard_in(tenant.id)
    before = await rows_in(source, shard)
    _, move = await run_until(source, restored, await ask_for_move(source, restored, shard), MoveStep.ACTIVATE)
    await query(restored, "update shard set state = $1, epoch = 0 where shard_id = $2", past, shard)
    await mark_as_restored(store, restored)
    await restore("open", "cell-0", *WHY)
    admission._generations.clear()  # as a restart does
    await lose_lease(store)
    mover = ShardMover(store, uuid4())
    await mover.once()
    assert await active_cells(store, shard) == [source]
    await move_clock(store, seconds=ROWS_KEPT.total_seconds() + 1)
    await mover.once()
    await mover.once()
    assert (await read_move(source, move)).step == MoveStep.ABORTED
    assert (await active_cells(store, shard), await is_empty(restored, shard)) == ([source], True)
    assert await rows_in(source, shard) == before


async def test_a_shard_that_the_backup_shows_opened_by_a_move_stays_although_its_source_has_not_heard(store, restore):
    restored, source = store.cells
    shard = next(iter(store.shards_of(source)))
    _, move = await run_until(source, restored, await ask_for_move(source, restored, shard), MoveStep.ACTIVATE)
    async with restored.tx() as tx:
        assert await shard_states.activate(tx, move)
    await mark_as_restored(store, restored)
    assert (await restore("open", "cell-0", *WHY))["shards_left"] == 0
    admission._generations.clear()  # as a restart does
    await lose_lease(store)
    await ShardMover(store, uuid4()).once()
    assert (await read_move(source, move)).step == MoveStep.DELETE
    assert await active_cells(store, shard) == [restored]


async def test_an_opening_is_refused_when_a_shard_has_moved_between_other_cells_since_its_plan(store):
    restored, other = store.cells
    shard = next(iter(store.shards_of(restored)))
    ctx = PlatformContext(store, "test")
    found = await plans.plan(ctx, restored.name)
    await query(other, "update shard set state = 'ACTIVE' where shard_id = $1", shard)
    with pytest.raises(Conflict, match=f"shard {shard} "):
        await restores.open_cell(ctx, found, "the disk is gone")
    assert restored in await active_cells(store, shard), "nothing was opened"


async def test_a_cell_on_its_own_server_is_opened_only_if_its_disk_was_put_back(store, restore):
    assert "--same-server" in await restore("open", "cell-0", *WHY, status=4)
    assert (await restore("open", "cell-0", "--same-server", *WHY))["generation"] == 2


async def test_a_failover_that_nobody_watched_is_confirmed_and_shuts_nothing(store, cells, restore):
    await mark_as_restored(store, store.cells[0])
    assert (await restore("confirm", "cell-0", "--reason", "all nodes were down"))["generation"] == 1
    async with Store.of(cells) as own:
        assert all(cell.is_open for cell in own.cells)
    assert await restore("doubts", "cell-0") == []


async def test_without_a_reason_nothing_is_opened(store, restore):
    await mark_as_restored(store, store.cells[0])
    for words in (("open", "cell-0"), ("confirm", "cell-0"), ("allow", "cell-0", "1"), ("refuse", "cell-0", "1")):
        assert "--reason" in await restore(*words, status=2)
    assert (await restore("plan", "cell-0"))["generation"] == 1


async def test_the_database_that_was_replaced_is_closed_by_whoever_knows(store, cells):
    """The old site comes back with its database: another cell has heard of the restored one."""
    watch = GenerationWatch(store)
    assert await watch.once() == 0
    [[heard]] = await query(store.cells[1], "select generation from cell_witness where cell = 'cell-0'")
    assert heard == 1
    await query(store.cells[1], "update cell_witness set generation = 2 where cell = 'cell-0'")
    assert await watch.once() == 1
    assert await query(store.cells[0], "select from shard where state = 'ACTIVE'") == []
    admission._generations.clear()
    with pytest.raises(CellClosedError, match="restored elsewhere"):
        async with Store.of(cells[:1]):
            pass
    with unchecked():
        async with Store.of(cells[:1]) as own:
            assert own.cells[0].is_open

"""What a target or a limit holds back, through the door: instance, job, and the list of all."""

from datetime import datetime, timedelta
from itertools import count

import asyncpg
import pytest

from horae.domain.targets.targets import HttpTarget
from horae.security.roles import Role
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from horae.upkeep.holds import HoldSweeper
from tests.catcher import catching
from tests.engine.running import running
from tests.holding import write_hold
from tests.steps import a_type, move_clock, query, until
from tests.store.walls import as_role

MANY = 60
SECONDS = 40
"""How long a hold may take to be there: a moment of waiting, a round, and a machine that does other things too."""


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


@pytest.fixture
def due(ctx, store):
    """Makes a type whose keys are all due now, spread over both cells."""

    async def make(url, many=MANY, **facts):
        job = await a_type(ctx, "T", target=HttpTarget(url, **facts))
        await Copier(store).once()
        now = store.cells[0].clock.now()
        for n in range(many):
            await tasks.schedule(ctx, "T", f"k{n}", at=now)
        return job

    return make


async def seen(admin, state, lane=None):
    """What the instances of a state say they are held by."""
    found = (await admin.get("/instances", params={"state": state, "limit": 50})).json()["items"]
    ids = [one["id"] for one in found if lane in (None, one["lane"])]
    told = [(await admin.get(f"/instances/{id_}")).json() for id_ in ids[:5]]
    return [one["held"] for one in told if one["state"] == state and one["held"] is not None]


async def waits_for(admin, reason, state="INIT"):
    return any(held["reason"] == reason for held in await seen(admin, state))


async def test_what_an_open_breaker_holds_back_says_so_and_when_it_is_probed_until_the_target_is_well(
    admin, due, store, catcher, client, other
):
    catcher.answer = lambda _arrival: 503
    await due(f"{catcher.url}/x")
    async with running(store):
        await until(lambda: ahead(admin), SECONDS)
        job = (await admin.get("/jobs/T")).json()
        assert {(one["reason"], one["kind"], one["name"]) for one in job["held"] if one["lane"] == "first"} == {
            ("breaker", "target", f"{catcher.url}/x")
        }
        listed = (await admin.get("/holds")).json()
        assert listed["next"] is None
        assert {one["lane"] for one in listed["items"]} <= {"first", "retry"}
        for cell in store.cells:
            assert await query(cell, "select from hold where reason = 'BREAKER'"), "each cell has some of the keys"
        stranger = await client(Role.ADMIN, of=other)
        assert (await stranger.get("/holds")).json()["items"] == []
        catcher.answer = lambda _arrival: 200
        await until(lambda: gone(admin, store), SECONDS)


async def ahead(admin):
    """Whether some instance that waits says when it is tried next, and that lies ahead."""
    for held in await seen(admin, "INIT"):
        assert held["reason"] in {"breaker", "target_cap"}
        if held["next_try_at"] is not None and held["reason"] == "breaker":
            assert datetime.fromisoformat(held["since"]) <= datetime.fromisoformat(held["next_try_at"])
            assert held["waiting"] > 0
            return True
    return False


async def gone(admin, store):
    return (await admin.get("/holds")).json()["items"] == [] and not await query(store, "select from hold")


async def test_retries_over_the_budget_say_so(admin, due, store, catcher):
    turns = count()
    catcher.answer = lambda arrival: 503 if arrival.attempt == 1 and next(turns) % 2 else 200
    await due(f"{catcher.url}/x", many=120)
    async with running(store):
        await until(lambda: waits_for(admin, "retry_budget", "FAIL"), SECONDS)
        held = {(one["reason"], one["lane"]) for one in (await admin.get("/jobs/T")).json()["held"]}
        assert ("retry_budget", "retry") in held
        assert not any(lane == "first" and reason == "retry_budget" for reason, lane in held)


async def test_a_target_with_as_many_calls_as_it_may_have_says_so_and_names_no_time(admin, due, store, catcher):
    catcher.answer = lambda _arrival: None
    await due(f"{catcher.url}/x", many=10, max_concurrency=1, read_timeout=30.0)
    async with running(store):
        await until(lambda: waits_for(admin, "target_cap"), SECONDS)
        [held] = [one for one in (await admin.get("/jobs/T")).json()["held"] if one["kind"] == "target"]
        assert (held["reason"], held["next_try_at"], held["lane"]) == ("target_cap", None, "first")
        catcher.answer = lambda _arrival: 200
        catcher.release()


async def test_a_rate_limit_says_so_and_which_it_is(admin, due, store, catcher):
    await due(f"{catcher.url}/x", rate=2)
    async with running(store):
        await until(lambda: waits_for(admin, "rate"), SECONDS)
        [held] = [one for one in (await admin.get("/holds")).json()["items"] if one["reason"] == "rate"]
        assert (held["kind"], held["name"], held["lane"]) == ("limit", f"target/{catcher.url}/x", "any")


async def test_an_instance_that_is_not_due_yet_waits_for_nothing(admin, ctx, store, hold):
    await a_type(ctx, "T", target=HttpTarget("http://x/"))
    await Copier(store).once()
    await tasks.schedule(ctx, "T", "k", at=store.cells[0].clock.now() + timedelta(hours=1))
    for cell in store.cells:
        await hold(cell)
    [one] = (await admin.get("/instances")).json()["items"]
    assert (await admin.get(f"/instances/{one['id']}")).json()["held"] is None
    await move_clock(store, hours=1, minutes=1)
    for cell in store.cells:
        await hold(cell)
    assert (await admin.get(f"/instances/{one['id']}")).json()["held"]["reason"] == "breaker"


@pytest.fixture
def hold(tenant):
    """Writes a hold of the test's tenant, or of another."""

    async def write(cell, *args, of=tenant, **facts):
        return await write_hold(cell, of.id, *args, **facts)

    return write


async def test_the_list_adds_up_nodes_and_cells_and_comes_in_pages(admin, store, hold):
    first, second = store.cells
    small = await hold(first)
    await hold(first, waiting=3)
    large = await hold(second, waiting=5)
    await hold(second, "http://y/" + "y" * 1000, waiting=2)
    page = (await admin.get("/holds", params={"limit": 1})).json()
    [one] = page["items"]
    assert (one["name"], one["waiting"]) == ("http://x/", 9)
    assert datetime.fromisoformat(one["since"]) == large.since
    assert datetime.fromisoformat(one["next_try_at"]) == small.next_try_at
    rest = (await admin.get("/holds", params={"limit": 1, "cursor": page["next"]})).json()
    [one], end = rest["items"], rest["next"]
    assert (len(one["name"]), one["waiting"], end) == (500, 2, None)
    await move_clock(store, seconds=25)
    later = (await admin.get("/holds")).json()["items"]
    assert [one["next_try_at"] is None for one in later] == [False, True], "a time that has passed is not to come"


async def test_no_hold_is_missed_or_repeated_while_the_numbers_change(admin, store, hold):
    """What was small grows beyond the page that was read, and what was read gets small."""
    urls = [f"http://h{n}/" for n in range(9)]
    for n, url in enumerate(urls):
        await hold(store.cells[n % 2], url, waiting=10 * n + 1)
    seen, cursor = [], {}
    while cursor is not None:
        page = (await admin.get("/holds", params={"limit": 2, **cursor})).json()
        seen += [one["name"] for one in page["items"]]
        cursor = page["next"] and {"cursor": page["next"]}
        await query(store, "update hold set waiting = 100 - waiting where waiting < 100")
    assert seen[:2] == ["http://h8/", "http://h7/"], "most waiting first"
    assert sorted(seen) == urls


async def test_a_page_of_many_holds_has_a_cursor_that_can_be_sent_back(admin, store, hold):
    for n in range(203):
        await hold(store.cells[n % 2], f"http://h{n}/" + "\u4e2d" * 490)
    first = (await admin.get("/holds", params={"limit": 200})).json()
    rest = await admin.get("/holds", params={"limit": 200, "cursor": first["next"]})
    assert rest.status_code == 200, rest.text
    assert (len(first["items"]), len(rest.json()["items"]), rest.json()["next"]) == (200, 3, None)
    assert len({one["name"] for one in first["items"] + rest.json()["items"]}) == 203


async def test_a_cursor_of_an_earlier_release_is_refused(admin, app, tenant):
    purpose = f"{tenant.id}\n/api/v1/holds\n[]"
    former = app.state.gate.signer.sign(purpose, [-3, "TARGET", "http://x/", "FIRST", "BREAKER"])
    refused = await admin.get("/holds", params={"cursor": former})
    assert (refused.status_code, refused.json()["code"]) == (422, "SCH_422_INVALID")


async def test_rows_of_a_dead_node_are_not_shown_and_are_swept(admin, store, hold):
    cell = store.cells[0]
    await hold(cell, ttl=timedelta(seconds=5))
    await hold(cell, "http://y/", ttl=timedelta(minutes=10))
    assert len((await admin.get("/holds")).json()["items"]) == 2
    await move_clock(store, seconds=6)
    assert [one["name"] for one in (await admin.get("/holds")).json()["items"]] == ["http://y/"]
    assert await HoldSweeper(store).once() == 0, "it may come back"
    await move_clock(store, seconds=30)
    assert await HoldSweeper(store).once() == 1
    assert len(await query(cell, "select from hold")) == 1


async def test_the_second_wall_shows_no_hold_of_another_tenant(store, cells, hold, other, tenant):
    await hold(store.cells[0])
    await hold(store.cells[0], of=other)
    for role in ("horae_api", "horae_readonly"):
        connection = await asyncpg.connect(as_role(cells, role)[0].dsn)
        try:
            assert await connection.fetch("select from hold") == []
            async with connection.transaction():
                await connection.execute("select set_config('horae.tenant', $1, true)", str(tenant.id))
                assert [row["tenant_id"] for row in await connection.fetch("select tenant_id from hold")] == [tenant.id]
                with pytest.raises(asyncpg.PostgresError):
                    await connection.execute("delete from hold")
        finally:
            await connection.close()

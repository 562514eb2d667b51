"""A node begins only where our promises can hold."""

import json
import os
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from horae.boot import fitness
from horae.domain.errors import Unfit
from horae.domain.health.doctor import DURABLE
from horae.runtime.settings import Settings
from horae.store.store import Store
from tests.cluster import SETTINGS
from tests.store.walls import as_role, give_to_owner

HORAE = Path(sys.executable).parent / "horae"


def settings_of(cells, environment):
    return Settings(cells=cells, environment=environment)


async def test_a_server_that_may_lose_what_it_acknowledged_is_refused_in_production(store, cells):
    assert {SETTINGS[name] for name in DURABLE} == {"off"}, "the tests' own cluster does without"
    await fitness.check(settings_of(cells, "test"), store)
    with pytest.raises(Unfit) as refused:
        await fitness.check(settings_of(cells, "production"), store)
    for name in DURABLE:
        assert f"cell-0: {name} is off" in str(refused.value)


@pytest.mark.parametrize("name", DURABLE)
async def test_each_of_the_three_is_enough_to_refuse(store, cells, monkeypatch, name):
    told = fitness.health.settings

    async def sound_but_one(tx):
        return await told(tx) | dict.fromkeys(DURABLE, "on") | {name: "off"}

    monkeypatch.setattr("horae.store.health.health.settings", sound_but_one)
    with pytest.raises(Unfit, match=name):
        await fitness.check(settings_of(cells, "production"), store)


@pytest.fixture
def durable(monkeypatch):
    """The server says that it keeps what it acknowledges."""
    told = fitness.health.settings

    async def sound(tx):
        return await told(tx) | dict.fromkeys(DURABLE, "on")

    monkeypatch.setattr("horae.store.health.health.settings", sound)


@pytest.mark.parametrize(
    ("roles", "wrong"),
    [
        (("horae_engine", "horae_engine", "horae_migrate"), None),
        (("horae_engine", "postgres", "horae_migrate"), "role"),
        (("postgres", "horae_engine", "horae_migrate"), "role of the pool"),
        (("horae_engine", "horae_engine", "postgres"), "role of upkeep_dsn"),
    ],
)
async def test_a_superuser_in_any_dsn_is_refused_in_production(cells, durable, roles, wrong):
    await give_to_owner(cells)
    pool, direct, upkeep = (as_role(cells, role) for role in roles)
    mixed = [
        cell.model_copy(update={"direct_dsn": direct[number].dsn, "upkeep_dsn": upkeep[number].dsn})
        for number, cell in enumerate(pool)
    ]
    async with Store.of(mixed) as store:
        await fitness.check(settings_of(mixed, "test"), store)
        if wrong is None:
            await fitness.check(settings_of(mixed, "production"), store)
            return
        with pytest.raises(Unfit) as refused:
            await fitness.check(settings_of(mixed, "production"), store)
        assert f"cell-0: {wrong} is superuser: connect as a role that is no superuser" in str(refused.value)
        with pytest.raises(Unfit, match=wrong):
            await fitness.check_cell(settings_of(mixed, "production"), store.cells[1])


@pytest.mark.parametrize(
    ("roles", "wrong"),
    [
        (("horae_engine", "horae_api", "horae_migrate"), "rows of tenants is hidden in"),
        (("horae_api", "horae_engine", "horae_migrate"), "rows of tenants for the role of the pool is hidden in"),
        (("horae_engine", "horae_engine", "horae_api"), "rows of tenants for the role of upkeep_dsn is hidden in"),
    ],
)
async def test_a_node_does_not_start_with_a_role_from_which_rows_are_hidden(cells, durable, roles, wrong):
    """It would fire nothing, and nothing would say so."""
    pool, direct, upkeep = (as_role(cells, role) for role in roles)
    mixed = [
        cell.model_copy(update={"direct_dsn": direct[number].dsn, "upkeep_dsn": upkeep[number].dsn})
        for number, cell in enumerate(pool)
    ]
    async with Store.of(mixed) as store:
        with pytest.raises(Unfit, match=f"cell-0: {wrong}"):
            await fitness.check(settings_of(mixed, "production"), store)


async def test_a_role_that_may_become_a_superuser_is_one(cells):
    name = f"member_{os.getpid()}"
    admin = await asyncpg.connect(as_role(cells, "postgres")[0].dsn)
    await admin.execute(f"create role {name} login in role postgres")
    try:
        async with Store.of(as_role(cells, name)[:1]) as theirs, theirs.cells[0].statement() as tx:
            assert await fitness.health.is_superuser(tx)
    finally:
        await admin.execute(f"drop role {name}")
        await admin.close()


async def test_a_cell_that_misses_a_migration_is_refused_everywhere_and_one_ahead_of_us_is_not(store, cells):
    async with store.cells[1].statement() as tx:
        await tx.run("insert into schema_migration (number, name, checksum) values (9999, 'newer', '')")
    await fitness.check(settings_of(cells, "test"), store)
    async with store.cells[1].statement() as tx:
        await tx.run("delete from schema_migration where number = 1")
    with pytest.raises(Unfit, match="cell-1: migrations missing is 1: run `horae migrate`"):
        await fitness.check(settings_of(cells, "test"), store)


def test_the_program_says_why_and_ends(cells):
    environment = os.environ | {
        "HORAE_CELLS": json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]),
        "HORAE_ENVIRONMENT": "production",
    }
    done = subprocess.run([HORAE, "node"], check=False, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 5
    assert "SCH_503_UNFIT" in done.stderr
    assert "set fsync = on" in done.stderr

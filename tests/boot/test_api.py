"""`horae api` in processes of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from horae.boot.api_server import api_server
from horae.domain.errors import Unfit
from horae.runtime.settings import Settings
from horae.store.store import Store
from tests.api.api_servers import CLEAN
from tests.store.walls import as_role

HORAE = Path(sys.executable).parent / "horae"
SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"


@pytest.fixture
def environment(cells):
    return os.environ | {
        "HORAE_CELLS": json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]),
        "HORAE_ENVIRONMENT": "test",
        "HORAE_API_SECRET": SECRET,
    }


def call(environment, *words):
    return subprocess.run([HORAE, *words], check=False, env=environment, capture_output=True, text=True, timeout=60)


@contextmanager
def serving(environment, port=0):
    with subprocess.Popen(
        [HORAE, "api", "--port", str(port)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process.stdout.readline().split()[-1], process
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


def test_the_first_key_is_made_once_and_opens_the_doors_of_every_process(environment):
    first = call(environment, "key", "bootstrap", "--reason", "first key").stdout.splitlines()[-1]
    again = call(environment, "key", "bootstrap", "--reason", "first key")
    assert (again.returncode, "SCH_409_CONFLICT" in again.stderr) == (4, True)
    with serving(environment) as (address, _), serving(environment, address.rpartition(":")[2]) as (same, _):
        assert same == address
        for _ in range(10):  # each connection may meet another process
            with httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {first}"}) as client:
                assert client.get("/healthz").status_code == 200
                assert client.get("/api/v1/tenants").json()["items"][0]["name"] == "system"


def test_a_process_needs_to_know_no_role_but_its_own(environment, cells):
    own = [{"name": cell.name, "dsn": cell.dsn} for cell in as_role(cells, "horae_api")]
    alone = {name: value for name, value in environment.items() if name != "HORAE_CELLS"}
    with serving(alone | {"HORAE_API_CELLS": json.dumps(own)}) as (address, _):
        assert httpx2.get(f"{address}/readyz").status_code == 200


def test_a_port_that_another_program_uses_is_told_as_such(environment):
    """TRIAL 3.6: it was told as a database that does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = call(environment, "api", "--port", str(port))
    assert done.returncode != 0
    assert f"port {port} of 127.0.0.1 is in use by another program" in " ".join(done.stderr.split())
    assert "database" not in done.stderr


def test_keys_are_listed_with_their_roles_and_shards_by_who_holds_them(environment):
    """TRIAL 3.9."""
    call(environment, "migrate")
    key = call(environment, "key", "bootstrap", "--reason", "first key").stdout.splitlines()[-1]
    with serving(environment) as (address, _):
        access = CLEAN | {"HORAE_URL": address, "HORAE_KEY": key}
        made = call(access, "key", "create", "ci", "--role", "operator", "--role", "viewer")
        assert made.returncode == 0, made.stderr
        listed = json.loads(call(access, "key", "list", "--json").stdout)
        assert {one["name"]: sorted(one["roles"]) for one in listed} == {
            "bootstrap": ["admin"],
            "ci": ["operator", "viewer"],
        }
        shown = call(access | {"COLUMNS": "200"}, "shards")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.count("2048") == 2
    assert "unassigned" in shown.stdout


@pytest.mark.parametrize("secret", ["", "change-me-change-me-change-me-change-me"])
def test_no_process_starts_without_a_secret_of_its_own(environment, secret):
    done = call(environment | {"HORAE_API_SECRET": secret}, "api")
    assert done.returncode == 1
    assert "HORAE_API_SECRET" in done.stderr


@pytest.mark.parametrize(
    ("role", "refusal"),
    [
        (None, "row-level security does not hold this role"),
        ("horae_engine", "connect as horae_api"),
        ("horae_relay", "connect as horae_api"),
    ],
)
async def test_in_production_no_door_opens_to_a_role_that_row_level_security_does_not_hold(cells, role, refusal):
    settings = Settings(environment="production", api_secret=SECRET, api_port=0)
    async with Store.of(as_role(cells, role) if role else cells) as store:
        with pytest.raises(Unfit, match=refusal):
            async with api_server(settings, store):
                pass


async def test_the_pools_role_is_asked_too(cells):
    """The direct connection may be one of horae_api while requests are served by another role."""
    settings = Settings(environment="production", api_secret=SECRET, api_port=0)
    direct = as_role(cells, "horae_api")
    mixed = [cell.model_copy(update={"direct_dsn": own.dsn}) for cell, own in zip(cells, direct, strict=True)]
    async with Store.of(mixed) as store:
        with pytest.raises(Unfit, match="row-level security does not hold this role"):
            async with api_server(settings, store):
                pass


async def test_in_production_the_doors_open_to_the_role_that_it_holds(cells):
    settings = Settings(environment="production", api_secret=SECRET, api_port=0)
    async with (
        Store.of(as_role(cells, "horae_api")) as store,
        api_server(settings, store) as address,
        httpx2.AsyncClient(base_url=address) as client,
    ):
        assert (await client.get("/readyz")).status_code == 200


def test_the_program_says_which_role_it_needs_and_ends(environment):
    done = call(environment | {"HORAE_ENVIRONMENT": "production"}, "api", "--port", "0")
    assert (done.returncode, "HORAE_API_DSN" in done.stderr) == (5, True), done.stderr

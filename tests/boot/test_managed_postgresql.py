"""docs/managed-postgresql.md: its commands run, on a server where the account is no superuser and has no BYPASSRLS."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import asyncpg
import httpx2
import pytest

from horae.store.databases.roles import ROLES
from horae.store.databases.tables import TABLES
from tests import cluster
from tests.cluster import SETTINGS, free_port, running_server
from tests.memory import quick_folder
from tests.receiver import receiving

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "managed-postgresql.md").read_text()
DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
HORAE = Path(sys.executable).parent / "horae"
SECRET = token_hex(32)
pytestmark = pytest.mark.timeout(300)


class Deployment:
    """A server of its own, its master account, and a shell in which the commands of the page are typed."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port = port
        self.folder = folder
        self._values = f"SERVER=127.0.0.1:{port}\nMASTER=master\nTLS=sslmode=disable\n"
        path = f"{Path(sys.executable).parent}:{cluster.BIN}:{os.environ['PATH']}"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("HORAE_", "PG"))}
        self.environment |= {
            "HORAE_ENVIRONMENT": "production",
            "HORAE_KEYRING": str(folder / "keyring.json"),
            "PATH": path,
        }

    def dsn(self, role: str, database: str = "horae") -> str:
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}"

    def shell(self, script: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", self._values + script],
            cwd=self.folder,
            env=self.environment | settings,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def must(self, script: str, **settings: str) -> str:
        done = self.shell(script, **settings)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def cells(self) -> dict[str, str]:
        cell = {"name": "cell-0", "dsn": self.dsn("horae_engine"), "upkeep_dsn": self.dsn("horae_migrate")}
        return {"HORAE_CELLS": json.dumps([cell])}

    async def ask(self, statement: str, role: str = "postgres", database: str = "horae") -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.dsn(role, database))
        try:
            return await connection.fetch(statement)
        finally:
            await connection.close()


@pytest.fixture
def deployment(tmp_path):
    with quick_folder("horae-managed") as folder, running_server(folder, SETTINGS | DURABLE) as port:
        made = Deployment(port, tmp_path)
        statement = "create role master login nosuperuser createrole createdb nobypassrls noreplication"
        asyncio.run(made.ask(statement, database="postgres"))
        yield made


def blocks(heading):
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_the_page_has_no_command_that_is_not_run():
    headings = ("Create the database and the roles", "Run it", "Dump and restore")
    assert [len(blocks(heading)) for heading in headings] == [3, 1, 1]
    assert PAGE.count("```") == 2 * 5


def test_the_master_account_alone_creates_runs_dumps_and_restores_a_cell(deployment):
    _, create, passwords = blocks("Create the database and the roles")
    created = deployment.must(create)
    assert "cell-0: 0001_cell" in created
    assert "tenant default created" in created
    deployment.must(passwords)
    assert len((deployment.folder / "horae.pgpass").read_text().split()) == len(ROLES)
    asyncio.run(roles_are_narrow(deployment))
    examined = {one["name"]: one for one in doctor(deployment)}
    assert "fault" not in {one["level"] for one in examined.values()}, examined
    assert examined["rows of tenants"]["found"] == "visible"
    assert examined["roles with BYPASSRLS"]["found"] == "none"
    old = asyncio.run(deployment.ask("show server_version_num"))[0][0] < "160000"
    for name in ("sessions of other roles", "ending sessions of other roles"):
        assert examined[name]["level"] == ("ok" if old else "hint"), examined[name]
    fires(deployment)
    asyncio.run(serves(deployment))
    assert deployment.must('HORAE_DSN="postgresql://$MASTER@$SERVER/horae?$TLS" horae migrate') == "nothing to do\n"
    assert deployment.must("horae migrate", HORAE_DSN=deployment.dsn("horae_migrate")) == "nothing to do\n"
    asyncio.run(restores(deployment))


def doctor(deployment):
    """What the command of the page says, with the settings of the page, as JSON."""
    [run] = blocks("Run it")
    return json.loads(deployment.must(run.replace("horae doctor", "horae doctor --json")))


async def roles_are_narrow(deployment):
    found = await deployment.ask("select * from pg_roles where rolname like 'horae_%'")
    assert {row["rolname"] for row in found} == set(ROLES)
    assert not any(row[f"rol{right}"] for row in found for right in ("super", "bypassrls", "createrole", "createdb"))
    members = await deployment.ask(
        "select r.rolname as member, g.rolname as granted from pg_auth_members m"
        " join pg_roles r on r.oid = m.member join pg_roles g on g.oid = m.roleid where r.rolname like 'horae_%'"
    )
    assert {row["member"] for row in members} <= {"horae_engine"}
    assert {row["granted"] for row in members} <= {"pg_read_all_stats", "pg_signal_backend"}
    for role in ("horae_api", "horae_readonly"):
        for other in set(ROLES) - {role}:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await deployment.ask(f"set role {other}", role)
    [owners] = await deployment.ask(
        "select array_agg(distinct pg_get_userbyid(relowner)) as names from pg_class"
        " where relnamespace = 'public'::regnamespace"
    )
    assert owners["names"] == ["horae_migrate"]


def fires(deployment):
    """A node with all its upkeep, as the roles of the page, in production."""
    with receiving() as receiver:
        egress = {"networks": ["127.0.0.0/8"], "ports": ["1024-65535"], "plain": True}
        settings = deployment.cells | {"HORAE_EGRESS": json.dumps(egress)}
        owner = {"HORAE_DSN": deployment.dsn("horae_migrate"), "HORAE_EGRESS": settings["HORAE_EGRESS"]}
        key = deployment.must("horae key bootstrap --reason installed", **owner).splitlines()[-1]
        with serving(deployment) as url:
            first = {"HORAE_URL": url, "HORAE_KEY": key}
            made = deployment.must("horae key create app --role admin --tenant default", **first)
            access = first | {"HORAE_KEY": made.splitlines()[-1]}
            deployment.must(f"horae job create hello --cron '* * * * * *' --url {receiver.url}/hello", **access)
            run_node(deployment, settings, receiver)
            assert "SUCCESS" in deployment.must("horae history hello", **access)


def run_node(deployment, settings, receiver):
    """A node, until the first call has arrived."""
    node = subprocess.Popen([HORAE, "node"], env=deployment.environment | settings, cwd=deployment.folder)
    try:
        assert receiver.arrived.wait(60)
    finally:
        node.terminate()
        node.wait(60)
    assert node.returncode == 0


@contextmanager
def serving(deployment):
    """The API as its own role."""
    port = free_port()
    settings = {"HORAE_API_SECRET": SECRET, "HORAE_API_PORT": str(port)} | deployment.cells
    environment = deployment.environment | settings | {"HORAE_API_DSN": deployment.dsn("horae_api")}
    server = subprocess.Popen([HORAE, "api"], env=environment, cwd=deployment.folder)
    url = f"http://127.0.0.1:{port}"
    try:
        while not is_ready(url):
            assert server.poll() is None
            time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        server.wait(30)


def is_ready(url):
    try:
        return httpx2.get(f"{url}/readyz").status_code == 200
    except httpx2.TransportError:
        return False


async def serves(deployment):
    """The API as its own role; no other role may stand in for it."""
    port = free_port()
    settings = {"HORAE_API_SECRET": SECRET, "HORAE_API_PORT": str(port)} | deployment.cells
    for role in ("master", "horae_migrate", "horae_engine"):
        refused = deployment.shell("horae api", HORAE_API_DSN=deployment.dsn(role), **settings)
        refusal = "connect as horae_api" if role == "horae_engine" else "row-level security does not hold this role"
        assert (refused.returncode, refusal in refused.stderr) == (5, True), refused.stderr
    environment = deployment.environment | settings | {"HORAE_API_DSN": deployment.dsn("horae_api")}
    server = subprocess.Popen([HORAE, "api"], env=environment, cwd=deployment.folder)
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            while (await status(client)) != 200:
                assert server.poll() is None
                await asyncio.sleep(0.05)
    finally:
        server.terminate()
        server.wait(30)


async def status(client):
    try:
        return (await client.get("/readyz")).status_code
    except httpx2.TransportError:
        return None


async def restores(deployment):
    """Every row is in the copy, also those in the tables of days, and only its owner dumps it."""
    [dump] = blocks("Dump and restore")
    if shutil.which("pg_dump", path=str(cluster.BIN)) is None:
        pytest.skip("these programs of PostgreSQL have no pg_dump")
    await deployment.ask(
        "insert into outbox (at, shard_id, tenant_id, event, body)"
        " select now(), 1, gen_random_uuid(), 'x', '{}' from generate_series(1, 1000)"
    )
    plain = dump.replace("--enable-row-security ", "").split("psql")[0]
    refused = deployment.shell(plain)
    assert refused.returncode != 0
    assert "row-level security" in refused.stderr
    deployment.must(dump)
    counts = [f"select '{table.name}' as name, count(*) as many from {table.name}" for table in TABLES]
    both = [await deployment.ask(" union all ".join(counts), database=name) for name in ("horae", "restored")]
    assert [tuple(row) for row in both[0]] == [tuple(row) for row in both[1]]
    assert {row["name"]: row["many"] for row in both[1]}["outbox"] >= 1000
    policies = (
        "select schemaname, tablename, policyname, roles::text, cmd, qual, with_check from pg_policies order by 2, 3"
    )
    both = [await deployment.ask(policies, database=name) for name in ("horae", "restored")]
    assert [tuple(row) for row in both[0]] == [tuple(row) for row in both[1]]
    restored = deployment.must("horae migrate", HORAE_DSN=deployment.dsn("horae_migrate", "restored"))
    assert restored == "nothing to do\n"


def test_an_account_that_may_not_create_roles_is_told_which_are_missing_and_where_to_read(deployment):
    asyncio.run(deployment.ask("create role plain login", database="postgres"))
    asyncio.run(deployment.ask("create role horae_api login", database="postgres"))
    asyncio.run(deployment.ask("create database horae owner plain", database="postgres"))
    deployment.must("horae keyring create --name one")
    done = deployment.shell("horae migrate", HORAE_DSN=deployment.dsn("plain"))
    assert done.returncode == 5
    assert "the roles horae_migrate, horae_engine, horae_relay, horae_readonly are missing" in done.stderr
    assert "docs/database-roles.md" in done.stderr
    assert "Traceback" not in done.stderr
    assert asyncio.run(deployment.ask("select from pg_class where relnamespace = 'public'::regnamespace")) == []


def test_an_account_that_cannot_act_as_the_owner_is_told_so(deployment):
    asyncio.run(deployment.ask("create role plain login", database="postgres"))
    for role in ROLES:
        asyncio.run(deployment.ask(f"create role {role} login", database="postgres"))
    asyncio.run(deployment.ask("create database horae owner plain", database="postgres"))
    done = deployment.shell("horae migrate", HORAE_DSN=deployment.dsn("plain"))
    assert (done.returncode, "plain cannot act as horae_migrate" in done.stderr) == (5, True), done.stderr


def test_the_statements_for_an_administrator_are_enough_for_a_migration_without_one(deployment):
    page = (ROOT / "docs" / "database-roles.md").read_text()
    made, ended = re.findall(
        r"^```sql\n(create role.*?|alter role horae_migrate.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    for statement in [*made.split(";\n"), *ended.split(";\n")]:
        asyncio.run(deployment.ask(statement, database="postgres"))
    deployment.must("horae keyring create --name one")
    assert "tenant default created" in deployment.must("horae migrate", HORAE_DSN=deployment.dsn("horae_migrate"))


def test_where_the_master_account_owns_the_schema_it_lets_the_owner_create_tables(deployment):
    """So it is where `public` of template1 belongs to the provider's account."""
    asyncio.run(deployment.ask("create database horae owner master", database="postgres"))
    asyncio.run(deployment.ask("alter schema public owner to master"))
    deployment.must("horae keyring create --name one")
    assert "tenant default created" in deployment.must("horae migrate", HORAE_DSN=deployment.dsn("master"))

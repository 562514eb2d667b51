"""docs/troubleshooting.md: each mistake is made here, and the program answers with the line that stands there."""

import asyncio
import json
import re
import socket
from datetime import timedelta
from pathlib import Path

import asyncpg
import httpx2
import pytest
from typer.testing import CliRunner

from horae.boot.api_server import api_server
from horae.boot.cli import app_of
from horae.boot.monitoring import node_cells
from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.domain.health.doctor import DURABLE
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.settings import EgressSettings, Settings
from horae.security import keyrings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.databases import clock, migration_checks
from horae.store.store import Store
from tests.api.api_servers import CLEAN, SECRET
from tests.cluster import SETTINGS, free_port, running_server
from tests.keyring import keyring, sealed
from tests.memory import quick_folder
from tests.store.walls import as_role

PAGE = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text()
FEWEST = 20
MISTAKES = {}
"""What makes each mistake, by the heading of the page. It returns the line that the program says."""


def mistake(heading):
    def register(function):
        MISTAKES[heading] = function
        return function

    return register


def described():
    """The command and the answer of each section, by its heading."""
    sections = re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    found = {}
    for heading, text in sections:
        [block] = re.findall(r"^```text\n\$ (.+)\n(.+)\n```$", text, re.MULTILINE)
        assert text.split("```")[-1].strip(), f"{heading}: what is to be done?"
        found[heading] = block
    return found


class Program:
    """`horae` with the settings of one mistake."""

    def __init__(self, cells, folder):
        self.cells = cells
        self.folder = folder

    def run(self, *words, cells=None, **settings):
        """The only line that a refused command prints. A setting that is None is left out."""
        given = [cell.model_dump(exclude_none=True) for cell in (self.cells if cells is None else cells)]
        told = {
            "HORAE_CELLS": json.dumps(given),
            "HORAE_ENVIRONMENT": "test",
            "HORAE_KEYRING": str(keyring()),
            "HORAE_API_SECRET": SECRET,
            "HORAE_LOG_LEVEL": "CRITICAL",
        } | settings
        done = CliRunner().invoke(app_of(words[0]), words, env=CLEAN | told)
        assert done.exit_code != 0, done.output
        assert isinstance(done.exception, SystemExit), done.exception
        said = done.stderr.strip()
        assert "\n" not in said, said
        return said

    def run_on(self, dsn, *words, **settings):
        return self.run(*words, HORAE_CELLS=None, HORAE_DSN=dsn, **settings)

    def file(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path


@pytest.fixture
def program(cells, tmp_path):
    return Program(cells, tmp_path)


@pytest.fixture(scope="module")
def guarded():
    """A server that asks for passwords, without the roles of Horae."""
    with quick_folder("horae-guarded") as folder, running_server(folder, SETTINGS) as port:
        admin = f"postgresql://postgres@127.0.0.1:{port}"
        execute(f"{admin}/postgres", "create role plain login password 'right'", "create database horae owner plain")
        lines = "host all postgres 127.0.0.1/32 trust\nhost horae plain 127.0.0.1/32 scram-sha-256\n"
        (folder / "data" / "pg_hba.conf").write_text(lines)
        execute(f"{admin}/postgres", "select pg_reload_conf()")
        yield f"127.0.0.1:{port}"


def execute(dsn, *statements):
    async def work():
        connection = await asyncpg.connect(dsn)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(work())


@mistake("No database is named")
def _(program, **_):
    return program.run("node", HORAE_CELLS=None)


@mistake("The environment is not named")
def _(program, **_):
    return program.run("node", HORAE_ENVIRONMENT=None)


@mistake("A setting is misspelt")
def _(program, **_):
    return program.run("node", HORAE_CONFIG=str(program.file("horae.toml", 'enviroment = "production"\n')))


@mistake("The settings file is open to every user")
def _(program, **_):
    file = program.file("horae.toml", 'api_secret = "x"\n', 0o644)
    return program.run("node", HORAE_CONFIG=str(file))


@mistake("A secret file cannot be read")
def _(program, **_):
    return program.run("api", HORAE_API_SECRET=None, HORAE_API_SECRET_FILE=str(program.folder / "api-secret"))


@mistake("A pooled cell has no direct address")
def _(program, **_):
    cell = {"name": "cell-0", "dsn": program.cells[0].dsn, "pooled": True}
    return program.run("api", HORAE_API_CELLS=json.dumps([cell]))


@mistake("PostgreSQL does not answer")
def _(program, **_):
    return program.run_on(f"postgresql://horae_engine@127.0.0.1:{free_port()}/horae", "node")


@mistake("The password is wrong")
def _(program, guarded, **_):
    return program.run_on(f"postgresql://plain:wrong@{guarded}/horae", "node")


@mistake("The server lets this role not in")
def _(program, guarded, **_):
    return program.run_on(f"postgresql://stranger@{guarded}/horae", "node")


@mistake("The database is missing")
def _(program, guarded, **_):
    return program.run_on(f"postgresql://postgres@{guarded}/hora", "node")


@mistake("The server is a standby")
def _(program, **_):
    dsn = program.cells[0].dsn
    execute(dsn, f'alter database "{dsn.rpartition("/")[2]}" set default_transaction_read_only = on')
    return program.run("node", cells=program.cells[:1])


@mistake("The way to PostgreSQL is not protected")
def _(program, **_):
    return program.run_on("postgresql://horae_engine@db.example.com/horae", "node", HORAE_ENVIRONMENT="production")


@mistake("PostgreSQL is too old")
def _(program, monkeypatch, **_):
    read = migration_checks.read_server

    async def older(connection):
        return dict(await read(connection)) | {"version": 140_011}

    monkeypatch.setattr(migration_checks, "read_server", older)
    return program.run("migrate", cells=program.cells[:1])


@mistake("The database is not UTF-8")
def _(program, guarded, **_):
    made = "create database latin encoding 'SQL_ASCII' locale 'C' template template0"
    execute(f"postgresql://postgres@{guarded}/postgres", "drop database if exists latin", made)
    return program.run_on(f"postgresql://postgres@{guarded}/latin", "migrate")


@mistake("The roles are missing")
def _(program, guarded, **_):
    return program.run_on(f"postgresql://plain:right@{guarded}/horae", "migrate")


@mistake("Somebody else owns the tables")
def _(program, **_):
    return program.run("migrate", cells=as_role(program.cells[:1], "horae_engine"))


@mistake("Two environments use one database")
def _(program, **_):
    return program.run("migrate", cells=program.cells[:1], HORAE_ENVIRONMENT="dev")


@mistake("A process of another environment uses the database of production")
def _(program, **_):
    execute(program.cells[0].dsn, "update cell set environment = 'production'")
    return program.run("node", cells=program.cells[:1])


@mistake("The database is empty")
def _(program, guarded, **_):
    return program.run_on(f"postgresql://plain:right@{guarded}/horae", "node")


@mistake("The database is older than the program")
def _(program, **_):
    execute(program.cells[0].dsn, "delete from schema_migration where number = 49")
    return program.run("node", cells=program.cells[:1])


@mistake("A migration was changed after it was applied")
def _(program, **_):
    execute(program.cells[0].dsn, "update schema_migration set checksum = 'other' where number = 1")
    return program.run("migrate", cells=program.cells[:1])


@mistake("No keyring is named")
def _(program, **_):
    return program.run("node", HORAE_KEYRING=None)


@mistake("The keyring is not there")
def _(program, **_):
    return program.run("node", HORAE_KEYRING=str(program.folder / "keyring.json"))


@mistake("The keyring is open to others")
def _(program, **_):
    return program.run("node", HORAE_KEYRING=str(program.file("keyring.json", keyring().read_text(), 0o640)))


@mistake("The keyring is of another deployment")
def _(program, **_):
    async def create_tenant():
        async with Store.of(program.cells) as store:
            await tenants.create(PlatformContext(sealed(store), "test"), "acme")

    asyncio.run(create_tenant())
    other = program.folder / "other.json"
    keyrings.create(other, "other")
    return program.run("node", HORAE_KEYRING=str(other))


@mistake("The node has the role of the API")
def _(program, **_):
    return program.run("node", cells=as_role(program.cells[:1], "horae_api"))


@mistake("The node has no role for upkeep")
def _(program, **_):
    return program.run("node", cells=as_role(program.cells[:1], "horae_engine"))


@mistake("The API has the role of the owner")
def _(program, **_):
    cells = json.dumps([cell.model_dump(exclude_none=True) for cell in program.cells[:1]])
    return program.run("api", "--port", "0", HORAE_API_CELLS=cells, HORAE_ENVIRONMENT="production")


@mistake("The server may lose commits")
def _(program, **_):
    assert {SETTINGS[name] for name in DURABLE} == {"off"}
    return program.run("node", cells=as_role(program.cells[:1], "horae_engine"), HORAE_ENVIRONMENT="production")


@mistake("The API has no secret")
def _(program, **_):
    return program.run("api", HORAE_API_SECRET=None)


@mistake("Another program has the port")
def _(program, **_):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        return program.run("api", "--port", str(other.getsockname()[1]), HORAE_API_MONITORING_PORT="0")


@mistake("The key of the platform was lost")
def _(program, **_):
    asyncio.run(create_platform_key(program.cells))
    return program.run("key", "bootstrap", "--reason", "first key")


@mistake("The API key is unknown")
def _(program, **_):
    return asyncio.run(asked(program.cells, "horae_unknown", "/api/v1/jobs"))


@mistake("Nodes are asked for with a key of a tenant")
def _(program, **_):
    return asyncio.run(asked(program.cells, None, "/api/v1/nodes"))


async def create_platform_key(cells):
    async with Store.of(cells) as store:
        platform = await tenants.create(PlatformContext(store, "test"), SYSTEM, width=1)
        await api_keys.create(Context.of(store, platform, "test"), "bootstrap", [Role.ADMIN])


@mistake("The target of a job may not be called")
def _(program, **_):
    target = {"kind": "http", "url": "http://localhost:8000/coupon"}
    job = {"name": "coupon", "cron": "0 9 * * *", "target": target}
    return asyncio.run(asked(program.cells, None, "/api/v1/jobs", job))


async def asked(cells, key, path, body=None):
    """What the API answers to a request with this key, or with an admin's key of a tenant: a refusal, or a warning."""
    rules = EgressSettings()  # as in production
    settings = Settings(environment="test", api_secret=SECRET, api_host="127.0.0.1", api_port=0, egress=rules)
    async with Store.of(cells) as store:
        tenant = await tenants.create(PlatformContext(store, "test"), "acme")
        made = await api_keys.create(Context.of(store, tenant, "test"), "app", [Role.ADMIN])
        async with api_server(settings, store) as address, httpx2.AsyncClient(base_url=address) as client:
            headers = {"Authorization": f"Bearer {key or made.text}", "Idempotency-Key": "once"}
            sent = client.get(path, headers=headers) if body is None else client.post(path, headers=headers, json=body)
            told = (await sent).json()
    return "; ".join(told["warnings"]) if "warnings" in told else f"{told['code']} {told['detail']}"


@mistake("The clock of the database has jumped")
def _(program, **_):
    async def ready():
        settings = Settings(cells=program.cells[:1], environment="test", node_monitoring_port=0)
        async with Store.of(program.cells[:1]) as store:
            async with store.cells[0].statement() as tx:
                await clock.doubt(tx, timedelta(hours=1))
            async with run_node(settings, store, await secrets_of(settings, store)) as node:
                while (state := next(iter(node_cells(node, store)))).trouble is None or "lease" in state.trouble:
                    await asyncio.sleep(0.02)
                return f"{state.cell}: {state.trouble}"

    return asyncio.run(ready())


def test_the_page_has_at_least_twenty_mistakes_and_each_is_made_here():
    assert list(described()) == list(MISTAKES)
    assert len(MISTAKES) >= FEWEST


@pytest.mark.parametrize("heading", MISTAKES)
def test_a_mistake_is_answered_in_one_line_with_what_is_wrong_and_what_to_do(heading, request, program, monkeypatch):
    made = MISTAKES[heading]
    wants_guarded = "guarded" in made.__code__.co_varnames
    guarded = request.getfixturevalue("guarded") if wants_guarded else None
    said = made(program=program, monkeypatch=monkeypatch, guarded=guarded)
    _, line = described()[heading]
    pattern = ".*".join(re.escape(part) for part in line.split("…"))
    assert re.fullmatch(pattern, said), said


def test_a_release_that_is_older_than_the_database_says_so_and_changes_nothing(program, monkeypatch):
    known = migrations.all_migrations()
    monkeypatch.setattr(migrations, "all_migrations", lambda: known[:-1])
    given = {"HORAE_CELLS": json.dumps([{"name": "cell-0", "dsn": program.cells[0].dsn}]), "HORAE_ENVIRONMENT": "test"}
    done = CliRunner().invoke(app_of("migrate"), ["migrate", "--plan"], env=CLEAN | given)
    assert done.stdout == f"cell-0: a newer release has applied {known[-1].name}\n"

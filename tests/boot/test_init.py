"""`horae init` sets up a deployment on a server with passwords, once, and explains itself."""

import asyncio
import json
import subprocess
import tomllib

import asyncpg
import pytest
from typer.testing import CliRunner

from horae.boot.cli import app_of
from horae.boot.setup import tables
from horae.store import migrations
from horae.store.databases.roles import ROLES
from tests import cluster
from tests.cluster import SETTINGS, running_server
from tests.memory import quick_folder

OPEN = "host all postgres,master 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
"""Only the administrators come in without a password."""
pytestmark = pytest.mark.timeout(120)


class Server:
    """A server of its own, and `horae init` for it."""

    def __init__(self, port, folder, monkeypatch):
        self.port = port
        self.folder = folder
        self._monkeypatch = monkeypatch

    def dsn(self, role, database="postgres"):
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}"

    def ask(self, statement, database="postgres"):
        async def work():
            connection = await asyncpg.connect(self.dsn("postgres", database))
            try:
                return await connection.fetch(statement)
            finally:
                await connection.close()

        return asyncio.run(work())

    def init(self, *options, status=0):
        address = f"postgresql://127.0.0.1:{self.port}/horae"
        given = ["init", "--server", address, "--folder", str(self.folder / "etc"), *options]
        done = CliRunner().invoke(app_of("init"), given, env={"COLUMNS": "200"})
        assert done.exit_code == status, done.output
        return done

    def settings(self):
        return tomllib.loads((self.folder / "etc" / "horae.toml").read_text())


@pytest.fixture
def server(tmp_path, monkeypatch):
    for name in ("PGPASSWORD", "PGPASSFILE", "PGUSER"):
        monkeypatch.delenv(name, raising=False)
    with quick_folder("horae-init") as folder, running_server(folder, SETTINGS) as port:
        made = Server(port, tmp_path, monkeypatch)
        made.ask("create role master login nosuperuser createrole createdb")
        (folder / "data" / "pg_hba.conf").write_text(OPEN)
        made.ask("select pg_reload_conf()")
        yield made


NEW = ("--environment", "test", "--tenant", "acme")


def test_one_command_makes_everything_and_a_second_one_changes_nothing(server):
    first = server.init(*NEW, "--admin", "master", "--json")
    done = json.loads(first.stdout)["steps"]
    assert [(one["step"], one["state"]) for one in done] == [
        (step, "done") for step in ("keyring", "settings", "roles", "database", "tables", "tenant", "key")
    ]
    etc = server.folder / "etc"
    assert {file.name: file.stat().st_mode & 0o777 for file in etc.iterdir()} == {
        "horae.toml": 0o600,
        "keyring.json": 0o600,
        "admin.key": 0o600,
    }
    settings = server.settings()
    assert {name: asyncio.run(role_of(settings[name])) for name in ("dsn", "upkeep_dsn", "api_dsn")} == {
        "dsn": "horae_engine",
        "upkeep_dsn": "horae_migrate",
        "api_dsn": "horae_api",
    }
    text = (etc / "admin.key").read_text().strip()
    assert text not in first.output
    assert not any(settings[name].split(":")[2].split("@")[0] in first.output for name in ("dsn", "api_dsn"))
    [tenant] = server.ask("select t.name from api_key k join tenant t on t.id = k.tenant_id", "horae")
    assert tenant["name"] == "acme", "not of the platform, whose jobs nobody else sees"
    before = {file.name: file.read_bytes() for file in etc.iterdir()}
    again = server.init("--admin", "master", "--json")
    assert {one["state"] for one in json.loads(again.stdout)["steps"]} == {"there"}
    assert {file.name: file.read_bytes() for file in etc.iterdir()} == before
    assert "nothing was changed" in server.init().stdout, "without an administrator, too"


async def role_of(dsn):
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval("select current_user")
    finally:
        await connection.close()


def test_an_administrator_gets_statements_without_clear_passwords_and_init_continues_after_them(server):
    printed = server.init(*NEW, "--print-roles").stdout
    settings = server.settings()
    assert not any(settings[name].split(":")[2].split("@")[0] in printed for name in ("dsn", "upkeep_dsn", "api_dsn"))
    refused = server.init(status=5).stderr
    assert "horae_engine cannot log in" in refused
    assert "--print-roles" in refused
    again = server.init("--print-roles").stdout  # new salts, the same passwords
    psql = [cluster.BIN / "psql", "-v", "ON_ERROR_STOP=1", "-q", server.dsn("postgres")]
    subprocess.run(psql, input=again, text=True, check=True)
    done = json.loads(server.init("--json").stdout)["steps"]
    states = {one["step"]: one["state"] for one in done}
    assert states == {"keyring": "there", "settings": "there", "tables": "done", "tenant": "done", "key": "done"}


def test_a_dry_run_shows_each_step_and_does_none(server):
    done = server.init(*NEW, "--admin", "postgres", "--dry-run")
    assert f"create {', '.join(ROLES)} on 127.0.0.1:{server.port} as postgres" in done.stderr
    assert f"apply {len(migrations.all_migrations())} migrations" in done.stderr
    assert "7 steps would be done; nothing was changed" in done.stdout
    assert not (server.folder / "etc").exists()
    assert server.ask("select from pg_roles where rolname like 'horae%'") == []
    assert server.ask("select from pg_database where datname = 'horae'") == []


def test_roles_of_another_deployment_keep_their_passwords_unless_told_otherwise(server):
    for role in ROLES:
        server.ask(f"create role {role} login password 'another'")
    server.ask("create database horae")
    refused = server.init(*NEW, "--admin", "postgres", status=5).stderr
    assert "horae_engine is on 127.0.0.1" in refused
    assert "--set-passwords replaces it" in refused
    done = server.init(*NEW, "--admin", "postgres", "--set-passwords")
    assert "replace the password of horae_api" in done.stderr
    assert "give horae of postgres to horae_migrate" in done.stderr
    assert "nothing was changed" in server.init("--admin", "postgres").stdout


def test_an_account_that_may_not_create_roles_is_told_the_other_way(server):
    server.ask("alter role master nocreaterole")
    refused = server.init(*NEW, "--admin", "master", status=5).stderr
    assert "the roles horae_migrate, horae_engine, horae_relay, horae_api, horae_readonly are missing" in refused
    assert "`horae init --print-roles`" in refused


def test_what_was_broken_off_is_continued(server, monkeypatch):
    async def broken_off(*_facts):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(tables, "migrate", broken_off)
        server.init(*NEW, "--admin", "master", status=130)
    done = json.loads(server.init("--admin", "master", "--json").stdout)["steps"]
    assert [one["step"] for one in done if one["state"] == "done"] == ["tables", "tenant", "key"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "which environment is this? --environment production"),
        (("--environment", "test"), "who creates the roles? --admin ACCOUNT does it at once"),
        (
            ("--environment", "production", "--admin", "a", "--server", "postgresql://db.example.com/horae"),
            "db.example.com is reached without a verified certificate: add ?sslmode=verify-full to --server",
        ),
        (("--environment", "test", "--server", "db.example.com"), "--server is the address of the database"),
        (("--environment", "test", "--server", "postgresql://me:x@db/horae"), "--server names no account"),
    ],
)
def test_what_every_process_would_refuse_is_refused_before_anything_is_written(tmp_path, options, said):
    done = CliRunner().invoke(app_of("init"), ["init", "--folder", str(tmp_path / "etc"), *options])
    assert done.exit_code != 0
    assert said in done.stderr
    assert not (tmp_path / "etc").exists()


def test_a_settings_file_of_somebody_else_is_left_alone(tmp_path):
    file = tmp_path / "horae.toml"
    file.write_text('environment = "test"\n')
    done = CliRunner().invoke(app_of("init"), ["init", "--folder", str(tmp_path), "--admin", "x"])
    assert "does not say tenant, dsn, upkeep_dsn, api_dsn, keyring, api_secret" in done.stderr
    assert file.read_text() == 'environment = "test"\n'

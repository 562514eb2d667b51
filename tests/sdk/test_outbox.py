"""Tasks added in people's own transactions, on PostgreSQL and MariaDB, with every way to speak to them."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import django
import psycopg
import pymysql
import pytest
import sqlalchemy
from django.conf import settings
from django.db import connections, transaction
from sqlalchemy.orm import Session

from horae_client import Client, Keyed, errors, outbox
from horae_client.outbox.relay import Relay
from tests.sdk.crashing import STEPS
from tests.sdk.databases import Database
from tests.sdk.served import Home

ROOT = Path(__file__).parents[2]
AT = datetime(2035, 1, 1, 9, tzinfo=UTC)


@pytest.fixture
def relay(database: Database, home: Home, client: Client) -> Relay:
    client.jobs.create("PUBLISH", trigger=Keyed())
    return Relay(database.connect, home.url, home.key)


def waiting(database: Database) -> int:
    return int(database.rows("select count(*) from horae_outbox")[0][0])


def tasks_of(client: Client, *keys: str) -> list[str]:
    return [f"{one.key}" for key in keys for one in client.instances.list(key=key)]


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
@pytest.mark.parametrize("way", ["dbapi", "connection", "session"])
def test_a_task_goes_with_the_rows_of_its_transaction(database, relay, client, way, commit):
    row = "insert into article (id, title) values (42, 'x')"
    facts = {"at": AT, "payload": {"title": "ü"}, "version": 7}
    if way == "dbapi":
        connection = database.connect()
        connection.cursor().execute(row)
        outbox.add(connection, "PUBLISH", "article-42", **facts)
        (connection.commit if commit else connection.rollback)()
        connection.close()
    else:
        engine = sqlalchemy.create_engine(database.sqlalchemy)
        with Session(engine) if way == "session" else engine.connect() as connection:
            connection.execute(sqlalchemy.text(row))
            outbox.add(connection, "PUBLISH", "article-42", **facts)
            (connection.commit if commit else connection.rollback)()
        engine.dispose()
    assert waiting(database) == len(database.rows("select * from article")) == int(commit)
    assert relay.once() == int(commit)
    assert waiting(database) == 0
    if commit:
        task = client.tasks.get("PUBLISH", "article-42")
        assert (task.live.at, task.live.payload, task.version) == (AT, {"title": "ü"}, 7)
    else:
        with pytest.raises(errors.NotFound):
            client.tasks.get("PUBLISH", "article-42")


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
def test_a_task_goes_with_a_transaction_of_django_and_wakes_its_relay_after_it(
    database, relay, client, commit, monkeypatch
):
    connection = django_connection(database)
    woken = []
    monkeypatch.setattr(outbox, "wake", lambda: woken.append(database.rows("select count(*) from horae_outbox")[0][0]))
    with pytest.raises(RuntimeError, match="inside a transaction"):
        outbox.add(connection, "PUBLISH", "k")
    with suppress(ZeroDivisionError), transaction.atomic(using=connection.alias):
        with connection.cursor() as cursor:
            cursor.execute("insert into article (id, title) values (42, 'x')")
        outbox.add(connection, "PUBLISH", "k", payload={"title": "ü"})
        if not commit:
            raise ZeroDivisionError
    connection.close()
    assert woken == ([1] if commit else [])
    assert waiting(database) == len(database.rows("select * from article")) == int(commit)
    assert relay.once() == int(commit)


def django_connection(database: Database):
    """A connection as Django makes it."""
    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"])
    django.setup()
    parts = urlsplit(database.dsn)
    facts = {"NAME": parts.path[1:], "USER": parts.username, "HOST": parts.hostname, "PORT": parts.port}
    if database.kind == "mysql":
        pymysql.install_as_MySQLdb()
    alias = parts.path[1:]
    connections.databases[alias] = connections.configure_settings(
        {"default": {}, alias: {"ENGINE": f"django.db.backends.{database.kind}", **facts}}
    )[alias]
    return connections[alias]


def test_outside_a_transaction_it_is_refused(database):
    connection = database.connect()
    if database.kind == "postgresql":
        connection.autocommit = True
    else:
        connection.autocommit(True)
    with pytest.raises(RuntimeError, match="inside a transaction"):
        outbox.add(connection, "PUBLISH", "article-42")
    connection.cursor().execute("begin")
    outbox.add(connection, "PUBLISH", "article-42")
    connection.cursor().execute("rollback")
    connection.close()
    assert waiting(database) == 0


def test_what_was_said_about_a_key_is_forwarded_in_order_and_once(database, relay, client, monkeypatch):
    connection = database.connect()
    for hour in (9, 10, 11):
        outbox.add(connection, "PUBLISH", "k", at=AT.replace(hour=hour))
    outbox.cancel(connection, "PUBLISH", "k")
    outbox.add(connection, "PUBLISH", "k", at=AT.replace(hour=12))
    connection.commit()

    def killed(_):
        raise RuntimeError("killed before it took anything away")

    monkeypatch.setattr(relay, "_forget", killed)
    with pytest.raises(RuntimeError, match="killed"):
        relay.once()
    monkeypatch.undo()
    assert relay.once() == 5
    task = client.tasks.get("PUBLISH", "k")
    assert [one.decision for one in task.decisions] == ["created", "moved", "moved", "cancelled", "created"]
    assert task.live.at.hour == 12
    connection.close()


def test_an_older_version_that_is_forwarded_later_changes_nothing(database, relay, client):
    connection = database.connect()
    outbox.add(connection, "PUBLISH", "k", at=AT.replace(hour=10), version=2)
    outbox.add(connection, "PUBLISH", "k", at=AT.replace(hour=9), version=1)
    connection.commit()
    connection.close()
    assert relay.once() == 2
    assert client.tasks.get("PUBLISH", "k").live.at.hour == 10


def test_a_row_that_can_never_be_forwarded_stays_with_its_reason_and_holds_nobody_back(database, relay, client):
    connection = database.connect()
    outbox.add(connection, "NO_SUCH_TYPE", "k")
    outbox.cancel(connection, "PUBLISH", "never")
    outbox.add(connection, "PUBLISH", "k")
    connection.commit()
    connection.close()
    relay.once()
    assert relay.once() == 0
    [(type_name, refused)] = database.rows("select type, refused from horae_outbox")
    assert type_name == "NO_SUCH_TYPE"
    assert "SCH_404_NOT_FOUND" in refused
    assert tasks_of(client, "k") == ["k"]


def test_a_server_that_is_away_leaves_everything_where_it_is(database, relay, client, home):
    connection = database.connect()
    outbox.add(connection, "PUBLISH", "k")
    connection.commit()
    connection.close()
    away = Relay(database.connect, "http://127.0.0.1:9", home.key)
    assert away._round() == 0
    assert waiting(database) == 1
    assert relay.once() == 0  # the other one holds the lock as long as its connection lives
    away._hang_up()
    assert relay.once() == 1


def test_many_adds_are_one_wake(database, home, client, monkeypatch):
    client.jobs.create("PUBLISH", trigger=Keyed())
    looks, looked = [], threading.Event()

    class Seen(Relay):
        def _round(self):
            done = super()._round()
            looks.append(done)
            looked.set()
            return done

    with Seen(database.connect, home.url, home.key, pause=3600):
        assert looked.wait(30)
        looked.clear()
        engine = sqlalchemy.create_engine(database.sqlalchemy)
        with Session(engine) as session:
            for number in range(20):
                outbox.add(session, "PUBLISH", f"k-{number}")
            session.commit()
        assert looked.wait(30)
        engine.dispose()
    assert looks == [0, 20]


def test_transactions_that_commit_late_are_not_passed_over(database, relay, client):
    early = database.connect()
    outbox.add(early, "PUBLISH", "early")
    late = database.connect()
    outbox.add(late, "PUBLISH", "late")
    late.commit()
    assert relay.once() == 1
    early.commit()
    assert relay.once() == 1
    assert tasks_of(client, "early", "late") == ["early", "late"]
    early.close()
    late.close()


def test_two_relays_at_once_forward_everything_once(database, relay, client, home):
    connection = database.connect()
    for number in range(30):
        outbox.add(connection, "PUBLISH", f"k-{number}")
    connection.commit()
    connection.close()
    with ThreadPoolExecutor(2) as both:
        other = Relay(database.connect, home.url, home.key)
        assert sum(both.map(lambda one: one.once(), [relay, other])) == 30


@pytest.mark.parametrize("runs", [20, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.timeout(1200)
def test_killed_between_any_two_steps_a_task_exists_if_and_only_if_its_row_does(database, relay, client, home, runs):
    assert runs >= STEPS
    command = [sys.executable, "-m", "tests.sdk.crashing", database.dsn, home.url, home.key, "0", str(runs)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    while waiting(database):
        relay.once()
    written = {f"article-{number}" for (number,) in database.rows("select id from article")}
    made = {one.key for one in client.jobs.history("PUBLISH")}
    assert made == written
    assert 0 < len(written) < runs
    for key in written:
        assert [one.decision for one in client.tasks.get("PUBLISH", key).decisions] == ["created"]


def test_drivers_are_those_we_think():
    assert (psycopg.paramstyle, pymysql.paramstyle) == ("pyformat", "pyformat")

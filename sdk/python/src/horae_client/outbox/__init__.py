"""Adds tasks in your own transaction, with your rows or not at all, on PostgreSQL, MySQL and MariaDB.

`add` writes a row beside yours. The row commits or rolls back with your transaction. A `Relay` forwards committed rows,
each with its own idempotency key, and deletes a row after the server has answered. So a task exists if and only if your
row does, whichever process is killed, and when.

>>> from horae_client import outbox
>>> "create table if not exists horae_outbox" in outbox.ddl("postgresql")
True
"""

from datetime import datetime
from importlib.resources import files
from typing import Any
from uuid import uuid4

from msgspec import UNSET

from horae_client.outbox.connections import statement_of
from horae_client.outbox.relay import Relay, wake
from horae_client.wire import aware, encode, said

__all__ = ["Relay", "add", "add_subject", "cancel", "ddl", "remove_subject", "wake"]


def add(
    connection: Any,
    type: str,
    key: str,
    *,
    at: datetime | None = None,
    payload: Any = UNSET,
    version: int | None = None,
) -> str:
    """Set the time of a key when this transaction commits; returns the idempotency key of the later request.

    `connection` is the connection of your transaction: SQLAlchemy's (a `Session` or a `Connection`), Django's, or any
    DB-API connection (psycopg, PyMySQL, mysqlclient …). It must be in a transaction. `version` is the version of your
    own event: an event that is not newer than the last one is ignored.

    >>> from horae_client import outbox
    >>> with database() as connection:
    ...     _ = connection.cursor().execute("insert into article (id, title) values (42, 'x')")
    ...     added = outbox.add(connection, "ARTICLE_PUBLISH", "article-42", payload={"title": "x"})
    >>> outbox.Relay(database, url, key).once()
    1
    >>> task = client.tasks.get("ARTICLE_PUBLISH", "article-42")
    >>> task.live.payload
    {'title': 'x'}
    """
    return _write(connection, "schedule", type, key, said(at=aware(at), payload=payload, version=version))


def cancel(connection: Any, type: str, key: str, *, version: int | None = None) -> str:
    """Cancel a key's task when this transaction commits.

    >>> from horae_client import outbox
    >>> with database() as connection:
    ...     added = outbox.add(connection, "ARTICLE_PUBLISH", "article-42")
    ...     taken = outbox.cancel(connection, "ARTICLE_PUBLISH", "article-42")
    >>> outbox.Relay(database, url, key).once()
    2
    >>> task = client.tasks.get("ARTICLE_PUBLISH", "article-42")
    >>> task.outcome
    'CANCELLED'
    """
    return _write(connection, "cancel", type, key, said(version=version))


def add_subject(connection: Any, job: str, key: str, *, at_once: bool = False) -> str:
    """Add a key to a rolling job's set when this transaction commits.

    >>> from horae_client import Rolling, outbox
    >>> job = client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
    >>> with database() as connection:
    ...     added = outbox.add_subject(connection, "STOCK", "product-1")
    >>> outbox.Relay(database, url, key).once()
    1
    >>> [one.key for one in client.subjects.list("STOCK")]
    ['product-1']
    """
    return _write(connection, "add", job, key, {"at_once": at_once})


def remove_subject(connection: Any, job: str, key: str) -> str:
    """Remove a key from a rolling job's set when this transaction commits.

    >>> from horae_client import Rolling, outbox
    >>> job = client.jobs.create("STOCK", trigger=Rolling(window=864000, every=86400))
    >>> added = client.subjects.add("STOCK", ["product-1"])
    >>> with database() as connection:
    ...     taken = outbox.remove_subject(connection, "STOCK", "product-1")
    >>> outbox.Relay(database, url, key).once()
    1
    >>> [one.key for one in client.subjects.list("STOCK")]
    []
    """
    return _write(connection, "remove", job, key, {})


def ddl(dialect: str) -> str:
    """The statements that create the table, for your migrations: `postgresql`, or `mysql` (and MariaDB).

    >>> from horae_client import outbox
    >>> "engine = InnoDB" in outbox.ddl("mysql")
    True
    """
    if dialect not in {"postgresql", "mysql", "mariadb"}:
        raise ValueError(f"no table is known for {dialect}: PostgreSQL, MySQL and MariaDB are")
    name = "postgresql" if dialect == "postgresql" else "mysql"
    return (files("horae_client.outbox") / f"{name}.sql").read_text(encoding="utf-8")


def _write(connection: Any, verb: str, type_name: str, key: str, body: dict[str, Any]) -> str:
    token = uuid4().hex
    row = {"token": token, "verb": verb, "type": type_name, "task_key": key, "body": encode(body).decode()}
    written = f"insert into horae_outbox ({', '.join(row)}) values"
    statement_of(connection, lambda marks: f"{written} ({marks})", row, wake)
    return token

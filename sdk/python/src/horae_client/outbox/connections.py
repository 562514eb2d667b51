"""Runs statements on any kind of connection: SQLAlchemy, Django, or the DB-API."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

MYSQL: Final = ("pymysql", "MySQLdb", "mysql", "mariadb")
IN_TRANSACTION: Final = 1
"""The bit of MySQL's server status that means: in a transaction."""
Said = Callable[[str], str]
"""Builds a statement from its parameter marks; several marks are separated by commas."""
Woken = Callable[[], None] | None


def statement_of(
    connection: Any, said: Said, values: Mapping[str, Any], woken: Callable[[], None] | None = None
) -> int:
    """Run a statement in the transaction of a connection; returns how many rows it wrote.

    `woken` is called after the commit, if the library can report it.
    """
    if is_sqlalchemy(connection):
        return _sqlalchemy(connection, said, values, woken)
    if hasattr(connection, "in_atomic_block"):
        return _django(connection, said, values, woken)
    if not in_transaction(connection):
        raise RuntimeError("this belongs inside a transaction, or it would not go with your rows: it commits at once")
    cursor = connection.cursor()
    try:
        cursor.execute(said(_marks(mark_of(connection), values)), tuple(values.values()))
        return int(cursor.rowcount)
    finally:
        cursor.close()


def _sqlalchemy(connection: Any, said: Said, values: Mapping[str, Any], woken: Woken) -> int:
    from sqlalchemy import event, text  # noqa: PLC0415 - only where it is used

    done = connection.execute(text(said(", ".join(f":{name}" for name in values))), dict(values))
    if woken is not None and hasattr(connection, "get_bind") and not connection.info.get("horae_woken"):
        connection.info["horae_woken"] = True  # once per session, however many rows it adds
        event.listen(connection, "after_commit", lambda _session: woken())
    return int(done.rowcount)


def _django(connection: Any, said: Said, values: Mapping[str, Any], woken: Woken) -> int:
    if not connection.in_atomic_block:
        raise RuntimeError(
            "this belongs inside a transaction (`transaction.atomic()`), or it would not go with your rows"
        )
    with connection.cursor() as cursor:
        cursor.execute(said(_marks("%s", values)), tuple(values.values()))
        written = int(cursor.rowcount)
    if woken is not None:
        connection.on_commit(woken)
    return written


def is_sqlalchemy(connection: Any) -> bool:
    """Whether it is a session or a connection of SQLAlchemy."""
    return any(kind.__module__.partition(".")[0] == "sqlalchemy" for kind in type(connection).__mro__)


def is_mysql(connection: Any) -> bool:
    """Whether it uses MySQL's dialect."""
    if is_sqlalchemy(connection):
        bind = connection.get_bind() if hasattr(connection, "get_bind") else connection
        return bind.dialect.name in {"mysql", "mariadb"}
    return getattr(connection, "vendor", None) == "mysql" or _home(connection) in MYSQL


def mark_of(connection: Any) -> str:
    """How the driver marks a parameter."""
    module = sys.modules.get(_home(connection))
    return "?" if getattr(module, "paramstyle", "format") == "qmark" else "%s"


def in_transaction(connection: Any) -> bool:
    """Whether a commit is still to come; True if the driver does not say."""
    if getattr(connection, "autocommit", None) is True:  # psycopg
        info = getattr(connection, "info", None)
        return bool(info is not None and int(info.transaction_status) != 0)
    if hasattr(connection, "get_autocommit") and connection.get_autocommit():  # PyMySQL
        return bool(connection.server_status & IN_TRANSACTION)
    return True


def rows(connection: Any, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """Run a statement and return its rows, if any."""
    cursor = connection.cursor()
    try:
        cursor.execute(sql.replace("%s", mark_of(connection)), tuple(values))
        return list(cursor.fetchall()) if cursor.description else []
    finally:
        cursor.close()


def _home(connection: Any) -> str:
    return type(connection).__module__.partition(".")[0]


def _marks(mark: str, values: Mapping[str, Any]) -> str:
    return ", ".join([mark] * len(values))

"""One effect per idempotency key in your own database: the key is recorded with the effect, in one transaction.

A call that ends without an effect records no key. For example, a task that was replaced while its first call was in
flight is called again with the same key, and must take effect then.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from horae_client.outbox.connections import is_mysql, statement_of
from horae_client.outcomes import Outcome

TABLE: Final = """create table if not exists horae_effect (
    idem_key varchar(700) {exact} primary key,
    at timestamp not null default current_timestamp
)"""


def ddl(dialect: str) -> str:
    """The statement that creates the table, for your migrations: `postgresql`, or `mysql` (and MariaDB).

    Keys may be deleted when they are older than the time in which your tasks are retried.

    >>> from horae_client import receive
    >>> receive.ddl("postgresql").splitlines()[0]
    'create table if not exists horae_effect ('
    """
    if dialect not in {"postgresql", "mysql", "mariadb"}:
        raise ValueError(f"no table is known for {dialect}: PostgreSQL, MySQL and MariaDB are")
    exact = 'collate "C"' if dialect == "postgresql" else "character set utf8mb4 collate utf8mb4_bin"
    return TABLE.format(exact=exact)


def once(connection: Any, key: str) -> bool:
    """Record an idempotency key in the current transaction; returns whether its effect is still to be done.

    Do the effect in the same transaction, and commit. False means that it was done before. If two calls arrive at once,
    the second waits until the first commits or rolls back. `connection` is as for `outbox.add`.

    >>> from horae_client import receive
    >>> with database() as connection:
    ...     _ = connection.cursor().execute(receive.ddl("postgresql"))
    ...     receive.once(connection, "key-1"), receive.once(connection, "key-1")
    (True, False)
    """
    if not key:
        raise ValueError("an effect without an idempotency key would be taken for every other one without")
    return statement_of(connection, _insert(connection), {"idem_key": key}) == 1


def effective_once(connect: Callable[[], Any], handler: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A handler of calls or tasks that takes effect once: it receives a connection in a transaction, and the call.

    The transaction commits with the key when the handler returns. If the handler raises, or returns `Declined` or
    another outcome, neither effect nor key is kept. `connect` creates a DB-API connection.

    >>> from horae_client import receive
    >>> with database() as connection:
    ...     _ = connection.cursor().execute(receive.ddl("postgresql"))
    >>> def publish(connection, call):
    ...     print("published", call.key)
    >>> handle = receive.effective_once(database, publish)
    >>> call = receive.Call(idempotency_key="key-1", key="article-42")
    >>> handle(call), handle(call)
    published article-42
    (None, None)
    """

    @wraps(handler)
    def handle(call: Any) -> Any:
        connection = connect()
        try:
            said = None
            if once(connection, call.idempotency_key):
                said = handler(connection, call)
            (connection.rollback if isinstance(said, Outcome) else connection.commit)()
            return said
        except BaseException:
            connection.rollback()
            raise
        finally:
            connection.close()

    return handle


def _insert(connection: Any) -> Callable[[str], str]:
    """The insert in the dialect of the connection."""
    if is_mysql(connection):
        return lambda mark: f"insert ignore into horae_effect (idem_key) values ({mark})"  # noqa: S608
    return lambda mark: f"insert into horae_effect (idem_key) values ({mark}) on conflict do nothing"  # noqa: S608

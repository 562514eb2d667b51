"""An effect once per idempotency key, in your own database: the key is recorded with the effect, in one transaction.

A call that ends without an effect leaves no key behind: a task that was replaced while its first call was in flight
comes again under the same key, and must take effect then.
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
    """The statement that makes the table, for your migrations: `postgresql`, or `mysql` (and MariaDB).

    Keys older than your tasks are retried may be deleted.

    >>> from horae_client import receive
    >>> receive.ddl("postgresql").splitlines()[0]
    'create table if not exists horae_effect ('
    """
    if dialect not in {"postgresql", "mysql", "mariadb"}:
        raise ValueError(f"no table is known for {dialect}: PostgreSQL, MySQL and MariaDB are")
    exact = 'collate "C"' if dialect == "postgresql" else "character set utf8mb4 collate utf8mb4_bin"
    return TABLE.format(exact=exact)


def once(connection: Any, key: str) -> bool:
    """Whether this effect is still to be done; if so, its key is written down in the transaction you are in.

    Do the effect in the same transaction, and commit. False: it was done before, and there is nothing to do. Where two
    come at once, the second waits for the first to commit or roll back. `connection` as for `outbox.add`.

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
    """A handler of calls or tasks that takes effect once: it gets a connection in a transaction, and the call.

    The transaction commits with the key when the handler returns. When it raises, or returns `Declined` or another
    outcome, nothing is kept, neither effect nor key. `connect` makes a DB-API connection.

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
    """The insert in the connection's own dialect."""
    if is_mysql(connection):
        return lambda mark: f"insert ignore into horae_effect (idem_key) values ({mark})"  # noqa: S608
    return lambda mark: f"insert into horae_effect (idem_key) values ({mark}) on conflict do nothing"  # noqa: S608

"""One connection for each thread of the service, opened when it is first needed and again after it broke."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg


class Database:
    """Gives transactions: `with database.transaction() as connection:`."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._mine = threading.local()

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection]:
        """Committed when the block ends, rolled back when it raises."""
        connection = getattr(self._mine, "connection", None)
        if connection is None or connection.closed:
            connection = self._mine.connection = psycopg.connect(self._dsn, autocommit=True)
        with connection.transaction():
            yield connection

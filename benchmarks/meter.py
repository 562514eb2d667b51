"""What a stretch of work cost the server: CPU, WAL, transactions, statements."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks import psql
from benchmarks.measure import Slice
from benchmarks.server import Server


@dataclass
class Cost:
    """Filled in when the stretch ends. `writes` are transactions that wrote: they are counted without delay."""

    pg_cpu: float = 0.0
    wal_bytes: int = 0
    transactions: int = 0
    statements: int = 0
    writes: int = 0

    def slice(self, fires: int, seconds: float, client_cpu: float) -> Slice:
        """A slice that cost this."""
        return Slice(
            fires, seconds, self.pg_cpu, client_cpu, self.wal_bytes, self.transactions, self.statements, self.writes
        )


COUNTERS = """
select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'),
       (select xact_commit from pg_stat_database where datname = '{database}'),
       (select coalesce(sum(calls), 0) from pg_stat_statements s join pg_database d on d.oid = s.dbid
        where d.datname = '{database}'),
       pg_snapshot_xmax(pg_current_snapshot())
"""


class Meter:
    """Reads the server's own counters before and after."""

    def __init__(self, server: Server, database: str) -> None:
        self.server = server
        self.database = database
        psql.run(server, "postgres", "create extension if not exists pg_stat_statements")

    @contextmanager
    def measuring(self) -> Iterator[Cost]:
        """Measure what happens in the block."""
        cost = Cost()
        before = self._read()
        yield cost
        spent = [after - then for after, then in zip(self._read(), before, strict=True)]
        cost.pg_cpu = spent[0]
        cost.wal_bytes, cost.transactions, cost.statements, cost.writes = map(int, spent[1:])

    def _read(self) -> list[float]:
        counters = psql.value(self.server, "postgres", COUNTERS.format(database=self.database))
        return [self.server.cpu_seconds(), *map(float, counters.split("|"))]

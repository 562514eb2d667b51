"""What a stretch of work cost the server: CPU, WAL, transactions."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.psql import value
from benchmarks.server import Server


@dataclass
class Cost:
    """Filled in when the stretch ends."""

    pg_cpu: float = 0.0
    wal_bytes: int = 0
    transactions: int = 0


class Meter:
    """Reads the server's own counters before and after."""

    def __init__(self, server: Server, database: str) -> None:
        self.server = server
        self.database = database

    @contextmanager
    def measuring(self) -> Iterator[Cost]:
        """Measure what happens in the block."""
        cost = Cost()
        before = self._read()
        yield cost
        after = self._read()
        cost.pg_cpu = after[0] - before[0]
        cost.wal_bytes = int(after[1] - before[1])
        cost.transactions = int(after[2] - before[2])

    def _read(self) -> tuple[float, float, float]:
        wal = value(self.server, self.database, "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")
        commits = value(
            self.server,
            self.database,
            f"select xact_commit from pg_stat_database where datname = '{self.database}'",
        )
        return self.server.cpu_seconds(), float(wal), float(commits)

"""Sorts the rows of a day in bounded memory: sorted runs on disk first, then group by group out of all runs.

1. Rows come in the order in which PostgreSQL stores them. As many as fit into memory are sorted by group, tenant, job,
   fire time and id, and written to a temporary file: a run.
2. The rows of a group are a span in each run. A group of one file is the spans together, sorted once more.
3. A larger group is cut at keys that divide a sample of it evenly; each file has the rows between two of these keys.
"""

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from horae.archive.columns import SCHEMA, SORTED_BY, groups_of, read_csv

RUN_ROWS: Final = 500_000
RUN_BYTES: Final = 128 << 20
"""Bytes of a run in memory."""
FILE_ROWS: Final = 1_000_000
FILE_BYTES: Final = 256 << 20
"""Bytes of a file's rows in memory, before they are encoded."""
BATCH_ROWS: Final = 8192
"""Rows of a run that are read at a time."""
SAMPLES_PER_FILE: Final = 256
GROUP: Final = "group"
BY_GROUP: Final = [(name, "ascending") for name in (GROUP, *SORTED_BY)]
BY_KEY: Final = [(name, "ascending") for name in SORTED_BY]
SortKey = tuple[Any, ...]


class Span(NamedTuple):
    """Rows of a run, from `start` up to before `stop`."""

    start: int
    stop: int


class SortedRun:
    """One sorted run on disk."""

    def __init__(self, path: Path, table: pa.Table) -> None:
        """Write sorted rows with their groups."""
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
            writer.write_table(table.combine_chunks(), max_chunksize=BATCH_ROWS)
        self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
        self._batch = lru_cache(maxsize=4)(self._reader.get_batch)
        self.spans: dict[int, Span] = {}
        start = 0
        for one in pc.value_counts(table[GROUP]).to_pylist():  # in the order of their appearance, which is sorted
            self.spans[one["values"]] = Span(start, start := start + one["counts"])
        self.bytes_per_row = table.nbytes / table.num_rows

    def key(self, row: int) -> SortKey:
        """What a row is sorted by, within its group."""
        batch, place = self._batch(row // BATCH_ROWS), row % BATCH_ROWS
        return tuple(batch[name][place].as_py() for name in SORTED_BY)

    def read(self, span: Span) -> pa.Table:
        """The rows of a span, without their group."""
        first, last = span.start // BATCH_ROWS, (span.stop - 1) // BATCH_ROWS
        batches = [self._reader.get_batch(number) for number in range(first, last + 1)]
        rows = pa.Table.from_batches(batches).slice(span.start - first * BATCH_ROWS, span.stop - span.start)
        return rows.select(SCHEMA.names)

    def cut(self, span: Span, keys: list[SortKey]) -> list[Span]:
        """Divide a span at some keys: one part more than there are keys, some of them empty."""
        places = [bisect_left(range(span.stop), key, span.start, span.stop, key=self.key) for key in keys]
        return [Span(*ends) for ends in zip([span.start, *places], [*places, span.stop], strict=True)]


class RowSorter:
    """The rows of a day in runs under a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: list[SortedRun] = []
        self._waiting: list[pa.Table] = []
        self.rows = 0

    def add(self, path: Path) -> None:
        """Take the rows of a CSV file."""
        for table in read_csv(path):
            self._waiting.append(table)
            self.rows += table.num_rows
            rows, size = (sum(getattr(one, name) for one in self._waiting) for name in ("num_rows", "nbytes"))
            if rows >= RUN_ROWS or size >= RUN_BYTES:
                self._write()

    def finish(self) -> None:
        """Write the last run. Nothing may be added any more."""
        if self._waiting:
            self._write()

    def _write(self) -> None:
        table = pa.concat_tables(self._waiting)
        self._waiting = []
        table = table.append_column(GROUP, groups_of(table))
        table = table.take(pc.sort_indices(table, BY_GROUP))
        self._runs.append(SortedRun(self._folder / f"run-{len(self._runs):05d}.arrow", table))

    def groups(self) -> list[int]:
        """The groups that have rows."""
        return sorted({group for run in self._runs for group in run.spans})

    def tables(self, group: int) -> Iterator[pa.Table]:
        """The rows of a group in sorted tables, each for one file."""
        runs = [run for run in self._runs if group in run.spans]
        keys = self._cut_keys(runs, group)
        parts = [run.cut(run.spans[group], keys) for run in runs]
        for number in range(len(keys) + 1):
            spans = [(run, cut[number]) for run, cut in zip(runs, parts, strict=True)]
            table = pa.concat_tables([run.read(span) for run, span in spans if span.start < span.stop] or [_NOTHING])
            if table.num_rows:
                yield table.take(pc.sort_indices(table, BY_KEY))

    def _cut_keys(self, runs: list[SortedRun], group: int) -> list[SortKey]:
        """The keys at which a group is cut into files of equal size; none for a group of one file."""
        sizes = [run.spans[group].stop - run.spans[group].start for run in runs]
        rows = sum(sizes)
        held = sum(size * run.bytes_per_row for size, run in zip(sizes, runs, strict=True))
        files = -(-rows // max(1, min(FILE_ROWS, int(FILE_BYTES * rows / held))))
        if files == 1:
            return []
        step = max(1, rows // (files * SAMPLES_PER_FILE))
        sample = sorted(run.key(row) for run in runs for row in range(*run.spans[group], step))
        return [sample[number * len(sample) // files] for number in range(1, files)]


_NOTHING: Final = SCHEMA.empty_table()

"""Files with rows: Parquet, compressed with zstd, sorted, in row groups that a reader takes one at a time."""

from typing import Any, Final
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from horae.archive.columns import COLUMNS, ID, MOMENT
from horae.archive.layout import DayFolder, sha256_of
from horae.archive.manifests import DataFile
from horae.archive.targets import ArchiveTarget, put_verified

ROW_GROUP_ROWS: Final = 32_768
ZSTD_LEVEL: Final = 3
DELTA_ENCODED: Final = {
    *(name for name, kind in COLUMNS.items() if kind == MOMENT),
    *("trigger_delay_ms", "duration_ms", "held_ms", "range_count"),
}
"""Columns whose values lie near each other."""
PLAIN: Final = {"id", "business_key", "idem_key", "payload", "error_msg"}
"""Columns whose values are all different."""
UUIDS: Final = {name: pa.uuid() for name, kind in COLUMNS.items() if kind == ID}


def encode(table: pa.Table) -> bytes:
    """The bytes of a file with these rows. The same rows in the same order give the same bytes."""
    for name, kind in UUIDS.items():
        column = table[name].combine_chunks()
        storage = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        table = table.set_column(
            table.schema.get_field_index(name), name, pa.ExtensionArray.from_storage(kind, storage)
        )
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        row_group_size=ROW_GROUP_ROWS,
        compression="zstd",
        compression_level=ZSTD_LEVEL,
        use_dictionary=[name for name in COLUMNS if name not in PLAIN | DELTA_ENCODED],
        column_encoding=dict.fromkeys(DELTA_ENCODED, "DELTA_BINARY_PACKED"),
        store_schema=False,
        write_page_index=True,
    )
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def write(target: ArchiveTarget, folder: DayFolder, group: int, table: pa.Table) -> DataFile:
    """Write a file with sorted rows of one group."""
    content = encode(table)
    sha256 = sha256_of(content)
    name = folder.data_file(group, sha256)
    put_verified(target, name, content)
    fires = pc.min_max(table["fire_time"])
    return DataFile(
        name,
        table.num_rows,
        len(content),
        sha256,
        UUID(bytes=table["tenant_id"][0].as_py()),
        UUID(bytes=table["tenant_id"][-1].as_py()),
        fires["min"].as_py(),
        fires["max"].as_py(),
    )


def open_parquet(source: Any) -> pq.ParquetFile:
    """Open a data file or an index, whole or part by part. Ids are read as 16 bytes."""
    return pq.ParquetFile(source, arrow_extensions_enabled=False, pre_buffer=False)

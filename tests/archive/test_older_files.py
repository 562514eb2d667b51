"""Files of the archive that were written before a column was added."""

import io
from datetime import UTC, datetime
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from horae.archive.columns import SCHEMA, rows_of
from horae.archive.counted_target import CountedTarget
from horae.archive.known_files import WHOLE, KnownFiles
from horae.archive.manifests import DataFile
from horae.archive.row_queries import ReadMeter

ID, AT = UUID(int=7), datetime(2026, 11, 17, tzinfo=UTC)


def stored(target, names):
    """A file with one row that has these columns."""
    values = {"tenant_id": ID.bytes, "job_id": ID.bytes, "id": ID.bytes, "fire_time": AT, "node": "n1"}
    schema = pa.schema([SCHEMA.field(name) for name in names])
    table = pa.table({name: [values.get(name)] for name in names}, schema=schema)
    content = io.BytesIO()
    pq.write_table(table, content)
    target.put("a.parquet", content.getvalue())
    return DataFile("a.parquet", 1, len(content.getvalue()), "", ID, ID, AT, AT)


def read(target, names):
    known = KnownFiles()
    file = stored(target, names)
    return rows_of(known.read(CountedTarget(target, known.objects, ReadMeter()), file, 0, WHOLE))


def test_a_file_from_before_nodes_were_noted_is_read_without_them(folder_target):
    [row] = read(folder_target, SCHEMA.names[:-1])
    assert (SCHEMA.names[-1], row["id"], "node" in row) == ("node", ID, False)


def test_a_file_of_today_has_its_node(folder_target):
    [row] = read(folder_target, SCHEMA.names)
    assert row["node"] == "n1"

"""The columns of an archived instance: those of `instance_history` without `xid`, in types that take few bytes.

- Ids are UUIDs. JSON values are texts as PostgreSQL writes them; encrypted values stay encrypted.
- `idem_key` is null where it follows from other columns, which is nearly everywhere (`idempotency_keys_of`).
"""

from array import array
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from sys import byteorder
from typing import Any, Final
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from horae.archive.layout import GROUPS
from horae.archive.manifests import ID_SUM_MODULUS, Checksum, StateSum
from horae.domain.ids import encode_id

MOMENT: Final = pa.timestamp("us", "UTC")
ID: Final = pa.binary(16)
COLUMNS: Final = {
    "tenant_id": ID,
    "job_id": ID,
    "fire_time": MOMENT,
    "id": ID,
    "ended_at": MOMENT,
    "due_at": MOMENT,
    "range_to": MOMENT,
    "job_version": pa.int32(),
    "attempt": pa.int32(),
    "retry_count": pa.int32(),
    "held_ms": pa.int32(),
    "trigger_delay_ms": pa.int32(),
    "duration_ms": pa.int32(),
    "range_count": pa.int32(),
    "generation": pa.int32(),
    "shard_id": pa.int16(),
    "priority": pa.int16(),
    "lane": pa.int16(),
    "state": pa.string(),
    "reason": pa.string(),
    "business_key": pa.string(),
    "worker_id": pa.string(),
    "error_code": pa.string(),
    "error_msg": pa.string(),
    "idem_key": pa.string(),
    "payload": pa.string(),
    "attempts": pa.string(),
    "node": pa.string(),
}
"""In the order in which `store/sql/databases/archived_days/copy_rows.sql` selects them. A new one comes last: older
files have the others at the same places."""
SCHEMA: Final = pa.schema(list(COLUMNS.items()))
SORTED_BY: Final = ("tenant_id", "job_id", "fire_time", "id")
CSV_BLOCK_BYTES: Final = 8 << 20
"""Bytes of CSV that are parsed at a time. A row must fit."""
ID_TEXT_BYTES: Final = 36
MICROS: Final = 1_000_000
EPOCH: Final = date(1970, 1, 1)


def read_csv(path: Path) -> Iterator[pa.Table]:
    """Read rows that PostgreSQL has copied as CSV."""
    texts = {name: pa.string() if kind == ID else kind for name, kind in COLUMNS.items()}
    if not path.stat().st_size:
        return
    blocks = pyarrow.csv.open_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(column_names=list(COLUMNS), block_size=CSV_BLOCK_BYTES, use_threads=False),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=texts, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    for block in blocks:
        if block.num_rows:
            yield _in_own_types(block)


def _in_own_types(block: pa.RecordBatch) -> pa.Table:
    keys = _underivable_keys(block)
    columns = {name: _ids(block[name]) if kind == ID else block[name] for name, kind in COLUMNS.items()}
    return pa.table(columns | {"idem_key": keys}, schema=SCHEMA)


def _ids(texts: pa.StringArray) -> pa.FixedSizeBinaryArray:
    """Ids from their texts with hyphens. All are of one length, so the whole column is converted at once."""
    text = texts.buffers()[2].slice(texts.offset * ID_TEXT_BYTES, len(texts) * ID_TEXT_BYTES).to_pybytes()
    return ids_from(bytes.fromhex(text.decode().replace("-", "")))


def ids_from(binary: bytes) -> pa.FixedSizeBinaryArray:
    """Ids from their 16 bytes each."""
    return pa.FixedSizeBinaryArray.from_buffers(ID, len(binary) // 16, [None, pa.py_buffer(binary)])


def _underivable_keys(block: pa.RecordBatch) -> pa.StringArray:
    """The idempotency keys, null where `idempotency_keys_of` finds them."""
    jobs = block["job_id"].dictionary_encode()
    codes = pa.array([encode_id(UUID(text)) for text in jobs.dictionary.to_pylist()], pa.string())
    derived = _derived_keys(codes.take(jobs.indices), block["fire_time"], block["business_key"], block["generation"])
    is_derived = pc.fill_null(pc.equal(derived, block["idem_key"]), False)
    return pc.if_else(is_derived, pa.scalar(None, pa.string()), block["idem_key"])


def _derived_keys(codes: pa.Array, fire_times: pa.Array, business_keys: pa.Array, generations: pa.Array) -> pa.Array:
    """`task_key` where there is a business key, else `recurring_key` of a whole second; null where neither applies.

    These are the rules of `horae.domain.instances.idempotency_keys`, for whole columns.
    """
    micros = fire_times.cast(pa.int64())
    seconds = pc.divide(micros, MICROS)
    is_whole = pc.and_(pc.equal(pc.multiply(seconds, MICROS), micros), pc.is_null(business_keys))
    fires = pc.binary_join_element_wise(codes, seconds.cast(pa.string()), ":")
    tasks = pc.binary_join_element_wise(codes, "t", business_keys, generations.cast(pa.string()), ":")
    return pc.coalesce(tasks, pc.if_else(is_whole, fires, pa.scalar(None, pa.string())))


def idempotency_keys_of(table: pa.Table) -> pa.ChunkedArray:
    """The idempotency keys of archived rows. Needs the columns of `_derived_keys` and `job_id`."""
    one = table.combine_chunks()
    jobs = _whole(one["job_id"]).dictionary_encode()
    codes = pa.array([encode_id(UUID(bytes=raw)) for raw in jobs.dictionary.to_pylist()], pa.string())
    columns = (_whole(one[name]) for name in ("fire_time", "business_key", "generation"))
    return pc.coalesce(_whole(one["idem_key"]), _derived_keys(codes.take(jobs.indices), *columns))


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """Archived rows as plain values: ids as `UUID`, times in UTC, JSON as text, every idempotency key."""
    whole = table.set_column(table.schema.get_field_index("idem_key"), "idem_key", idempotency_keys_of(table))
    rows = whole.to_pylist()
    for row in rows:
        for name in ("id", "tenant_id", "job_id"):
            row[name] = UUID(bytes=row[name])
    return rows  # type: ignore[no-any-return]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def words_of(ids: pa.ChunkedArray, bits: int) -> "array[int]":
    """The big-endian words that ids consist of, as signed numbers: two of 64 bits each, or four of 32."""
    words = array("q" if bits == 64 else "i")
    for chunk in ids.chunks:
        words.frombytes(chunk.buffers()[1].slice(chunk.offset * 16, len(chunk) * 16).to_pybytes())
    if byteorder == "little":
        words.byteswap()
    return words


def checksum_of(table: pa.Table) -> Checksum:
    """The checksum of some rows."""
    found: Checksum = {}
    for state in pc.unique(table["state"]).to_pylist():
        ids = table["id"].filter(pc.equal(table["state"], state))
        found[state] = StateSum(len(ids), sum(words_of(ids, 64)[1::2]) % ID_SUM_MODULUS)
    return found


def creation_days_of(table: pa.Table) -> dict[date, int]:
    """How many ids were made on each day: they begin with 48 bits of milliseconds."""
    millis = pc.shift_right(pa.array(words_of(table["id"], 64)[::2], pa.int64()), 16)
    counts = pc.value_counts(pc.divide(millis, 86_400_000)).to_pylist()
    return {EPOCH + timedelta(days=one["values"]): one["counts"] for one in counts}


def groups_of(table: pa.Table) -> pa.Array:
    """The group of each row's tenant, as `horae.archive.layout.group_of` says."""
    last_words = pa.array(words_of(table["tenant_id"], 32)[3::4], pa.int32())
    return pc.bit_wise_and(last_words, GROUPS - 1).cast(pa.uint8())

"""How large the rows of a table are: each column, the header, the padding, each index."""

from typing import Any

from benchmarks import psql
from benchmarks.server import Server

PARTS = """
select c.oid::regclass::text
from pg_class c left join pg_inherits i on i.inhrelid = c.oid
where c.relkind = 'r' and (c.oid = '{table}'::regclass or i.inhparent = '{table}'::regclass)
  and pg_relation_size(c.oid) > 0
order by 1
"""
COLUMNS = """
select attname from pg_attribute
where attrelid = '{table}'::regclass and attnum > 0 and not attisdropped order by attnum
"""
INDEXES = """
select coalesce(parent.relname, own.relname), pg_relation_size(own.oid)
from pg_index x
join pg_class own on own.oid = x.indexrelid
left join pg_inherits i on i.inhrelid = own.oid
left join pg_class parent on parent.oid = i.inhparent
where x.indrelid = '{part}'::regclass
order by 1
"""


def sizes(server: Server, database: str, table: str) -> dict[str, Any]:
    """Bytes per row of a table; of a partitioned one, over its partitions that have rows. Without rows: only that.

    - `columns`: the stored value alone, a null counts as nothing.
    - `header`: of the row, with the bitmap of its nulls. `padding`: so that values begin at even addresses.
    - `page`: the pointer to the row, the header of its page, and what is left free in it.
    - `indexes`: the file of each index. `toast`: values that are stored outside of the row.
    """
    rows = int(psql.value(server, database, f"select count(*) from {table}"))
    if not rows:
        return {"rows": 0, "bytes": 0}
    columns = _columns(server, database, table, rows)
    row, header = _whole_row(server, database, table)
    heap, toast, indexes = _files(server, database, table)
    return {
        "rows": rows,
        "bytes": round((heap + toast + sum(indexes.values())) / rows, 1),
        "heap": round(heap / rows, 1),
        "toast": round(toast / rows, 1),
        "indexes": {name: round(size / rows, 1) for name, size in indexes.items()},
        "columns": columns,
        "header": header,
        "padding": round(row - header - sum(columns.values()), 1),
        "page": round(heap / rows - row, 1),
    }


def _columns(server: Server, database: str, table: str, rows: int) -> dict[str, float]:
    names = psql.run(server, database, COLUMNS.format(table=table)).split()
    sums = ", ".join(f"coalesce(sum(pg_column_size({name})), 0)" for name in names)
    found = psql.value(server, database, f"select {sums} from {table}").split("|")
    sized = {name: round(int(size) / rows, 1) for name, size in zip(names, found, strict=True)}
    return {name: size for name, size in sized.items() if size}


def _whole_row(server: Server, database: str, table: str) -> tuple[float, float]:
    """Bytes of a row without its line pointer, and of its header: 24, and more where a bitmap says what is null."""
    names = psql.run(server, database, COLUMNS.format(table=table)).split()
    with_bitmap = -(-(23 + -(-len(names) // 8)) // 8) * 8
    header = f"avg(case when num_nulls({', '.join(names)}) > 0 then {with_bitmap} else 24 end)"
    row, found = psql.value(server, database, f"select avg(pg_column_size(t.*)), {header} from {table} t").split("|")
    return float(row), round(float(found), 1)


def _files(server: Server, database: str, table: str) -> tuple[int, int, dict[str, int]]:
    heap, toast = 0, 0
    indexes: dict[str, int] = {}
    for part in psql.run(server, database, PARTS.format(table=table)).split():
        size = f"pg_relation_size('{part}'), pg_table_size('{part}') - pg_relation_size('{part}')"
        forks = f"pg_relation_size('{part}', 'fsm') - pg_relation_size('{part}', 'vm')"
        here, outside = psql.value(server, database, f"select {size} - {forks}").split("|")
        heap, toast = heap + int(here), toast + int(outside)
        for line in psql.run(server, database, INDEXES.format(part=part)).splitlines():
            name, bytes_ = line.split("|")
            indexes[name] = indexes.get(name, 0) + int(bytes_)
    return heap, toast, indexes

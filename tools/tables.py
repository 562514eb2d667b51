"""Writes docs/tables.md from the register of tables: `python tools/tables.py > docs/tables.md`.

`python tools/tables.py moves` prints the table of docs/moving-shards.md.
"""

import sys

from horae.store.databases.table_moves import TABLE_MOVES
from horae.store.databases.tables import TABLES, TableFacts

HEAD = """# Tables

Every table of a cell: how long a row is kept, where it belongs, what becomes of a removed tenant's rows, what of it is
encrypted, whether rows are [archived](archive.md) before they are dropped, and whether a cell needs them back from a
backup. This page is written from `src/horae/store/databases/tables.py` by `tools/tables.py`; a test compares that
register with a migrated database. [Retention](retention.md) says how rows go.

- A row that belongs to a *shard* moves with it to another cell. *Copies* are written again wherever they are missing.
- All tables with rows of tenants are behind row-level security; the others have no `tenant_id`.

| table | kept | belongs to | a removed tenant's rows | encrypted | archived | restored |
|---|---|---|---|---|---|---|
"""


def page() -> str:
    """Returns the page."""
    return HEAD + "".join(f"| {' | '.join(_cells(one))} |\n" for one in TABLES)


def _cells(one: TableFacts) -> tuple[str, ...]:
    words = ("yes" if is_so else "" for is_so in (one.archived, one.restored))
    return f"`{one.name}`", one.kept, one.place, one.goes, one.encrypted, *words


def moves_table() -> str:
    """Returns the table that says what a move does with the rows of each table."""
    head = "| table | in a move | why, and what follows |\n|---|---|---|\n"
    return head + "".join(f"| `{name}` | {move.rule} | {move.note} |\n" for name, move in TABLE_MOVES.items())


if __name__ == "__main__":
    print(moves_table() if sys.argv[1:] == ["moves"] else page(), end="")

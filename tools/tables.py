"""Writes docs/tables.md from the register of tables: `python tools/tables.py > docs/tables.md`."""

from horae.store.databases.tables import TABLES

HEAD = """# Tables

Every table of a cell: how long a row is kept, where it belongs, what becomes of a removed tenant's rows, and what of it
is encrypted. This page is written from `src/horae/store/databases/tables.py` by `tools/tables.py`; a test compares that
register with a migrated database. [Retention](retention.md) says how rows go.

- A row that belongs to a *shard* moves with it to another cell. *Copies* are written again wherever they are missing.
- All tables with rows of tenants are behind row-level security; the others have no `tenant_id`.

| table | kept | belongs to | a removed tenant's rows | encrypted |
|---|---|---|---|---|
"""


def page() -> str:
    """Returns the page."""
    rows = [f"| `{one.name}` | {one.kept} | {one.place} | {one.goes} | {one.encrypted} |" for one in TABLES]
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")

"""The archive: ended instances of whole days as Parquet files in object storage, for months and at low cost.

Here: names of objects, the target that keeps them, the format of files, indexes and manifests, how a day is written,
rewritten without some tenants, deleted and read. Not here: which day is archived when (`horae.upkeep.archive`), and the
rows in PostgreSQL (`horae.store.databases.archived_days`).

1. Nothing is ever overwritten. Data files are named by their content; a manifest lists them, and is created only if
   no manifest with its number exists. Readers take the manifest with the greatest number.
2. Each object is read back after it was written, before the manifest names it.
3. All functions block, and most compute for long. They run in threads, never on the event loop.

The libraries (`obstore`, `pyarrow`) belong to the extra `horae[archive]` and are imported in this room only. Modules
outside of it load `object_store`, `day_writer` and `day_reader` by `load`.
"""

from importlib import import_module
from typing import Any

from horae.domain.errors import Invalid


def load(module: str) -> Any:
    """Import a module of this room that needs the libraries. Raises `Invalid` where they are not installed."""
    try:
        return import_module(f"horae.archive.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("horae"):
            raise
        raise Invalid(f"an archive needs {error.name}: pip install horae[archive]") from error

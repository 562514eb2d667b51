"""Tells the driver the built-in array types, which it would otherwise ask the server for.

The driver knows the built-in types, but of their arrays only `text[]`. When a connection first uses another one, the
driver reads it from the catalogs, by three statements of which one is expensive, and again for each that comes later.
These types have the same numbers in every PostgreSQL. A type that is left out here is asked for as ever.
"""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncpg

ARRAYS: Final = {
    "bool": (1000, 16),
    "bytea": (1001, 17),
    "int2": (1005, 21),
    "int4": (1007, 23),
    "int8": (1016, 20),
    "float8": (1022, 701),
    "timestamptz": (1185, 1184),
    "uuid": (2951, 2950),
    "jsonb": (3807, 3802),
}
"""The number of the array and that of its elements, by the name of the elements."""
_RECORDS: Final = [
    {
        "oid": array,
        "ns": "pg_catalog",
        "name": f"_{name}",
        "kind": b"b",
        "basetype": None,
        "elemtype": element,
        "elemtype_name": name,
        "elemdelim": b",",
        "range_subtype": None,
        "attrtypoids": None,
        "attrnames": None,
    }
    for name, (array, element) in ARRAYS.items()
]
"""What the driver would read from the catalogs."""


def register_arrays(connection: "asyncpg.Connection[Any]") -> None:
    """Make the arrays known. Their elements are converted as they are now: a new codec makes the driver forget them."""
    connection.get_settings().register_data_types(_RECORDS)

"""Where a row lives: 4,096 fixed logical shards, and the few of them that one tenant uses.

A tenant starts at a base and spreads over a width fixed for ever when it is created, so that a small tenant
lives in few cells and any name or business key finds its shard without a lookup.
"""

from hashlib import blake2b
from typing import Final

SHARDS: Final = 4096
WIDTHS: Final = frozenset({1, 4, 16, 64, 256, 4096})
DEFAULT_WIDTH: Final = 16


def spot(text: str) -> int:
    """A stable number for a text, the same in every process and release."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def shard_of(base: int, width: int, text: str) -> int:
    """The shard of a name or business key in a tenant that starts at `base` and is `width` shards wide."""
    return (base + spot(text) % width) % SHARDS


def home_of(tenant_name: str) -> int:
    """A tenant's home shard, which is also the base its other rows are counted from."""
    return spot(tenant_name) % SHARDS

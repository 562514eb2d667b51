"""Knows which keys the target of a move has, without asking it: only the coordinator of the move writes there."""

from collections.abc import Iterable, Mapping
from typing import Final

from horae.store.moves.moved_rows import BUCKETS, Bucket, BucketKeys, Digest, RowDigest

NO_KEYS: Final = BucketKeys(0, 0)


class TargetKeys:
    """The number of rows of every bucket of some tables, and the checksum of their keys, kept up with every write."""

    def __init__(self, tables: Iterable[str]) -> None:
        self._tables = frozenset(tables)
        self._kept: dict[Bucket, BucketKeys] = {}

    def begin(self, found: Mapping[Bucket, Digest]) -> None:
        """Take over what a comparison of all tables found."""
        self._kept = {bucket: digest.keys for bucket, digest in found.items() if bucket[0] in self._tables}

    def count_again(self, table: str, buckets: Iterable[int], found: Iterable[RowDigest]) -> None:
        """Take over all keys of some buckets."""
        for bucket in buckets:
            self._kept.pop((table, bucket), None)
        self.add(table, [row.hash for row in found])

    def add(self, table: str, hashes: Iterable[int]) -> None:
        """Rows with these hashes of keys were written."""
        self._change(table, hashes, 1)

    def remove(self, table: str, hashes: Iterable[int]) -> None:
        """Rows with these hashes of keys were deleted."""
        self._change(table, hashes, -1)

    def differing(self, other: Mapping[Bucket, BucketKeys]) -> list[Bucket]:
        """The buckets in which another cell has other keys."""
        return [
            bucket
            for bucket in sorted(self._kept.keys() | other.keys())
            if self._kept.get(bucket, NO_KEYS) != other.get(bucket, NO_KEYS)
        ]

    def _change(self, table: str, hashes: Iterable[int], by: int) -> None:
        for hash_ in hashes if table in self._tables else ():
            bucket = (table, hash_ % BUCKETS)
            many, keys = self._kept.get(bucket, NO_KEYS)
            self._kept[bucket] = BucketKeys(many + by, keys ^ hash_)

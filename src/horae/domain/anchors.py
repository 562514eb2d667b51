"""Anchors: the head of a cell's chain as it was noted outside of PostgreSQL, and what they tell later."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from horae.domain.blocks import Fault, Link
from horae.domain.errors import Invalid


class Anchor(msgspec.Struct, frozen=True):
    """The last block of a cell at a time."""

    at: datetime
    cell: str
    number: int
    hash: str


def line(anchor: Anchor) -> bytes:
    """An anchor as a line of the file."""
    return msgspec.json.encode(anchor) + b"\n"


def read(lines: Iterable[bytes]) -> list[Anchor]:
    """The anchors in a file. One that cannot be read is refused: somebody wrote in it."""
    found = []
    for number, text in enumerate(lines, 1):
        if text.strip():
            try:
                found.append(msgspec.json.decode(text, type=Anchor))
            except msgspec.DecodeError as error:
                raise Invalid(f"line {number} of the anchors cannot be read: {error}") from error
    return found


def lost(cell: str, anchors: Iterable[Anchor], dropped: Link, head: int, oldest: datetime) -> Fault | None:
    """What anchors tell beside the hashes of blocks: that the end was cut off, or the beginning dropped too early."""
    for anchor in sorted(anchors, key=lambda one: one.number):
        if anchor.number > head:
            when = f"{anchor.at:%Y-%m-%d %H:%M}"
            return Fault(cell, head + 1, f"block {anchor.number} was there on {when}, and the chain ends before it")
        if anchor.number == dropped.number and anchor.hash != dropped.hash.hex():
            return Fault(cell, anchor.number, "the checkpoint is not the block that was anchored")
        if anchor.number <= dropped.number and anchor.at > oldest + SLACK:
            return Fault(cell, anchor.number, "it was dropped before its time")
    return None


SLACK = timedelta(days=1)
"""A block is as old as its sealing, and its anchor may be a day younger."""

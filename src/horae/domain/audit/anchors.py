"""Anchors: copies of the head of a cell's audit chain, kept outside of PostgreSQL, and what they reveal later."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from horae.domain.audit.blocks import Fault, Link
from horae.domain.errors import Invalid


class Anchor(msgspec.Struct, frozen=True):
    """The last audit block of a cell at a time."""

    at: datetime
    cell: str
    number: int
    hash: str


def format_anchor(anchor: Anchor) -> bytes:
    """Return an anchor as a line of the anchor file."""
    return msgspec.json.encode(anchor) + b"\n"


def read(lines: Iterable[bytes]) -> list[Anchor]:
    """Read the anchors of a file. A line that cannot be parsed is refused: the file was edited."""
    found = []
    for number, text in enumerate(lines, 1):
        if text.strip():
            try:
                found.append(msgspec.json.decode(text, type=Anchor))
            except msgspec.DecodeError as error:
                raise Invalid(f"line {number} of the anchors cannot be read: {error}") from error
    return found


def find_missing_blocks(
    cell: str, anchors: Iterable[Anchor], dropped: Link, head: int, oldest: datetime
) -> Fault | None:
    """Find faults that the hashes of blocks do not reveal: a cut-off end, or a beginning that was dropped too early."""
    for anchor in sorted(anchors, key=lambda one: one.number):
        if anchor.number > head:
            when = f"{anchor.at:%Y-%m-%d %H:%M}"
            return Fault(cell, head + 1, f"block {anchor.number} was there on {when}, and the chain ends before it")
        if anchor.number == dropped.number and anchor.hash != dropped.hash.hex():
            return Fault(cell, anchor.number, "the checkpoint is not the block that was anchored")
        if anchor.number <= dropped.number and anchor.at > oldest + ANCHOR_DELAY_SLACK:
            return Fault(cell, anchor.number, "it was dropped before its time")
    return None


ANCHOR_DELAY_SLACK = timedelta(days=1)
"""An anchor may be one day younger than its block, whose age counts from when it was chained."""

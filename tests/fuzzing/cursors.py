"""Cursors and ids: only what we made opens, and only where it was made for."""

import msgspec

from horae.domain.errors import HoraeError, Invalid, NotFound
from horae.domain.ids import Prefix, private, public
from horae.security.signed_texts import Signer

SEALS = Signer("kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo")
PLACE = ["2026-11-15T00:00:00+00:00", "01935a5e-0000-7000-8000-000000000000"]
MADE = SEALS.sign("here", PLACE)
SEEDS = (b"c" + MADE.encode(), b"cAAAA", b"c====", b"s[1,2]", b"ijob_01hv3zq5k8e9r7t2m4n6p8s0v1", b"iins_7zzzzzzz")


def feed(data: bytes) -> None:
    """The first letter says what the rest is: a cursor, a place to be sealed, an id."""
    text = data[1:].decode(errors="replace")
    try:
        match data[:1]:
            case b"c":
                assert SEALS.verify("here", text) == PLACE, "only what was sealed opens"
            case b"s":
                _seal(text)
            case _:
                _id(text)
    except (Invalid, NotFound):
        return


def _seal(text: str) -> None:
    made = SEALS.sign(text, text)
    assert SEALS.verify(text, made) == text
    for purpose, sealed in ((text + "x", made), (text, made[::-1]), (text, made[1:])):
        try:
            opened = SEALS.verify(purpose, sealed)
        except HoraeError:
            continue
        assert (purpose, opened) == (text, text), "a seal opens where it was made for, or not at all"


def _id(text: str) -> None:
    for prefix in Prefix:
        try:
            found = private(prefix, text)
        except NotFound:
            continue
        assert public(prefix, found) == text
    msgspec.json.encode(text)

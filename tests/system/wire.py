"""As much of PostgreSQL's protocol as one must understand to know that a write has just taken effect.

The server says `CommandComplete` before it commits an implicit transaction; only `ReadyForQuery` with the status
"idle" says that what was written is there to stay. A statement may write and still answer `SELECT`, so what the
client asked for is read too.
"""

import re
import struct
from collections.abc import Iterator

TLS, GSS, CANCEL = 80877103, 80877104, 80877102
WRITES = re.compile(rb"\b(insert|update|delete|merge|copy)\b", re.IGNORECASE)
SAYS_WRITTEN = (b"COMMIT", b"INSERT", b"UPDATE", b"DELETE", b"MERGE", b"COPY")


class Frames:
    """Cuts what one side says into messages of a kind and a body; bodies nobody wants are left out."""

    def __init__(self, wanted: bytes) -> None:
        self._wanted = wanted
        self._rest = bytearray()
        self._skip = 0

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        rest = self._rest
        rest += data
        at = min(self._skip, len(rest))
        self._skip -= at
        while len(rest) - at >= 5:
            kind, length = rest[at : at + 1], struct.unpack_from("!I", rest, at + 1)[0] + 1
            if kind not in self._wanted:
                self._skip = max(at + length - len(rest), 0)
                at = min(at + length, len(rest))
                continue
            if len(rest) - at < length:
                break
            yield bytes(kind), bytes(rest[at + 5 : at + length])
            at += length
        del rest[:at]


class Conversation:
    """One connection's protocol, overheard. Encrypted or cancelling connections are not understood, and left alone."""

    def __init__(self) -> None:
        self._asked, self._answers = Frames(b"PBQ"), Frames(b"CZE")
        self._greeted = self._opaque = False
        self._one_letter = 0
        self._writing: dict[bytes, bool] = {}
        self._may_write = self._wrote = False

    def said(self, data: bytes) -> None:
        """The client speaks."""
        if not self._greeted and not self._opaque:
            data = self._greet(data)
        if self._opaque:
            return
        for kind, body in self._asked.feed(data):
            if kind == b"Q":
                self._may_write = bool(WRITES.search(body))
            elif kind == b"P":
                name, text, *_ = body.split(b"\0", 2)
                self._writing[name] = bool(WRITES.search(text))
            else:
                self._may_write = self._writing.get(body.split(b"\0", 2)[1], False)

    def answered(self, data: bytes) -> bool:
        """The server speaks; whether a write took effect with this."""
        if self._one_letter and data:
            self._one_letter -= 1
            self._opaque = self._opaque or data[:1] != b"N"
            data = data[1:]
        if self._opaque:
            return False
        effect = False
        for kind, body in self._answers.feed(data):
            if kind == b"C":
                self._wrote = self._wrote or self._may_write or body.startswith(SAYS_WRITTEN)
            elif kind == b"E":
                self._wrote = False
            else:
                effect = effect or (self._wrote and body == b"I")
                self._wrote = self._may_write = False
        return effect

    def _greet(self, data: bytes) -> bytes:
        """The first packets have no kind. Drivers send each of them whole."""
        while len(data) >= 8 and not self._greeted:
            length, code = struct.unpack_from("!II", data)
            data = data[length:]
            if code in {TLS, GSS}:
                self._one_letter += 1
            else:
                self._greeted = True
                self._opaque = self._opaque or code == CANCEL
        return data

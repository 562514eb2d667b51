"""Files that do not change while a process runs: compressed once, and answered with 304 if the client has them."""

import gzip
import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.responses import Response


class Asset(NamedTuple):
    """A file with its compressed form, ETag and cache policy."""

    kind: str
    body: bytes
    packed: bytes | None
    tag: str
    keep: str

    @classmethod
    def of(cls, kind: str, body: bytes, packed: bytes | None, keep: str) -> "Asset":
        """Returns an asset with the ETag of its bytes."""
        return cls(kind, body, packed, f'W/"{hashlib.sha256(body).hexdigest()[:32]}"', keep)

    @classmethod
    def of_text(cls, kind: str, text: str, keep: str) -> "Asset":
        """Returns an asset with a text, which is compressed here."""
        body = text.encode()
        return cls.of(kind, body, gzip.compress(body, mtime=0), keep)


def serve(asset: Asset, asked: Headers, more: Mapping[str, str] | None = None) -> Response:
    """Returns the file, or 304 if the client has it."""
    headers = {"ETag": asset.tag, "Cache-Control": asset.keep, "Vary": "Accept-Encoding", **(more or {})}
    if asset.tag in [tag.strip() for tag in asked.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    if asset.packed is not None and _takes_gzip(asked.get("accept-encoding", "")):
        return Response(asset.packed, media_type=asset.kind, headers=headers | {"Content-Encoding": "gzip"})
    return Response(asset.body, media_type=asset.kind, headers=headers)


def _takes_gzip(said: str) -> bool:
    for word in said.split(","):
        name, _, quality = word.replace(" ", "").lower().partition(";q=")
        if name == "gzip":
            return not quality or quality.strip("0.") != ""
    return False

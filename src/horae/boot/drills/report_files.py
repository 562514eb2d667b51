"""Writes the report of a drill as JSON, Markdown and a picture, and signs all three."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from horae.domain.drills.recovery import SecondFigures
from horae.domain.drills.reports import DrillResult, markdown
from horae.domain.errors import Invalid
from horae.runtime.picture import LATE, RATE, Bar, Panel, draw
from horae.security.report_signing import Signature, is_valid, sign
from horae.security.signing_keys import SigningKey

JSON: Final = "report.json"
MARKDOWN: Final = "report.md"
PICTURE: Final = "picture.svg"
SIGNATURE: Final = "signature.json"
FILES: Final = (JSON, MARKDOWN, PICTURE)


class SignedFiles(msgspec.Struct, frozen=True):
    """The digests of the files of a report, and the signature over them; None without a signing key."""

    sha256: dict[str, str]
    signature: Signature | None


def write(folder: Path, result: DrillResult, seconds: Sequence[SecondFigures], key: SigningKey | None) -> SignedFiles:
    """Write all files of a report into a folder."""
    facts = {"result": result, "passed": result.passed, "seconds": seconds}
    contents = {
        JSON: msgspec.json.format(msgspec.json.encode(facts), indent=1),
        MARKDOWN: markdown(result, PICTURE).encode(),
        PICTURE: _picture(result, seconds).encode(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    signed = SignedFiles(digests, None if key is None else sign(_signed_bytes(digests), key))
    (folder / SIGNATURE).write_bytes(msgspec.json.encode(signed) + b"\n")
    return signed


def faults(folder: Path, public_key: str | None = None) -> list[str]:
    """What is wrong with the files of a report; nothing if they are as they were signed, by this key if it is given."""
    try:
        signed = msgspec.json.decode((folder / SIGNATURE).read_bytes(), type=SignedFiles)
        digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}
    except (OSError, msgspec.MsgspecError) as error:
        raise Invalid(f"{folder} has no whole report: {error}") from error
    found = [f"{name} was changed" for name in FILES if signed.sha256.get(name) != digests[name]]
    if signed.signature is None:
        return [*found, "the report is not signed"]
    if not is_valid(_signed_bytes(signed.sha256), signed.signature):
        found.append("the signature is not that of the public key")
    if public_key is not None and public_key != signed.signature.public_key:
        found.append("another key has signed it")
    return found


def _signed_bytes(digests: dict[str, str]) -> bytes:
    return msgspec.json.encode(digests, order="sorted")


def _picture(result: DrillResult, seconds: Sequence[SecondFigures]) -> str:
    load = [one.effects for one in seconds]
    late = [one.late_p95_ms for one in seconds]
    panels = [
        Panel(f"effects a second, at most {max(load, default=0)}", load, RATE),
        Panel(f"p95 late, at most {max((one or 0 for one in late), default=0)} ms", late, LATE),
    ]
    steps = [Bar(one.step, one.at_s, one.at_s) for one in result.steps]
    return draw(
        f"drill {result.kind}: {', '.join(one.step for one in result.steps)}", panels, [*_broken(result), *steps]
    )


def _broken(result: DrillResult) -> list[Bar]:
    """The time from the fault to the way back."""
    if result.broken_at is None:
        return []
    until = result.restored_at or result.ended_at
    began = (result.broken_at - result.began_at).total_seconds()
    return [Bar("broken", began, (until - result.began_at).total_seconds())]

"""Certified days: a real node has lived through them, and their certificates are made and exported."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from horae.domain.audit.anchors import Anchor, format_anchor
from horae.security.signing_keys import SigningKey
from horae.service.audit import verification
from horae.service.certificates import bundles, certificates
from horae.service.certificates.certificates import Certificate
from horae.service.certificates.chain import close_block
from horae.service.jobs import jobs
from horae.testing import TestServer
from tests.fire_audit.days import live_through

CERTIFIED = date(2030, 3, 30)
"""The day with a pause, an outage, an excluded day, a change of a schedule and dead letters."""
CLOCK_CHANGE = date(2030, 3, 31)
"""The day on which clocks in Berlin go forward, and on which the tenant is paused."""
KEY = SigningKey(b"a key of tests that signs nothing"[:32])


class CertifiedDay(NamedTuple):
    """A certificate, and the files that its verifier has."""

    certificate: Certificate
    bundle: Path
    anchors: Path


def certified(horae: TestServer, folder: Path) -> CertifiedDay:
    """Live through days, certify one, write a few more audit blocks and an anchor, and export it."""
    ctx, do = horae._world.ctx, horae._do
    live_through(horae)
    made = do(certificates.make(ctx, KEY, CERTIFIED))
    for change in (jobs.pause, jobs.resume, jobs.pause, jobs.resume):
        do(change(ctx, "plain"))
        do(close_block(ctx))
    heads: list[Anchor] = do(verification.anchors(ctx.store.cells))
    anchors = folder / "anchors.jsonl"
    anchors.write_bytes(b"".join(map(format_anchor, heads)))
    return CertifiedDay(made, export(horae, CERTIFIED, folder / "bundle.zip", heads), anchors)


def export(horae: TestServer, day: date, file: Path, anchors: Sequence[Anchor] = ()) -> Path:
    """Write the bundle of a day to a file."""
    file.write_bytes(horae._do(bundles.export(horae._world.ctx, [KEY], day, anchors)))
    return file

"""Certificates of days: one that is clean, and one with a finding."""

from datetime import date, timedelta

from msgspec.structs import replace

from horae.domain.certificates.certificates import CertifiedFinding, certify, count_day
from horae.domain.fire_audit.findings import FireFault
from horae.runtime.randomness import new_id
from horae.security.signing_keys import SigningKey
from horae.service.certificates import certificates
from horae.service.certificates.evidence import read_evidence
from horae.service.context import Context
from tests.console.scene import Scene

KEY = SigningKey(bytes(32))
SENTENCE = "the fire of 02:00 has no row"


async def certify_with_finding(ctx: Context, day: date, job: str = "settlement", sentence: str = SENTENCE) -> None:
    """Certify a day with a finding that no audit made."""
    counted = count_day(await read_evidence(ctx, day, None))
    finding = CertifiedFinding(FireFault.MISSING, new_id(1, ctx.now()), job, ctx.now(), sentence, 1)
    content, evidence = certify(replace(counted, findings=[finding]), 1, KEY.id)
    await certificates._store(ctx, KEY, content, evidence)


async def certified_days(scene: Scene, job: str = "settlement", sentence: str = SENTENCE) -> str:
    """A clean day, one without a certificate, and one with a finding; gives the page of the last one."""
    ctx = scene.home.ctx
    faulty = scene.now.date() - timedelta(days=2)
    await certificates.make(ctx, KEY, faulty - timedelta(days=2))
    await certify_with_finding(ctx, faulty, job, sentence)
    return f"/certificates?day={faulty}"

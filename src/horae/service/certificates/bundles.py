"""The bundle of a certificate: a ZIP file with everything that a third party needs to verify it, and nothing else."""

import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from horae.domain.audit.anchors import Anchor
from horae.domain.audit.blocks import micros
from horae.domain.certificates.canonical import canonical
from horae.domain.errors import NotFound
from horae.domain.ids import shard_in
from horae.security.signing_keys import SigningKey
from horae.service.certificates.certificates import find
from horae.service.certificates.chain import ChainProof, prove
from horae.service.context import Context
from horae.store.certificates import certificates

CERTIFICATE: Final = "certificate.json"
EVIDENCE: Final = "evidence.json"
SIGNATURE: Final = "signature.json"
CHAIN: Final = "chain.json"
TIMESTAMP: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the bundle: the same content gives the same bytes."""


async def export(ctx: Context, keys: Sequence[SigningKey], day: date, anchors: Sequence[Anchor]) -> bytes:
    """Return the bundle of the newest certificate of a day."""
    found = (await find(ctx, day)).stored
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        evidence = await certificates.evidence(tx, ctx.tenant.id, day, found.revision)
    assert evidence is not None, "a certificate has its evidence in the same row"
    public = next((key.public for key in keys if key.id == found.key_id), None)
    if public is None:
        raise NotFound(f"the signing key {found.key_id} of this certificate is no longer among the secrets")
    proof = await prove(ctx, found, anchors)
    signature = {"key": found.key_id, "public": public.hex(), "signature": found.signature.hex()}
    return _zipped(
        {
            CERTIFICATE: found.body.encode(),
            EVIDENCE: zlib.decompress(evidence),
            SIGNATURE: _pretty(signature),
            CHAIN: canonical(_chain_document(proof)),
        }
    )


def _chain_document(proof: ChainProof) -> dict[str, Any]:
    return {
        "cell": proof.cell,
        "audit_id": proof.audit_id,
        "rows": [{**row._asdict(), "at": micros(row.at)} for row in proof.rows],
        "blocks": [
            {
                **block._asdict(),
                "sealed_at": micros(block.sealed_at),
                "digest": block.digest.hex(),
                "previous": block.previous.hex(),
                "hash": block.hash.hex(),
            }
            for block in proof.blocks
        ],
        "anchor": proof.anchor,
    }


def _pretty(value: dict[str, str]) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in files.items():
            bundle.writestr(zipfile.ZipInfo(name, TIMESTAMP), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()

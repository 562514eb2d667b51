"""The progress of running attempts, as their workers last reported it."""

from collections.abc import Sequence
from typing import Any

from horae.domain.instances.instances import Instance
from horae.store.statements import sql
from horae.store.tx import Tx


async def write(tx: Tx, reports: Sequence[tuple[Instance, Any]]) -> None:
    """Store progress with its attempts, each as a JSON object; the one before is replaced."""
    rows = sorted(((ran.shard, ran.id, ran.attempt, ran.token, said) for ran, said in reports), key=lambda row: row[:2])
    await tx.run(sql("workers/progress/write"), *zip(*rows, strict=True))

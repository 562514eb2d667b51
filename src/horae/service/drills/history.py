"""The history of drills: rows of the audit log of the tenant `system`, in the hash chain of their cell.

A drill leaves two rows: one before it breaks anything, and one with its result. A drill without the second row was
killed.
"""

from functools import partial
from itertools import chain
from typing import Final

import msgspec
from msgspec.structs import replace

from horae.domain.drills.drills import DrillKind
from horae.domain.drills.reports import DrillResult
from horae.domain.errors import Unavailable
from horae.domain.ids import shard_in
from horae.service.audit.audit import NEWEST, AuditFilter, Place, record_rescue
from horae.service.context import CallerContext, ask_cells
from horae.service.tenants import tenants
from horae.store.audit import audit
from horae.store.row_level_security import Behalf, restrict
from horae.store.tx import GONE, Tx

BEGAN: Final = "drill.began"
ENDED: Final = "drill.ended"


class PastDrill(msgspec.Struct, frozen=True, kw_only=True):
    """A drill of the past without its steps. `report_sha256` is the digest of its report, `place` that of its row."""

    result: DrillResult
    report_sha256: str
    place: Place


async def record_began(ctx: CallerContext, name: str, kind: DrillKind, how: str, reason: str) -> None:
    """Record that a drill is about to break something."""
    await _record(ctx, BEGAN, name, {"kind": kind, "how": how, "reason": reason})


async def record_ended(ctx: CallerContext, name: str, result: DrillResult, report_sha256: str) -> None:
    """Record the result of a drill."""
    short = msgspec.to_builtins(replace(result, steps=()))
    await _record(ctx, ENDED, name, {"result": short, "passed": result.passed, "report_sha256": report_sha256})


async def page(ctx: CallerContext, before: Place | None, limit: int) -> list[PastDrill]:
    """Returns the drills that ended, newest first, older than `before`."""
    platform = await tenants.find_platform(ctx)
    store = restrict(ctx.store, Behalf(platform.id))

    async def look(tx: Tx) -> list[audit.Entry]:
        return await audit.page(tx, platform.id, before or NEWEST, AuditFilter(action=ENDED), limit)

    found = chain.from_iterable(await ask_cells(store.cells, look, ctx.cells_down))
    newest = sorted(found, key=lambda one: (one.at, one.id), reverse=True)[:limit]
    return [
        PastDrill(
            result=msgspec.convert(one.detail["result"], DrillResult),
            report_sha256=one.detail["report_sha256"],
            place=(one.at, one.id),
        )
        for one in newest
    ]


async def _record(ctx: CallerContext, action: str, name: str, detail: dict[str, object]) -> None:
    """Write the row into the home cell of the platform, or into another one where that cell is the drill's victim."""
    platform = await tenants.find_platform(ctx)
    write = partial(record_rescue, ctx, platform=platform, action=action, resource=f"drill/{name}", detail=detail)
    for cell in ctx.store.home_first(shard_in(platform.id)):
        try:
            async with cell.tx() as tx:
                await write(tx)
        except GONE:
            continue
        return
    raise Unavailable("no cell answers: the drill cannot be recorded")

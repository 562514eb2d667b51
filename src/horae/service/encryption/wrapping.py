"""Decides whether a key-encryption key may leave the keyring: only when no data key and no backup needs it."""

from datetime import datetime
from typing import Final

from horae.domain.errors import Conflict, Unavailable
from horae.domain.ids import shard_in
from horae.service.audit.audit import record_rescue
from horae.service.context import CallerContext
from horae.service.tenants import tenants
from horae.store.encryption import data_keys
from horae.store.tx import GONE, Tx

REMOVED: Final = "keyring.key_removed"
PROVIDER: Final = "keyring"
"""The beginning of every text that a key of the keyring has wrapped."""


async def check_removal(ctx: CallerContext, name: str, oldest_backup: datetime, reason: str) -> None:
    """Refuse the removal of a key while something needs it, and record it otherwise.

    1. Every cell must answer, and no data key in it may be wrapped by the key.
    2. A data key was wrapped by another key until it was last wrapped anew. A backup from before that time may hold it
       as it was, so the oldest backup must be younger.
    """
    for cell in ctx.store.cells:
        try:
            async with cell.statement() as tx:
                use = await data_keys.uses(tx, f"{PROVIDER}:{name}:")
        except GONE as error:
            raise Unavailable(f"{cell.name} does not answer: its data keys may need {name!r}") from error
        if use.wrapped:
            raise Conflict(f"{use.wrapped} data keys of {cell.name} need {name!r}: run `horae keyring rewrap` first")
        if use.rewrapped_at is not None and oldest_backup <= use.rewrapped_at:
            raise Conflict(
                f"data keys of {cell.name} were wrapped anew until {use.rewrapped_at:%Y-%m-%d %H:%M:%S} UTC: a backup "
                f"of {oldest_backup:%Y-%m-%d %H:%M:%S} UTC may need {name!r}"
            )
    platform = await tenants.find_platform(ctx)

    async def record(tx: Tx) -> None:
        detail: dict[str, object] = {"reason": reason, "oldest_backup": oldest_backup.isoformat()}
        await record_rescue(ctx, tx, platform, REMOVED, f"keyring/{name}", detail)

    await ctx.store.run(shard_in(platform.id), record)

"""The signing keys of the deployment: named secrets of the tenant `system`, encrypted as all secrets are.

The newest key signs. Older ones stay, so that `horae keyring show` lists the public half for everything that was
signed. Each is bound to a host that cannot exist, so no request can carry it.
"""

from datetime import datetime
from typing import Final, NamedTuple

from horae.domain.encryption.encrypted_values import secret_of
from horae.domain.errors import Conflict
from horae.domain.ids import shard_in
from horae.security.signing_keys import SigningKey, key_of, new_seed
from horae.service.audit.audit import record_rescue
from horae.service.context import CallerContext, Context
from horae.service.encryption import secrets as named_secrets
from horae.service.tenants import tenants
from horae.store.encryption import secrets
from horae.store.tx import Tx

CREATED: Final = "keyring.signing_key_created"
PREFIX: Final = "signing-key."
NO_HOST: Final = "signing-keys.invalid"
"""A host that can never be resolved: RFC 2606 reserves `.invalid`."""


class NamedSigningKey(NamedTuple):
    """A signing key, and when it was made."""

    key: SigningKey
    created_at: datetime


async def create(ctx: CallerContext) -> NamedSigningKey:
    """Make a key that signs from now on. Its private half is stored encrypted, and never shown."""
    platform = await tenants.find_platform(ctx)
    now = ctx.store.cell(shard_in(platform.id)).clock.now()
    seed = new_seed()
    kept = await named_secrets.put(
        Context.of(ctx.store, platform, ctx.actor), f"{PREFIX}{now:%Y%m%d-%H%M%S-%f}", seed, [NO_HOST]
    )
    made = NamedSigningKey(key_of(seed), kept.changed_at)

    async def record(tx: Tx) -> None:
        detail: dict[str, object] = {"key": made.key.id, "public": made.key.public.hex()}
        await record_rescue(ctx, tx, platform, CREATED, f"signing-key/{made.key.id}", detail)

    await ctx.store.run(shard_in(platform.id), record)
    return made


async def listing(ctx: CallerContext) -> list[NamedSigningKey]:
    """Return all signing keys, oldest first. The last one signs."""
    platform = await tenants.find_platform(ctx)
    async with ctx.store.statement(shard_in(platform.id)) as tx:
        found = await secrets.of_tenant(tx, platform.id)
    keys = []
    for row in sorted((row for row in found if row.name.startswith(PREFIX)), key=lambda row: row.name):
        seed = await ctx.store.cipher.decrypt(platform.id, secret_of(row.name, row.hosts), row.encrypted)
        keys.append(NamedSigningKey(key_of(seed), row.changed_at))
    return keys


async def newest(ctx: CallerContext) -> SigningKey | None:
    """Return the key that signs; None while there is none."""
    keys = await listing(ctx)
    return keys[-1].key if keys else None


async def current(ctx: CallerContext) -> SigningKey:
    """Return the key that signs."""
    key = await newest(ctx)
    if key is None:
        raise Conflict("there is no signing key: `horae keyring create-signing-key` makes one")
    return key

"""`horae keyring …`: the local key-encryption keys, data keys, and the keys that sign certificates and reports."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from horae.boot.encryption import open_store, require_keys
from horae.boot.output import say
from horae.boot.reasons import Reason, ask_reason
from horae.boot.session import caller, load, platform_caller
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.repositories.envelopes import Envelopes
from horae.runtime.settings import read_settings
from horae.security import keyrings
from horae.service.certificates import signing_keys
from horae.service.encryption import data_keys, wrapping
from horae.upkeep.key_rotation import Rewrapper

app = Verbs(no_args_is_help=True)
File = Annotated[Path | None, typer.Option("--file", help="The keyring; HORAE_KEYRING where omitted.")]
Named = Annotated[str | None, typer.Option("--name", help="The new key's name; the time where omitted.")]


@app.command()
async def create(file: File = None, name: Named = None) -> None:
    """Create a keyring with one key, readable only by its owner. Keep a copy that is not beside a database backup."""
    path = _path(file)
    keyrings.create(path, name or _now())
    said = f"{path} made; without it nothing that is encrypted can ever be decrypted"
    say({"file": str(path), "current": keyrings.load(path).current}, said)


@app.command()
async def rotate(file: File = None, name: Named = None) -> None:
    """Add a key that wraps from now on. Copy the file to every process; data keys are rewrapped within minutes."""
    ring = keyrings.rotate(_path(file), name or _now())
    said = f"{ring.current} wraps from now on, one of {len(ring.keys)} keys"
    say({"current": ring.current, "keys": len(ring.keys)}, said)


@app.command("rotate-data")
async def rotate_data(
    tenant: Annotated[str | None, typer.Option("--tenant", help="The tenant; the configured one if omitted.")] = None,
) -> None:
    """Create a new data key for a tenant: new payloads are encrypted with it at once, live rows within minutes."""
    async with caller(tenant) as ctx:
        version = await data_keys.rotate(ctx)
        said = f"{ctx.tenant.name} encrypts with version {version} of its data key"
        say({"tenant": ctx.tenant.name, "version": version}, said)


@app.command()
async def rewrap() -> None:
    """Wrap every data key with the current key-encryption key now, instead of within minutes."""
    settings = load()
    require_keys(settings)
    async with open_store(settings, settings.all_cells()) as store:
        if not isinstance(store.cipher, Envelopes):
            raise Invalid("payloads stay in clear here: there is no data key to wrap")
        done = await Rewrapper(store, store.cipher).rewrap_all()
    say({"wrapped": done}, f"{done} data keys rewrapped")


@app.command()
async def remove(
    name: Annotated[str, typer.Argument(help="The key that leaves the keyring.")],
    oldest_backup: Annotated[
        datetime, typer.Option("--oldest-backup", help="When the oldest backup that you keep was begun, in UTC.")
    ],
    file: File = None,
    reason: Reason = None,
) -> None:
    """Take a key out of the keyring. Refused while a data key, or a backup that you keep, needs it."""
    path, why = _path(file), ask_reason(reason)
    keyrings.without(path, name)  # refused before anything is recorded
    async with platform_caller() as ctx:
        await wrapping.check_removal(ctx, name, oldest_backup.replace(tzinfo=oldest_backup.tzinfo or UTC), why)
    ring = keyrings.remove(path, name)
    said = f"{name} is out of the keyring, which has {len(ring.keys)} keys; copy the file to every process"
    say({"removed": name, "keys": len(ring.keys)}, said)


@app.command("create-signing-key")
async def create_signing_key() -> None:
    """Create the key that signs certificates and reports of drills from now on. Older ones still verify theirs."""
    async with platform_caller() as ctx:
        made = await signing_keys.create(ctx)
    said = f"{made.key.id} signs from now on; its public half is {made.key.public.hex()}"
    say({"key": made.key.id, "public": made.key.public.hex()}, said)


@app.command()
async def show() -> None:
    """Show the public halves of all signing keys, the newest last. Give them to whoever verifies certificates."""
    async with platform_caller() as ctx:
        found = await signing_keys.listing(ctx)
    facts = [{"key": one.key.id, "public": one.key.public.hex(), "created_at": one.created_at} for one in found]
    rows = [(one.key.id, moment(one.created_at), one.key.public.hex()) for one in found]
    answer_rows(facts, ("key", "created (UTC)", "public half"), rows, empty="there is no signing key")


def _path(file: Path | None) -> Path:
    path = file or read_settings().keyring
    if path is None:
        raise Invalid("say which file: --file, or HORAE_KEYRING")
    return path


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d.%H%M%S")

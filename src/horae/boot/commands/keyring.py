"""`horae keyring …`: the local key-encryption keys, and data keys."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from horae.boot.encryption import open_store, require_keys
from horae.boot.output import say
from horae.boot.session import caller, load
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.repositories.envelopes import Envelopes
from horae.runtime.settings import read_settings
from horae.security import keyrings
from horae.service.encryption import data_keys
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


def _path(file: Path | None) -> Path:
    path = file or read_settings().keyring
    if path is None:
        raise Invalid("say which file: --file, or HORAE_KEYRING")
    return path


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d.%H%M%S")

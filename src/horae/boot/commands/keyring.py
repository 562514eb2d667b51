"""`horae keyring …`: the local keys that wrap data keys, and data keys themselves."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from horae.boot.sealing import opened_store, require
from horae.boot.session import caller, load, run
from horae.boot.telling import Verbs, say
from horae.domain.errors import Invalid
from horae.runtime.settings import Settings
from horae.security import keyrings
from horae.service import data_keys
from horae.store.envelopes import Envelopes
from horae.upkeep.resealing import Rewrapper

app = Verbs(no_args_is_help=True)
File = Annotated[Path | None, typer.Option("--file", help="The keyring; HORAE_KEYRING where omitted.")]
Named = Annotated[str | None, typer.Option("--name", help="The new key's name; the time where omitted.")]


@app.command()
def create(file: File = None, name: Named = None) -> None:
    """Make a keyring with one key, readable for its owner only. Keep a copy where no database backup is."""

    async def work() -> None:
        path = _path(file)
        keyrings.create(path, name or _now())
        said = f"{path} made; without it nothing that is sealed can ever be opened again"
        say({"file": str(path), "current": keyrings.load(path).current}, said)

    run(work)


@app.command()
def rotate(file: File = None, name: Named = None) -> None:
    """Add a key that wraps from now on. Bring the file to every process; data keys are wrapped anew within minutes."""

    async def work() -> None:
        ring = keyrings.rotate(_path(file), name or _now())
        said = f"{ring.current} wraps from now on, one of {len(ring.keys)} keys"
        say({"current": ring.current, "keys": len(ring.keys)}, said)

    run(work)


@app.command("rotate-data")
def rotate_data(
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Whose; the configured tenant's where omitted.")
    ] = None,
) -> None:
    """A new data key for a tenant: new payloads are sealed with it at once, live rows within minutes."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            version = await data_keys.rotate(ctx)
            said = f"{ctx.tenant.name} seals with version {version} of its data key"
            say({"tenant": ctx.tenant.name, "version": version}, said)

    run(work)


@app.command()
def rewrap() -> None:
    """Wrap every data key under the current key-encryption key now, instead of within minutes."""

    async def work() -> None:
        settings = load()
        require(settings)
        async with opened_store(settings, settings.all_cells()) as store:
            if not isinstance(store.sealing, Envelopes):
                raise Invalid("payloads stay in clear here: there is no data key to wrap")
            done = await Rewrapper(store, store.sealing).rewrap_all()
        say({"wrapped": done}, f"{done} data keys wrapped anew")

    run(work)


def _path(file: Path | None) -> Path:
    path = file or Settings().keyring
    if path is None:
        raise Invalid("say which file: --file, or HORAE_KEYRING")
    return path


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d.%H%M%S")

"""`horae dev`."""

import shlex
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Final, NamedTuple

import typer
from rich.text import Text

from horae import __version__
from horae.boot.dev import cluster, lines, samples
from horae.boot.dev.door import Door, door
from horae.boot.dev.receiver import receiving
from horae.boot.dev.watching import Watched
from horae.boot.preparing import prepare
from horae.boot.sealing import opened_store
from horae.boot.secrets import secrets_of
from horae.boot.serving import client_of, ignore_hangups, ignores_hangups, serving, told_to_end
from horae.boot.session import err, out, refusing, run
from horae.boot.telling import answer, wants_json
from horae.domain.errors import Conflict
from horae.runtime import telemetry
from horae.runtime.settings import Settings
from horae.security import keyrings
from horae.service import tenants
from horae.service.context import Context
from horae.store import health
from horae.store.cells import Cell
from horae.store.tx import Tx

KEYRING: Final = "keyring.json"


def dev(
    data: Annotated[Path | None, typer.Option(help="Keep a private PostgreSQL in this folder.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="A private PostgreSQL that is gone afterwards.")] = False,
    env: Annotated[
        Path | None, typer.Option(help="Write HORAE_DSN, HORAE_URL and HORAE_KEY here, to be sourced.")
    ] = None,
    with_samples: Annotated[bool, typer.Option("--samples/--no-samples", help="Jobs to look at.")] = True,
) -> None:
    """Everything in one process: a database where HORAE_DSN names none, a node, the API, and jobs that fire."""
    for name in (signal.SIGTERM,) if ignores_hangups() else (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)  # until the node listens itself: end what was begun
    settings = Settings()
    quiet = "log_level" not in settings.model_fields_set
    telemetry.configure(as_json=settings.log_json, level="WARNING" if quiet else settings.log_level)
    with refusing(), _database(settings, data, fresh) as database:
        run(lambda: _serve(database, env, with_samples=with_samples))


HIDDEN: Final = "…"


class Database(NamedTuple):
    """The settings with a database and keys in them, where that is, and its DSN as it may be shown: not one given."""

    settings: Settings
    where: str
    dsn: str = HIDDEN


@contextmanager
def _database(settings: Settings, data: Path | None, fresh: bool) -> Iterator[Database]:
    """What the environment names, or a private one; what was asked for on the command line goes first."""
    settings = settings.model_copy(update={"environment": "dev"})
    if settings.all_cells() and not (data or fresh):
        yield Database(_with_keys(settings, cluster.default_folder()), "as HORAE_DSN or HORAE_CELLS say")
        return
    folder = data or cluster.default_folder()
    _say(Text("Starting a private PostgreSQL …", style="dim"))
    with _folder(folder, fresh) as folder, cluster.kept(folder, **(cluster.THROWN_AWAY if fresh else {})) as dsn:
        where = "private, gone at the end" if fresh else f"private, kept in {folder} (--fresh: one to throw away)"
        settings = settings.model_copy(update={"cells": [], "dsn": dsn})
        yield Database(_with_keys(settings, folder), where, dsn)


@contextmanager
def _folder(given: Path, fresh: bool) -> Iterator[Path]:
    if not fresh:
        yield given
        return
    with cluster.throwaway_folder() as folder:
        yield folder


def _with_keys(settings: Settings, folder: Path) -> Settings:
    """With the keyring of a folder, made where there is none: payloads are sealed on a laptop, too."""
    if settings.sealing == "off" or settings.keyring is not None or settings.transit is not None:
        return settings
    path = folder / KEYRING
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        keyrings.create(path, "dev")
    return settings.model_copy(update={"keyring": path})


async def _serve(database: Database, env: Path | None, *, with_samples: bool) -> None:
    settings = database.settings
    await _refuse_production(settings)
    await prepare(settings)
    told = told_to_end()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(opened_store(settings, settings.all_cells()))
        secrets = await secrets_of(settings, store)
        sender = Watched(client_of(settings), secrets, store, lambda *facts: _say(lines.attempt(*facts)))
        ctx = Context.of(store, await tenants.find(store, settings.tenant), "horae dev")
        if with_samples:
            url = await stack.enter_async_context(receiving())
            stack.push_async_callback(samples.clear, ctx)
        await stack.enter_async_context(serving(settings, store, sender))
        opened = await stack.enter_async_context(door(settings, ctx))
        if env is not None:
            stack.enter_context(_written(env, database, opened))
        _greet(database, opened)
        if with_samples:
            now = store.cells[0].clock.now
            await samples.make(ctx, url, lambda *facts: _say(lines.decision(now(), *facts)))
        await told.wait()
        ignore_hangups()
        _say(Text("Stopping: what is in flight may end.", style="dim"))


@contextmanager
def _written(file: Path, database: Database, door: Door) -> Iterator[None]:
    """Where to ask and with which key, for another terminal; readable by its owner only, and gone at the end."""
    values = {"HORAE_URL": door.address, "HORAE_KEY": door.key}
    values |= {"HORAE_DSN": database.dsn} if database.dsn != HIDDEN else {}
    with NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.", delete=False) as new:  # nobody's but ours
        new.write("".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items()))
    Path(new.name).replace(file)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


async def _refuse_production(settings: Settings) -> None:
    for cell in settings.all_cells():
        async with Cell(cell.name, cell.dsn).direct() as connection:
            if await health.environment(Tx(connection, datetime.now(UTC))) == "production":
                raise Conflict(f"{cell.name} is a cell of production; `horae dev` keeps away from it")


def _greet(database: Database, door: Door) -> None:
    told = {"dsn": database.dsn, "api": door.address, "key": door.key}
    answer(told, lambda: _show(database, door))


def _show(database: Database, door: Door) -> None:
    _say(Text.assemble((f"Horae {__version__}", "bold"), ", everything in one process. Ctrl-C stops it."))
    for name, value in (
        ("database", database.where),
        ("console", f"{door.address}/console/ (log in with the key below)"),
        ("API", f"{door.address}/docs"),
        ("try", f"HORAE_DSN={shlex.quote(database.dsn)} HORAE_KEYRING={_keyring(database.settings)} horae job list"),
        ("or", door.command()),
    ):
        _say(Text.assemble((f"  {name:<10}", "dim"), value))
    out.print()


def _keyring(settings: Settings) -> str:
    return "…" if settings.keyring is None else shlex.quote(str(settings.keyring.absolute()))


def _say(line: Text) -> None:
    """A terminal that is gone hears nothing, and keeps nobody from ending."""
    with suppress(OSError):
        (err if wants_json() else out).print(line, soft_wrap=True)

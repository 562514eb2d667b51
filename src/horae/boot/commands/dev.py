"""`horae dev`."""

import asyncio
import shlex
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Final, NamedTuple

import typer
from rich.text import Text

from horae import __version__
from horae.api import console
from horae.boot.dev import cluster, event_lines, samples
from horae.boot.dev.api_server import DevServer, dev_server, placed
from horae.boot.dev.night import Night
from horae.boot.dev.night import settings_of as settings_of_night
from horae.boot.dev.night_jobs import is_of_herd
from horae.boot.dev.receiver import ignore_call, receiving
from horae.boot.dev.watching import WatchedSender
from horae.boot.dev.worker_results import WORKER_RESULTS_INTERVAL_S, WorkerResults
from horae.boot.encryption import open_store
from horae.boot.output import answer, wants_json
from horae.boot.preparing import prepare
from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.boot.session import err, exit_on_refusal, out, run
from horae.boot.signals import ignore_hangups, ignores_hangups, stop_signal
from horae.delivery.push import Delivery
from horae.domain.errors import Conflict, Invalid
from horae.domain.instances.instances import Instance
from horae.domain.jobs.jobs import Job
from horae.runtime import telemetry
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.loop import Loop
from horae.runtime.settings import Settings, read_settings
from horae.security import keyrings
from horae.service.context import Context
from horae.service.tenants import tenants
from horae.store.cells import Cell
from horae.store.health import health
from horae.store.tx import Tx

KEYRING: Final = "keyring.json"


def dev(
    data: Annotated[Path | None, typer.Option(help="Keep a private PostgreSQL in this folder.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="A private PostgreSQL that is gone afterwards.")] = False,
    env: Annotated[
        Path | None, typer.Option(help="Write HORAE_URL, HORAE_KEY, HORAE_DSN and the like here, to be sourced.")
    ] = None,
    with_samples: Annotated[bool, typer.Option("--samples/--no-samples", help="Jobs to look at.")] = True,
    with_night: Annotated[
        bool, typer.Option("--night", help="Break five things, to find them in the console. Implies --fresh.")
    ] = False,
) -> None:
    """Run everything in one process: a private database unless HORAE_DSN is set, a node, the API, and sample jobs."""
    for name in (signal.SIGTERM,) if ignores_hangups() else (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)  # until the node handles signals: stop what was started
    with exit_on_refusal():
        settings = read_settings(environment="dev")
    quiet = "log_level" not in settings.model_fields_set
    telemetry.configure(as_json=bool(settings.log_json), level="WARNING" if quiet else settings.log_level)
    with exit_on_refusal(), _database(settings, data, fresh, with_night) as database:
        run(lambda: _serve(database, env, with_samples=with_samples, with_night=with_night))


HIDDEN: Final = "…"


class Database(NamedTuple):
    """The settings with a database and keys, a description of the database, and its DSN as it may be printed.

    A DSN that the user has configured is never printed.
    """

    settings: Settings
    where: str
    dsn: str = HIDDEN


@contextmanager
def _database(settings: Settings, data: Path | None, fresh: bool, night: bool) -> Iterator[Database]:
    """The configured database or a private one; options of the command line have precedence."""
    if night and data is not None:
        raise Invalid("what --night makes is gone at the end: it goes without --data")
    fresh = fresh or night
    if settings.all_cells() and not (data or fresh):
        yield Database(_with_keys(settings, cluster.default_folder()), "as HORAE_DSN or HORAE_CELLS say")
        return
    folder = data or cluster.default_folder()
    _say(Text("Starting a private PostgreSQL …", style="dim"))
    with (
        _folder(folder, fresh) as folder,
        cluster.kept_cluster(folder, **(cluster.THROWAWAY_OPTIONS if fresh else {})) as dsn,
    ):
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
    """The settings with the keyring of a folder, created if there is none: payloads are encrypted on a laptop, too."""
    if settings.encryption == "off" or settings.keyring is not None or settings.transit is not None:
        return settings
    path = folder / KEYRING
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        keyrings.create(path, "dev")
    return settings.model_copy(update={"keyring": path})


async def _serve(database: Database, env: Path | None, *, with_samples: bool, with_night: bool) -> None:
    settings = placed(database.settings)
    settings = settings_of_night(settings) if with_night else settings
    await _refuse_production(settings)
    await prepare(settings)
    stopping = stop_signal()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings, settings.all_cells()))
        watched = partial(WatchedSender, store=store, on_result=_report)
        ctx = Context.of(store, await tenants.find(store, settings.tenant), "horae dev")
        night = await Night.create(ctx, _say) if with_night else None
        url = await stack.enter_async_context(receiving(night.hear if night else ignore_call))
        if with_samples:
            stack.push_async_callback(samples.clear, ctx)
        node = await stack.enter_async_context(run_node(settings, store, await secrets_of(settings, store), watched))
        opened = await stack.enter_async_context(dev_server(settings, store, ctx))
        results = WorkerResults(ctx, lambda past: _say(event_lines.worker_result(past)))
        watching = asyncio.create_task(Loop("workerresults", results, WORKER_RESULTS_INTERVAL_S).run())
        stack.push_async_callback(cancel_and_wait, watching)
        if env is not None:
            stack.enter_context(_write_env(env, database, opened))
        _greet(database, opened, night)
        if night is not None:
            await night.make(url)
            await stack.enter_async_context(night.running(settings, database.dsn, node))
        if with_samples:
            now = store.cells[0].clock.now
            await samples.make(ctx, url, lambda *facts: _say(event_lines.decision(now(), *facts)))
        await stopping.wait()
        ignore_hangups()
        _say(Text("Stopping: what is in flight may end.", style="dim"))


def _report(at: datetime, late: timedelta, ran: Instance, job: Job, delivered: Delivery) -> None:
    if not is_of_herd(job):
        _say(event_lines.attempt(at, late, ran, job, delivered))


@contextmanager
def _write_env(file: Path, database: Database, server: DevServer) -> Iterator[None]:
    """Write the address and the key to a file for another terminal; readable only by its owner, deleted at the end."""
    values = {"HORAE_URL": server.address, "HORAE_KEY": server.key}
    values |= {"HORAE_ENVIRONMENT": "dev"}
    values |= {"HORAE_DSN": database.dsn} if database.dsn != HIDDEN else {}
    if (keyring := database.settings.keyring) is not None:
        values |= {"HORAE_KEYRING": str(keyring.absolute())}
    with NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.", delete=False) as new:  # readable by us only
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


def _greet(database: Database, server: DevServer, night: Night | None) -> None:
    stopping = {"dsn": database.dsn, "api": server.address, "key": server.key}
    stopping |= {} if night is None else {"platform_key": night.key}
    answer(stopping, lambda: _show(database, server, night))


def _show(database: Database, server: DevServer, night: Night | None) -> None:
    _say(Text.assemble((f"Horae {__version__}", "bold"), ", everything in one process. Ctrl-C stops it."))
    for name, value in (
        ("database", database.where),
        ("console", _console(server)),
        ("API", f"{server.address}/docs"),
        ("try", f"HORAE_URL={server.address} HORAE_KEY={server.key} horae job list"),
        ("or", server.command()),
    ):
        _say(Text.assemble((f"  {name:<10}", "dim"), value))
    for line in () if night is None else night.lines():
        _say(Text(line))
    out.print()


def _console(server: DevServer) -> str:
    address = f"{server.address}/console/"
    return f"{address} (log in with the key below)" if console.load().page else f"not installed; {address} says how"


def _say(line: Text) -> None:
    """Print a line. A closed terminal must not prevent the shutdown."""
    with suppress(OSError):
        (err if wants_json() else out).print(line, soft_wrap=True)

"""`horae api`."""

import gc
import os
import socket
from typing import Annotated, Final

import typer

from horae.boot.api_server import api_server
from horae.boot.encryption import open_store, require_keys
from horae.boot.output import say
from horae.boot.session import load
from horae.boot.signals import stop_signal
from horae.runtime.settings import Settings
from horae.runtime.stalls import watch_stalls
from horae.runtime.telemetry import identify
from horae.security.signed_texts import check_secret

YOUNG: Final = 10_000  # objects of a few requests: a batch of a hundred tasks makes more than the default of 700


Host = Annotated[str | None, typer.Option(help="The address to listen on; HORAE_API_HOST where omitted.")]
Port = Annotated[int | None, typer.Option(help="The port; 0 takes a free one.")]


def at_address(settings: Settings, host: str | None, port: int | None) -> Settings:
    """The settings with the address that the command line gives, if any."""
    return settings.model_copy(
        update={"api_host": host or settings.api_host, "api_port": settings.api_port if port is None else port}
    )


async def api(host: Host = None, port: Port = None) -> None:
    """Run the API server: the REST API under /api/v1. Several processes can share one port."""
    settings = at_address(load(api_server=True), host, port)
    identify(api=f"{socket.gethostname()}/{os.getpid()}")
    check_secret(settings.api_secret)
    require_keys(settings)
    stopping = stop_signal()
    with watch_stalls(settings.loop_stall) as stalls:
        async with (
            open_store(settings, settings.api_server_cells()) as store,
            api_server(settings, store, stalls) as address,
        ):
            _settle_down()
            say({"address": address}, f"Horae listens on {address}")
            await stopping.wait()


def _settle_down() -> None:
    """Exclude all present objects from garbage collection, so that no request waits for it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)

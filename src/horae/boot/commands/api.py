"""`horae api`."""

import gc
from typing import Annotated, Final

import typer

from horae.boot.doors import opened
from horae.boot.sealing import opened_store, require
from horae.boot.serving import told_to_end
from horae.boot.session import load, run
from horae.boot.telling import say
from horae.runtime.stalls import watching
from horae.security.seals import check_secret

YOUNG: Final = 10_000  # objects of a few requests: one batch of a hundred tasks makes more than Python's own 700


def api(
    host: Annotated[str | None, typer.Option(help="The address to listen on; HORAE_API_HOST where omitted.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 0 takes a free one.")] = None,
) -> None:
    """Open the doors: the REST API under /api/v1. Several processes may share one port."""

    async def work() -> None:
        settings = load(doors=True)
        settings = settings.model_copy(
            update={"api_host": host or settings.api_host, "api_port": settings.api_port if port is None else port}
        )
        check_secret(settings.api_secret)
        require(settings)
        told = told_to_end()
        async with opened_store(settings, settings.door_cells()) as store, opened(settings, store) as address:
            _settle_down()
            say({"address": address}, f"Horae listens on {address}")
            with watching(settings.loop_stall):
                await told.wait()

    run(work)


def _settle_down() -> None:
    """What is there now stays: no collection of garbage walks through it any more, while requests wait."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)

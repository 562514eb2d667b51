"""`horae api`."""

from typing import Annotated

import typer

from horae.boot.doors import opened
from horae.boot.serving import told_to_end
from horae.boot.session import load, out, run
from horae.security.seals import check_secret
from horae.store.cells import Store


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
        told = told_to_end()
        async with Store.of(settings.door_cells()) as store, opened(settings, store) as address:
            out.print(f"Horae listens on {address}", highlight=False, soft_wrap=True)
            await told.wait()

    run(work)

"""`horae node`."""

from typing import Annotated

import typer

from horae.boot.sealing import opened_store, require
from horae.boot.serving import drain, sender_of, serving, told_to_end
from horae.boot.session import load, name_cells_down, run
from horae.boot.telling import say
from horae.runtime.stalls import watching


def node(
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
) -> None:
    """Run a scheduler node: fire what is due, deliver it, settle it."""

    async def work() -> None:
        settings = load()
        require(settings)
        async with opened_store(settings, settings.all_cells()) as store:
            if once:
                done = await drain(settings, store)
                name_cells_down([cell.name for cell in store.cells if cell.reach.is_down])
                say({"done": done}, f"{done} done")
                return
            told = told_to_end()
            with watching(settings.loop_stall):
                async with serving(settings, store, await sender_of(settings, store)):
                    await told.wait()

    run(work)

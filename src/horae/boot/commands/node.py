"""`horae node`."""

from typing import Annotated, Final

import typer

from horae.boot.encryption import open_store, require_keys
from horae.boot.monitoring import listen_for_probes, node_process
from horae.boot.output import name_cells_down, say
from horae.boot.secrets import secrets_of
from horae.boot.serving import drain, run_node
from horae.boot.session import load
from horae.boot.signals import stop_signal
from horae.runtime.stalls import watch_stalls

PORT_SETTING: Final = "HORAE_NODE_MONITORING_PORT"


async def node(
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
) -> None:
    """Run a scheduler node: it fires what is due, sends the calls and records the results."""
    settings = load()
    require_keys(settings)
    async with open_store(settings, settings.all_cells()) as store:
        if once:
            done = await drain(settings, store)
            name_cells_down([cell.name for cell in store.cells if cell.reach.is_down])
            say({"done": done}, f"{done} done")
            return
        stopping = stop_signal()
        with watch_stalls(settings.loop_stall) as stalls:
            async with (
                run_node(settings, store, await secrets_of(settings, store)) as worker,
                listen_for_probes(
                    settings, settings.node_monitoring_port, node_process(worker, store, stalls), PORT_SETTING
                ),
            ):
                await stopping.wait()

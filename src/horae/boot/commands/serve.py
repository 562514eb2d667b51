"""`horae serve`."""

from horae.boot.api_server import run_api
from horae.boot.commands.api import Host, Port, at_address
from horae.boot.commands.node import PORT_SETTING
from horae.boot.encryption import open_store, require_keys
from horae.boot.monitoring import listen_for_probes, node_and_api_process
from horae.boot.output import say
from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.boot.session import load
from horae.boot.signals import stop_signal
from horae.boot.tracing import tracing
from horae.boot.transports import check_dsns
from horae.domain.errors import Invalid
from horae.runtime.settings import Settings
from horae.runtime.stalls import watch_stalls
from horae.security.signed_texts import check_secret


async def serve(host: Host = None, port: Port = None) -> None:
    """Run the API, the console and a node with its upkeep in one process: enough for 1,000 fires a second.

    The node connects as HORAE_DSN or HORAE_CELLS say, the API as HORAE_API_DSN or HORAE_API_CELLS say.
    """
    settings = at_address(load(), host, port)
    check_dsns(settings, settings.api_server_cells())
    _check_names(settings)
    check_secret(settings.api_secret)
    require_keys(settings)
    await _serve(settings)


async def _serve(settings: Settings) -> None:
    """Serve until a signal.

    1. The API server starts first: where its port is taken, no shard was leased yet.
    2. The listener for probes starts last, when both are ready.
    3. At the end the node stops before the API server, so that workers can still finish what they hold.
    """
    stopping = stop_signal()
    with watch_stalls(settings.loop_stall) as stalls:
        async with (
            tracing(settings) as traces,
            open_store(settings, settings.all_cells()) as store,
            open_store(settings, settings.api_server_cells()) as api_store,
        ):
            for cell, own in zip(api_store.cells, store.cells, strict=True):
                cell.share_counts(own.signal_counts, own.level_counts, own.measures)
            async with (
                run_api(settings, api_store, traces, beside_node=True) as api,
                run_node(settings, store, await secrets_of(settings, store), shared_traces=traces) as worker,
                listen_for_probes(
                    settings,
                    settings.node_monitoring_port,
                    node_and_api_process(worker, store, api_store, api.metrics, stalls),
                    PORT_SETTING,
                ),
            ):
                say({"address": api.address}, f"Horae listens on {api.address}")
                await stopping.wait()


def _check_names(settings: Settings) -> None:
    """Refuse settings that name other cells for the API than for the node, or in another order."""
    own, of_api = ([cell.name for cell in cells] for cells in (settings.all_cells(), settings.api_server_cells()))
    if own != of_api:
        raise Invalid(
            f"the node has the cells {', '.join(own)} and the API {', '.join(of_api)}: "
            "let HORAE_CELLS and HORAE_API_CELLS name the same cells in the same order"
        )

"""Completes names from the server where a person presses Tab. If no API answers at once, nothing is offered."""

from contextlib import suppress
from typing import Any, Final

TIMEOUT_S: Final = 2.0
MOST: Final = 50
"""Names that are offered at once."""


def complete_jobs(incomplete: str) -> list[str]:
    """The names of jobs that begin with what was typed."""
    from horae_client.asked import jobs  # noqa: PLC0415 - only a person who presses Tab needs it

    return [one.name for one in _asked(jobs.listing({"prefix": incomplete, "limit": MOST} if incomplete else {}))]


def complete_queues(incomplete: str) -> list[str]:
    """The names of queues that begin with what was typed."""
    from horae_client.asked import workers  # noqa: PLC0415 - only a person who presses Tab needs it

    return [one.name for one in _asked(workers.queues(None)) if one.name.startswith(incomplete)][:MOST]


def complete_contexts(incomplete: str) -> list[str]:
    """The names of contexts that begin with what was typed."""
    from horae.boot.contexts import load  # noqa: PLC0415 - only a person who presses Tab needs it

    with suppress(Exception):
        return sorted(name for name in load().contexts if name.startswith(incomplete))
    return []


def _asked(request: Any) -> list[Any]:
    """The items of one page. A shell shows no error, so none is raised."""
    with suppress(Exception):
        from horae.boot.contexts import chosen  # noqa: PLC0415
        from horae_client import Client  # noqa: PLC0415 - only a person who presses Tab needs it
        from horae_client.retries import Retries  # noqa: PLC0415

        context = chosen()
        with Client(context.url, context.key, timeout=TIMEOUT_S, retries=Retries(tries=1)) as client:
            return list(client.ask(request).items)
    return []

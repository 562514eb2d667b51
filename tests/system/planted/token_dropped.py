"""A settle goes by the attempt alone. What was lost and sent again has the same number: anyone may end it."""

from typing import Any

from horae.repositories import settle  # noqa: F401 - its statements must be there to be rewritten
from tests.system.planted.text import rewrite

GUARD = "and l.attempt = g.attempt and l.token = g.token"
BLIND = "and l.attempt = g.attempt"


def plant(put: Any) -> None:
    rewrite(put, {f"instances/instances/{verb}": (GUARD, BLIND) for verb in ("end", "retry_later", "extend")})

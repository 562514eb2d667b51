"""The OpenAPI document is made once by each process of tests, because FastAPI needs seconds for it.

What our own code puts into the document is done for every application. FastAPI's part depends only on the routes.
"""

import pickle
from collections.abc import Sequence
from typing import Any

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

_made: dict[object, bytes] = {}


def documented(*, routes: Sequence[BaseRoute], **facts: str) -> dict[str, Any]:
    """As `get_openapi`: a document of the caller's own. Applications with the same routes share the work."""
    shown = [route for route in routes if getattr(route, "include_in_schema", False)]
    key = (*facts.items(), *((route.path, frozenset(route.methods), route.endpoint) for route in shown))
    if key not in _made:
        _made[key] = pickle.dumps(get_openapi(routes=routes, **facts))
    return pickle.loads(_made[key])

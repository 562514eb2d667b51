"""The inventory system: somebody else's, and it answers one product at a time. `uvicorn stock.inventory:app`

It counts how fast it is asked; `GET /rate` tells. Its people count their shelves when they like, so quantities change.
"""

import random
import time
from collections import deque

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


class Counter:
    """How many calls came in all, and how many within the busiest second."""

    def __init__(self) -> None:
        self.calls = self.most = 0
        self._last: deque[float] = deque()

    def count(self, now: float) -> None:
        self.calls += 1
        self._last.append(now)
        while self._last[0] <= now - 1:
            self._last.popleft()
        self.most = max(self.most, len(self._last))


counter = Counter()


async def stock(request: Request) -> JSONResponse:
    """How many there are of one product."""
    counter.count(time.monotonic())
    return JSONResponse({"code": request.path_params["code"], "quantity": random.randrange(1000)})


async def rate(_: Request) -> JSONResponse:
    """How fast we are asked."""
    return JSONResponse({"calls": counter.calls, "most_in_a_second": counter.most})


app = Starlette(routes=[Route("/stock/{code}", stock), Route("/rate", rate)])

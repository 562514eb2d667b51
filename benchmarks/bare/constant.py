"""The bare framework: it reads the body and answers a constant. `python -m benchmarks.bare.constant PORT SIZE`."""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def application(size: int) -> Starlette:
    """Every path answers so many bytes."""
    answer = b'"' + b"x" * max(0, size - 2) + b'"'

    async def constant(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type="application/json")

    return Starlette(routes=[Route("/{path:path}", constant, methods=["GET", "PUT", "POST"])])


if __name__ == "__main__":
    uvicorn.run(
        application(int(sys.argv[2])), host="127.0.0.1", port=int(sys.argv[1]), http="httptools", loop="uvloop",
        ws="none", lifespan="off", access_log=False, log_level="warning", server_header=False,
    )  # fmt: skip

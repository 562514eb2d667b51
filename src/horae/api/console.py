"""`/console/`: the console that was built into this package, for anyone; what it shows it asks of the API.

Only files that were there when it was loaded are served, found by their names in a table: no path leads elsewhere.
Every other path is a deep link and shows the same page, with a nonce of its own for the styles it makes.
"""

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from horae.api.assets import Asset, serve
from horae.api.doorframe import PAGE_POLICY
from horae.domain.errors import NotFound
from horae.runtime.chance import token

FOLDER: Final = Path(__file__).parents[1] / "console"
"""Where `make console` puts it."""
HOME: Final = "/console/"
PAGE: Final = "index.html"
ASSETS: Final = "assets/"
NONCE: Final = b"__CSP_NONCE__"
METHODS: Final = ["GET", "HEAD"]
KINDS: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".txt": "text/plain",
}
"""By name; the machine's own table differs from one to the next."""
OTHER: Final = "application/octet-stream"
FOREVER: Final = "public, max-age=31536000, immutable"
ASK_AGAIN: Final = "no-cache"
ABSENT: Final = (
    "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Horae</title></head><body>"
    "<h1>No console here</h1><p>This Horae was installed without its console. In a checkout, run "
    "<code>make console</code> and start it again. The API is there: <a href='/docs'>/docs</a>.</p>"
    "<h1>这里没有控制台</h1><p>此安装未包含控制台。请在源码目录运行 <code>make console</code> 后重新启动。"
    "API 可用：<a href='/docs'>/docs</a>。</p></body></html>"
)


class Console(NamedTuple):
    """All that was built: the page, and the files it asks for. No page: built without."""

    page: bytes | None
    assets: dict[str, Asset]


@cache
def load(folder: Path = FOLDER) -> Console:
    """Read what was built, once."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    found = {name: path for name, path in found.items() if not name.startswith(".")}  # the builder's own notes
    page = found.pop(PAGE, None)
    names = [name for name in found if not name.endswith(".gz")]
    return Console(None if page is None else page.read_bytes(), {name: _asset(name, found) for name in names})


def _asset(name: str, found: dict[str, Path]) -> Asset:
    body, packed = found[name].read_bytes(), found.get(f"{name}.gz")
    return Asset.of(
        kind=KINDS.get(found[name].suffix, OTHER),
        body=body,
        packed=None if packed is None else packed.read_bytes(),
        keep=FOREVER if name.startswith(ASSETS) else ASK_AGAIN,
    )


def add_console(app: FastAPI, console: Console | None = None) -> None:
    """The console's routes; they are not part of the document."""
    built = load() if console is None else console

    @app.api_route("/", methods=METHODS, include_in_schema=False)
    @app.api_route("/console", methods=METHODS, include_in_schema=False)
    async def home() -> Response:
        return RedirectResponse(HOME, 307)

    @app.api_route("/console/{path:path}", methods=METHODS, include_in_schema=False)
    async def show(request: Request, path: str) -> Response:
        asset = built.assets.get(path)
        if asset is not None:
            return serve(asset, request.headers)
        if path.startswith(ASSETS):
            raise NotFound("the console has no such file; it may have been built anew since this page was opened")
        return HTMLResponse(ABSENT, 404) if built.page is None else _page(built.page)


def _page(page: bytes) -> Response:
    """The page, with a nonce that no other answer has."""
    nonce = token().hex
    policy = f"{PAGE_POLICY}; style-src 'self' 'nonce-{nonce}'"
    return HTMLResponse(page.replace(NONCE, nonce.encode()), headers={"Content-Security-Policy": policy})

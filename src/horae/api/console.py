"""`/console/`: the console that was built into this package. It needs no credential; its data comes from the API.

Only the files that existed at load time are served, by a lookup in a table, so no path leads to another file. Every
other path is a deep link and returns the same page, with a new nonce for its styles.
"""

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from horae.api.assets import Asset, serve
from horae.api.headers import PAGE_POLICY
from horae.domain.errors import NotFound
from horae.runtime.randomness import new_token

FOLDER: Final = Path(__file__).parents[1] / "console"
"""The output folder of `make console`."""
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
"""Media types by suffix. The table of the operating system differs between machines."""
OTHER: Final = "application/octet-stream"
FOREVER: Final = "public, max-age=31536000, immutable"
ASK_AGAIN: Final = "no-cache"
ABSENT: Final = (
    "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Horae</title></head><body>"
    "<h1>The console is not installed</h1><p>This Horae was installed without its console. In a checkout, run "
    "<code>make dist</code>, then <code>pip install --force-reinstall --no-deps dist/*.whl</code> in the environment "
    "of this Horae, and start it again. The API is available: <a href='/docs'>/docs</a>.</p>"
    "<h1>控制台未安装</h1><p>此安装未包含控制台。请在源码目录运行 <code>make dist</code>，再在此 Horae 的环境中运行 "
    "<code>pip install --force-reinstall --no-deps dist/*.whl</code>，然后重新启动。"
    "API 可用：<a href='/docs'>/docs</a>。</p></body></html>"
)


class Console(NamedTuple):
    """The page of the console and its files. Without a page the console is not installed."""

    page: bytes | None
    assets: dict[str, Asset]


@cache
def load(folder: Path = FOLDER) -> Console:
    """Read the files of the console, once."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    found = {name: path for name, path in found.items() if not name.startswith(".")}  # hidden files of the build
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
    """Add the routes of the console. They are not part of the OpenAPI document."""
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
            raise NotFound("the console has no such file; reload the page, the console may have been updated")
        return HTMLResponse(ABSENT, 404) if built.page is None else _page(built.page)


def _page(page: bytes) -> Response:
    """Returns the page with a new nonce."""
    nonce = new_token().hex
    policy = f"{PAGE_POLICY}; style-src 'self' 'nonce-{nonce}'"
    return HTMLResponse(page.replace(NONCE, nonce.encode()), headers={"Content-Security-Policy": policy})

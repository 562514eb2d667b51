"""A browser without a window: it follows redirects and keeps cookies by their rules, as far as these matter here."""

from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import httpx2

HERE = "horae.test"


class Browser:
    """`horae.test` is the door under test; every other host is itself."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self._port = port
        self._client = httpx2.AsyncClient(
            timeout=30, transport=httpx2.AsyncHTTPTransport(local_address=address, verify=False)
        )
        self.cookies: dict[str, dict[str, str]] = {}
        self.said: list[str] = []

    async def __aenter__(self) -> "Browser":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._client.aclose()

    async def ask(self, method: str, url: str, **more: Any) -> httpx2.Response:
        """One request, without following."""
        url = urljoin(f"http://{HERE}/", url)
        parts = urlsplit(url)
        headers = {"Host": parts.netloc} | more.pop("headers", {})
        kept = self.cookies.get(parts.netloc, {})
        if kept:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in kept.items())
        real = parts._replace(netloc=f"127.0.0.1:{self._port}") if parts.netloc == HERE else parts
        answer = await self._client.request(method, real.geturl(), headers=headers, **more)
        for line in answer.headers.get_list("set-cookie"):
            self.said.append(line)
            name, _, value = line.partition(";")[0].partition("=")
            if "Max-Age=0" in line:
                self.cookies.get(parts.netloc, {}).pop(name, None)
            else:
                self.cookies.setdefault(parts.netloc, {})[name] = value
        return answer

    async def follow(self, url: str, *, until: str | None = None, **more: Any) -> tuple[str, httpx2.Response]:
        """Follow redirects; stops before one that leads to a path `until`. Gives the last address and answer."""
        answer = await self.ask("GET", url, **more)
        while answer.is_redirect:
            url = urljoin(urljoin(f"http://{HERE}/", url), answer.headers["location"])
            if until is not None and urlsplit(url).path == until:
                break
            answer = await self.ask("GET", url)
        return url, answer

    async def submit(self, url: str, page: str, **values: str) -> tuple[str, httpx2.Response]:
        """Fill in the first form of a page and follow where it leads."""
        form = _Form()
        form.feed(page)
        where = urljoin(url, form.action or url)
        answer = await self.ask(
            form.method,
            where,
            content=urlencode(form.values | values),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
        if not answer.is_redirect:
            return where, answer
        return await self.follow(urljoin(where, answer.headers["location"]))


class _Form(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.action, self.method = "", "GET"
        self.values: dict[str, str] = {}
        self._ended = False

    def handle_endtag(self, tag: str) -> None:
        self._ended = self._ended or tag == "form"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        if self._ended:
            return
        if tag == "form":
            self.action, self.method = found.get("action") or "", (found.get("method") or "GET").upper()
        if tag in {"input", "button"} and found.get("name"):
            self.values.setdefault(str(found["name"]), found.get("value") or "")

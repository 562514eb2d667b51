"""What a browser is told: headers on every answer, and pages with nothing inline and nothing from elsewhere."""

import re
from html.parser import HTMLParser

import pytest

from horae.api import reference
from horae.api.headers import PAGE_POLICY
from horae.security.roles import ANONYMOUS
from tests.api.calls import CALLS

EVIL = "</code><script>alert(1)</script><img src=x onerror=alert(1)>'\"`javascript:alert(1)"


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def check_headers(answer, *what: object) -> None:
    headers = answer.headers
    assert headers["X-Content-Type-Options"] == "nosniff", what
    assert headers["Referrer-Policy"] == "no-referrer", what
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin", what
    check_policy(headers["Content-Security-Policy"])
    assert "server" not in headers, what
    assert "access-control-allow-origin" not in headers, "no other site's script may read an answer"


def check_policy(text: str) -> None:
    rules = {name: values for name, *values in (part.split() for part in text.split(";"))}
    assert rules["default-src"] in (["'none'"], ["'self'"])
    assert rules["frame-ancestors"] == ["'none'"]
    assert rules["base-uri"] == ["'none'"]
    assert not re.search(r"unsafe|\*|http|data:|blob:", text)


async def test_every_answer_has_the_headers_that_browsers_obey(whole, anyone, admin):
    """Good ones, refusals of each kind, and what no route has."""
    for name in CALLS:
        method, _, path = name.partition(" ")
        check_headers(await anyone.request(method, path), name)
    for path in (*ANONYMOUS, "/nothing", "/api/v1/nothing", "/docs/../docs", "/%2e%2e/etc/passwd"):
        check_headers(await anyone.get(path), path)
        check_headers(await anyone.request("TRACE", path), path)
    check_headers(await admin.post("/jobs", json={"name": "j"}))
    check_headers(await admin.post("/jobs", content=b"{", headers={"Content-Type": "application/json"}))
    check_policy(PAGE_POLICY)


async def test_an_answer_that_nobody_foresaw_has_them_too_and_says_nothing_of_the_inside(app, anyone):
    async def broken():
        raise RuntimeError("the combination of the safe is 1234")

    app.state.look = broken
    answer = await anyone.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (500, "SCH_500_INTERNAL")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert "1234" not in answer.text
    check_headers(answer)


@pytest.mark.parametrize("path", ["/docs"])
async def test_no_page_has_anything_inline_or_from_elsewhere(anyone, path):
    page = await anyone.get(path)
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.text.count("<summary>") >= 60, "the reference is there"
    check_inert(page.text)
    for tag, attributes in Tags(page.text).found:
        if tag == "link":
            style = await anyone.get(attributes["href"])
            assert style.headers["Content-Type"].startswith("text/css")
            assert "url(" not in style.text
            assert "@import" not in style.text


def check_inert(text: str) -> None:
    for tag, attributes in Tags(text).found:
        assert tag not in {"script", "style", "iframe", "object", "embed", "img", "form", "base"}, tag
        assert not [name for name in attributes if name.startswith("on") or name == "style"], attributes
        for name in ("href", "src"):
            assert (attributes.get(name) or "/").startswith("/"), attributes
            assert not (attributes.get(name) or "/").startswith("//"), attributes


def test_whatever_a_document_says_is_text_on_its_page():
    operation = {
        "tags": [EVIL],
        "description": EVIL,
        "x-horae-roles": [EVIL],
        "parameters": [{"name": EVIL, "in": EVIL, "required": True, "description": EVIL}],
        "requestBody": {"content": {"application/json": {"schema": {"examples": [EVIL], "properties": {EVIL: {}}}}}},
        "responses": {EVIL: {"description": EVIL}},
    }
    info = {"title": EVIL, "version": EVIL, "description": EVIL}
    check_inert(reference.page({"info": info, "paths": {EVIL: {EVIL: operation}}, "components": {"schemas": {}}}))

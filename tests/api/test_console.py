"""The console as the doors serve it: one page for every deep link, files that never change, nothing beside them."""

import gzip
import re

import pytest

from horae.api import console
from horae.boot.api_server import app_of
from tests.api.test_pages import check_headers

PAGE = """<!doctype html><html><head><meta name="csp-nonce" content="__CSP_NONCE__">
<script type="module" src="/console/assets/index-1a2b3c4d.js"></script></head><body><div id="root"></div></body>"""
SCRIPT = "console.log('the same every time');" * 50


@pytest.fixture
def built(tmp_path, request):
    folder = tmp_path / "console"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "assets" / "index-1a2b3c4d.js").write_text(SCRIPT)
    (folder / "assets" / "index-1a2b3c4d.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (tmp_path / "secret.txt").write_text("the combination of the safe")
    for name in getattr(request, "param", ()):
        (folder / name).unlink()
    return folder


@pytest.fixture
def app(built, settings, doors, callers, monkeypatch):
    found = console.load(built)
    monkeypatch.setattr(console, "load", lambda: found)
    return app_of(settings, doors, callers)


async def test_every_deep_link_is_the_same_page_with_a_nonce_of_its_own(anyone):
    nonces = set()
    for path in ("/console/", "/console/jobs", "/console/tasks/publish/a%2Fb", "/console/index.html"):
        page = await anyone.get(path)
        assert (page.status_code, page.headers["Cache-Control"]) == (200, "no-store")
        [nonce] = re.findall(r'name="csp-nonce" content="([0-9a-f]{32})"', page.text)
        assert f"style-src 'self' 'nonce-{nonce}'" in page.headers["Content-Security-Policy"]
        assert "unsafe" not in page.headers["Content-Security-Policy"]
        check_headers(page)
        nonces.add(nonce)
    assert len(nonces) == 4


@pytest.mark.parametrize("path", ["/", "/console"])
async def test_the_way_in_leads_to_the_console(anyone, path):
    answer = await anyone.get(path)
    assert (answer.status_code, answer.headers["Location"]) == (307, "/console/")


async def test_a_file_is_kept_for_ever_and_comes_packed_to_those_who_can_unpack(anyone):
    path = "/console/assets/index-1a2b3c4d.js"
    packed = await anyone.get(path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.text == SCRIPT
    plain = await anyone.get(path, headers={"Accept-Encoding": "gzip;q=0, identity"})
    assert ("Content-Encoding" in plain.headers, plain.text) == (False, SCRIPT)
    for answer in (packed, plain):
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["Content-Type"].startswith("text/javascript")
        assert answer.headers["Vary"] == "Accept-Encoding"
        check_headers(answer)
    again = await anyone.get(path, headers={"If-None-Match": f'"other", {plain.headers["ETag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert (await anyone.get("/console/favicon.svg")).headers["Cache-Control"] == "no-cache"


async def test_head_is_answered_as_get_is(anyone):
    for path in ("/", "/console/", "/console/jobs", "/console/assets/index-1a2b3c4d.js"):
        got, head = await anyone.get(path), await anyone.head(path)
        assert head.status_code == got.status_code
        assert head.headers["Content-Type" if got.is_success else "Location"]
    assert (await anyone.post("/console/")).status_code == 405


async def test_a_file_that_is_gone_is_not_answered_with_a_page(anyone):
    answer = await anyone.get("/console/assets/index-00000000.js")
    assert (answer.status_code, answer.json()["code"]) == (404, "SCH_404_NOT_FOUND")


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "assets/%2e%2e/%2e%2e/secret.txt", "%2fetc%2fpasswd"],
)
async def test_no_path_leads_out_of_the_folder(anyone, path):
    answer = await anyone.get(f"/console/{path}")
    assert answer.status_code in {200, 404}
    assert "the combination" not in answer.text
    assert "root:" not in answer.text


async def test_it_is_counted_as_one_route_and_not_part_of_the_document(anyone, platform):
    for path in ("/console/", "/console/jobs/a", "/console/jobs/b"):
        await anyone.get(path)
    text = (await platform.get("http://horae.test/metrics")).text
    assert 'horae_api_requests_total{method="GET",route="/console/{path}",status="200"} 3.0' in text
    assert "jobs/a" not in text
    assert "/console" not in str((await anyone.get("/openapi.json")).json()["paths"].keys())


@pytest.mark.parametrize("built", [["index.html"]], indirect=True)
async def test_what_was_installed_without_says_how_to_get_it(anyone):
    page = await anyone.get("/console/jobs")
    assert (page.status_code, "make dist</code>, then <code>pip install --force-reinstall" in page.text) == (404, True)
    check_headers(page)

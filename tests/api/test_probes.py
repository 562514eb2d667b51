import re

from horae.api import reference
from horae.security.roles import Role
from tests.steps import until


async def test_the_process_says_that_it_lives_and_how_it_stands_with_its_cells(anyone, store):
    assert (await anyone.get("/healthz")).json() == {"status": "ok"}
    ready = await anyone.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["degraded"] is False
    assert [cell["shards"] for cell in ready.json()["cells"]] == [2048, 2048]
    assert all(cell["reachable"] and cell["clock_age_seconds"] < 5 for cell in ready.json()["cells"])


async def test_one_cell_less_is_degraded_and_none_is_not_ready(anyone, doors):
    await doors.cells[0].pool.close()
    assert (await anyone.get("/readyz")).json()["degraded"] is True
    await doors.cells[1].pool.close()

    async def is_unready():
        return (await anyone.get("/readyz")).status_code == 503

    await until(is_unready)  # an answer is good for a second


async def test_metrics_are_for_the_platform_and_count_by_route(platform, admin, anyone):
    await admin.get("/jobs/none")
    assert (await anyone.get("/metrics")).status_code == 401
    assert (await admin.get("http://horae.test/metrics")).status_code == 403
    text = (await platform.get("http://horae.test/metrics")).text
    assert 'horae_api_requests_total{method="GET",route="/api/v1/jobs/{job}",status="404"} 1.0' in text
    assert "horae_events_total" in text


async def test_the_document_is_openapi_31_with_our_codes_roles_and_examples(anyone):
    document = (await anyone.get("/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    create = document["paths"]["/api/v1/jobs"]["post"]
    assert create["x-horae-action"] == "jobs.create"
    assert create["x-horae-roles"] == ["editor", "admin"]
    assert "SCH_409_DUPLICATE" in create["responses"]["409"]["description"]
    assert {"413", "415", "422"} <= set(create["responses"])
    assert document["components"]["schemas"]["NewJob"]["examples"][0] == {"name": "coupon_job", "cron": "0 */5 * * * ?"}
    assert "HTTPValidationError" not in str(document)


async def test_the_reference_page_has_everything_and_loads_nothing_from_elsewhere(anyone):
    page = await anyone.get("/docs")
    document = (await anyone.get("/openapi.json")).json()
    assert all(path in page.text for path in document["paths"])
    assert "<script" not in page.text
    assert not re.findall(r"(?:src|href)='(?!/)", page.text)
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert (await anyone.get("/docs/style.css")).headers["Content-Type"].startswith("text/css")


async def test_no_answer_misses_its_headers(admin):
    for path in ("/jobs", "/nothing", "http://horae.test/docs"):
        headers = (await admin.get(path)).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


async def test_a_tenant_has_a_rate_and_is_told_what_is_left(admin, platform, client):
    answer = await admin.get("/jobs")
    assert re.fullmatch(r'"tenant";r=\d+;t=\d+', answer.headers["RateLimit"])
    put = await platform.put("/tenants/acme/allowance", json={"requests": {"rate": 1, "burst": 3}})
    assert put.json()["allowance"]["requests"] == {"rate": 1.0, "burst": 3.0, "concurrency": None}
    limited = await client(Role.VIEWER)  # a key nobody knows yet: its tenant is read anew
    answers = [await limited.get("/jobs") for _ in range(6)]
    assert answers[0].status_code == 200
    assert answers[-1].json()["code"] == "SCH_429_RATE_LIMITED"
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert (await platform.get("/tenants")).status_code == 200


async def test_the_document_and_its_page_are_written_once(anyone, monkeypatch):
    first = [(await anyone.get(path)).content for path in ("/openapi.json", "/docs")]
    monkeypatch.setattr(reference, "page", None)
    monkeypatch.setattr("horae.api.probes.document", None)
    assert [(await anyone.get(path)).content for path in ("/openapi.json", "/docs")] == first
    packed = await anyone.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    known = {"If-None-Match": packed.headers["ETag"]}
    assert (await anyone.get("/openapi.json", headers=known)).status_code == 304

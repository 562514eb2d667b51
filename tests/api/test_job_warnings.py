"""Whoever creates a job whose target the egress rules refuse is warned at once, and the job is created."""

import pytest

from horae.boot.senders import egress_of
from horae.domain.targets.egress import Egress
from horae.domain.tenants.tenants import Allowance
from horae.runtime.settings import Settings
from horae.service.context import PlatformContext
from horae.service.identity.callers import Callers
from horae.service.memory import Memory
from horae.service.tenants import tenants

PLAIN = {"kind": "http", "url": "http://localhost:8000/coupon"}
PUBLIC = {"kind": "http", "url": "https://example.com/coupon"}
TOKENS = {"kind": "oauth", "token_url": "https://10.0.0.7/token", "client_id": "a", "client_secret": "crm"}


@pytest.fixture
def callers(doors):
    """An API process in production, with the rules that it has by default."""
    return Callers(doors, Memory(egress=egress_of(Settings(environment="production"))))


async def create(admin, name, target, **more):
    done = await admin.post("/jobs", json={"name": name, "cron": "0 9 * * *", "target": target} | more)
    assert done.status_code == 201, done.text
    return done.json()["warnings"]


async def test_a_refused_target_is_a_warning_that_names_the_settings(admin):
    [warning] = await create(admin, "coupon", PLAIN)
    for word in ("http://localhost:8000/coupon", "dead letter", "https", "HORAE_EGRESS", "HORAE_ENVIRONMENT"):
        assert word in warning
    assert (await admin.get("/jobs/coupon")).json()["warnings"] == [warning]
    assert (await admin.get("/jobs")).json()["items"][0]["warnings"] == []


async def test_what_may_be_called_has_no_warning(admin):
    assert await create(admin, "public", PUBLIC) == []
    assert await create(admin, "queue", {"kind": "queue", "name": "q"}) == []


async def test_the_endpoint_that_issues_tokens_is_judged_too(admin):
    [warning] = await create(admin, "tokens", PUBLIC | {"auth": TOKENS})
    assert "https://10.0.0.7/token" in warning


async def test_previews_and_updates_warn_too_and_a_repeated_request_has_the_same_answer(admin):
    body = {"name": "coupon", "cron": "0 9 * * *", "target": PLAIN}
    assert (await admin.post("/preview", json=body)).json()["warnings"]
    headers = {"Idempotency-Key": "once"}
    first = await admin.post("/jobs", json=body, headers=headers)
    again = await admin.post("/jobs", json=body, headers=headers)
    assert again.json() == first.json()
    assert len(first.json()["warnings"]) == 1
    for target, many in ((PUBLIC, 0), (PLAIN, 1)):
        job = (await admin.get("/jobs/coupon")).json()
        done = await admin.put("/jobs/coupon", json={"version": job["version"], "cron": "0 9 * * *", "target": target})
        assert len(done.json()["warnings"]) == many, done.text


async def test_the_rules_of_the_tenant_replace_those_of_the_deployment(admin, store, tenant, callers):
    own = Egress(networks=("127.0.0.0/8",), ports=("8000",), plain=True)
    await tenants.allow(PlatformContext(store, "test"), tenant.name, Allowance(egress=own))
    callers.memory.allowances.clear()
    assert await create(admin, "coupon", PLAIN) == []
    [warning] = await create(admin, "public", PUBLIC)
    assert "egress rules of this tenant" in warning


async def test_a_process_that_does_not_know_the_rules_does_not_guess(admin, callers):
    callers.memory.egress = None
    assert await create(admin, "coupon", PLAIN) == []

"""The jobs whose target names a secret."""

import msgspec
import pytest

from horae.domain.targets.auth import BasicAuth, BearerAuth, MtlsAuth, OAuthAuth
from horae.domain.targets.targets import HttpTarget, parts_naming, secrets_of

URL = "https://crm.example.com/"
TARGETS = {
    "bearer": HttpTarget(url=URL, auth=BearerAuth("crm")),
    "basic": HttpTarget(url=URL, auth=BasicAuth("someone", "crm")),
    "mtls": HttpTarget(url=URL, auth=MtlsAuth("crm")),
    "oauth": HttpTarget(url=URL, auth=OAuthAuth(token_url=URL, client_id="a", client_secret="crm")),
    "signing": HttpTarget(url=URL, signing="crm"),
    "ca": HttpTarget(url=URL, ca="crm"),
}


@pytest.mark.parametrize("name", TARGETS)
def test_each_place_of_a_secret_is_one_that_is_searched(name):
    assert secrets_of(TARGETS[name]) == ["crm"]
    stored = msgspec.to_builtins(TARGETS[name])
    assert any(has(stored, part) for part in parts_naming("crm"))


def has(stored, part):
    """Whether a stored target contains a part, as `@>` compares them."""
    if not isinstance(part, dict):
        return stored == part
    return all(key in stored and has(stored[key], value) for key, value in part.items())


async def test_jobs_are_listed_by_a_secret_of_their_target(admin):
    for name, target in TARGETS.items():
        made = await admin.post("/jobs", json={"name": name, "target": msgspec.to_builtins(target)})
        assert made.status_code == 201, made.text
    other = msgspec.to_builtins(HttpTarget(url=URL + "crm", auth=BasicAuth("crm", "other")))
    await admin.post("/jobs", json={"name": "other", "target": other})
    await admin.post("/jobs", json={"name": "queued"})
    found = (await admin.get("/jobs", params={"secret": "crm"})).json()["items"]
    assert [one["name"] for one in found] == sorted(TARGETS)
    assert (await admin.get("/jobs", params={"secret": "nobody"})).json()["items"] == []


async def test_a_graph_is_listed_by_a_secret_of_a_step_also_of_a_former_one(admin):
    plain, naming = ({"kind": "http", "url": URL} | more for more in ({}, {"auth": {"kind": "bearer", "token": "crm"}}))
    steps = [{"name": "extract", "target": plain}, {"name": "load", "needs": ["extract"], "target": naming}]
    made = await admin.post("/jobs", json={"name": "nightly", "steps": steps})
    assert made.status_code == 201, made.text
    await admin.post("/jobs", json={"name": "other", "steps": [{"name": "load", "target": plain}]})

    async def listed():
        return [one["name"] for one in (await admin.get("/jobs", params={"secret": "crm"})).json()["items"]]

    assert await listed() == ["nightly"]
    await admin.put("/jobs/nightly", json={"version": 1, "steps": steps[:1]})
    assert await listed() == ["nightly"], "a run of the former version may still need it"
    await admin.delete("/jobs/nightly")
    assert await listed() == []

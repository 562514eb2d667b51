"""`GET …/explain`: the same findings in the reader's language, for whoever may read the thing itself."""

import pytest

from horae.domain.ids import Prefix, public
from horae.domain.instances.outcomes import ErrorCode, Unrecoverable
from horae.security.roles import Role
from horae.service.instances import instances
from horae.upkeep.copies import Copier
from tests.steps import a_job, a_type, claim_everywhere, settle


@pytest.fixture
async def dead(ctx, store):
    """The id of an instance that was given up; its job has a payload."""
    await a_job(ctx, payload={"card": "4111"})
    made = await instances.trigger(ctx, "job", "k", even_if_down=True)
    [ran] = await claim_everywhere(store)
    await settle(store, ran, Unrecoverable(ErrorCode.HTTP_4XX, "404"))
    return public(Prefix.INSTANCE, made.instance_id)


async def test_an_instance_is_explained_in_the_language_of_the_reader(admin, dead):
    answer = await admin.get(f"/instances/{dead}/explain")
    assert (answer.status_code, answer.headers["content-language"]) == (200, "en")
    assert "accept-language" in answer.headers["vary"].lower()
    said = answer.json()
    assert (said["kind"], said["subject"], said["language"], said["fire_time"]) == ("instance", dead, "en", None)
    [letter] = [one for one in said["findings"] if one["code"] == "DEAD_LETTER"]
    assert "the target refused the request" in letter["sentence"]
    assert letter["facts"]["error_code"] == "HTTP_4XX"
    assert {"kind": "dead_letter", "ref": dead} in letter["rows"]
    assert "4111" not in answer.text
    chinese = await admin.get(f"/instances/{dead}/explain", headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"})
    assert chinese.headers["content-language"] == "zh"
    [letter] = [one for one in chinese.json()["findings"] if one["code"] == "DEAD_LETTER"]
    assert "目标拒绝了请求" in letter["sentence"]
    forced = await admin.get(f"/instances/{dead}/explain", params={"lang": "en"}, headers={"Accept-Language": "zh"})
    assert forced.json()["language"] == "en"
    assert (await admin.get(f"/instances/{dead}/explain", params={"lang": "fr"})).status_code == 422


async def test_a_job_and_its_fire_at_a_time_are_explained(admin, ctx):
    job = await a_job(ctx, "coupon")
    whole = (await admin.get("/jobs/coupon/explain")).json()
    assert (whole["kind"], whole["subject"]) == ("job", public(Prefix.JOB, job.id))
    assert whole["findings"][-1]["code"] == "NEXT_FIRE"
    fire = (await admin.get("/jobs/coupon/explain", params={"at": job.next_fire_at.isoformat(), "lang": "zh"})).json()
    assert (fire["kind"], fire["findings"][0]["code"]) == ("fire", "TO_COME")
    assert fire["fire_time"] == job.next_fire_at.isoformat().replace("+00:00", "Z")
    assert "还没到时间" in fire["findings"][0]["sentence"]
    for wrong in ("25:00", "x" * 41):
        assert (await admin.get("/jobs/coupon/explain", params={"at": wrong})).status_code == 422
    assert (await admin.get("/jobs/nothing/explain")).status_code == 404


async def test_a_key_may_contain_slashes_and_end_like_the_path(admin, ctx, store):
    await a_type(ctx, "T")
    await Copier(store).once()
    for key in ("a/b", "a/explain"):
        assert (await admin.put(f"/tasks/T/{key}", json={"at": "2035-01-01T00:00:00Z"})).status_code == 200
        said = (await admin.get(f"/jobs/T/tasks/{key}/explain")).json()
        assert (said["kind"], said["subject"]) == ("task", f"T/{key}")
    assert (await admin.get("/jobs/T/tasks/a/explain")).status_code == 404
    assert (await admin.get("/jobs/T/subjects/a/explain")).status_code == 409


async def test_subjects_are_explained(admin):
    trigger = {"kind": "rolling", "window": 600, "every": 60}
    assert (await admin.post("/jobs", json={"name": "STOCK", "trigger": trigger})).status_code == 201
    assert (await admin.put("/jobs/STOCK/subjects", json={"keys": ["p/1"]})).status_code == 200
    said = (await admin.get("/jobs/STOCK/subjects/p/1/explain")).json()
    assert (said["kind"], said["subject"]) == ("subject", "STOCK/p/1")
    assert "SUBJECT_NEVER_REFRESHED" in [one["code"] for one in said["findings"]]
    assert (await admin.get("/jobs/STOCK/subjects/p/explain")).status_code == 404


async def test_a_viewer_may_ask_and_neither_a_worker_nor_another_tenant(client, other, dead):
    viewer, worker, stranger = await client(Role.VIEWER), await client(Role.WORKER), await client(Role.ADMIN, of=other)
    for path in (f"/instances/{dead}/explain", "/jobs/job/explain"):
        assert (await viewer.get(path)).status_code == 200
        assert (await worker.get(path)).status_code == 403
        assert (await stranger.get(path)).status_code == 404

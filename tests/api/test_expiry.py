"""`expires_after` through the door, in a file of schedules, and what an instance says of its own end."""

from datetime import datetime, timedelta

import pytest

from horae.boot.schedule_files.declared import source_of
from horae.domain.ids import Prefix, public
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.steps import a_type, every

CRON = {"name": "slow", "cron": "0 */5 * * * ?"}


async def test_a_job_keeps_what_it_was_told_and_says_nothing_of_a_default(admin):
    made = (await admin.post("/jobs", json=CRON | {"expires_after": 90})).json()
    assert made["expires_after"] == 90
    changed = await admin.put("/jobs/slow", json={"cron": CRON["cron"], "version": 1})
    assert changed.json()["expires_after"] is None


@pytest.mark.parametrize("seconds", [0, -5, 0.5, 400 * 86400, "3600", True])
async def test_what_is_no_length_of_a_wait_is_refused(admin, seconds):
    refused = await admin.post("/jobs", json=CRON | {"expires_after": seconds})
    assert (refused.status_code, refused.json()["code"]) == (422, "SCH_422_INVALID")


async def test_an_instance_that_waits_says_when_it_expires(admin, ctx, store):
    await a_type(ctx, "BRIEF", expires_after=60)
    await a_type(ctx, "PATIENT")
    await Copier(store).once()
    at = (store.cells[0].clock.now() + timedelta(hours=1)).replace(microsecond=0)
    ends = {}
    for name in ("BRIEF", "PATIENT"):
        made = await tasks.schedule(ctx, name, "k", at=at)
        id_ = public(Prefix.INSTANCE, made.instance_id)
        ends[name] = (await admin.get(f"/instances/{id_}")).json()["expires_at"]
    assert datetime.fromisoformat(ends["BRIEF"]) == at + timedelta(seconds=60)
    assert ends["PATIENT"] is None


async def test_a_file_of_schedules_may_say_it(ctx, tenant):
    source = source_of({"owner": "me", "jobs": {"slow": {"every": 60, "expires_after": 120}}}, None, "jobs.yaml")
    [declared] = source.parse(tenant, every(ctx, 1).anchor)
    assert declared.definition.expires_after == 120

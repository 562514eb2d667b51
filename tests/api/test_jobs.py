from horae.security.roles import Role


async def test_the_seeds_own_job_is_made_as_it_is_written(admin):
    made = await admin.post(
        "/jobs", json={"name": "coupon_job", "cron": "0 */5 * * * ?"}, headers={"Idempotency-Key": "create-1"}
    )
    assert made.status_code == 201
    job = made.json()
    assert job["name"] == "coupon_job"
    assert job["status"] == "ACTIVE"
    assert job["version"] == 1
    assert job["trigger"]["dialect"] == "spring6"
    assert job["trigger"]["zone"] == "UTC"
    assert job["target"] == {"kind": "queue", "name": "coupon_job"}
    assert "5 minutes" in job["schedule"]["english"]
    assert len(job["schedule"]["fires"]) == 5
    assert job["next_fire_at"] == job["schedule"]["fires"][0]["fire_time"]


async def test_null_is_what_was_left_out(admin):
    """A client that writes every field it knows, and null where it has nothing to say, is understood."""
    nulls = dict.fromkeys(("target", "payload", "width", "limit", "trigger", "dialect", "timezone"))
    made = await admin.post("/jobs", json={"name": "j", "cron": "0 2 * * *"} | nulls)
    assert (made.status_code, made.json()["target"]) == (201, {"kind": "queue", "name": "j"})
    changed = await admin.put("/jobs/j", json={"version": 1, "cron": "0 3 * * *"} | nulls)
    assert (changed.status_code, changed.json()["target"]) == (200, {"kind": "queue", "name": "j"})
    assert (await admin.post("/preview", json={"name": "k", "cron": "0 2 * * *"} | nulls)).status_code == 200


async def test_a_job_is_found_by_its_id_and_by_its_name(admin):
    made = (await admin.post("/jobs", json={"name": "a b", "trigger": {"kind": "manual"}})).json()
    for ref in (made["id"], "a b"):
        assert (await admin.get(f"/jobs/{ref}")).json()["id"] == made["id"]


async def test_a_full_definition_comes_back_as_it_was_told(admin):
    asked = {
        "name": "report",
        "trigger": {"kind": "cron", "expression": "0 2 * * *", "zone": "Asia/Shanghai", "dst_gap": "skip"},
        "target": {"kind": "http", "url": "https://example.com/hook", "auth": {"kind": "bearer", "token": "hook"}},
        "priority": "critical",
        "payload": {"a": [1, None, "x"]},
        "labels": {"team": "finance"},
        "retry": {"max_failures": 3},
        "policies": {"misfire": {"policy": "skip"}, "overlap": "forbid", "spread": {"jitter": 5}},
    }
    job = (await admin.post("/jobs", json=asked)).json()
    assert job["trigger"]["zone"] == "Asia/Shanghai"
    assert job["trigger"]["dst_gap"] == "skip"
    assert job["target"]["auth"] == {"kind": "bearer", "token": "hook"}
    assert (job["priority"], job["payload"], job["labels"]) == ("critical", {"a": [1, None, "x"]}, {"team": "finance"})
    assert job["retry"]["max_failures"] == 3
    assert job["retry"]["base"] == 0.5
    assert job["policies"]["overlap"] == "forbid"
    assert job["policies"]["spread"] == {"window": 0.0, "jitter": 5.0, "exact": False}


async def test_pause_resume_and_remove(admin):
    await admin.post("/jobs", json={"name": "j", "cron": "* * * * *"})
    assert (await admin.post("/jobs/j/pause")).json()["status"] == "PAUSED"
    assert (await admin.post("/jobs/j/pause")).json()["code"] == "SCH_409_CONFLICT"
    assert (await admin.post("/jobs/j/resume")).json()["status"] == "ACTIVE"
    assert (await admin.delete("/jobs/j")).json()["status"] == "REMOVED"
    assert (await admin.get("/jobs/j")).status_code == 404


async def test_jobs_come_in_pages_whose_cursor_opens_nowhere_else(admin, client, other):
    for number in range(5):
        await admin.post("/jobs", json={"name": f"job-{number}"})
    seen, cursor = [], None
    while True:
        page = (await admin.get("/jobs", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        seen += [job["name"] for job in page["items"]]
        first, cursor = cursor or page["next"], page["next"]
        if cursor is None:
            break
    assert seen == [f"job-{number}" for number in range(5)]
    for params in ({"cursor": first, "status": "PAUSED"}, {"cursor": first[:-2] + "AA"}, {"cursor": "x"}):
        assert (await admin.get("/jobs", params=params)).json()["code"] == "SCH_422_INVALID"
    foreign = await client(Role.ADMIN, of=other)
    assert (await foreign.get("/jobs", params={"cursor": first})).status_code == 422
    assert (await admin.get("/jobs", params={"limit": 201})).status_code == 422


async def test_a_foreign_tenants_job_is_not_found(admin, client, other):
    made = (await admin.post("/jobs", json={"name": "mine"})).json()
    foreign = await client(Role.ADMIN, of=other)
    for ref in ("mine", made["id"]):
        assert (await foreign.get(f"/jobs/{ref}")).json()["code"] == "SCH_404_NOT_FOUND"
        assert (await foreign.post(f"/jobs/{ref}/pause")).status_code == 404
        assert (await foreign.delete(f"/jobs/{ref}")).status_code == 404
    assert (await foreign.get("/jobs")).json()["items"] == []

"""Subjects of rolling jobs at the door."""

ROLLING = {"name": "stock", "trigger": {"kind": "rolling", "window": 864000, "every": 86400}}


async def test_a_set_is_put_in_listed_counted_and_taken_out(admin):
    made = (await admin.post("/jobs", json=ROLLING)).json()
    assert (made["trigger"]["kind"], made["retry"]["max_failures"]) == ("rolling", 1)
    added = await admin.put("/jobs/stock/subjects", json={"keys": ["b", "a", "b"], "at_once": True})
    assert added.json() == {"named": 3, "changed": 2}
    assert (await admin.put("/jobs/stock/subjects", json={"keys": ["a"]})).json()["changed"] == 0
    page = (await admin.get("/jobs/stock/subjects?limit=1")).json()
    assert [one["key"] for one in page["items"]] == ["a"]
    rest = (await admin.get("/jobs/stock/subjects", params={"limit": 1, "cursor": page["next"]})).json()
    assert [one["key"] for one in rest["items"]] == ["b"]
    covered = (await admin.get("/jobs/stock/coverage")).json()
    assert (covered["subjects"], covered["fresh"], covered["met"]) == (2, 0, False)
    assert covered["ages"] == [0, 0, 0, 0, 0, 0, 2]
    gone = await admin.post("/jobs/stock/subjects/remove", json={"keys": ["a", "z"]})
    assert gone.json() == {"named": 2, "changed": 1}


async def test_subjects_are_found_by_how_their_key_begins_and_sets_by_their_kind(admin):
    await admin.post("/jobs", json=ROLLING)
    await admin.post("/jobs", json={"name": "nightly", "cron": "0 2 * * *"})
    await admin.put("/jobs/stock/subjects", json={"keys": ["pen", "pencil", "pencil-2", "pé", "q", "%"]})
    found = [await admin.get("/jobs/stock/subjects", params={"prefix": said}) for said in ("penc", "p", "%", "zz")]
    assert [[one["key"] for one in page.json()["items"]] for page in found] == [
        ["pencil", "pencil-2"],
        ["pen", "pencil", "pencil-2", "pé"],
        ["%"],
        [],
    ]
    first = (await admin.get("/jobs/stock/subjects", params={"prefix": "pen", "limit": 2})).json()
    rest = await admin.get("/jobs/stock/subjects", params={"prefix": "pen", "limit": 2, "cursor": first["next"]})
    assert [one["key"] for one in rest.json()["items"]] == ["pencil-2"]
    assert [one["name"] for one in (await admin.get("/jobs?kind=rolling")).json()["items"]] == ["stock"]
    assert [one["name"] for one in (await admin.get("/jobs?kind=cron")).json()["items"]] == ["nightly"]
    assert (await admin.get("/jobs?kind=yearly")).status_code == 422


async def test_subjects_are_listed_by_status_and_by_batch(admin):
    await admin.post("/jobs", json=ROLLING)
    await admin.put("/jobs/stock/subjects", json={"keys": ["a", "b"]})
    [one, _] = (await admin.get("/jobs/stock/subjects?status=0")).json()["items"]
    assert (one["key"], one["status"], one["updated_at"]) == ("a", 0, one["added_at"])
    for said in ("status=1", "status=2", "status=3", f"batch_no={'0' * 32}", f"status=0&batch_no={'0' * 32}"):
        assert (await admin.get(f"/jobs/stock/subjects?{said}")).json()["items"] == [], said
    first = (await admin.get("/jobs/stock/subjects?status=0&limit=1")).json()
    rest = await admin.get("/jobs/stock/subjects", params={"status": 0, "limit": 1, "cursor": first["next"]})
    assert [one["key"] for one in rest.json()["items"]] == ["b"]
    for bad in ("status=4", "status=-1", "status=x", "batch_no=x", f"batch_no={'G' * 32}"):
        assert (await admin.get(f"/jobs/stock/subjects?{bad}")).status_code == 422, bad


async def test_a_stream_of_any_length_is_taken_in_and_a_bad_line_is_named(admin):
    await admin.post("/jobs", json=ROLLING)
    lines = b"".join(b'{"key": "product-%05d"}\n' % n for n in range(2500))
    headers = {"Content-Type": "application/x-ndjson"}
    taken = await admin.post("/jobs/stock/subjects/import", content=lines, headers=headers)
    assert taken.json() == {"named": 2500, "changed": 2500}
    again = await admin.post("/jobs/stock/subjects/import", content=lines + b'"one-more"', headers=headers)
    assert again.json() == {"named": 2501, "changed": 1}
    for bad in (b'"a"\n{"key": 1}', b'"a"\nnonsense', b'"a"\n{"key": "a", "b": 1}', b"x" * 5000, b'"a"\n"\xff"'):
        answer = await admin.post("/jobs/stock/subjects/import", content=bad, headers=headers)
        assert answer.status_code in {400, 422}, bad[:20]
    plain = await admin.post("/jobs/stock/subjects/import", content=b"a", headers={"Content-Type": "text/plain"})
    assert plain.json()["code"] == "SCH_415_MEDIA_TYPE"


async def test_only_a_rolling_job_has_subjects_and_it_is_not_triggered_by_hand(admin):
    await admin.post("/jobs", json={"name": "nightly", "cron": "0 2 * * *"})
    assert (await admin.get("/jobs/nightly/subjects")).status_code == 409
    await admin.post("/jobs", json=ROLLING)
    fired = await admin.post("/jobs/stock/trigger", json={}, headers={"Idempotency-Key": "1"})
    assert fired.status_code == 409
    short = {"name": "bad", "trigger": {"kind": "rolling", "window": 5, "every": 60}}
    assert (await admin.post("/jobs", json=short)).json()["code"] == "SCH_422_SCHEDULE"


async def test_ticks_come_by_a_cron_schedule_and_windows_in_calendar_months(admin):
    every = {"kind": "cron", "expression": "0 2 * * *", "zone": "Asia/Shanghai"}
    said = {"kind": "rolling", "window": {"months": 1, "zone": "Europe/Berlin"}, "every": every}
    made = (await admin.post("/jobs", json={"name": "stock", "trigger": said})).json()["trigger"]
    assert made["window"] == {"months": 1, "zone": "Europe/Berlin"}
    assert (made["every"]["expression"], made["every"]["zone"], made["every"]["dialect"]) == (
        "0 2 * * *",
        "Asia/Shanghai",
        "unix5",
    )
    await admin.put("/jobs/stock/subjects", json={"keys": ["a"]})
    assert (await admin.get("/jobs/stock/coverage")).json()["ages"] == [0, 0, 0, 0, 0, 0, 1]
    assert (await admin.get("/jobs/stock/subjects/a/explain")).status_code == 200
    again = await admin.put("/jobs/stock", json={"version": 1, "trigger": made})
    assert (again.status_code, again.json()["trigger"]) == (200, made), "what was read can be sent back"
    short = await admin.post("/jobs", json={"name": "days", "trigger": {**said, "window": {"days": 10}}})
    assert short.json()["trigger"]["window"] == {"days": 10, "zone": "UTC"}
    for bad in (
        {"window": {"months": 1, "days": 1}},
        {"window": {}},
        {"window": {"months": 13}},
        {"window": {"days": 1.5}},
        {"window": {"days": 1, "zone": "Mars/Base"}},
        {"every": {"kind": "cron", "expression": "no"}},
        {"every": {"kind": "cron", "expression": "0 2 * * *", "zone": "Mars/Base"}},
        {"every": "60"},
    ):
        answer = await admin.post("/jobs", json={"name": "bad", "trigger": {**said, **bad}})
        assert answer.status_code == 422, bad

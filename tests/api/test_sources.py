"""Sources at the door."""

NINE = "2035-01-01T09:00:00Z"
KEYED = {"trigger": {"kind": "keyed"}}


async def test_a_business_pushes_its_list_and_sees_what_was_repaired(admin):
    await admin.post("/jobs", json={"name": "publish", **KEYED})
    put = await admin.put("/sources/publish", json={"origin": {"kind": "push"}, "orphans": "cancel"})
    assert (put.status_code, put.json()["spec"]["orphans"]) == (200, "cancel")
    page = {"round": "1", "items": [{"key": "a", "at": NINE, "payload": {"x": 1}}, {"key": "b", "at": NINE}]}
    first = (await admin.post("/sources/publish/pages", json=page)).json()
    assert (first["reached"], first["ended"], first["counts"]["created"]) == ("b", False, 2)
    late = await admin.post("/sources/publish/pages", json={"round": "1", "after": "q", "last": True})
    assert (late.status_code, late.json()["reached"]) == (409, "b")
    last = (await admin.post("/sources/publish/pages", json={"round": "1", "after": "b", "last": True})).json()
    assert (last["ended"], last["drift"]) == (True, 2)
    assert (await admin.get("/tasks/publish/a")).json()["live"]["payload"] == {"x": 1}
    shown = (await admin.get("/sources/publish")).json()
    assert (shown["last"]["status"], shown["last"]["number"], shown["round"]) == ("DONE", 1, 1)
    assert [one["key"] for one in (await admin.get("/sources/publish/repairs?round=1")).json()["items"]] == ["b", "a"]
    assert [one["number"] for one in (await admin.get("/sources/publish/rounds")).json()["items"]] == [1]


async def test_what_cannot_be_a_source_is_refused(admin):
    await admin.post("/jobs", json={"name": "publish", **KEYED})
    for origin in (
        {"kind": "sql", "dsn": "shop", "statement": "table article"},
        {"kind": "sql", "dsn": "postgresql://u:p@h/d", "statement": "$1 $2"},
        {"kind": "http", "url": "file:///etc/passwd"},
        {"kind": "mail"},
        {"kind": "push", "url": "https://example.com"},
    ):
        answer = await admin.put("/sources/publish", json={"origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (422, "SCH_422_INVALID"), origin
    answer = await admin.post("/sources/publish/pages", json={"round": "1", "last": True})
    assert answer.status_code == 404


async def test_a_round_is_asked_for_once_per_key(admin, store):
    await admin.post("/jobs", json={"name": "publish", **KEYED})
    await admin.put("/sources/publish", json={"origin": {"kind": "http", "url": "https://shop.example.com/"}})
    key = {"Idempotency-Key": "once"}
    answers = [await admin.post("/sources/publish/rounds", json={"dry": True}, headers=key) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert {answer.json()["round"] for answer in answers} == {0}, "what was asked for will be the first round"
    assert answers[1].headers["Idempotency-Replayed"] == "true"

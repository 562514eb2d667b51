"""The fires of a schedule in a range of time, page by page."""

import pytest

from horae.security.roles import Role


@pytest.fixture
async def editor(client):
    found = await client(Role.EDITOR)
    made = await found.post("/jobs", json={"name": "coupon", "cron": "0 */5 * * * ?"})
    assert made.status_code == 201, made.text
    return found


async def expected(editor, **query):
    return await editor.get("/jobs/coupon/expected-fires", params=query)


async def test_a_range_has_its_fires_and_says_where_the_next_page_begins(editor):
    hour = {"since": "2035-01-01T08:00:00Z", "until": "2035-01-01T09:00:00Z"}
    whole = (await expected(editor, **hour)).json()
    assert (len(whole["fires"]), whole["next"]) == (12, None)
    assert whole["fires"][:2] == ["2035-01-01T08:00:00Z", "2035-01-01T08:05:00Z"]
    first = (await expected(editor, **hour, limit=7)).json()
    rest = (await expected(editor, **hour | {"since": first["next"]})).json()
    assert first["fires"] + rest["fires"] == whole["fires"]
    assert (len(first["fires"]), rest["next"]) == (7, None)


async def test_a_range_of_more_than_a_year_is_refused(editor):
    answer = await expected(editor, since="2035-01-01T00:00:00Z", until="2036-01-03T00:00:00Z")
    assert (answer.status_code, "366 days" in answer.json()["detail"]) == (422, True)

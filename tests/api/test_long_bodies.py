"""What one request costs grows with its length, however it is written: the loop belongs to every tenant."""

import time

import pytest

from horae.api.reading import MAX_BODY_BYTES, loads
from horae.domain.errors import BadRequest, TooLarge
from horae.security.roles import Role

SECONDS = 1.0
"""Of this thread's own processor time. 256 KiB take some ten milliseconds; where it took the square it took minutes."""
JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}
LENGTH = 32 * 1024


def refusal_and_seconds(raw):
    began = time.thread_time()
    with pytest.raises(BadRequest) as refused:
        loads(raw)
    return str(refused.value), time.thread_time() - began


@pytest.mark.parametrize("end", [b"", b"\\", b"x"])
def test_a_text_of_escaped_quotes_that_never_ends_is_refused_at_once(end):
    said, seconds = refusal_and_seconds(b'"' + b'\\"' * (LENGTH // 2) + end)
    assert ("not JSON" in said, seconds < SECONDS) == (True, True), (said, seconds)


def test_brackets_without_end_are_refused_at_once():
    _, seconds = refusal_and_seconds(b"[" * (MAX_BODY_BYTES // 2) + b"]" * (MAX_BODY_BYTES // 2))
    assert seconds < 0.1, seconds


def test_brackets_inside_of_texts_with_escapes_are_no_levels():
    assert loads(b'["\\"' + b"[" * 100 + b'"]') == ['"' + "[" * 100]


async def test_a_stranger_may_send_no_more_than_a_login_is_long(anyone):
    """A key and the name of a tenant: 4 KiB are more than enough."""
    answer = await anyone.post("/login/key", content=b'"' + b"x" * 5000, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (413, TooLarge.code)


async def test_each_line_of_a_stream_is_bounded(client):
    editor = await client(Role.EDITOR)
    job = {"name": "feed", "trigger": {"kind": "rolling", "window": 3600, "every": 60}}
    assert (await editor.post("/jobs", json=job)).status_code == 201
    long = b'"' + b"k" * 5000 + b'"\n"b"\n'
    answer = await editor.post("/jobs/feed/subjects/import", content=long, headers=NDJSON)
    assert (answer.status_code, "a line has at most 4096 bytes" in answer.text) == (400, True), answer.text


@pytest.mark.parametrize(("many", "said"), [(30, "11 more errors"), (20_000, "has 20000 fields")])
async def test_a_refusal_names_few_of_the_errors_however_many_there_are(client, many, said):
    viewer = await client(Role.VIEWER)
    answer = await viewer.post("/preview", json={f"a{n}": 1 for n in range(many)})
    assert answer.status_code == 422
    assert 1 <= len(answer.json()["errors"]) <= 20
    assert len(answer.content) < 16 * 1024
    assert said in answer.json()["detail"]


async def test_a_list_of_wrong_items_is_not_told_item_by_item(admin):
    asked = {"first": "2026-01-01", "last": "2026-12-31", "added": ["x"] * 3000}
    answer = await admin.put("/calendars/c", json=asked)
    assert (answer.status_code, len(answer.json()["errors"])) == (422, 20)
    assert "2980 more errors" in answer.json()["detail"]


async def test_a_field_of_a_refused_object_is_still_guessed(client):
    viewer = await client(Role.VIEWER)
    answer = await viewer.post("/preview", json={"crom": "* * * * *"})
    assert any('did you mean "cron"' in one["message"] for one in answer.json()["errors"])


@pytest.mark.parametrize(
    "body",
    [b'{"a":1,"a":1e6}', b'{"a":1,"a":1,"b":12345678901234567.0}', b'[{"a":1,"a":1E6}]', b'{"a":1,"a":10.0e14}'],
)
def test_a_number_that_is_written_longer_hides_no_second_key(body):
    with pytest.raises(BadRequest, match="duplicate"):
        loads(body)


def test_numbers_with_fractions_and_exponents_are_read_as_they_are():
    assert loads(b'{"a":1.5,"b":1e3,"c":-2E-2}') == {"a": 1.5, "b": 1000.0, "c": -0.02}

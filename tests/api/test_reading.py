import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.api.reading import _loads, _outside, _tidy, loads

BAD = [
    b'{"name": "j", "payload": NaN}',
    b'{"name": "j", "payload": Infinity}',
    b'{"name": "j", "payload": 1e999}',
    b'{"name": "j", "name": "k"}',
    b'{"name": "j", "payload": {"a": {"b": 1, "b": 2}}}',
    b'{"name": "j", "payload": 9223372036854775808}',
    b'{"name": "j", "payload": ' + b"9" * 5000 + b"}",
    b'{"name": "j", "payload": "\\ud800"}',
    b'{"name": "j", "payload": {"\\udfff": 1}}',
    b'{"name": "j", "payload": "\\u0000"}',
    b'{"name": "j", "payload": "\x00"}',
    b'{"name": "\xff"}',
    b'{"name": "j",}',
    b'{"name": "j"} x',
    b"\xef\xbb\xbf{}",
    b'{"name": "j", "payload": ' + b"[" * 40 + b"]" * 40 + b"}",
    b'{"name": "j", "payload": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
]
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("body", BAD, ids=range(len(BAD)))
async def test_json_that_two_readers_could_understand_differently_is_refused(admin, body):
    answer = await admin.post("/jobs", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (400, "SCH_400_BAD_REQUEST")
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        "null",
        '"x"',
        "{}",
        '{"name": 1}',
        '{"name": "j", "unknown": 1}',
        '{"name": "j", "retry": {"max_failures": "3"}}',
        '{"name": "j", "retry": {"max_failures": 3, "more": 1}}',
        '{"name": "j", "trigger": {"kind": "once", "at": 5}}',
        '{"name": "j", "trigger": {"kind": "once", "at": "2030-01-01T00:00:00"}}',
        '{"name": "j", "trigger": {"kind": "nonsense"}}',
        '{"name": "j", "cron": "* * * * *", "trigger": {"kind": "manual"}}',
        '{"name": "j", "cron": "61 * * * *"}',
        '{"name": "j", "cron": "* * * * *", "timezone": "Mars/Phobos"}',
        '{"name": "a/b"}',
        '{"name": "j", "target": {"kind": "http", "url": "nonsense"}}',
    ],
)
async def test_what_is_readable_but_means_nothing_is_invalid(admin, body):
    answer = await admin.post("/jobs", content=body, headers=JSON)
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"].startswith("SCH_422_")


async def test_thirty_two_levels_and_64_bits_are_fine(admin):
    nested = "[" * 30 + "]" * 30
    payload = f'{{"deep": {nested}, "big": 9223372036854775807, "s": "\\ud83d\\ude00"}}'
    body = f'{{"name": "j", "payload": {payload}}}'
    answer = await admin.post("/jobs", content=body, headers=JSON)
    assert answer.status_code == 201, answer.text
    assert answer.json()["payload"]["s"] == "😀"


async def test_a_body_has_at_most_256_kib_and_a_payload_64(admin):
    large = b'{"name": "' + b"x" * 300_000 + b'"}'
    assert (await admin.post("/jobs", content=large, headers=JSON)).json()["code"] == "SCH_413_TOO_LARGE"

    async def chunks():
        for _ in range(300):
            yield b" " * 1024

    assert (await admin.post("/jobs", content=chunks(), headers=JSON)).status_code == 413
    answer = await admin.post("/jobs", json={"name": "j", "payload": "x" * 70_000})
    assert (answer.status_code, "65536" in answer.json()["detail"]) == (422, True)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json; charset=utf-16"},
        JSON | {"Content-Encoding": "gzip"},
    ],
)
async def test_a_body_is_json_and_nothing_else(admin, headers):
    answer = await admin.post("/jobs", content=b'{"name": "j"}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "SCH_415_MEDIA_TYPE")


async def test_nul_in_a_path_or_query_is_refused(admin):
    assert (await admin.get("/jobs/a%00b")).status_code == 400
    assert (await admin.get("/jobs?status=%00")).status_code == 400


@pytest.mark.parametrize("text", ["%ff", "%fe", "a%c3", "%ed%a0%80"])
async def test_a_path_or_query_that_is_no_utf8_is_refused(admin, text):
    """Read loosely all of them are one and the same text."""
    assert (await admin.put("/jobs/a" + text, json={})).status_code == 400
    assert (await admin.put(f"/tasks/t/{text}", json={"at": "2030-01-01T00:00:00Z"})).status_code == 400
    assert (await admin.get(f"/jobs?prefix={text}")).status_code == 400
    assert (await admin.get("/jobs/%e4%bd%a0")).status_code == 404


async def test_paths_and_methods_that_are_not_there_are_problems_too(admin, anyone):
    missing = await anyone.get("/api/v1/nothing")
    assert (missing.status_code, missing.json()["code"]) == (404, "SCH_404_NOT_FOUND")
    wrong = await admin.patch("/jobs")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "SCH_405_METHOD")
    assert wrong.headers["Allow"]
    assert wrong.headers["Content-Type"] == "application/problem+json"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(VALUES, st.booleans(), st.sampled_from([None, (",", ":"), (" ,\n", "\t: ")]))
def test_what_can_be_read_is_read_as_it_was_written(value, ascii_only, separators):
    raw = json.dumps(value, ensure_ascii=ascii_only, separators=separators).encode()
    assert loads(raw) == value


@given(st.text(alphabet='{}[]",:0123456789.eE+- \\nultrasfNaI"\x00\t', max_size=30))
def test_the_quick_reader_takes_nothing_that_the_close_one_refuses(text):
    raw = text.encode()
    quick = _tidy(raw, _outside(raw))
    if quick is not msgspec.UNSET:
        assert _loads(raw) == quick


async def test_a_time_is_no_count_of_seconds_and_a_day_is_a_day(admin):
    for at in ("1", "1700000000", 1700000000, "2030-01-01", "2030-01-01T00:00:00"):
        asked = {"name": "j", "trigger": {"kind": "once", "at": at}}
        assert (await admin.post("/jobs", json=asked)).json()["code"] == "SCH_422_INVALID", at
        assert (await admin.get("/audit", params={"since": at})).status_code == 422, at
    for day in (0, "0", "2026-01-01T00:00:00", 1.5):
        asked = {"first": day, "last": "2026-12-31", "weekdays": [1]}
        assert (await admin.put("/calendars/c", json=asked)).status_code == 422, day
    assert (await admin.get("/audit", params={"since": "2026-01-01T00:00:00Z"})).status_code == 200


async def test_a_method_that_is_not_there_is_told_those_that_are(anyone):
    for path, allowed in (("/jobs", "GET, POST"), ("/jobs/x", "DELETE, GET, PUT"), ("/tasks/x/cancel", "POST")):
        answer = await anyone.request("OPTIONS", f"/api/v1{path}")
        assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)

"""TRIAL 4.2 to 4.4 and 4.8: whoever is refused reads our own words, and what would be right."""

from typing import get_args

import pytest

from horae.security.roles import Role

FOREIGN = (
    "extra inputs",
    "input should",
    "unable to extract",
    "discriminator",
    "value error",
    "input tag",
    "field required",
)
JOB = {"name": "j", "cron": "* * * * *"}


def every(value):
    """A value for each way to be wrong."""
    return {**JOB, **value}


WRONG = {
    "an unknown field": (every({"tz": "UTC"}), 'body.tz: unknown field "tz"; known: '),
    "a slip": (every({"timezon": "UTC"}), 'body.timezon: unknown field "timezon": did you mean "timezone"?'),
    "a slip inside": (
        every({"target": {"kind": "http", "url": "https://example.com", "methd": "POST"}}),
        'body.target.http.methd: unknown field "methd": did you mean "method"?',
    ),
    "no kind": (every({"target": {"url": "https://example.com"}}), "body.target: needs a field 'kind'"),
    "no such kind": (
        {"name": "j", "trigger": {"kind": "weekly"}},
        "body.trigger: has an unknown 'kind' 'weekly'; known: ",
    ),
    "too large a payload": (every({"payload": "x" * 70_000}), "body.payload: a payload has at most 65536 bytes"),
    "no name": ({"cron": "* * * * *"}, "body.name: is missing"),
    "a number for a text": (every({"name": 7}), "body.name: must be a string"),
    "no text": (every({"name": ""}), "body.name: must have at least 1 characters"),
    "a list for an object": ([], "body: must be an object"),
    "no such word": (every({"priority": "urgent"}), "body.priority: must be "),
    "labels that are none": (every({"labels": ["a"]}), "body.labels: must be an object"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
async def test_what_is_wrong_with_a_body_is_said_in_our_words(admin, name):
    body, said = WRONG[name]
    refused = await admin.post("/jobs", json=body)
    told = refused.json()
    assert (refused.status_code, told["code"]) == (422, "SCH_422_INVALID"), told
    assert told["detail"].startswith(said), told["detail"]
    spoken = [told["detail"], *(one["message"] for one in told["errors"])]
    assert not [text for text in spoken for word in FOREIGN if word in text.lower()]


async def test_every_kind_of_error_that_our_models_can_raise_has_a_sentence():
    from pydantic_core.core_schema import ErrorType

    from horae.api.sentences import SENTENCES, sentence_of

    assert set(SENTENCES) <= set(get_args(ErrorType))
    for kind in get_args(ErrorType):
        said = sentence_of({"type": kind, "loc": ("body", "x"), "msg": "", "input": 1})
        assert said
        assert not [word for word in FOREIGN if word in said.lower()]


async def test_an_unknown_query_parameter_is_refused_as_an_unknown_field_is(admin):
    """TRIAL 4.4: a filter with a slip in its name was no filter."""
    refused = await admin.get("/jobs", params={"bogus": 1})
    assert (refused.status_code, refused.json().get("code")) == (422, "SCH_422_INVALID")
    assert refused.json()["detail"].startswith('unknown query parameter "bogus"; known: ')
    slip = await admin.get("/jobs", params={"statuss": "PAUSED"})
    assert slip.json()["detail"] == 'unknown query parameter "statuss": did you mean "status"?'
    assert (await admin.get("/jobs", params={"status": "PAUSED", "limit": 3})).status_code == 200
    assert (await admin.post("/workers/poll?bogus=1", json={})).status_code in {403, 422}


async def test_who_lacks_what_no_role_gives_is_told_whose_key_it_takes(admin, client):
    """TRIAL 4.3: an admin was told to get a role that may list nodes."""
    refused = await admin.get("/nodes")
    assert (refused.status_code, refused.json()["code"]) == (403, "SCH_403_FORBIDDEN")
    assert "a key of the platform's tenant `system`" in refused.json()["detail"]
    viewer = await client(Role.VIEWER)
    lacking = await viewer.post("/jobs", json=JOB)
    assert lacking.json()["detail"] == "jobs.create needs one of the roles editor, admin"
    narrowed = await client(Role.ADMIN, scopes=["jobs.read"], name="narrowed")
    assert (await narrowed.post("/jobs", json=JOB)).json()["detail"] == (
        "jobs.create is not among the scopes of this credential"
    )


async def test_an_unknown_path_and_a_garbage_cursor_say_what_is_wrong(admin, anyone):
    """TRIAL 4.8."""
    lost = await admin.get("/jobz")
    assert (lost.status_code, lost.json()["code"]) == (404, "SCH_404_NOT_FOUND")
    assert lost.json()["detail"] == "there is no path /api/v1/jobz; GET /openapi.json lists all paths"
    for cursor in ("garbage", "%%%", "AAAA" * 10):
        refused = await admin.get("/jobs", params={"cursor": cursor})
        assert refused.status_code == 422
        assert "the cursor is not valid here" in refused.json()["detail"]

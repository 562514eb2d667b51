"""The list of certified days: one request for a year, without jobs and evidence."""

from datetime import timedelta

import pytest

from horae.security.roles import Role
from horae.security.signing_keys import SigningKey
from horae.service.certificates import certificates
from tests.console.certified_days import certify_with_finding

KEY = SigningKey(bytes(32))


@pytest.fixture
async def day(ctx):
    """A day that is over, and certified twice; the day after it has a finding."""
    day = ctx.now().date() - timedelta(days=4)
    for again in (False, True):
        await certificates.make(ctx, KEY, day, again=again)
    await certify_with_finding(ctx, day + timedelta(days=1))
    return day


def asked(since, days):
    return {"since": str(since), "until": str(since + timedelta(days=days))}


async def test_days_have_the_outcome_of_their_newest_certificate(client, ctx, day):
    auditor = await client(Role.AUDITOR)
    found = (await auditor.get("/certificates", params=asked(day - timedelta(days=1), 4))).json()
    [clean, faulty] = found["days"]
    assert (clean["day"], clean["revision"], clean["findings_count"], clean["expected"]) == (str(day), 2, 0, 0)
    assert (faulty["day"], faulty["findings_count"]) == (str(day + timedelta(days=1)), 1)
    assert found["newest"] == str((ctx.now() - timedelta(days=1, minutes=2)).date())
    assert (await auditor.get("/certificates", params=asked(day + timedelta(days=2), 1))).json()["days"] == []


async def test_a_list_has_at_most_a_year_and_is_for_auditors(client, day):
    auditor, viewer = await client(Role.AUDITOR), await client(Role.VIEWER)
    assert (await auditor.get("/certificates", params=asked(day, 366))).status_code == 200
    for days in (367, 0, -1):
        answer = await auditor.get("/certificates", params=asked(day, days))
        assert (answer.status_code, answer.json()["code"]) == (422, "SCH_422_INVALID"), days
    assert (await viewer.get("/certificates", params=asked(day, 1))).status_code == 403

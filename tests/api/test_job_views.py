"""The trigger and target of a job are typed in responses, and sent as they are stored, without omitted defaults."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from pydantic import TypeAdapter

from horae.api.models.schedules import TriggerView
from horae.api.models.showing import show_one_of
from horae.api.models.targets import TargetView
from horae.domain.cron import Dialect
from horae.domain.schedules.calendar_windows import CalendarWindow
from horae.domain.schedules.triggers import (
    CronTrigger,
    DelayTrigger,
    IntervalTrigger,
    KeyedTrigger,
    ManualTrigger,
    OnceTrigger,
    RollingTrigger,
)
from horae.domain.targets.auth import BasicAuth, OAuthAuth
from horae.domain.targets.targets import HttpTarget, QueueTarget, TopicTarget

AT = datetime(2030, 1, 31, 8, tzinfo=UTC)
IN_SHANGHAI = datetime(2030, 1, 31, 8, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=8)))
OAUTH = OAuthAuth("https://example.com/token", "horae", "crm-client")
TRIGGERS = [
    CronTrigger("H 2 * * *", Dialect.UNIX5, "Asia/Shanghai", salt="acme/report", tzdata="2026f"),
    IntervalTrigger(60.0, AT),
    IntervalTrigger(99_999_999.0, AT),
    OnceTrigger(IN_SHANGHAI),
    DelayTrigger(5.0),
    KeyedTrigger(),
    RollingTrigger(864_000.0, 86_400.0, AT),
    RollingTrigger(864_000.0, 86_400.0, AT, budget=14_400.0, share=0.9, fresh=950_000.0),
    RollingTrigger(CalendarWindow(zone="UTC", months=1), CronTrigger("0 2 * * *", Dialect.UNIX5, "Asia/Shanghai"), AT),
    ManualTrigger(),
]
TARGETS = [
    HttpTarget("https://example.com/hook"),
    HttpTarget("https://example.com/hook", "PUT", {"X-A": "b"}, body={"a": [1, None]}, auth=OAUTH, rate=5.0),
    HttpTarget("https://example.com/hook", auth=BasicAuth("ada", "crm"), signing="hooks", max_concurrency=3),
    QueueTarget("coupon_job"),
    QueueTarget("coupon_job", 60.0),
    TopicTarget("main", "acme.stock", rate=20.0),
]


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda one: type(one).__name__)
def test_a_trigger_is_sent_as_it_is_stored_without_its_salt(trigger):
    stored = {name: value for name, value in msgspec.to_builtins(trigger).items() if name != "salt"}
    if isinstance(stored.get("every"), dict):
        stored["every"] = {name: value for name, value in stored["every"].items() if name != "salt"}
    assert sent(TypeAdapter(TriggerView), trigger, TriggerView) == stored


@pytest.mark.parametrize("target", TARGETS, ids=lambda one: type(one).__name__)
def test_a_target_is_sent_as_it_is_stored(target):
    assert sent(TypeAdapter(TargetView), target, TargetView) == msgspec.to_builtins(target)


def sent(adapter, stored, models):
    """What a response contains: its model is accepted as it is, and only the fields that were set are written."""
    shown = show_one_of(models, stored)
    assert adapter.validate_python(shown) is shown
    return adapter.dump_python(shown, mode="json")

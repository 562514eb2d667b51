from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.errors import Invalid, InvalidSchedule
from horae.domain.schedules.expected import previous_fire
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger, OnceTrigger, cron
from horae.domain.targets.calls import Call, ScheduledCall
from horae.domain.targets.templates import NAMES, compile_text, compile_value, names_previous
from tests.domain.builders import NOW

CALL = Call("report", "ins_1", NOW, 2, "k:1", "42", {"a": {"b": [1, {"c": "x"}]}, "on": True, "none": None})
LATE = datetime(2026, 11, 15, 16, 30, tzinfo=UTC)
"""The next day in Shanghai."""
text = st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"]))
json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
)


def fill(value):
    made = compile_value(value)
    return value if made is None else made(CALL)


def test_every_fact_of_a_call_has_a_placeholder_and_nothing_else_has():
    assert set(ScheduledCall.__struct_fields__) == NAMES


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{attempt}}", 2),
        ("{{ attempt }}", 2),
        ("{{fire_time}}", NOW),
        ("{{payload}}", CALL.payload),
        ("{{payload.a.b}}", [1, {"c": "x"}]),
        ("{{payload.a.b.1.c}}", "x"),
        ("{{payload.nothing.there}}", None),
        ("{{payload.a.b.7}}", None),
        ("{{payload.on}}", True),
        ("try {{attempt}} of {{job}}", "try 2 of report"),
        ("at {{fire_time}}.", "at 2026-11-15T09:00:00Z."),
        ("{{payload.a}}!", '{"b":[1,{"c":"x"}]}!'),
        ("<{{payload.none}}>", "<>"),
        ("{{key}}{{key}}", "4242"),
        ({"id": "{{key}}", "rest": [1, "{{instance}}", {"deep": "{{idempotency_key}}"}]}, None),
    ],
)
def test_placeholders_keep_their_type_alone_and_become_text_within_text(template, filled):
    if isinstance(template, dict):
        filled = {"id": "42", "rest": [1, "ins_1", {"deep": "k:1"}]}
    assert fill(template) == filled


@pytest.mark.parametrize(
    "template",
    ["{{nothing}}", "{{payload.}} {{", "{{a b}}", "{{key.x}}", "{{}}", "{{__class__}}", {"{{key}}": 1}, ["{{secret}}"]],
)
def test_what_is_no_placeholder_is_refused_when_the_job_is_made(template):
    with pytest.raises(Invalid):
        compile_value(template)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{fire_time | Asia/Shanghai | %Y-%m-%d}}", "2026-11-16"),
        ("{{ fire_time|Asia/Shanghai|%Y%m%d %H:%M %z }}", "20261116 00:30 +0800"),
        ("{{fire_time | America/New_York}}", "2026-11-15T11:30:00-05:00"),
        ("{{fire_time | %G-W%V-%u}}", "2026-W46-7"),
        ("day={{previous_fire_time | Asia/Shanghai | %d}}!", "day=15!"),
        ("{{previous_fire_time}}", LATE - timedelta(days=1)),
        ("100 %% {{fire_time | %%%j}}", "100 %% %319"),
    ],
)
def test_a_time_is_written_in_the_zone_and_the_format_behind_it(template, filled):
    call = ScheduledCall("report", "ins_1", LATE, 1, "k:1", previous_fire_time=LATE - timedelta(days=1))
    assert compile_value(template)(call) == filled
    assert names_previous({"x": [template]}) == ("previous" in template)


@pytest.mark.parametrize(
    "template",
    [
        "{{fire_time | Asia/Nowhere}}",
        "{{fire_time | %Y | UTC}}",
        "{{fire_time | UTC | %Y | %m}}",
        "{{fire_time | UTC | Y}}",
        "{{fire_time | %B}}",
        "{{fire_time | %}}",
        "{{fire_time | %-d}}",
        "{{fire_time | %Y%s}}",
        "{{fire_time | %Y \x07 %m}}",
        "{{fire_time | " + "%Y" * 60 + "}}",
        "{{fire_time | }}",
        "{{key | UTC}}",
        "{{payload.at | %Y}}",
    ],
)
def test_a_wrong_zone_or_format_is_refused_when_the_job_is_made(template):
    with pytest.raises((Invalid, InvalidSchedule)):
        compile_value(template)


@pytest.mark.parametrize(
    ("trigger", "at", "previous"),
    [
        (cron("0 9 * * *", zone_name="Europe/Berlin"), "2026-03-29T07:00Z", "2026-03-28T08:00Z"),
        (cron("0 0 29 2 *"), "2104-02-29T00:00Z", "2096-02-29T00:00Z"),
        (cron("*/5 * * * * *"), "2026-11-15T00:00Z", "2026-11-14T23:59:55Z"),
        (cron("0 9 * * 1"), "2026-11-16T09:00Z", "2026-11-09T09:00Z"),
        (IntervalTrigger(90.0, datetime(2026, 1, 1, tzinfo=UTC)), "2026-01-01T00:03Z", "2026-01-01T00:01:30Z"),
        (IntervalTrigger(90.0, datetime(2026, 1, 1, tzinfo=UTC)), "2026-01-01T00:00Z", None),
        (OnceTrigger(datetime(2026, 1, 1, tzinfo=UTC)), "2026-01-01T00:00Z", None),
        (KeyedTrigger(), "2026-01-01T00:00Z", None),
    ],
)
def test_the_previous_fire_follows_from_the_trigger(trigger, at, previous):
    found = previous_fire(trigger, datetime.fromisoformat(at))
    assert found == (None if previous is None else datetime.fromisoformat(previous))


def test_a_template_has_a_bottom():
    deep = "x"
    for _ in range(40):
        deep = [deep]
    with pytest.raises(Invalid):
        compile_value(deep)


@given(json)
def test_a_value_without_placeholders_is_sent_as_it_is(value):
    assert compile_value(value) is None


@given(json)
def test_what_a_payload_says_is_never_read_as_a_template(value):
    call = Call("j", "i", NOW, 1, "k", None, {"v": value, "evil": "{{job}}"})
    assert compile_value({"x": "{{payload.v}}"})(call) == {"x": value}
    assert compile_text("-{{payload.evil}}-")(call) == "-{{job}}-"
    assert msgspec.json.decode(msgspec.json.encode(compile_value("{{payload}}")(call))) == call.payload

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.errors import Invalid
from horae.domain.targets.calls import Call
from horae.domain.targets.templates import NAMES, compile_text, compile_value
from tests.domain.builders import NOW

CALL = Call("report", "ins_1", NOW, 2, "k:1", "42", {"a": {"b": [1, {"c": "x"}]}, "on": True, "none": None})
text = st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"]))
json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
)


def fill(value):
    made = compile_value(value)
    return value if made is None else made(CALL)


def test_every_fact_of_a_call_has_a_placeholder_and_nothing_else_has():
    assert set(Call.__struct_fields__) == NAMES


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

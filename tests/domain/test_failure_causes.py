"""Failure causes: messages that differ only in numbers, ids, URLs and quoted values have one cause."""

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.ids import Prefix, public
from horae.domain.instances.failure_causes import MAX_NORMALISED, cause_id_of, normalise_message

JOB = UUID(int=7)
WORDS = st.lists(st.sampled_from(["timeout", "order", "refused", "by", "the shop", "after"]), min_size=1, max_size=6)
NUMBERS = st.integers(0, 10**12).map(str)
IDS = st.one_of(
    st.uuids().map(str),
    st.uuids().map(lambda id_: public(Prefix.INSTANCE, id_)),
    st.integers(10**8, 10**9).map(lambda number: f"0x{number:x}"),
)
PATHS = st.text("abcdefgh/?=&0123456789", min_size=1, max_size=40)
URLS = PATHS.map(lambda path: f"https://shop.example/{path}")
QUOTED = st.text("abc def,0123", max_size=40).map(lambda text: f'"{text}"')


@pytest.mark.parametrize(
    ("message", "normalised"),
    [
        (None, ""),
        ("503", "503"),
        ("answered 503", "answered 503"),
        ("HTTP 503 after 1200 ms", "HTTP 503 after <n> ms"),
        ("order 4711 is unknown", "order <n> is unknown"),
        ("order 20261118000000001 is unknown", "order <n> is unknown"),
        ("no such key 'article-42'", "no such key <text>"),
        ("it doesn't answer, and we can't wait", "it doesn't answer, and we can't wait"),
        ("POST https://a.test:8080/x?id=1 timed out", "POST <url> timed out"),
        ("connection to 10.0.0.7:5432 refused", "connection to <n> refused"),
        ("user ada@example.com is locked", "user <address> is locked"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit <id>"),
        ("a\n  traceback\twith   spaces", "a traceback with spaces"),
    ],
)
def test_what_differs_from_one_failure_to_the_next_is_replaced(message, normalised):
    assert normalise_message(message) == normalised


@given(WORDS, WORDS, st.sampled_from([NUMBERS, IDS, URLS, QUOTED]), st.data())
def test_messages_that_differ_in_one_value_have_one_cause(before, after, values, data):
    one, other = data.draw(values), data.draw(values)
    texts = [" ".join([*before, f"[{value}]", *after]) for value in (one, other)]
    assert len({cause_id_of(JOB, "HTTP_5XX", text) for text in texts}) == 1, [normalise_message(text) for text in texts]


@given(st.text(max_size=5000))
def test_any_message_is_normalised_to_a_bounded_text(message):
    normalised = normalise_message(message)
    assert len(normalised) <= MAX_NORMALISED
    assert normalise_message(message) == normalised
    assert cause_id_of(JOB, "TIMEOUT", message) == cause_id_of(JOB, "TIMEOUT", message)


@given(st.text("\"'`<>ab1:/@.-_ ", max_size=2000))
def test_a_message_of_nothing_but_marks_takes_no_longer(message):
    assert len(normalise_message(message)) <= MAX_NORMALISED


def test_another_job_code_or_text_is_another_cause():
    causes = {
        cause_id_of(JOB, "HTTP_5XX", "answered 503"),
        cause_id_of(uuid4(), "HTTP_5XX", "answered 503"),
        cause_id_of(JOB, "HTTP_4XX", "answered 503"),
        cause_id_of(JOB, "HTTP_5XX", "answered 502"),
    }
    assert len(causes) == 4

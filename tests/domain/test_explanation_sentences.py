"""Every finding has a sentence in every language, and every reason has words."""

import re
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter

import pytest

from horae.domain.explanations.findings import ExplainedKind, Finding, FindingCode
from horae.domain.explanations.sentences import WORDS, heading, language_of, sentence
from horae.domain.explanations.words import Language
from horae.domain.instances.dead_letters import ReplayStatus
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, SkipReason
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.tasks.tasks import Decision, IgnoreReason
from horae.domain.tenants.tenants import TenantStatus

TABLES = {
    "skip": SkipReason,
    "hold": HoldReason,
    "error": ErrorCode,
    "decision": Decision,
    "ignored": IgnoreReason,
    "tenant": TenantStatus,
    "letter": ReplayStatus,
    "state": State,
    "kinds": ExplainedKind,
}
AT = datetime(2026, 11, 18, 2, 0, tzinfo=UTC)
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def fields(code, language):
    """The facts of a sentence and of its tails, each with how it is written."""
    found = WORDS[language].sentences[code]
    parts = [found.text, *found.tails.values()]
    return {(name, how) for part in parts for _, name, how, _ in Formatter().parse(part) if name}


@pytest.mark.parametrize("language", Language)
def test_every_finding_and_every_reason_has_words_of_its_own(language):
    words = WORDS[language]
    assert set(words.sentences) == set(FindingCode)
    for table, kinds in TABLES.items():
        known = getattr(words, table)
        assert set(known) == set(kinds), table
        assert len(set(known.values())) == len(known), f"two of {table} have the same words"
    assert sum(len(TABLES[name]) for name in ("skip", "hold", "error", "decision", "ignored")) >= 40


def test_both_languages_tell_the_same_facts_in_the_same_way():
    for code in FindingCode:
        english, chinese = WORDS[Language.EN].sentences[code], WORDS[Language.ZH].sentences[code]
        assert fields(code, Language.EN) == fields(code, Language.ZH), code
        assert list(english.tails) == list(chinese.tails), code
        assert CHINESE.search(chinese.text), code
        assert not CHINESE.search(english.text), code


def test_tails_times_spans_and_unknown_reasons():
    facts = {"instance": "ins_1", "fire_time": AT, "reason": "PEAK"}
    assert sentence(Finding(FindingCode.SKIPPED, facts), Language.EN) == (
        "ins_1 of the fire at 2026-11-18 02:00:00 UTC ran nothing: the nodes were at peak load, and every second fire "
        "of low priority is left out then"
    )
    more = facts | {"reason": "NEWER", "range_to": AT, "range_count": 7}
    said = sentence(Finding(FindingCode.SKIPPED, more), Language.EN)
    assert said.endswith("ran nothing: NEWER; the row stands for 7 fires up to 2026-11-18 02:00:00 UTC")
    for seconds, span in ((0.25, "250 ms"), (12.5, "12.5 s"), (420, "7 min"), (10_800, "3.0 h")):
        held = Finding(FindingCode.WAS_HELD, facts | {"held_s": seconds})
        assert f" {span}" in sentence(held, Language.EN)
        assert f" {span}" in sentence(held, Language.ZH)
    about = (ExplainedKind.JOB, "job_1", AT)
    assert heading(*about, Language.EN) == "job job_1, at 2026-11-18 02:00:00 UTC:"
    assert heading(*about, Language.ZH) == "任务 job_1，2026-11-18 02:00:00 UTC："


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("fr, zh-CN;q=0.9, en;q=0.8", "zh"),
        ("EN-us", "en"),
        ("zh-Hant", "zh"),
        ("x" * 9999, "en"),
    ],
)
def test_the_first_known_language_of_a_header_counts(header, language):
    assert language_of(header) == language


def test_the_page_lists_every_finding():
    page = (Path(__file__).parents[2] / "docs/why.md").read_text()
    assert [code for code in FindingCode if f"`{code}`" not in page] == []

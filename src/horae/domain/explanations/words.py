"""The words that a language needs for explanations."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from horae.domain.explanations.findings import ExplainedKind, FindingCode
from horae.domain.instances.dead_letters import ReplayStatus
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, SkipReason
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.tasks.tasks import Decision, IgnoreReason
from horae.domain.tenants.tenants import TenantStatus


class Language(StrEnum):
    """A language of explanations."""

    EN = "en"
    ZH = "zh"


class Sentence(NamedTuple):
    """The sentence of a finding, with its facts in braces.

    What follows a colon in the braces says how a fact is written: `time`, `span`, `list`, `attempts`, or one of the
    tables of `ExplanationWords`. A tail is added where its fact is known.
    """

    text: str
    tails: Mapping[str, str] = {}


class ExplanationWords(NamedTuple):
    """The words of one language. `heading` is the first line of an explanation in a terminal."""

    sentences: Mapping[FindingCode, Sentence]
    skip: Mapping[SkipReason, str]
    hold: Mapping[HoldReason, str]
    error: Mapping[ErrorCode, str]
    decision: Mapping[Decision, str]
    ignored: Mapping[IgnoreReason, str]
    tenant: Mapping[TenantStatus, str]
    letter: Mapping[ReplayStatus, str]
    state: Mapping[State, str]
    kinds: Mapping[ExplainedKind, str]
    heading: str
    attempt: str
    attempt_status: str
    comma: str
    unknown: str

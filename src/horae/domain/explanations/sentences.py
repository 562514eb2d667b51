"""Makes a sentence of a finding, in the language of the reader."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from horae.domain.explanations import chinese, english
from horae.domain.explanations.findings import ExplainedKind, Finding
from horae.domain.explanations.words import ExplanationWords, Language

WORDS: Final[dict[Language, ExplanationWords]] = {Language.EN: english.WORDS, Language.ZH: chinese.WORDS}
LONGEST_HEADER: Final = 200
"""Characters of an Accept-Language header that are read."""
MINUTE_S: Final = 60
HOUR_S: Final = 3600


def sentence(finding: Finding, language: Language) -> str:
    """Return the sentence of a finding. A reason that only a newer release knows stays as it is."""
    words = WORDS[language]
    found = words.sentences[finding.code]
    facts = _FactsOfFinding(finding.facts, words)
    tails = [tail for fact, tail in found.tails.items() if finding.facts.get(fact) is not None]
    return "".join(part.format_map(facts) for part in (found.text, *tails))


def heading(kind: ExplainedKind, subject: str, at: datetime, language: Language) -> str:
    """Return the first line of an explanation: what it is about, and when it was true."""
    words = WORDS[language]
    return words.heading.format(kind=words.kinds[kind], subject=subject, at=time_text(at))


def language_of(header: str | None) -> Language:
    """Return the language of an Accept-Language header: the first one that is known; English where none is."""
    for part in (header or "")[:LONGEST_HEADER].split(","):
        tag = part.partition(";")[0].strip().lower().partition("-")[0]
        if tag in set(Language):
            return Language(tag)
    return Language.EN


def time_text(at: datetime) -> str:
    """Return a time as a sentence has it."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _span(seconds: float) -> str:
    """Return a length of time as a sentence has it: `250 ms`, `12.5 s`, `7 min`, `3.0 h`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < MINUTE_S:
        return f"{seconds:.1f} s"
    return f"{seconds / MINUTE_S:.0f} min" if seconds < HOUR_S else f"{seconds / HOUR_S:.1f} h"


class _FactsOfFinding(dict[str, Any]):
    """The facts of a finding for its sentence."""

    def __init__(self, facts: Mapping[str, Any], words: ExplanationWords) -> None:
        super().__init__(facts)
        self._words = words

    def __getitem__(self, name: str) -> "_FactText":
        return _FactText(super().__getitem__(name), self._words)


class _FactText:
    """One fact. The part after the colon says how it is written."""

    def __init__(self, value: Any, words: ExplanationWords) -> None:
        self._value, self._words = value, words

    def __format__(self, how: str) -> str:
        match how:
            case "":
                return str(self._value)
            case "time":
                return time_text(self._value)
            case "span":
                return _span(self._value)
            case "list":
                return self._words.comma.join(self._value)
            case "attempts":
                return self._words.comma.join(_attempt(one, self._words) for one in self._value)
            case table:
                known: Mapping[str, str] = getattr(self._words, table)
                return known.get(self._value) or self._words.unknown.format(value=self._value)


def _attempt(note: Mapping[str, Any], words: ExplanationWords) -> str:
    code, status = note["code"], note.get("status")
    meaning = words.error.get(code) or words.unknown.format(value=code)
    status_text = "" if status is None else words.attempt_status.format(status=status)
    return words.attempt.format(attempt=note["attempt"], code=code, status=status_text, meaning=meaning)

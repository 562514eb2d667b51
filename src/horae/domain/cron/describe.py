"""Describes an expression as a sentence, so that a person sees how it was understood."""

from typing import Literal

from horae.domain.cron import chinese, english
from horae.domain.cron.engine import CronExpression

Language = Literal["en", "zh"]


def describe(cron: CronExpression, lang: Language = "en") -> str:
    """Return a description in English or Chinese. `H` appears as the value that it was resolved to."""
    return chinese.sentence(cron) if lang == "zh" else english.sentence(cron)

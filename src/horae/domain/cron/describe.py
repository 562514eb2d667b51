"""An expression as a sentence, so that nobody has to guess what was understood."""

from typing import Literal

from horae.domain.cron import chinese, english
from horae.domain.cron.engine import Cron

Language = Literal["en", "zh"]


def describe(cron: Cron, lang: Language = "en") -> str:
    """What the expression says, in English or Chinese. `H` appears as the value it stands for."""
    return chinese.sentence(cron) if lang == "zh" else english.sentence(cron)

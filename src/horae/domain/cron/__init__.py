"""Cron expressions in four dialects: parse them, compute fires, count them, describe them.

Here live the dialects, the parser, the search for the next fire, and descriptions in English and Chinese. Time zones
and clock changes live in `domain.zones.zones`, `domain.zones.dst` and `domain.zones.timeline`; policies live in
`domain.schedules`.

>>> cron = parse("0 */5 * * * ?")
>>> cron.dialect
<Dialect.SPRING6: 'spring6'>
"""

from horae.domain.cron.counting import count
from horae.domain.cron.describe import Language, describe
from horae.domain.cron.dialects import Dialect
from horae.domain.cron.engine import MAX_STEPS, CronExpression
from horae.domain.cron.parse import parse
from horae.domain.zones.dst import DstPolicy, Gap, Overlap

__all__ = [
    "MAX_STEPS",
    "CronExpression",
    "Dialect",
    "DstPolicy",
    "Gap",
    "Language",
    "Overlap",
    "count",
    "describe",
    "parse",
]

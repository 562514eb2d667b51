"""Cron in four dialects: parse, ask for the next fire, describe.

>>> cron = parse("0 */5 * * * ?")
>>> cron.dialect
<Dialect.SPRING6: 'spring6'>
"""

from horae.domain.cron.counting import count
from horae.domain.cron.describe import Language, describe
from horae.domain.cron.dialects import Dialect
from horae.domain.cron.engine import MAX_STEPS, Cron
from horae.domain.cron.parse import parse
from horae.domain.dst import DstPolicy, Gap, Overlap

__all__ = ["MAX_STEPS", "Cron", "Dialect", "DstPolicy", "Gap", "Language", "Overlap", "count", "describe", "parse"]

"""Parses a text into a `CronExpression`: its dialect, its fields, and whether such a day exists."""

from functools import lru_cache

from horae.domain.cron import engine
from horae.domain.cron.days import LENGTHS, DayRule, shapes
from horae.domain.cron.dialects import BY_COUNT, MACROS, ORDER, Dialect, Field, expand_macro
from horae.domain.cron.engine import CronExpression, Fields
from horae.domain.cron.fields import CronField, FieldReader
from horae.domain.errors import InvalidSchedule

LONGEST = 512
"""Characters of an expression."""
ALL_HOURS = (1 << 24) - 1
EVERY_YEAR = CronField("*", (1 << 130) - 1, starred=True, stepped=True)
ON_THE_MINUTE = CronField("0", 1)


def parse(text: str, dialect: Dialect | None = None, *, salt: str = "") -> CronExpression:
    """Return the compiled expression; raises `InvalidSchedule` with a reason for a person.

    Without a dialect five fields are `unix5`, six `spring6`, seven `quartz7`, and a macro is `unix5`. The salt
    (`tenant/name` of the job) decides the value of `H`.
    """
    if len(text) > LONGEST:
        raise InvalidSchedule(f"a cron expression has at most {LONGEST} characters, this one has {len(text)}")
    words = " ".join(text.split())
    if not words:
        raise InvalidSchedule("the cron expression is empty")
    if "H" not in words.upper():
        salt = ""  # so that equal expressions of different jobs share one value
    return _parse(words, None if dialect is None else Dialect(dialect), salt)


@lru_cache(maxsize=8192)
def _parse(text: str, dialect: Dialect | None, salt: str) -> CronExpression:
    if text.startswith("@"):
        dialect = dialect or Dialect.UNIX5
        words = _macro(text, dialect).upper().split()
    else:
        words = text.upper().split()
        dialect = dialect or _guess(text, len(words))
    order = ORDER[dialect]
    if len(words) != len(order):
        raise InvalidSchedule(
            f"{text!r} has {len(words)} fields, {dialect} has {len(order)}: "
            + ", ".join(field.value for field in order)
        )
    reader = FieldReader(dialect, salt)
    parts = {field: reader.read(field, word) for field, word in zip(order, words, strict=True)}
    return _compile(text, dialect, parts)


def _macro(text: str, dialect: Dialect) -> str:
    if text.lower() in MACROS:
        return expand_macro(text.lower(), dialect)
    if text.lower().startswith("@every"):
        raise InvalidSchedule(f"{text!r} is no point in time but a rhythm: use an interval trigger")
    if text.lower() == "@reboot":
        raise InvalidSchedule("'@reboot' has no meaning for a service that never stops as a whole")
    raise InvalidSchedule(f"{text!r} is not one of {', '.join(MACROS)}")


def _guess(text: str, count: int) -> Dialect:
    if count not in BY_COUNT:
        raise InvalidSchedule(f"{text!r} has {count} fields; a cron expression has 5, 6 or 7")
    return BY_COUNT[count]


def _compile(text: str, dialect: Dialect, parts: dict[Field, CronField]) -> CronExpression:
    fields = Fields(
        second=parts.get(Field.SECOND, ON_THE_MINUTE),
        minute=parts[Field.MINUTE],
        hour=parts[Field.HOUR],
        day=parts[Field.DAY],
        month=parts[Field.MONTH],
        weekday=parts[Field.WEEKDAY],
        year=parts.get(Field.YEAR, EVERY_YEAR),
    )
    rule = _day_rule(text, dialect, fields.day, fields.weekday)
    forms = shapes(rule)
    every_year = fields.year.mask == EVERY_YEAR.mask and dialect is not Dialect.QUARTZ7
    years = 0 if every_year else fields.year.mask
    _must_exist(text, forms, fields.month.mask, years)
    every_day = fields.month.mask == 0x1FFE and years == 0 and all(map(_is_full, range(len(forms)), forms))
    return CronExpression(
        text=text,
        dialect=dialect,
        fields=fields,
        elapsed=fields.hour.stepped or fields.hour.mask == ALL_HOURS,
        either=rule.either,
        seconds=engine.bits(fields.second.mask),
        minutes=engine.minutes_of_day(fields.hour.mask, fields.minute.mask),
        months=fields.month.mask,
        days=None if every_day else forms,
        years=years,
    )


def _day_rule(text: str, dialect: Dialect, day: CronField, weekday: CronField) -> DayRule:
    """Combine the two day fields: unix takes either one unless one begins with `*`; Spring takes both."""
    if dialect.is_quartz and (day.text == "?") == (weekday.text == "?"):
        raise InvalidSchedule(
            f"{text!r}: in {dialect} exactly one of day of month and day of week is '?', as in 0 0 12 * * ?"
        )
    either = dialect is Dialect.UNIX5 and not (day.starred or weekday.starred)
    return DayRule(day.mask, day.marks, weekday.mask, weekday.marks, either)


def _is_full(place: int, days: int) -> bool:
    return days == (2 << LENGTHS[place % len(LENGTHS)]) - 2


def _must_exist(text: str, forms: tuple[int, ...], months: int, years: int) -> None:
    """Refuse days that do not exist, such as 30 February. Years repeat in 14 kinds; 28 years contain them all."""
    looked = engine.bits(years) if years else range(2000 - engine.FIRST_YEAR, 2028 - engine.FIRST_YEAR)
    for year in looked:
        for number, (_, form) in enumerate(engine.months(year + engine.FIRST_YEAR), 1):
            if months >> number & 1 and forms[form]:
                return
    raise InvalidSchedule(f"{text!r} never fires: no year has such a day")

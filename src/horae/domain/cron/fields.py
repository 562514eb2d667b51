"""Parses one field of an expression into the set of its values."""

from dataclasses import dataclass

from horae.domain.cron import spread
from horae.domain.cron.days import LastDay, LastOf, Mark, Nearest, NthOf
from horae.domain.cron.dialects import Dialect, Field, names_of, numbers, sunday_based
from horae.domain.errors import InvalidSchedule


@dataclass(frozen=True, slots=True)
class CronField:
    """The parsed text of one field.

    `mask` has a bit for each plain value (weekdays from 0, Sunday; years from 1970). `marks` are days that depend on
    the month. `starred`: the text begins with `*`, or is `?`. `stepped`: the text is `*` or one open step, such as
    `*/2`, `3/2` or `H/2`; that is a rhythm and not a choice of values.
    """

    text: str
    mask: int
    marks: tuple[Mark, ...] = ()
    starred: bool = False
    stepped: bool = False


@dataclass(frozen=True, slots=True)
class FieldReader:
    """Parses the fields of one expression, with its dialect and salt."""

    dialect: Dialect
    salt: str

    def read(self, field: Field, text: str) -> CronField:
        """Parse a field; raises `InvalidSchedule` with the reason."""
        if text == "?":
            return self._unspecified(field)
        mask, marks = 0, []
        items = text.split(",")
        for item in items:
            mark = self._mark(field, item)
            if mark is None:
                mask |= self._values(field, item)
            else:
                marks.append(mark)
        stepped = len(items) == 1 and not marks and (text == "*" or ("/" in text and "-" not in text))
        return CronField(text, mask, tuple(marks), text.startswith("*"), stepped)

    def _unspecified(self, field: Field) -> CronField:
        if field not in {Field.DAY, Field.WEEKDAY} or self.dialect is Dialect.UNIX5:
            hint = " (it belongs to Quartz and Spring)" if self.dialect is Dialect.UNIX5 else ""
            raise InvalidSchedule(f"'?' cannot stand in the {field.value} field of {self.dialect}{hint}")
        mask = 0xFFFFFFFE if field is Field.DAY else 0x7F
        return CronField("?", mask, (), starred=True)

    def _mark(self, field: Field, item: str) -> Mark | None:
        """Return the day that depends on the month, if the item is one."""
        if field is Field.DAY:
            return self._day_mark(item)
        if field is Field.WEEKDAY:
            return self._weekday_mark(item)
        return None

    def _day_mark(self, item: str) -> Mark | None:
        workday = item.endswith("W")
        body = item.removesuffix("W")
        if body == "L":
            return LastDay(0, workday)
        if body.startswith("L-"):
            back = self._count(Field.DAY, item, body[2:])
            if not 0 <= back <= 30:
                raise InvalidSchedule(f"{item!r} reaches back {back} days; at most 30 are possible")
            return LastDay(back, workday)
        return Nearest(self._value(Field.DAY, body, item)) if workday else None

    def _weekday_mark(self, item: str) -> Mark | None:
        if "#" in item:
            day, _, nth = item.partition("#")
            k = self._count(Field.WEEKDAY, item, nth)
            if not 1 <= k <= 5:
                raise InvalidSchedule(f"{item!r}: a month has a first to a fifth weekday, not number {k}")
            return NthOf(self._weekday(day, item), k)
        if item == "L":
            if self.dialect.is_quartz:  # Quartz: the last day of the week
                return NthOf(6, 0)
            raise InvalidSchedule("'L' in the day of week field needs a day before it, such as 5L or FRIL")
        if item.endswith("L"):
            return LastOf(self._weekday(item[:-1], item))
        return None

    def _weekday(self, text: str, item: str) -> int:
        return sunday_based(self._value(Field.WEEKDAY, text, item), self.dialect)

    def _values(self, field: Field, item: str) -> int:
        """Return the plain values of `*`, `a`, `a-b`, `H`, `H(a-b)` and any of them with `/step`."""
        scope, slash, step_text = item.partition("/")
        step = self._step(field, item, step_text) if slash else 1
        low, high = self._scope(field, scope, item, stepped=bool(slash), step=step)
        return self._bits(field, low, high, step)

    def _step(self, field: Field, item: str, text: str) -> int:
        step, widest = self._count(field, item, text), numbers(field, self.dialect).widest_step
        if step == 0:
            raise InvalidSchedule(f"{item!r}: a step of 0 never moves on")
        if step > widest:
            raise InvalidSchedule(
                f"{item!r}: a step of {step} does not fit into the {field.value} field (at most {widest}); "
                "for a longer rhythm use an interval"
            )
        return step

    def _scope(self, field: Field, scope: str, item: str, *, stepped: bool, step: int) -> tuple[int, int]:
        """Return the first and the last value. A last value below the first wraps around if the dialect allows that."""
        known = numbers(field, self.dialect)
        if scope == "*" or (scope == "" and stepped and self.dialect.is_quartz):
            return known.first, known.high
        if scope.startswith("H"):
            return self._hashed(field, scope, item, stepped=stepped, step=step)
        left, dash, right = scope.partition("-")
        low = self._value(field, left, item)
        if not dash:
            return low, (known.high if stepped else low)
        return self._range(field, low, self._value(field, right, item), item)

    def _range(self, field: Field, low: int, high: int, item: str) -> tuple[int, int]:
        if low <= high:
            return low, high
        if self.dialect.is_quartz and field is not Field.YEAR:
            return low, high  # Quartz: an overflowing range, such as 22-2 or NOV-FEB
        if field is Field.WEEKDAY and low == 7:
            return 0, high  # 7-3, where the author counts Sunday as 7
        if field is Field.WEEKDAY and high == 0:
            return low, 7  # FRI-SUN
        raise InvalidSchedule(f"{item!r}: the range runs backwards in the {field.value} field")

    def _hashed(self, field: Field, scope: str, item: str, *, stepped: bool, step: int) -> tuple[int, int]:
        """Resolve `H` or `H(a-b)` to one value of the field or of that part; before a step, to the first value."""
        known = numbers(field, self.dialect)
        low, high = known.first, known.high
        if field is Field.DAY:
            high = spread.LAST_SAFE_DAY
        elif field is Field.WEEKDAY:
            high = low + 6
        if scope != "H":
            if not (scope.startswith("H(") and scope.endswith(")") and "-" in scope):
                raise InvalidSchedule(f"{item!r}: 'H' stands alone or with a range, such as H or H(0-29)")
            left, _, right = scope[2:-1].partition("-")
            low, high = self._value(field, left, item), self._value(field, right, item)
            if low > high:
                raise InvalidSchedule(f"{item!r}: the range runs backwards in the {field.value} field")
        if not stepped:
            place = spread.pick(self.salt, field, low, high)
            return place, place
        return spread.pick(self.salt, field, low, min(high, low + step - 1)), high

    def _bits(self, field: Field, low: int, high: int, step: int) -> int:
        """Return the mask of the values from `low` to `high`, with wrap-around."""
        known = numbers(field, self.dialect)
        size = known.high - known.first + 1
        top = high if low <= high else high + size
        mask = 0
        for value in range(low, top + 1, step):
            plain = value if value <= known.high else value - size
            if field is Field.WEEKDAY:
                plain = sunday_based(plain, self.dialect)
            elif field is Field.YEAR:
                plain -= known.low
            mask |= 1 << plain
        return mask

    def _value(self, field: Field, text: str, item: str) -> int:
        """Return a number or a name as a value within the field's range."""
        by_name = names_of(field, self.dialect)
        if text in by_name:
            return by_name[text]
        value, known = self._count(field, item, text), numbers(field, self.dialect)
        if not known.low <= value <= known.high:
            raise InvalidSchedule(
                f"{field.value} {value} does not exist in {self.dialect}: it has {known.low} to {known.high}"
            )
        return value

    def _count(self, field: Field, item: str, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 4):
            raise InvalidSchedule(f"{item!r} means nothing in the {field.value} field of {self.dialect}")
        return int(text)

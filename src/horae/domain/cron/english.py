"""Describes an expression in English."""

from horae.domain.cron.clock import clock_times
from horae.domain.cron.days import LastDay, LastOf, Mark, Nearest, NthOf
from horae.domain.cron.engine import CronExpression
from horae.domain.cron.fields import CronField
from horae.domain.cron.sets import Runs, Shape, Steps, Whole, shape_of

WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "",
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
ORDINALS = ("every", "first", "second", "third", "fourth", "fifth")


def sentence(cron: CronExpression) -> str:
    """Return a sentence such as: At 09:00, on Monday to Friday."""
    clauses = [*_times(cron), *_dates(cron)]
    text = ", ".join(clauses)
    return text[0].upper() + text[1:]


def _times(cron: CronExpression) -> list[str]:
    fields = cron.fields
    listed = clock_times(cron)
    if listed:
        return [f"at {_series(list(listed))}"]
    second = shape_of(fields.second.mask, 0, 59)
    minute = shape_of(fields.minute.mask, 0, 59)
    hour = shape_of(fields.hour.mask, 0, 23)
    clauses = []
    if not (isinstance(second, Runs) and second.single == 0):
        clauses.append(_unit(second, "second", "minute"))
    if not (clauses and isinstance(minute, Whole)) or isinstance(second, Runs):
        clauses.append(_unit(minute, "minute", "hour"))
    if isinstance(hour, Whole):
        if not isinstance(minute, Whole | Steps):
            clauses.append("every hour")
    elif isinstance(hour, Runs):
        clauses.append(_series([f"from {first:02}:00 to {last:02}:59" for first, last in hour.runs]))
    else:
        clauses.append(_unit(hour, "hour", "day"))
    return clauses


def _unit(shape: Shape, unit: str, around: str) -> str:
    match shape:
        case Whole():
            return f"every {unit}"
        case Steps(first, step, even):
            begin = f" from {unit} {first}" if first else ""
            return f"every {step} {unit}s{begin}" + ("" if even else f", anew in each {around}")
        case Runs(runs):
            many = "" if shape.single is not None else "s"
            return f"at {unit}{many} {_series([_run(str(a), str(b)) for a, b in runs])}"


def _dates(cron: CronExpression) -> list[str]:
    fields = cron.fields
    clauses = []
    days, weekdays = _days(fields.day), _weekdays(fields.weekday)
    if days and weekdays:
        if cron.either:
            clauses.append(f"on {days} or on {weekdays}")
        else:
            clauses.append(f"on {days} when it is {weekdays}")
    elif days or weekdays:
        clauses.append(f"on {days or weekdays}")
    month = shape_of(fields.month.mask, 1, 12)
    if isinstance(month, Steps):
        month = Runs(tuple((k, k) for k in range(month.first, 13, month.step)))
    if isinstance(month, Runs):
        clauses.append(f"in {_series([_run(MONTHS[a], MONTHS[b]) for a, b in month.runs])}")
    elif not clauses and clock_times(cron):
        clauses.append("every day")
    year = shape_of(fields.year.mask << 1970, 1970, 2099)
    if isinstance(year, Steps):
        clauses.append(f"every {year.step} years from {year.first}")
    elif isinstance(year, Runs):
        clauses.append(f"in {_series([_run(str(a), str(b)) for a, b in year.runs])}")
    return clauses


def _days(part: CronField) -> str:
    said = [_mark(mark) for mark in part.marks]
    if part.mask:
        match shape_of(part.mask, 1, 31):
            case Whole():
                return ""
            case Steps(first, step, _):
                said.insert(0, f"every {step} days from day {first} of the month")
            case Runs(runs) as found:
                many = "" if found.single is not None else "s"
                said.insert(0, f"day{many} {_series([_run(str(a), str(b)) for a, b in runs])} of the month")
    return _series(said)


def _weekdays(part: CronField) -> str:
    said = [_mark(mark) for mark in part.marks]
    if part.mask == 0x7F:
        return ""
    if part.mask:
        # Monday first, Sunday last, as most people count.
        found = shape_of(part.mask >> 1 | (part.mask & 1) << 6, 0, 6)
        runs = found.runs if isinstance(found, Runs) else ()
        if isinstance(found, Steps):
            runs = tuple((k, k) for k in range(found.first, 7, found.step))
        said.insert(0, _series([_run(WEEKDAYS[(a + 1) % 7], WEEKDAYS[(b + 1) % 7]) for a, b in runs]))
    return _series(said)


def _mark(mark: Mark) -> str:
    match mark:
        case LastDay(back, workday):
            day = "the last day of the month" if back == 0 else f"{back} days before the last day of the month"
            day = "the day before the last day of the month" if back == 1 else day
            return f"the workday nearest to {day}" if workday and back else _last(day, workday)
        case Nearest(day):
            return f"the workday nearest to day {day} of the month"
        case LastOf(weekday):
            return f"the last {WEEKDAYS[weekday]} of the month"
        case NthOf(weekday, 0):
            return WEEKDAYS[weekday]
        case NthOf(weekday, nth):
            return f"the {ORDINALS[nth]} {WEEKDAYS[weekday]} of the month"


def _last(day: str, workday: bool) -> str:
    return "the last workday of the month" if workday else day


def _run(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _series(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""

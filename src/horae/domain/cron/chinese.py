"""Describes an expression in Chinese."""

from horae.domain.cron.clock import clock_times
from horae.domain.cron.days import LastDay, LastOf, Mark, Nearest, NthOf
from horae.domain.cron.engine import CronExpression
from horae.domain.cron.fields import CronField
from horae.domain.cron.sets import Runs, Shape, Steps, Whole, shape_of

WEEKDAYS = ("周日", "周一", "周二", "周三", "周四", "周五", "周六")
ORDINALS = ("每", "第一", "第二", "第三", "第四", "第五")


def sentence(cron: CronExpression) -> str:
    """Return a sentence such as: 周一至周五 09:00 执行."""
    return f"{_dates(cron)}{_times(cron)}执行"


def _times(cron: CronExpression) -> str:
    fields = cron.fields
    listed = clock_times(cron)
    if listed:
        return f" {'、'.join(listed)} "
    second = shape_of(fields.second.mask, 0, 59)
    minute = shape_of(fields.minute.mask, 0, 59)
    hour = shape_of(fields.hour.mask, 0, 23)
    clauses = []
    if isinstance(hour, Runs):
        clauses.append("、".join(f"{first:02}:00 至 {last:02}:59" for first, last in hour.runs))
    elif isinstance(hour, Steps):
        clauses.append(_unit(hour, "小时", "点", "天"))
    elif not isinstance(minute, Whole | Steps):
        clauses.append("每小时")
    on_the_minute = isinstance(second, Runs) and second.single == 0
    if on_the_minute or not isinstance(minute, Whole) or isinstance(second, Runs):
        clauses.append(_unit(minute, "分钟", "分", "小时"))
    if not on_the_minute:
        clauses.append(_unit(second, "秒", "秒", "分钟"))
    return "，".join(clauses)


def _unit(shape: Shape, length: str, point: str, around: str) -> str:
    match shape:
        case Whole():
            return f"每{length}"
        case Steps(first, step, even):
            begin = f"从第 {first} {point}起" if first else ""
            return f"{begin}每 {step} {length}" + ("" if even else f"（每{around}重新开始）")
        case Runs(runs):
            return f"第 {'、'.join(_run(str(a), str(b)) for a, b in runs)} {point}"


def _dates(cron: CronExpression) -> str:
    fields = cron.fields
    said = ""
    year = shape_of(fields.year.mask << 1970, 1970, 2099)
    if isinstance(year, Steps):
        said += f"自 {year.first} 年起每 {year.step} 年，"
    elif isinstance(year, Runs):
        said += "、".join(_run(f"{a} 年", f"{b} 年") for a, b in year.runs) + " "
    month = shape_of(fields.month.mask, 1, 12)
    if isinstance(month, Steps):
        month = Runs(tuple((k, k) for k in range(month.first, 13, month.step)))
    if isinstance(month, Runs):
        said += "、".join(_run(f"{a} 月", f"{b} 月") for a, b in month.runs) + " "
    days, weekdays = _days(fields.day), _weekdays(fields.weekday)
    if (days or fields.weekday.marks) and not isinstance(month, Runs):
        said += "每月 "
    if days and weekdays:
        said += f"{days}或{weekdays}" if cron.either else f"{days}且为{weekdays}"
    elif days or weekdays:
        said += days or weekdays
    elif clock_times(cron):
        said += "每天"
    said = said.replace("每月 最", "每月最").replace("每月 从", "每月从").replace("每月 第", "每月第")
    return said.strip() + ("，" if said and not clock_times(cron) else "")


def _days(part: CronField) -> str:
    said = [_mark(mark) for mark in part.marks]
    if part.mask:
        match shape_of(part.mask, 1, 31):
            case Whole():
                return ""
            case Steps(first, step, _):
                said.insert(0, f"从 {first} 日起每 {step} 天")
            case Runs(runs):
                said.insert(0, "、".join(_run(f"{a} 日", f"{b} 日") for a, b in runs))
    return "、".join(said)


def _weekdays(part: CronField) -> str:
    said = [_mark(mark) for mark in part.marks]
    if part.mask == 0x7F:
        return ""
    if part.mask:
        found = shape_of(part.mask >> 1 | (part.mask & 1) << 6, 0, 6)  # Monday first, Sunday last
        runs = found.runs if isinstance(found, Runs) else ()
        if isinstance(found, Steps):
            runs = tuple((k, k) for k in range(found.first, 7, found.step))
        said.insert(0, "、".join(_run(WEEKDAYS[(a + 1) % 7], WEEKDAYS[(b + 1) % 7]) for a, b in runs))
    return "、".join(said)


def _mark(mark: Mark) -> str:
    match mark:
        case LastDay(0, workday):
            return "最后一个工作日" if workday else "最后一天"
        case LastDay(back, workday):
            return f"距月末前 {back} 天" + ("最近的工作日" if workday else "")
        case Nearest(day):
            return f"距 {day} 日最近的工作日"
        case LastOf(weekday):
            return f"最后一个{WEEKDAYS[weekday]}"
        case NthOf(weekday, 0):
            return WEEKDAYS[weekday]
        case NthOf(weekday, nth):
            return f"{ORDINALS[nth]}个{WEEKDAYS[weekday]}"


def _run(first: str, last: str) -> str:
    return first if first == last else f"{first}至 {last}" if last[0].isdigit() else f"{first}至{last}"

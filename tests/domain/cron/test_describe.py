"""The sentences people read before they trust an expression."""

import pytest

from horae.domain.cron import Dialect, describe, parse


@pytest.mark.parametrize(
    ("text", "dialect", "english", "chinese"),
    [
        ("* * * * *", None, "Every minute", "每分钟执行"),
        ("*/5 * * * *", None, "Every 5 minutes", "每 5 分钟执行"),
        ("0 */5 * * * ?", None, "Every 5 minutes", "每 5 分钟执行"),
        ("0 * * * *", None, "At minute 0, every hour", "每小时，第 0 分执行"),
        ("30 2 * * *", None, "At 02:30, every day", "每天 02:30 执行"),
        ("0 9 * * 1-5", None, "At 09:00, on Monday to Friday", "周一至周五 09:00 执行"),
        (
            "*/15 9-17 * * MON-FRI",
            None,
            "Every 15 minutes, from 09:00 to 17:59, on Monday to Friday",
            "周一至周五，09:00 至 17:59，每 15 分钟执行",
        ),
        ("0 0 1 * *", None, "At 00:00, on day 1 of the month", "每月 1 日 00:00 执行"),
        (
            "0 0 13 * FRI",
            None,
            "At 00:00, on day 13 of the month or on Friday",
            "每月 13 日或周五 00:00 执行",
        ),
        (
            "0 0 0 13 * FRI",
            None,
            "At 00:00, on day 13 of the month when it is Friday",
            "每月 13 日且为周五 00:00 执行",
        ),
        ("30 * * * * *", None, "At second 30, every minute", "每分钟，第 30 秒执行"),
        ("*/10 * * * * *", None, "Every 10 seconds", "每 10 秒执行"),
        (
            "0 */7 * * * *",
            None,
            "Every 7 minutes, anew in each hour",
            "每 7 分钟（每小时重新开始）执行",
        ),
        (
            "0 0 0 ? * 6#3",
            Dialect.QUARTZ6,
            "At 00:00, on the third Friday of the month",
            "每月第三个周五 00:00 执行",
        ),
        ("0 0 0 LW * ?", None, "At 00:00, on the last workday of the month", "每月最后一个工作日 00:00 执行"),
        (
            "0 30 8 15W JAN-MAR ? 2026-2030",
            None,
            "At 08:30, on the workday nearest to day 15 of the month, in January to March, in 2026 to 2030",
            "2026 年至 2030 年 1 月至 3 月 距 15 日最近的工作日 08:30 执行",
        ),
        ("0 22 * * 1,3,5", None, "At 22:00, on Monday, Wednesday and Friday", "周一、周三、周五 22:00 执行"),
    ],
)
def test_an_expression_reads_as_a_sentence(text, dialect, english, chinese):
    cron = parse(text, dialect)
    assert describe(cron) == english
    assert describe(cron, "zh") == chinese


def test_a_hashed_value_is_told_as_the_value_it_stands_for():
    cron = parse("H 3 * * *", salt="acme/report")
    minute = cron.minutes[0] // 60 % 60
    assert describe(cron) == f"At 03:{minute:02}, every day"

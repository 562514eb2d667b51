"""Kinds, messages, texts and channels of alerts."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from horae.domain.alerts.bounds import LONGEST_ID, bounded, cut_bytes, one_line
from horae.domain.alerts.channels import (
    MOST_RECIPIENTS,
    AlertChannel,
    AlertLanguage,
    AlertmanagerChannel,
    DingTalkChannel,
    EmailChannel,
    FeishuChannel,
    PagerDutyChannel,
    SlackChannel,
    WebhookChannel,
    WeComChannel,
    secrets_of,
)
from horae.domain.alerts.kinds import DEFAULTS, AlertKind, AlertScope, AlertSeverity
from horae.domain.alerts.messages import AlertMessage, AlertStatus, message_id
from horae.domain.alerts.texts import LIMITS, WORDS, alert_text, body, fitting, safe_link, title
from horae.domain.errors import Invalid

OPENED_AT = datetime(2026, 11, 17, 3, 0, tzinfo=UTC)
MESSAGE = AlertMessage(
    id="alert_1.firing.1",
    group_key="acme/dead_letter/invoices",
    status=AlertStatus.FIRING,
    kind=AlertKind.DEAD_LETTER,
    severity=AlertSeverity.CRITICAL,
    tenant="acme",
    opened_at=OPENED_AT,
    reason="the target answered 503 in 5 attempts",
    job="invoices",
    owner="payments",
    count=214,
    link="https://horae.example.com/console/alerts/7",
    runbook="https://wiki.example.com/invoices",
)
CHANNELS = (
    FeishuChannel(url_secret="hook", signing="sign", language=AlertLanguage.ZH),
    DingTalkChannel(url_secret="hook"),
    WeComChannel(url_secret="hook"),
    SlackChannel(url_secret="hook"),
    PagerDutyChannel(routing_key="key"),
    AlertmanagerChannel(url="http://alertmanager:9093", bearer="token"),
    WebhookChannel(url="https://example.com/alerts", signing="sign"),
    EmailChannel(to=("ops@example.com",)),
)


def changed(**facts: object) -> AlertMessage:
    return msgspec.structs.replace(MESSAGE, **facts)


# Kinds


def test_every_kind_has_a_severity_and_somebody_who_acts():
    assert set(DEFAULTS) == set(AlertKind)
    assert {kind.scope for kind in AlertKind} == set(AlertScope)
    assert AlertKind.CELL_DOWN.severity == AlertSeverity.CRITICAL
    assert AlertKind.LATE.runbook_page == "runbooks/late.md"


@pytest.mark.parametrize("language", AlertLanguage)
def test_every_kind_has_a_name_and_a_meaning_of_its_own(language):
    words = WORDS[language]
    assert set(words.names) == set(words.meanings) == set(AlertKind)
    assert len(set(words.names.values())) == len(set(words.meanings.values())) == len(AlertKind)
    assert all(len(meaning) <= 200 for meaning in words.meanings.values())


# Messages


def test_the_id_of_a_message_is_constant_and_tells_one_opening_from_the_next():
    first = message_id("group", OPENED_AT, AlertStatus.FIRING)
    assert first == message_id("group", OPENED_AT, AlertStatus.FIRING)
    resolved = message_id("group", OPENED_AT, AlertStatus.RESOLVED)
    assert resolved.partition(".")[0] == first.partition(".")[0]
    others = {
        resolved,
        message_id("group", OPENED_AT, AlertStatus.FIRING, 2),
        message_id("group", OPENED_AT + timedelta(seconds=1), AlertStatus.FIRING),
        message_id("another", OPENED_AT, AlertStatus.FIRING),
    }
    assert first not in others
    assert len(others) == 4


def test_a_message_of_the_product_passes_its_bounds_unchanged():
    assert bounded(MESSAGE) == MESSAGE


def test_a_message_of_an_enemy_is_cut_to_its_bounds():
    found = bounded(
        changed(id="a\r\nb", group_key="g" * 9999, job="j\n" * 9999, extra={str(n): "x" for n in range(99)})
    )
    assert found.id.isalnum()
    assert len(found.id) <= LONGEST_ID
    assert len(found.group_key) <= 255
    assert "\n" not in (found.job or "")
    assert len(found.extra) == 20
    keys = ["g" * 9998, "g" * 9999, "a\ud800", "a\ud801", "a\x00", "a\ufffd"]
    assert len({bounded(changed(group_key=key)).group_key for key in keys}) == len(keys)


# Texts


def test_a_title_says_how_serious_what_where_and_how_many():
    assert title(MESSAGE, AlertLanguage.EN) == "[Horae] CRITICAL: dead letter · acme/invoices · 214 times"
    assert title(MESSAGE, AlertLanguage.ZH) == "[Horae] 严重：出现死信 · acme/invoices · 214 次"


def test_a_title_of_one_alert_has_no_count_and_one_of_the_platform_no_job():
    found = title(changed(kind=AlertKind.CELL_DOWN, tenant="system", job=None, owner=None, count=1), AlertLanguage.EN)
    assert found == "[Horae] CRITICAL: a database cell cannot be reached · system"


@pytest.mark.parametrize(
    ("status", "words"),
    [(AlertStatus.RESOLVED, ("RESOLVED", "已恢复")), (AlertStatus.TEST, ("TEST", "测试"))],
)
def test_a_title_says_that_it_is_over_or_a_test(status, words):
    for language, word in zip(AlertLanguage, words, strict=True):
        assert word in title(changed(status=status), language)


def test_a_body_has_each_fact_on_a_line_in_both_languages():
    assert body(MESSAGE, AlertLanguage.EN).split("\n") == [
        "Status: FIRING",
        "Job: invoices",
        "Tenant: acme",
        "Owner: payments",
        "Reason: the target answered 503 in 5 attempts",
        "What it means: Horae gave up after the last attempt. "
        "The work was not done, and nobody tries it again until a person replays it.",
        "Since: 2026-11-17 03:00:00 UTC",
        "Open in Horae: https://horae.example.com/console/alerts/7",
        "Runbook: https://wiki.example.com/invoices",
        "Message id: alert_1.firing.1",
    ]
    labels = [line.partition("：")[0] for line in body(MESSAGE, AlertLanguage.ZH).split("\n")]
    facts = ["状态", "任务", "租户", "负责人", "原因", "含义", "开始时间"]
    assert labels == [*facts, "在 Horae 中打开", "处理手册", "消息 ID"]


def test_a_resolved_body_says_until_when():
    message = changed(status=AlertStatus.RESOLVED, resolved_at=OPENED_AT + timedelta(minutes=9))
    assert "Until: 2026-11-17 03:09:00 UTC" in body(message, AlertLanguage.EN)


def test_a_runbook_that_is_no_url_stays_a_text():
    lines = alert_text(changed(runbook="wiki: page of the night shift"), AlertLanguage.EN).lines
    [runbook] = [line for line in lines if line.label == "Runbook"]
    assert runbook.value == "wiki: page of the night shift"
    assert not runbook.is_link


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://x.example/a?b=c&d=%20#e", "https://x.example/a?b=c&d=%20#e"),
        ("https://x.example/(a)[b]|c*d'e\"f", "https://x.example/%28a%29%5Bb%5D%7Cc%2Ad%27e%22f"),
        ("https://x.example/<!channel>", "https://x.example/%3C%21channel%3E"),
        ("javascript:alert(1)", None),
        ("https://user:word@x.example/", None),
        ("https://x.example/a b", None),
        ("https://x.example/" + "a" * 1000, None),
        ("https://x.example/" + "(" * 400, None),
        (None, None),
    ],
)
def test_a_link_has_no_character_that_ends_it(url, link):
    assert safe_link(url) == link


def test_a_text_shrinks_until_it_fits():
    message = changed(reason="r" * 9999, extra={str(n): "v" for n in range(30)})
    sizes = [len(alert_text(message, AlertLanguage.EN, limits).plain()) for limits in LIMITS]
    assert sizes == sorted(sizes, reverse=True)
    assert fitting(message, AlertLanguage.EN, lambda text: len(text.plain()), lambda size: size <= sizes[1]) == sizes[1]
    assert fitting(message, AlertLanguage.EN, lambda text: len(text.plain()), lambda _: False) == sizes[-1]


def test_a_line_has_no_unseen_character_and_is_cut_at_a_whole_one():
    assert one_line(" a\r\n b\u2028c\t\x00\u202e\ud800 ", 20) == "a b c ���"
    assert one_line("x" * 100, 5) == "xxxx…"
    assert cut_bytes("漢字", 5) == "漢"
    assert cut_bytes("😀" * 10, 4096) == "😀" * 10
    assert len(cut_bytes("😀" * 5000, 4095).encode()) == 4092


# Channels


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_channel_is_read_as_it_was_written(channel):
    assert msgspec.json.decode(msgspec.json.encode(channel), type=AlertChannel) == channel


def test_a_channel_names_its_secrets():
    found = [secrets_of(channel) for channel in CHANNELS]
    assert found == [("hook", "sign"), ("hook",), ("hook",), ("hook",), ("key",), ("token",), ("sign",), ()]


@pytest.mark.parametrize(
    "make",
    [
        lambda: FeishuChannel(url_secret="https://open.feishu.cn/open-apis/bot/v2/hook/canary"),
        lambda: DingTalkChannel(url_secret="hook", signing="SEC canary"),
        lambda: SlackChannel(url_secret="https://hooks.slack.com/services/canary"),
        lambda: WeComChannel(url_secret=""),
        lambda: PagerDutyChannel(routing_key="canary key"),
        lambda: WebhookChannel(url="https://x.example", signing="whsec_canary/=="),
    ],
)
def test_a_value_in_the_place_of_a_name_is_refused_and_not_repeated(make):
    with pytest.raises(Invalid) as caught:
        make()
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://x/", "x", "https:///a", "https://x/ö", "https://x/" + "a" * 2000])
def test_a_channel_needs_a_url_of_the_web(url):
    for make in (
        lambda: AlertmanagerChannel(url=url),
        lambda: WebhookChannel(url=url, signing="s"),
        lambda: PagerDutyChannel(routing_key="k", url=url),
    ):
        with pytest.raises(Invalid):
            make()


def test_the_address_of_an_alertmanager_has_no_query():
    with pytest.raises(Invalid):
        AlertmanagerChannel(url="https://x.example/?a=b")


@pytest.mark.parametrize(
    "address",
    [
        *("", "ops", "@example.com", "ops@", "ops@example", "a b@example.com", "ops@example.com\r\nBcc: x@y.example"),
        *(
            "Ops <ops@example.com>",
            '"a"@example.com',
            "ops@example.com,x@y.example",
            "a@b@example.com",
            "öps@example.com",
        ),
        "x" * 65 + "@example.com",
    ],
)
def test_an_address_that_is_more_than_an_address_is_refused(address):
    with pytest.raises(Invalid):
        EmailChannel(to=(address,))


@pytest.mark.parametrize("to", [(), ("a@example.com",) * (MOST_RECIPIENTS + 1)])
def test_a_mail_has_some_addresses_and_not_too_many(to):
    with pytest.raises(Invalid):
        EmailChannel(to=to)

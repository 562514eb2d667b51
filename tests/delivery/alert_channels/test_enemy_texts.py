"""A tenant who means harm writes markup, mentions and links into every name: no vendor reads any of it as such."""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import msgspec
import pytest

from horae.delivery.alert_channels.mail import build_mail
from horae.domain.alerts.channels import AlertLanguage, EmailChannel
from tests.delivery.alert_channels.messages import CONSOLE, ENEMY_TEXTS, an_enemys_message
from tests.delivery.alert_channels.vendors import VENDORS, meeting
from tests.delivery.builders import TENANT

MARKDOWN_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
SLACK_MARK = re.compile(r"<[^>]*>")
OWN_LINKS = {CONSOLE, "https://evil.example/login"}
"""The console, and the runbook where the tenant's own text is a URL: a runbook is a link of the tenant by design."""


async def taken(client, name: str, text: str, language: AlertLanguage) -> Any:
    async with meeting(client, name, language=language) as met:
        await met.sender.send(TENANT, None, met.channel, an_enemys_message(text))
    [one] = met.receiver.taken
    return one


def values(tree: Any, name: str) -> Iterator[Any]:
    """Every value of this name in a tree of JSON."""
    if isinstance(tree, dict):
        yield from (value for key, value in tree.items() if key == name)
        yield from (found for value in tree.values() for found in values(value, name))
    elif isinstance(tree, list):
        yield from (found for value in tree for found in values(value, name))


cases = pytest.mark.parametrize("text", ENEMY_TEXTS, ids=[ascii(text)[:30] for text in ENEMY_TEXTS])
languages = pytest.mark.parametrize("language", AlertLanguage)


@cases
@languages
@pytest.mark.parametrize("name", [vendor.name for vendor in VENDORS])
async def test_every_vendor_takes_the_message_of_an_enemy_within_its_bounds(client, name, language, text):
    await taken(client, name, text, language)


@cases
@languages
async def test_feishu_gets_nothing_but_plain_text_and_buttons(client, language, text):
    card = (await taken(client, "feishu", text, language))["card"]
    assert set(values(card, "tag")) <= {"div", "plain_text", "action", "button"}
    assert set(values(card, "url")) <= OWN_LINKS


@cases
@languages
@pytest.mark.parametrize("name", ["dingtalk", "wecom"])
async def test_markdown_has_no_mention_no_tag_and_only_our_links(client, name, language, text):
    markdown = (await taken(client, name, text, language))["markdown"]
    content = markdown.get("text") or markdown["content"]
    found = MARKDOWN_LINK.findall(content)
    assert {url for _, url in found} <= OWN_LINKS
    rest = MARKDOWN_LINK.sub("", content)
    assert not set("<>@[]()`!|\\") & set(rest)
    assert "://" not in rest
    assert rest.count("#") == 3
    assert not set("<>@[]()`!|\\#") & set(markdown.get("title", ""))


@languages
async def test_the_links_stay_in_the_longest_message_that_wecom_takes(client, language):
    long = "https://x.example/" + "a" * 980
    message = msgspec.structs.replace(an_enemys_message("😀" * 5000), link=long, runbook=long)
    async with meeting(client, "wecom", language=language) as met:
        await met.sender.send(TENANT, None, met.channel, message)
    content = met.receiver.taken[0]["markdown"]["content"]
    assert [url for _, url in MARKDOWN_LINK.findall(content)] == [long, long]
    assert content.split("\n")[-1].startswith("**")


@cases
@languages
async def test_dingtalk_mentions_nobody(client, language, text):
    assert (await taken(client, "dingtalk", text, language))["at"] == {"isAtAll": False}


@cases
@languages
async def test_slack_gets_no_mark_but_our_links(client, language, text):
    message = await taken(client, "slack", text, language)
    texts = [message["text"], *[block["text"]["text"] for block in message["blocks"]]]
    marks = {mark.strip("<>").partition("|")[0] for one in texts for mark in SLACK_MARK.findall(one)}
    assert marks <= OWN_LINKS
    assert {block["text"]["type"] for block in message["blocks"][:2]} == {"plain_text"}
    assert all("&" not in re.sub(r"&(amp|lt|gt);", "", one) for one in texts)


@cases
@languages
async def test_alertmanager_sends_nothing_on_that_its_receivers_read_as_a_mention(client, language, text):
    [alert] = await taken(client, "alertmanager", text, language)
    assert not set("<>") & set(json.dumps([alert["labels"], alert["annotations"]]))
    assert "@" not in alert["annotations"]["summary"] + alert["annotations"]["description"]


@cases
@languages
async def test_a_mail_has_its_own_headers_and_nothing_else(language, text):
    channel = EmailChannel(to=("ops@example.com",), language=language)
    mail = build_mail("horae@example.com", channel, an_enemys_message(text), 0.0)
    head, _, body = mail.as_bytes().partition(b"\r\n\r\n")
    names = [line.partition(b":")[0].decode() for line in head.split(b"\r\n") if not line.startswith((b" ", b"\t"))]
    own = ["From", "To", "Subject", "Date", "Message-ID", "References", "Auto-Submitted"]
    assert names == [*own, "Content-Type", "Content-Transfer-Encoding", "MIME-Version"]
    assert re.fullmatch(rb"[A-Za-z0-9+/=\r\n]*", body)
    assert all(len(line) <= 998 for line in mail.as_bytes().split(b"\r\n"))


@cases
async def test_the_text_of_the_enemy_is_still_readable(client, text):
    """What is escaped is shown: Slack unescapes what we escaped, once."""
    shown = text.split()[0][:40]
    if shown.isprintable():
        message = await taken(client, "slack", text, AlertLanguage.EN)
        assert shown in unescape(message["blocks"][1]["text"]["text"])

"""Messages reach each vendor in the form that its published rule asks for, and wrong signatures are refused."""

import json

import pytest

from horae.domain.alerts.channels import AlertLanguage
from horae.domain.alerts.messages import AlertStatus
from horae.domain.errors import ChannelRefused
from tests.delivery.alert_channels.messages import CONSOLE, GROUP, RUNBOOK, a_message
from tests.delivery.alert_channels.vendors import VENDORS, meeting
from tests.delivery.builders import TENANT

NAMES = [vendor.name for vendor in VENDORS]
HOOKS = ["feishu", "dingtalk", "wecom", "slack"]


@pytest.mark.parametrize("status", AlertStatus)
@pytest.mark.parametrize("language", AlertLanguage)
@pytest.mark.parametrize("name", NAMES)
async def test_a_vendor_takes_a_message_in_each_status_and_language(client, name, language, status):
    async with meeting(client, name, language=language) as met:
        await met.sender.send(TENANT, None, met.channel, a_message(status))
    assert len(met.receiver.taken) == len(met.receiver.requests) == 1


@pytest.mark.parametrize("name", [name for name in NAMES if name != "alertmanager"])
async def test_a_message_names_job_owner_reason_meaning_link_and_runbook(client, name):
    async with meeting(client, name) as met:
        await met.sender.send(TENANT, None, met.channel, a_message())
    [taken] = met.receiver.taken
    text = json.dumps(taken, ensure_ascii=False)
    for fact in ("invoices", "payments", "answered 503", "Horae gave up", CONSOLE, RUNBOOK, "214"):
        assert fact in text


@pytest.mark.parametrize("name", ["feishu", "dingtalk"])
async def test_a_wrong_signature_is_refused_for_good(client, name):
    async with meeting(client, name, signing="SECanother") as met:
        with pytest.raises(ChannelRefused, match="signature"):
            await met.sender.send(TENANT, None, met.channel, a_message())
    assert not met.receiver.taken


async def test_a_webhook_refuses_a_signature_of_another_secret(client):
    async with meeting(client, "webhook", webhook="whsec_" + "QUJD" * 10) as met:
        with pytest.raises(ChannelRefused, match="answered 401"):
            await met.sender.send(TENANT, None, met.channel, a_message())
    assert not met.receiver.taken


async def test_a_webhook_has_the_constant_id_of_the_message(client):
    async with meeting(client, "webhook") as met:
        for _ in range(2):
            await met.sender.send(TENANT, None, met.channel, a_message())
    assert {seen.headers["webhook-id"] for seen in met.receiver.requests} == {a_message().id}
    first = met.receiver.taken[0]
    assert first["type"] == "alert.firing"
    assert first["data"]["group_key"] == GROUP
    assert first["title"].startswith("[Horae] CRITICAL")


@pytest.mark.parametrize("name", ["feishu", "dingtalk"])
async def test_a_hook_without_signature_check_needs_no_secret(client, name):
    async with meeting(client, name) as met:
        met.receiver.secret = None
        channel = type(met.channel)(url_secret="hook")
        await met.sender.send(TENANT, None, channel, a_message())
    [seen] = met.receiver.requests
    assert "sign" not in seen.body
    assert "sign" not in seen.query


@pytest.mark.parametrize("name", HOOKS)
async def test_a_hook_that_was_removed_is_refused_for_good(client, name):
    async with meeting(client, name, path="/gone") as met:
        with pytest.raises(ChannelRefused):
            await met.sender.send(TENANT, None, met.channel, a_message())


async def test_pagerduty_resolves_the_alert_that_the_firing_message_opened(client):
    async with meeting(client, "pagerduty") as met:
        await met.sender.send(TENANT, None, met.channel, a_message())
        assert [*met.receiver.open] == [GROUP]
        await met.sender.send(TENANT, None, met.channel, a_message(AlertStatus.RESOLVED))
        assert not met.receiver.open


async def test_a_test_of_pagerduty_is_no_critical_alert(client):
    async with meeting(client, "pagerduty") as met:
        await met.sender.send(TENANT, None, met.channel, a_message(AlertStatus.TEST))
    assert met.receiver.taken[0]["payload"]["severity"] == "info"


async def test_the_card_of_feishu_has_the_colour_of_its_severity_and_green_when_it_is_over(client):
    async with meeting(client, "feishu") as met:
        for status in AlertStatus:
            await met.sender.send(TENANT, None, met.channel, a_message(status))
    assert [taken["card"]["header"]["template"] for taken in met.receiver.taken] == ["red", "green", "green"]

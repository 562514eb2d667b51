"""Alerts by the command line: channels, rules, silences, and alerts that are acknowledged."""

import asyncio
from typing import Any

from horae.domain.ids import Prefix, private
from horae.service.context import Context
from horae.service.tenants import tenants
from horae.store.store import Store
from tests.alerts.world import AlertWorld, die
from tests.steps import a_job


class Nobody:
    """No channel takes anything here."""

    async def send(self, *_facts: object) -> None:
        raise AssertionError("nothing is sent in this test")


async def a_death(cells: Any) -> None:
    async with Store.of(cells) as store:
        ctx = Context.of(store, await tenants.find(store, "default"), "test")
        world = AlertWorld(store, Nobody())
        await world.watch()
        await die(ctx, await a_job(ctx), 3)
        await world.watch()


def test_a_channel_a_rule_and_an_alert_from_put_to_acknowledge(horae, cells):
    horae("migrate")
    horae("alert-channel", "put", "default", "--kind", "slack", "--url-secret", "slack-hook", "--language", "zh")
    [channel] = horae.json("alert-channel", "list")
    assert channel["channel"] == {"kind": "slack", "language": "zh", "url_secret": "slack-hook"}
    horae("alert-rule", "put", "deaths", "--kind", "dead_letter", "--label", "team=crm", "--channel", "default")
    assert [rule["labels"] for rule in horae.json("alert-rule", "list")] == [{"team": "crm"}]
    asyncio.run(a_death(cells))
    [alert] = horae.json("alert", "list", "--state", "OPEN")
    assert (alert["job"], alert["count"]) == ("job", 3)
    shown = horae.json("alert", "show", alert["id"])
    assert [message["state"] for message in shown["messages"]] == ["PENDING"]
    assert horae.json("alert", "acknowledge", alert["id"])["state"] == "ACKNOWLEDGED"
    assert private(Prefix.ALERT, alert["id"])
    assert horae.json("alert", "list", "--state", "OPEN") == []


def test_a_silence_is_put_for_some_minutes_and_removed(horae):
    horae("migrate")
    made = horae.json("silence", "put", "night", "--minutes", "30", "--job", "job", "--comment", "maintenance")
    assert (made["job"], made["comment"]) == ("job", "maintenance")
    assert [one["name"] for one in horae.json("silence", "list")] == ["night"]
    horae("silence", "remove", "night")
    assert horae.json("silence", "list") == []

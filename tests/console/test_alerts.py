"""Alerts: a channel is added and tested, an alert is seen, acknowledged and silenced, a rule is added and removed."""

import pytest
from playwright.async_api import expect

from horae.security.roles import Role
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.scene import SIGNING, Scene

BADGE_REFRESH_S = 15
LIST_REFRESH_S = 5
TEST_REFRESH_S = 1


def row(desk: Desk, text: str):
    return desk.page.get_by_role("row").filter(has_text=text)


@pytest.mark.parametrize("language", ["zh-CN"])
async def test_a_channel_is_added_tested_mended_and_removed(desk, home, served, words):
    await home.ask("PUT", "/secrets/ops-signing", {"value": SIGNING})
    await desk.go("/alerts")
    await desk.page.get_by_role("link", name=words("alerts.open.addChannel")).click()
    await expect(desk.page.get_by_text(words("alertSettings.channels.none"))).to_be_visible()

    await desk.press("alertSettings.channels.open")
    await desk.dialog.get_by_label(words("alertSettings.name"), exact=True).fill("ops")
    await desk.dialog.get_by_label(words("alertSettings.channels.kindLabel"), exact=True).click()
    await desk.page.get_by_title(words("alertSettings.channels.kind.webhook"), exact=True).click()
    url = desk.dialog.get_by_label(words("alertSettings.channels.form.url"), exact=True)
    await url.fill(f"{served.receiver.url}/down")
    signing = desk.dialog.get_by_label(words("alertSettings.channels.form.signing"), exact=True)
    await signing.click()
    await desk.page.locator(".ant-select-item-option").filter(has_text="ops-signing").click()
    await expect(desk.dialog).to_contain_text(words("alertSettings.channels.noSecrets"))
    await desk.dialog.get_by_role("button", name=words("alertSettings.channels.verb")).click()
    await expect(row(desk, "ops")).to_contain_text(words("alertSettings.channels.signed", name="ops-signing"))

    served.receiver.answers["/down"] = [503] * 1000
    await row(desk, "ops").get_by_role("button", name=words("alertSettings.test.verb")).click()
    await desk.dialog.get_by_role("button", name=words("alertSettings.test.verb")).click()
    await desk.until_seen(desk.dialog.get_by_text("503"), TEST_REFRESH_S)
    await expect(desk.dialog).to_contain_text(words.containing("alertSettings.test.retried"))
    served.receiver.answers["/down"] = []
    await desk.until_seen(desk.dialog.get_by_text(words("states.SENT")), TEST_REFRESH_S)
    await desk.page.keyboard.press("Escape")

    await row(desk, "ops").get_by_role("button", name=words("alertSettings.edit")).click()
    await expect(url).to_have_value(f"{served.receiver.url}/down")
    await url.fill(f"{served.receiver.url}/up")
    await desk.dialog.get_by_role("button", name=words("alertSettings.channels.verb")).click()
    await expect(row(desk, "/up")).to_be_visible()
    assert (await home.ask("GET", "/alert-channels/ops"))["channel"]["signing"] == "ops-signing"

    await row(desk, "ops").get_by_role("button", name=words("alertSettings.remove")).click()
    await expect(desk.dialog).to_contain_text(words("alertSettings.channels.waiting"))
    await desk.dialog.get_by_role("button", name=words("alertSettings.remove")).click()
    await expect(desk.page.get_by_text(words("alertSettings.channels.none"))).to_be_visible()


@pytest.mark.parametrize("language", ["en"])
async def test_an_alert_is_counted_opened_acknowledged_and_silenced(desk, home, served, words):
    scene = Scene(served, home)
    await scene.alert_channel()
    await desk.go("/")
    menu = desk.page.get_by_role("navigation", name=words("frame.menu.title"))
    await expect(menu.get_by_text(words("frame.openAlerts", count=1))).to_have_count(0)
    runbook = "https://wiki.example.com/settlement"
    await scene.dead_letters("settlement", 2, 503, owner="payments", runbook=runbook)
    alert = await scene.alert("settlement")
    await desk.until_seen(menu.get_by_text(words("frame.openAlerts", count=1)), BADGE_REFRESH_S)

    await menu.get_by_role("link", name=words("frame.pages.alerts")).click()
    opened = desk.page.locator("#open").get_by_role("row").filter(has_text="settlement")
    await expect(opened).to_contain_text("payments")
    await expect(opened).to_contain_text(words("states.OPEN"))
    await opened.get_by_role("link", name=words("alerts.kinds.dead_letter")).click()
    await expect(desk.page).to_have_url(f"{served.url}/console/alerts/{alert['id']}")
    await expect(desk.page.get_by_text(words("alerts.meanings.dead_letter"))).to_be_visible()
    await expect(desk.page.get_by_role("link", name=runbook)).to_have_attribute("href", runbook)
    message = desk.page.locator("#messages").get_by_role("row").filter(has_text="default")
    await desk.until_seen(message.filter(has_text=words("states.SENT")), LIST_REFRESH_S)

    await desk.press("alerts.acknowledge.verb")
    await expect(desk.dialog).to_contain_text(words("alerts.acknowledge.repeat"))
    await desk.dialog.get_by_role("button", name=words("alerts.acknowledge.verb")).click()
    await expect(desk.page.get_by_text(words("alerts.facts.acknowledged"))).to_be_visible()
    await expect(menu.get_by_text(words("frame.openAlerts", count=1))).to_have_count(0)

    await desk.press("alertSettings.silences.verbOne")
    await desk.dialog.get_by_label(words("alertSettings.silences.comment")).fill("known, mended tomorrow")
    await expect(desk.dialog).to_contain_text(words("alertSettings.silences.ofJob", job="settlement"))
    await desk.dialog.get_by_role("button", name=words("alertSettings.silences.verbOne")).click()
    await expect(desk.page.get_by_role("heading", level=1)).to_be_visible()
    await expect(desk.page.get_by_text(words("states.SILENCED")).first).to_be_visible()
    [silence] = (await home.ask("GET", "/silences"))["items"]
    assert (silence["kinds"], silence["job"]) == (["dead_letter"], "settlement")

    await desk.go("/alerts?state=ACKNOWLEDGED&job=settlement")
    await expect(desk.page.locator("#acknowledged")).to_contain_text(words("states.SILENCED"))
    await desk.page.get_by_role("link", name=words("alerts.views.silences")).click()
    await row(desk, "mended tomorrow").locator("button.ant-btn-dangerous").click()
    await expect(desk.dialog).to_contain_text(
        words.any("alertSettings.silences.endsNow", "alertSettings.silences.dropped")
    )
    await desk.dialog.locator("button.ant-btn-dangerous").click()
    await expect(desk.page.get_by_text(words("alertSettings.silences.none"))).to_be_visible()


@pytest.mark.parametrize("language", ["en"])
async def test_a_rule_is_added_changed_and_removed(desk, home, words):
    await desk.go("/alerts/rules")
    await desk.press("alertSettings.rules.open")
    await desk.dialog.get_by_label(words("alertSettings.name"), exact=True).fill("coupons")
    await desk.dialog.get_by_label(words("alertSettings.rules.kind"), exact=True).click()
    await desk.page.get_by_title(words("alerts.kinds.no_success"), exact=True).click()
    unit = words("alertSettings.rules.unit.noSuccess")
    await desk.dialog.get_by_label(words("alertSettings.rules.threshold", unit=unit)).fill("3600")
    await expect(desk.dialog).to_contain_text(words("alertSettings.rules.replaces"))
    await desk.dialog.get_by_label(words("alertSettings.selector.job"), exact=True).fill("coupon_job")
    await expect(desk.dialog).to_contain_text(words("alertSettings.rules.beside"))
    await desk.dialog.get_by_role("button", name=words("alertSettings.rules.verb")).click()
    await expect(row(desk, "coupons")).to_contain_text(words("alertSettings.selector.jobIs", job="coupon_job"))
    await expect(row(desk, "coupons")).to_contain_text(words("alertSettings.rules.on"))

    await row(desk, "coupons").get_by_role("button", name=words("alertSettings.edit")).click()
    await desk.dialog.get_by_label(words("alertSettings.rules.enabled")).uncheck()
    await desk.dialog.get_by_role("button", name=words("alertSettings.rules.verb")).click()
    await expect(row(desk, "coupons")).to_contain_text(words("alertSettings.rules.isOff"))
    rule = await home.ask("GET", "/alert-rules/coupons")
    assert (rule["kind"], rule["threshold"], rule["enabled"]) == ("no_success", 3600, False)

    await row(desk, "coupons").get_by_role("button", name=words("alertSettings.remove")).click()
    await desk.dialog.get_by_role("button", name=words("alertSettings.remove")).click()
    await expect(desk.page.get_by_text(words("alertSettings.rules.none"))).to_be_visible()


async def test_a_viewer_sees_alerts_and_changes_nothing(served, browser, home, words):
    await Scene(served, home).alert_channel()
    async with profile(browser, words.language) as context:
        desk = Desk(await context.new_page(), served, words)
        await desk.log_in(await home.key_of(Role.VIEWER))
        await desk.open("/alerts/channels")
        for name in ("alertSettings.channels.open", "alertSettings.edit", "alertSettings.test.verb"):
            await expect(desk.button(name)).to_have_attribute("aria-disabled", "true")
        await desk.open("/alerts/silences")
        await expect(desk.button("alertSettings.silences.open")).to_have_attribute("aria-disabled", "true")
        desk.ears.check()

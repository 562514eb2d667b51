"""A job is edited in its form: what is changed is a new version, and what the form does not show stays."""

import pytest
from playwright.async_api import expect

from tests.console.scene import Scene


@pytest.mark.parametrize("language", ["en"])
async def test_a_job_is_edited_and_keeps_what_was_not_touched(desk, home, served, words):
    scene = Scene(served, home)
    await home.ask("PUT", "/calendars/cn", {"first": "2026-01-01", "last": "2035-12-31"})
    url = f"{served.receiver.url}/coupons"
    target = {"kind": "http", "url": url, "signing": "hooks", "read_timeout": 9.0}
    rules = {"calendars": [{"calendar": "cn", "mode": "exclude"}], "overlap": "forbid", "max_count": 1000}
    facts = {"policies": rules, "retry": {"base": 2.0, "max_failures": 4}, "limit": {"rate": 5.0}}
    before = await scene.job("coupon_job", cron="0 */5 * * * ?", target=target, **facts)

    await desk.go("/jobs/coupon_job/edit")
    await expect(desk.field("jobs.access.signing")).to_have_value("hooks")
    await expect(desk.field("jobs.access.neverOn")).to_have_value("cn")
    await desk.field("jobs.form.url").fill(f"{url}/v2")
    await desk.page.get_by_label(words("jobs.access.auth"), exact=True).click()
    await desk.page.locator(".ant-select-item-option").filter(has_text=words("jobs.auth.bearer")).click()
    await desk.field("jobs.authFact.token").fill("crm-token")
    await desk.page.get_by_label(words("jobs.access.limitMost")).fill("3")
    await desk.field("jobs.access.neverOn").fill("")
    await desk.press("jobs.change.idle")
    await expect(desk.page.get_by_text(words("jobs.version.diff", before=1, after=2)).first).to_be_visible()

    after = await home.ask("GET", "/jobs/coupon_job")
    assert after["version"] == 2
    assert after["target"] == before["target"] | {"url": f"{url}/v2", "auth": {"kind": "bearer", "token": "crm-token"}}
    assert after["policies"] == before["policies"] | {"calendars": []}
    assert (after["limit"]["rate"], after["limit"]["concurrency"]) == (5.0, 3)
    assert (after["retry"], after["trigger"]) == (before["retry"], before["trigger"])


@pytest.mark.parametrize("language", ["zh-CN"])
async def test_an_edit_does_not_overwrite_what_another_changed_meanwhile(desk, home, served, words):
    scene = Scene(served, home)
    made = await scene.job("coupon_job", cron="0 */5 * * * ?")
    await desk.go("/jobs/coupon_job/edit")
    await expect(desk.field("jobs.form.url")).to_have_value(made["target"]["url"])
    await home.ask("PUT", "/jobs/coupon_job", {"version": 1, "cron": "0 0 * * * ?", "target": made["target"]})
    await desk.field("jobs.form.url").fill(f"{served.receiver.url}/mine")
    await desk.press("jobs.change.idle")
    await expect(desk.page.get_by_role("alert")).to_contain_text("SCH_409_CONFLICT")
    assert (await home.ask("GET", "/jobs/coupon_job"))["target"] == made["target"]


@pytest.mark.parametrize("language", ["en", "zh-CN"])
async def test_a_job_whose_target_will_be_refused_says_so_on_its_page(desk, home, served, words):
    target = {"kind": "http", "url": "http://169.254.169.254/latest"}
    await Scene(served, home).job("coupon_job", cron="0 */5 * * * ?", target=target)
    await desk.go("/jobs/coupon_job")
    banner = desk.page.get_by_role("alert")
    await expect(banner).to_contain_text(words("jobs.warnings.title"))
    await expect(banner).to_contain_text("HORAE_EGRESS")

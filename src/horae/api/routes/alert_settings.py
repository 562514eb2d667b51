"""Routes of alert channels, alert rules and silences."""

from typing import Annotated

from fastapi import Path

from horae.api.models.alert_channels import AlertChannelView, ChannelTestView, NewAlertChannel
from horae.api.models.alerts import AlertRuleView, NewAlertRule, NewSilence, SilenceView
from horae.api.pages import Page, Paged
from horae.api.routes.subscriptions import ChannelName
from horae.api.routing import may, router
from horae.domain.ids import LONGEST_ID, Prefix, private
from horae.service.alerts import channels
from horae.service.context import Context

routes = router("alerts")
TestId = Annotated[str, Path(max_length=LONGEST_ID, examples=["alr_01hv3zq5k8e9r7t2m4n6p8s0v1"])]


@routes.put("/alert-channels/{name}")
async def put_alert_channel(
    ctx: Annotated[Context, may("alert_channels.put")], name: ChannelName, asked: NewAlertChannel
) -> AlertChannelView:
    """Create or change an alert channel.

    A channel named `default` turns on the default rules: dead letters, and the `late_after` and `fail_after` of jobs.
    """
    return AlertChannelView.of(await channels.put_channel(ctx, name, asked.to_domain()))


@routes.get("/alert-channels")
async def list_alert_channels(
    ctx: Annotated[Context, may("alert_channels.list")], paging: Paged
) -> Page[AlertChannelView]:
    """List the alert channels of the tenant, by name."""
    found = await channels.page_channels(ctx, paging.after, paging.take)
    return paging.page(found, AlertChannelView.of, lambda one: one.channel.name)


@routes.get("/alert-channels/{name}")
async def get_alert_channel(ctx: Annotated[Context, may("alert_channels.read")], name: ChannelName) -> AlertChannelView:
    """Get an alert channel."""
    return AlertChannelView.of(await channels.show_channel(ctx, name))


@routes.delete("/alert-channels/{name}")
async def remove_alert_channel(
    ctx: Annotated[Context, may("alert_channels.remove")], name: ChannelName
) -> AlertChannelView:
    """Remove an alert channel. Messages that still wait for it fail."""
    return AlertChannelView.of(await channels.remove_channel(ctx, name))


@routes.post("/alert-channels/{name}/test", status_code=202)
async def test_alert_channel(ctx: Annotated[Context, may("alert_channels.test")], name: ChannelName) -> ChannelTestView:
    """Send a test message on the same way as an alert. A node sends it within seconds; read the test to see how."""
    return ChannelTestView.of(await channels.test_channel(ctx, name))


@routes.get("/alert-tests/{test}")
async def get_alert_test(ctx: Annotated[Context, may("alert_channels.read")], test: TestId) -> ChannelTestView:
    """Get a test of an alert channel: whether the channel has taken the message, or why not."""
    return ChannelTestView.of(await channels.show_test(ctx, private(Prefix.ALERT, test)))


@routes.put("/alert-rules/{name}")
async def put_alert_rule(
    ctx: Annotated[Context, may("alert_rules.put")], name: ChannelName, asked: NewAlertRule
) -> AlertRuleView:
    """Create or change an alert rule. A rule without a selector replaces the default rule of its kind."""
    return AlertRuleView.of(await channels.put_rule(ctx, name, asked.to_domain()))


@routes.get("/alert-rules")
async def list_alert_rules(ctx: Annotated[Context, may("alert_rules.list")], paging: Paged) -> Page[AlertRuleView]:
    """List the alert rules of the tenant, by name. Default rules are not listed."""
    found = await channels.page_rules(ctx, paging.after, paging.take)
    return paging.page(found, AlertRuleView.of, lambda one: one.channel.name)


@routes.get("/alert-rules/{name}")
async def get_alert_rule(ctx: Annotated[Context, may("alert_rules.read")], name: ChannelName) -> AlertRuleView:
    """Get an alert rule."""
    return AlertRuleView.of(await channels.show_rule(ctx, name))


@routes.delete("/alert-rules/{name}")
async def remove_alert_rule(ctx: Annotated[Context, may("alert_rules.remove")], name: ChannelName) -> AlertRuleView:
    """Remove an alert rule."""
    return AlertRuleView.of(await channels.remove_rule(ctx, name))


@routes.put("/silences/{name}")
async def put_silence(
    ctx: Annotated[Context, may("silences.put")], name: ChannelName, asked: NewSilence
) -> SilenceView:
    """Create or change a silence: a maintenance window in which alerts are recorded and not sent."""
    return SilenceView.of(await channels.put_silence(ctx, name, asked.to_domain()))


@routes.get("/silences")
async def list_silences(ctx: Annotated[Context, may("silences.list")], paging: Paged) -> Page[SilenceView]:
    """List the silences of the tenant, by name."""
    found = await channels.page_silences(ctx, paging.after, paging.take)
    return paging.page(found, SilenceView.of, lambda one: one.channel.name)


@routes.get("/silences/{name}")
async def get_silence(ctx: Annotated[Context, may("silences.read")], name: ChannelName) -> SilenceView:
    """Get a silence."""
    return SilenceView.of(await channels.show_silence(ctx, name))


@routes.delete("/silences/{name}")
async def remove_silence(ctx: Annotated[Context, may("silences.remove")], name: ChannelName) -> SilenceView:
    """Remove a silence. Alerts that are still open are sent at the next look."""
    return SilenceView.of(await channels.remove_silence(ctx, name))

"""Routes of event subscriptions."""

from typing import Annotated

from fastapi import Path

from horae.api.models.subscriptions import NewSubscription, ReplayEvents, SubscriptionView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.events.channels import NAME
from horae.domain.names import LONGEST_NAME
from horae.service.context import Context
from horae.service.events import subscriptions

routes = router("events")
ChannelName = Annotated[str, Path(max_length=LONGEST_NAME, pattern=f"^{NAME.pattern}$", examples=["crm"])]


@routes.put("/subscriptions/{name}")
async def put_subscription(
    ctx: Annotated[Context, may("subscriptions.put")], name: ChannelName, asked: NewSubscription
) -> SubscriptionView:
    """Create or change a subscription. Events are delivered as CloudEvents, in order per job, at least once.

    A subscription of the tenant `system` receives the events of all tenants. A repeated request only increments the
    version, so there is no Idempotency-Key.
    """
    return SubscriptionView.of(await subscriptions.put(ctx, name, asked.to_domain()))


@routes.get("/subscriptions")
async def list_subscriptions(
    ctx: Annotated[Context, may("subscriptions.list")], paging: Paged
) -> Page[SubscriptionView]:
    """List the subscriptions of the tenant, by name."""
    found = await subscriptions.page(ctx, paging.after, paging.take)
    return paging.page(found, SubscriptionView.of, lambda one: one.channel.name)


@routes.get("/subscriptions/{name}")
async def get_subscription(ctx: Annotated[Context, may("subscriptions.read")], name: ChannelName) -> SubscriptionView:
    """Get a subscription with its progress."""
    return SubscriptionView.of(await subscriptions.show(ctx, name))


@routes.post("/subscriptions/{name}/pause")
async def pause_subscription(
    ctx: Annotated[Context, may("subscriptions.pause")], name: ChannelName
) -> SubscriptionView:
    """Pause a subscription. It keeps its position."""
    return SubscriptionView.of(await subscriptions.pause(ctx, name, paused=True))


@routes.post("/subscriptions/{name}/resume")
async def resume_subscription(
    ctx: Annotated[Context, may("subscriptions.resume")], name: ChannelName
) -> SubscriptionView:
    """Resume a subscription at its position, as far back as the history is kept."""
    return SubscriptionView.of(await subscriptions.pause(ctx, name, paused=False))


@routes.delete("/subscriptions/{name}")
async def remove_subscription(
    ctx: Annotated[Context, may("subscriptions.remove")], name: ChannelName
) -> SubscriptionView:
    """Remove a subscription."""
    return SubscriptionView.of(await subscriptions.remove(ctx, name))


@routes.post("/subscriptions/{name}/replay")
async def replay_events(
    ctx: Annotated[Context, may("subscriptions.replay")], name: ChannelName, asked: ReplayEvents
) -> SubscriptionView:
    """Deliver the events of a time span again (default: the last 15 minutes), before new events.

    A repeated event has the same id.
    """
    return SubscriptionView.of(await subscriptions.replay(ctx, name, asked.since, asked.until))

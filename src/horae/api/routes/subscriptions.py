"""Subscriptions to what happens: put, listed, shown with their progress, paused, removed, told again."""

from typing import Annotated

from fastapi import Path

from horae.api.models.subscriptions import NewSubscription, ReplaySpan, SubscriptionView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.channels import NAME
from horae.service import subscriptions
from horae.service.context import Context

routes = router("events")
ChannelName = Annotated[str, Path(max_length=120, pattern=f"^{NAME.pattern}$", examples=["crm"])]


@routes.put("/subscriptions/{name}")
async def put(
    ctx: Annotated[Context, may("subscriptions.put")], name: ChannelName, asked: NewSubscription
) -> SubscriptionView:
    """Begin to tell what happens from now on, as CloudEvents, in order per job and at least once; or change that.

    One of the tenant `system` is told of all tenants. Asking again changes nothing but the version, so there is no
    Idempotency-Key.
    """
    return SubscriptionView.of(await subscriptions.put(ctx, name, asked.wanted()))


@routes.get("/subscriptions")
async def listing(ctx: Annotated[Context, may("subscriptions.list")], paging: Paged) -> Page[SubscriptionView]:
    """The tenant's subscriptions by name."""
    found = await subscriptions.page(ctx, paging.after, paging.take)
    return paging.page(found, SubscriptionView.of, lambda one: one.channel.name)


@routes.get("/subscriptions/{name}")
async def show(ctx: Annotated[Context, may("subscriptions.read")], name: ChannelName) -> SubscriptionView:
    """A subscription with how far it was told."""
    return SubscriptionView.of(await subscriptions.show(ctx, name))


@routes.post("/subscriptions/{name}/pause")
async def pause(ctx: Annotated[Context, may("subscriptions.pause")], name: ChannelName) -> SubscriptionView:
    """Tell nothing until it is resumed; its place is kept."""
    return SubscriptionView.of(await subscriptions.pause(ctx, name, paused=True))


@routes.post("/subscriptions/{name}/resume")
async def resume(ctx: Annotated[Context, may("subscriptions.resume")], name: ChannelName) -> SubscriptionView:
    """Go on where it stood: what happened meanwhile is told now, as far back as history is kept."""
    return SubscriptionView.of(await subscriptions.pause(ctx, name, paused=False))


@routes.delete("/subscriptions/{name}")
async def remove(ctx: Annotated[Context, may("subscriptions.remove")], name: ChannelName) -> SubscriptionView:
    """Tell no more."""
    return SubscriptionView.of(await subscriptions.remove(ctx, name))


@routes.post("/subscriptions/{name}/replay")
async def replay(
    ctx: Annotated[Context, may("subscriptions.replay")], name: ChannelName, asked: ReplaySpan
) -> SubscriptionView:
    """Tell again what happened in a span of time, the last 15 minutes where none is named, before anything new.

    Receivers know by its id what they were told before.
    """
    return SubscriptionView.of(await subscriptions.replay(ctx, name, asked.since, asked.until))

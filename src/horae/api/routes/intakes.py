"""Intakes, by which schedule changes come in, and the messages that nothing could be made of."""

from typing import Annotated
from uuid import UUID

from fastapi import Path

from horae.api.models.intakes import IntakeView, NewIntake, ParkedView
from horae.api.pages import Page, Paged
from horae.api.routes.subscriptions import ChannelName
from horae.api.routing import may, router
from horae.domain.ids import Prefix, private
from horae.service import intakes, parked
from horae.service.context import Context

routes = router("events")
parking = router("events")
ParkedId = Annotated[str, Path(max_length=40, examples=["pkd_01j9zc5v3de5ks83hq2n7w4m1x"])]


@routes.put("/intakes/{name}")
async def put(ctx: Annotated[Context, may("intakes.put")], name: ChannelName, asked: NewIntake) -> IntakeView:
    """Take schedule changes from a topic of one of the deployment's brokers, from now on.

    Whose tasks they are this intake says, never a message. Asking again changes nothing but the version, so there is no
    Idempotency-Key.
    """
    return IntakeView.of(await intakes.put(ctx, name, asked.wanted()))


@routes.get("/intakes")
async def listing(ctx: Annotated[Context, may("intakes.list")], paging: Paged) -> Page[IntakeView]:
    """The tenant's intakes by name."""
    found = await intakes.page(ctx, paging.after, paging.take)
    return paging.page(found, IntakeView.of, lambda one: one.channel.name)


@routes.get("/intakes/{name}")
async def show(ctx: Annotated[Context, may("intakes.read")], name: ChannelName) -> IntakeView:
    """One intake."""
    return IntakeView.of(await intakes.find(ctx, name))


@routes.post("/intakes/{name}/pause")
async def pause(ctx: Annotated[Context, may("intakes.pause")], name: ChannelName) -> IntakeView:
    """Leave what comes in the topic until it is resumed."""
    return IntakeView.of(await intakes.pause(ctx, name, paused=True))


@routes.post("/intakes/{name}/resume")
async def resume(ctx: Annotated[Context, may("intakes.resume")], name: ChannelName) -> IntakeView:
    """Go on with what has come meanwhile."""
    return IntakeView.of(await intakes.pause(ctx, name, paused=False))


@routes.delete("/intakes/{name}")
async def remove(ctx: Annotated[Context, may("intakes.remove")], name: ChannelName) -> IntakeView:
    """Take no more; what lies in the topic stays there."""
    return IntakeView.of(await intakes.remove(ctx, name))


@parking.get("/parked")
async def waiting(ctx: Annotated[Context, may("parked.list")], paging: Paged) -> Page[ParkedView]:
    """Messages that nothing could be made of, oldest first."""
    after = None if paging.after is None else UUID(paging.after)
    return paging.page(await parked.page(ctx, after, paging.take), ParkedView.of, lambda one: str(one.id))


@parking.post("/parked/{message}/replay")
async def replay(ctx: Annotated[Context, may("parked.replay")], message: ParkedId) -> ParkedView:
    """Do now what it says; where that is still refused, it stays."""
    return ParkedView.of(await parked.replay(ctx, private(Prefix.PARKED, message)))


@parking.delete("/parked/{message}")
async def drop(ctx: Annotated[Context, may("parked.drop")], message: ParkedId) -> ParkedView:
    """It is not wanted any more."""
    return ParkedView.of(await parked.drop(ctx, private(Prefix.PARKED, message)))

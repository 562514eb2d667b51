"""Routes of intakes, which read schedule changes from topics, and of parked messages."""

from typing import Annotated
from uuid import UUID

from fastapi import Path

from horae.api.models.intakes import IntakeView, NewIntake, ParkedMessageView
from horae.api.pages import Page, Paged
from horae.api.routes.subscriptions import ChannelName
from horae.api.routing import may, router
from horae.domain.ids import Prefix, private
from horae.service.context import Context
from horae.service.events import intakes, parked_messages

routes = router("events")
parking = router("events")
ParkedId = Annotated[str, Path(max_length=40, examples=["pkd_01j9zc5v3de5ks83hq2n7w4m1x"])]


@routes.put("/intakes/{name}")
async def put_intake(ctx: Annotated[Context, may("intakes.put")], name: ChannelName, asked: NewIntake) -> IntakeView:
    """Create or change an intake, which reads schedule changes from a topic of a broker of the deployment.

    The intake decides the tenant, never a message. A repeated request only increments the version, so there is no
    Idempotency-Key.
    """
    return IntakeView.of(await intakes.put(ctx, name, asked.to_domain()))


@routes.get("/intakes")
async def list_intakes(ctx: Annotated[Context, may("intakes.list")], paging: Paged) -> Page[IntakeView]:
    """List the intakes of the tenant, by name."""
    found = await intakes.page(ctx, paging.after, paging.take)
    return paging.page(found, IntakeView.of, lambda one: one.channel.name)


@routes.get("/intakes/{name}")
async def get_intake(ctx: Annotated[Context, may("intakes.read")], name: ChannelName) -> IntakeView:
    """Get an intake."""
    return IntakeView.of(await intakes.find(ctx, name))


@routes.post("/intakes/{name}/pause")
async def pause_intake(ctx: Annotated[Context, may("intakes.pause")], name: ChannelName) -> IntakeView:
    """Pause an intake. New messages stay in the topic."""
    return IntakeView.of(await intakes.pause(ctx, name, paused=True))


@routes.post("/intakes/{name}/resume")
async def resume_intake(ctx: Annotated[Context, may("intakes.resume")], name: ChannelName) -> IntakeView:
    """Resume an intake. It continues with the messages in the topic."""
    return IntakeView.of(await intakes.pause(ctx, name, paused=False))


@routes.delete("/intakes/{name}")
async def remove_intake(ctx: Annotated[Context, may("intakes.remove")], name: ChannelName) -> IntakeView:
    """Remove an intake. The messages in the topic stay there."""
    return IntakeView.of(await intakes.remove(ctx, name))


@parking.get("/parked")
async def list_parked_messages(ctx: Annotated[Context, may("parked.list")], paging: Paged) -> Page[ParkedMessageView]:
    """List the messages that could not be processed, oldest first."""
    after = None if paging.after is None else UUID(paging.after)
    return paging.page(
        await parked_messages.page(ctx, after, paging.take), ParkedMessageView.of, lambda one: str(one.id)
    )


@parking.post("/parked/{message}/replay")
async def replay_parked_message(ctx: Annotated[Context, may("parked.replay")], message: ParkedId) -> ParkedMessageView:
    """Process a parked message again. If it fails again, it stays parked."""
    return ParkedMessageView.of(await parked_messages.replay(ctx, private(Prefix.PARKED, message)))


@parking.delete("/parked/{message}")
async def drop_parked_message(ctx: Annotated[Context, may("parked.drop")], message: ParkedId) -> ParkedMessageView:
    """Drop a parked message."""
    return ParkedMessageView.of(await parked_messages.drop(ctx, private(Prefix.PARKED, message)))

"""Named secrets: put, listed without their values, removed."""

from typing import Annotated

from fastapi import Path

from horae.api.models.secrets import NewSecret, SecretView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.auth import SECRET_NAME
from horae.service import secrets
from horae.service.context import Context

routes = router("secrets")
SecretName = Annotated[str, Path(max_length=100, pattern=f"^{SECRET_NAME.pattern}$", examples=["crm-token"])]


@routes.put("/secrets/{name}")
async def put(ctx: Annotated[Context, may("secrets.put")], name: SecretName, asked: NewSecret) -> SecretView:
    """Keep a value under a name, in the place of the one before; calls use it within five seconds.

    No call sends it to another host than its `hosts`. Asking again changes nothing but its version, so there is no
    Idempotency-Key.
    """
    return SecretView.of(await secrets.put(ctx, name, asked.value.get_secret_value(), asked.hosts))


@routes.get("/secrets")
async def listing(ctx: Annotated[Context, may("secrets.list")], paging: Paged) -> Page[SecretView]:
    """The tenant's secrets by name. Their values are never told."""
    return paging.page(await secrets.page(ctx, paging.after, paging.take), SecretView.of, lambda one: one.name)


@routes.delete("/secrets/{name}")
async def remove(ctx: Annotated[Context, may("secrets.remove")], name: SecretName) -> SecretView:
    """Take a secret away. What names it fails from then on."""
    return SecretView.of(await secrets.remove(ctx, name))

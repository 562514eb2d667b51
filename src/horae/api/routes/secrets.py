"""Routes of named secrets. Their values are never in a response."""

from typing import Annotated

from fastapi import Path

from horae.api.models.secrets import NewSecret, SecretView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.targets.auth import LONGEST_SECRET_NAME, SECRET_NAME
from horae.service.context import Context
from horae.service.encryption import secrets

routes = router("secrets")
SecretName = Annotated[
    str, Path(max_length=LONGEST_SECRET_NAME, pattern=f"^{SECRET_NAME.pattern}$", examples=["crm-token"])
]


@routes.put("/secrets/{name}")
async def put_secret(ctx: Annotated[Context, may("secrets.put")], name: SecretName, asked: NewSecret) -> SecretView:
    """Create or replace a secret. Calls use the new value within five seconds.

    Calls send it only to its `hosts`. A repeated request only increments the version, so there is no Idempotency-Key.
    """
    return SecretView.of(await secrets.put(ctx, name, asked.value.get_secret_value(), asked.hosts))


@routes.get("/secrets")
async def list_secrets(ctx: Annotated[Context, may("secrets.list")], paging: Paged) -> Page[SecretView]:
    """List the secrets of the tenant, by name, without their values."""
    return paging.page(await secrets.page(ctx, paging.after, paging.take), SecretView.of, lambda one: one.name)


@routes.delete("/secrets/{name}")
async def remove_secret(ctx: Annotated[Context, may("secrets.remove")], name: SecretName) -> SecretView:
    """Remove a secret. Calls that need it fail from then on."""
    return SecretView.of(await secrets.remove(ctx, name))

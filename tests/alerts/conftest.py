"""A receiver, and the two duties."""

import pytest

from tests.alerts.world import alert_world, hook_server


@pytest.fixture
async def hook():
    async with hook_server() as hook:
        yield hook


@pytest.fixture
async def world(ctx):
    async with alert_world(ctx.store, ctx.tenant.id) as world:
        yield world

"""An Idempotency-Key stands for a payload, however its keys are ordered."""

from hashlib import sha256

import msgspec
import pytest

from horae.domain.errors import Duplicate
from horae.service.instances import instances
from tests.steps import a_job, query


async def trigger(ctx, key, payload):
    done = await instances.trigger(ctx, "job", key, payload=payload, even_if_down=True)
    return done.instance_id, done.replayed


async def test_the_order_of_a_payloads_keys_tells_no_request_from_another(ctx):
    await a_job(ctx)
    first, _ = await trigger(ctx, "k", {"b": 1, "a": {"d": 1, "c": 2}})
    assert await trigger(ctx, "k", {"a": {"c": 2, "d": 1}, "b": 1}) == (first, True)
    with pytest.raises(Duplicate):
        await trigger(ctx, "k", {"a": {"c": 2, "d": 1}, "b": 2})


async def test_a_key_that_the_release_before_wrote_down_is_known(ctx, store):
    await a_job(ctx)
    payload = {"b": 1, "a": 2}
    first, _ = await trigger(ctx, "k", payload)
    written = sha256(msgspec.json.encode(payload)).digest()
    for cell in store.cells:
        await query(cell, "update idempotency set fingerprint = $1", written)
    assert await trigger(ctx, "k", payload) == (first, True)

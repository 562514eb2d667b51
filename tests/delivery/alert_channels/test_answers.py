"""What a vendor answers becomes the right outcome: taken, later, or never. Nothing else is raised."""

import pytest

from horae.delivery.alert_channels import sender as sender_module
from horae.delivery.secrets import NamedSecrets, secrets_in_memory
from horae.domain.errors import ChannelRefused, Unavailable
from horae.domain.targets.egress import Egress
from tests.cluster import free_port
from tests.delivery.alert_channels.messages import a_message
from tests.delivery.alert_channels.receivers import said
from tests.delivery.alert_channels.vendors import BY_NAME, VENDORS, meeting, nothing_to_learn, secrets_for
from tests.delivery.builders import TENANT
from tests.delivery.server import Visit, answer, saying, silent

NAMES = [vendor.name for vendor in VENDORS]
WITH_CODES = ["feishu", "dingtalk", "wecom"]
LATER = {
    "feishu": [(11232, 10.0), (9499, None), (2200, None)],
    "dingtalk": [(130101, 600.0), (410100, 600.0), (-1, None)],
    "wecom": [(45009, 60.0), (45033, 60.0), (-1, None)],
}
NEVER = {
    "feishu": [19001, 19021, 19022, 19024],
    "dingtalk": [310000, 300001, 400013, 400101, 400102, 400106, 430101],
    "wecom": [93000, 40058, 93004, 93008],
}


def coded(name: str, code: int) -> bytes:
    return said({"code" if name == "feishu" else "errcode": code, "errmsg": "in the vendor's words", "msg": "words"})


async def outcome(client, name: str, *pieces: bytes) -> Exception | None:
    """What sending raises where the vendor says this and closes."""
    async with meeting(client, name, behave=saying(*pieces)) as met:
        try:
            await met.sender.send(TENANT, None, met.channel, a_message())
        except (Unavailable, ChannelRefused) as error:
            return error
        return None


@pytest.mark.parametrize(("name", "code", "seconds"), [(name, *one) for name in LATER for one in LATER[name]])
async def test_a_200_with_a_code_that_passes_is_tried_again(client, name, code, seconds):
    error = await outcome(client, name, coded(name, code))
    assert isinstance(error, Unavailable)
    assert error.facts.get("retry_after") == seconds
    assert "words" not in str(error)


@pytest.mark.parametrize(("name", "code"), [(name, code) for name in NEVER for code in NEVER[name]])
async def test_a_200_with_a_code_that_stays_is_never_tried_again(client, name, code):
    error = await outcome(client, name, coded(name, code))
    assert isinstance(error, ChannelRefused)
    assert str(code) in str(error)
    assert "words" not in str(error)


@pytest.mark.parametrize("name", WITH_CODES)
async def test_a_code_beside_another_status_than_200_is_read_too(client, name):
    code = NEVER[name][0]
    error = await outcome(client, name, coded(name, code).replace(b" 200 ", b" 500 ", 1))
    assert isinstance(error, ChannelRefused)


async def test_the_older_answer_of_feishu_is_understood(client):
    assert await outcome(client, "feishu", said({"Extra": None, "StatusCode": 0, "StatusMessage": "success"})) is None


@pytest.mark.parametrize("name", NAMES)
async def test_too_many_requests_wait_as_long_as_the_vendor_asks(client, name):
    error = await outcome(client, name, answer(429, b"slow down", Retry_After="30"))
    assert isinstance(error, Unavailable)
    assert error.facts["retry_after"] == 30


@pytest.mark.parametrize("name", NAMES)
async def test_nobody_makes_us_wait_for_longer_than_an_hour(client, name):
    error = await outcome(client, name, answer(503, b"", Retry_After="999999999"))
    assert isinstance(error, Unavailable)
    assert error.facts["retry_after"] == 3600


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
@pytest.mark.parametrize("name", NAMES)
async def test_a_vendor_in_trouble_is_asked_again(client, name, status):
    assert isinstance(await outcome(client, name, answer(status, b"<html>")), Unavailable)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 410])
@pytest.mark.parametrize("name", NAMES)
async def test_a_vendor_that_refuses_is_not_asked_again(client, name, status):
    assert isinstance(await outcome(client, name, answer(status, b"<html>", Location="http://x/")), ChannelRefused)


@pytest.mark.parametrize("name", [*WITH_CODES, "slack"])
async def test_a_200_of_somebody_else_is_not_taken_for_an_acknowledgement(client, name):
    for body in (b"<html>welcome to the hotel's network</html>", b"{}", b"[]", b"null", b"", b'{"errcode": "0"}'):
        assert isinstance(await outcome(client, name, answer(200, body)), Unavailable)


@pytest.mark.parametrize("name", NAMES)
async def test_a_vendor_that_hangs_is_left_after_the_timeout(client, name, monkeypatch):
    monkeypatch.setattr(sender_module, "READ_TIMEOUT_S", 0.1)
    async with meeting(client, name, behave=silent) as met:
        with pytest.raises(Unavailable, match="timed out"):
            await met.sender.send(TENANT, None, met.channel, a_message())


@pytest.mark.parametrize("name", NAMES)
async def test_a_vendor_that_hangs_up_is_asked_again(client, name):
    async def hang_up(visit: Visit) -> None:
        await visit.heard()

    async with meeting(client, name, behave=hang_up) as met:
        with pytest.raises(Unavailable):
            await met.sender.send(TENANT, None, met.channel, a_message())


@pytest.mark.parametrize("name", NAMES)
async def test_nobody_at_the_address_is_asked_again(client, name):
    vendor, url = BY_NAME[name], f"http://127.0.0.1:{free_port()}"
    hook = url + vendor.hook
    channel = vendor.channel(hook, "en")
    sender = sender_module.AlertSender(client, secrets_in_memory({TENANT: secrets_for(hook, {})}), nothing_to_learn)
    with pytest.raises(Unavailable):
        await sender.send(TENANT, None, channel, a_message())


@pytest.mark.parametrize("name", NAMES)
async def test_the_egress_rules_of_the_tenant_hold(client, name):
    async with meeting(client, name) as met:
        with pytest.raises(ChannelRefused, match="may not be called"):
            await met.sender.send(TENANT, Egress(), met.channel, a_message())
    assert not met.receiver.requests


@pytest.mark.parametrize("name", NAMES)
async def test_a_secret_goes_to_no_host_that_it_is_not_bound_to(client, name):
    async with meeting(client, name) as met:
        hook = met.server.url + BY_NAME[name].hook
        known = secrets_for(hook, {})
        bound = NamedSecrets({TENANT: known}, {TENANT: dict.fromkeys(known, ("open.feishu.cn",))})
        sender = sender_module.AlertSender(client, bound, nothing_to_learn)
        with pytest.raises(ChannelRefused, match="may not be sent to 127"):
            await sender.send(TENANT, None, met.channel, a_message())
    assert not met.receiver.requests


@pytest.mark.parametrize("name", NAMES)
async def test_a_missing_secret_is_named_and_nothing_is_sent(client, name):
    async with meeting(client, name) as met:
        sender = sender_module.AlertSender(client, secrets_in_memory({}), nothing_to_learn)
        with pytest.raises(ChannelRefused, match="has no secret"):
            await sender.send(TENANT, None, met.channel, a_message())
    assert not met.receiver.requests


async def test_every_secret_of_a_channel_is_learnt_before_it_is_used(client):
    learnt = []

    async def learn(tenant_id, name):
        learnt.append((tenant_id, name))

    async with meeting(client, "feishu") as met:
        hook = met.server.url + BY_NAME["feishu"].hook
        sender = sender_module.AlertSender(client, secrets_in_memory({TENANT: secrets_for(hook, {})}), learn)
        await sender.send(TENANT, None, met.channel, a_message())
    assert learnt == [(TENANT, "hook"), (TENANT, "signing")]

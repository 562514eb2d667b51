"""Keys of an issuer: what was read too long ago is not believed, however often the reading fails."""

import pytest

from horae.delivery import oidc
from horae.delivery.oidc import KEYS_KEPT_S, Issuer, RelyingParty
from horae.domain.errors import Unavailable


async def test_a_key_is_not_believed_while_the_key_set_cannot_be_read(monkeypatch):
    now, answers = [1000.0], [True]
    issuer = Issuer(None, RelyingParty("https://issuer.test", "me", "s"))

    async def read(_url, kind):
        if not answers[0]:
            raise Unavailable("no answer")
        return kind(keys=[{"kid": "k"}])

    async def metadata():
        return type("Metadata", (), {"jwks_uri": "https://issuer.test/keys"})

    monkeypatch.setattr(oidc, "boottime", lambda: now[0])
    monkeypatch.setattr(issuer, "_read", read)
    monkeypatch.setattr(issuer, "metadata", metadata)
    assert await issuer.keys("k") == [{"kid": "k"}]
    answers[0] = False
    for _ in range(3):
        now[0] += KEYS_KEPT_S / 2 + 1
        if now[0] - 1000.0 > KEYS_KEPT_S:
            with pytest.raises(Unavailable):
                await issuer.keys("k")
        now[0] += 1.0
    now[0] += 60.0
    with pytest.raises(Unavailable):
        await issuer.keys("k")
    now[0] += 60.0
    answers[0] = True
    assert await issuer.keys("k") == [{"kid": "k"}]

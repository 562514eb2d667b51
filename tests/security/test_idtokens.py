"""ID tokens, judged without any network."""

import time

import pytest

from horae.security import idtokens
from horae.security.idtokens import ExpectedClaims, TokenRefused
from tests.people.forgeries import ALL, SHARED, good, signed
from tests.people.issuer import CLIENT, State

ALLOWED = frozenset({"RS256", "PS256", "ES256"})


@pytest.fixture(scope="module")
def issuer():
    state = State("http://issuer.test")
    state.token("nonce of the login before")
    return state


def judged(issuer, text, nonce="n"):
    keys = [key.as_dict(private=False) for key in (*issuer.keys.published(), *issuer.before)] + [SHARED]
    header = idtokens.header_of(text, ALLOWED)
    key = idtokens.key_for(header, keys)
    if key is None:
        raise TokenRefused("no key")
    return idtokens.claims_of(text, key, ExpectedClaims(issuer.url, CLIENT, nonce, ALLOWED, time.time()))


def test_an_honest_token_is_believed(issuer):
    claims = judged(issuer, issuer.token("n"))
    assert (claims["sub"], idtokens.groups_in(claims, "groups")) == ("alice", ("operations",))
    claims = issuer.claims("n")
    assert judged(issuer, good(claims, issuer.keys)) == claims
    elliptic = signed({"alg": "ES256", "kid": issuer.keys.ec.kid}, claims, issuer.keys.ec)
    assert judged(issuer, elliptic) == claims
    several = claims | {"aud": [CLIENT, "another"]}
    assert judged(issuer, good(several, issuer.keys)) == several
    assert judged(issuer, good(claims, issuer.keys, x5t="thumb"))["sub"] == "alice"


@pytest.mark.parametrize("name", ALL)
def test_a_forged_token_is_not(issuer, name):
    text = ALL[name](issuer.claims("now"), issuer.keys, (issuer.last_nonce, issuer.last_token))
    with pytest.raises(TokenRefused):
        judged(issuer, text, "now")


def test_without_a_name_the_only_key_there_is_may_have_signed(issuer):
    claims = issuer.claims("n")
    text = signed({"alg": "RS256"}, claims, issuer.keys.rsa)
    header = idtokens.header_of(text, ALLOWED)
    only = [issuer.keys.rsa.as_dict(private=False), issuer.keys.ec.as_dict(private=False)]
    expected = ExpectedClaims(issuer.url, CLIENT, "n", ALLOWED, time.time())
    assert idtokens.claims_of(text, idtokens.key_for(header, only), expected) == claims
    assert idtokens.key_for(header, [*only, issuer.before[0].as_dict(private=False)]) is None


@pytest.mark.parametrize("groups", [None, 7, {"a": 1}, [1, None, ""], ["x" * 500], "\n"])
def test_what_is_no_list_of_names_names_no_group(groups):
    assert idtokens.groups_in({"groups": groups}, "groups") == ()
    assert idtokens.groups_in({}, "groups") == ()
    assert idtokens.groups_in({"groups": "one"}, "groups") == ("one",)

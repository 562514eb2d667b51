"""ID tokens that must not be believed, each wrong in one way and right in every other."""

import base64
import hashlib
import hmac
import json
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

ALGORITHMS = ["RS256", "RS384", "PS256", "ES256", "ES384", "HS256"]
SHARED_SECRET = b"a secret that somebody published by mistake"
SHARED = {
    "kty": "oct",
    "kid": "shared",
    "use": "sig",
    "k": base64.urlsafe_b64encode(SHARED_SECRET).decode().rstrip("="),
}
Before = tuple[str, str]
"""Nonce and token of the login before."""


class Keys(NamedTuple):
    """What the issuer signs with, or could."""

    rsa: RSAKey
    ec: ECKey
    p384: ECKey
    weak: RSAKey
    encrypting: RSAKey

    def published(self) -> tuple[RSAKey | ECKey, ...]:
        return self


def weak_key() -> RSAKey:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RSAKey.generate_key(1024, {"kid": "weak", "use": "sig"}, private=True)


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(header: dict[str, Any], payload: Any, key: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = payload if isinstance(payload, str) else json.dumps(payload)
        registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        return jws.serialize_compact(header, text, key, registry=registry)


def good(claims: dict[str, Any], keys: Keys, **header: Any) -> str:
    return signed({"alg": "RS256", "kid": keys.rsa.kid, "typ": "JWT"} | header, claims, keys.rsa)


def pem_of(key: RSAKey) -> bytes:
    return key.public_key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def by_hand(header: Any, payload: Any, signature: Callable[[bytes], bytes]) -> str:
    """A token whose parts may be any text."""
    head, body = (part if isinstance(part, str) else json.dumps(part) for part in (header, payload))
    told = f"{b64(head.encode())}.{b64(body.encode())}"
    return f"{told}.{b64(signature(told.encode()))}"


def rs256(keys: Keys) -> Callable[[bytes], bytes]:
    return lambda told: keys.rsa.private_key.sign(told, PKCS1v15(), SHA256())


def claiming(**changes: Any) -> Callable[..., str]:
    """Signed as it should be, with other claims; None takes one away."""

    def forge(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
        made = {name: value for name, value in (claims | changes).items() if value is not None}
        return good(made, keys)

    return forge


def claiming_at(**offsets: int) -> Callable[..., str]:
    """The same with times so many seconds from now."""

    def forge(claims: dict[str, Any], keys: Keys, before: Before) -> str:
        now = int(time.time())
        return claiming(**{name: now + by for name, by in offsets.items()})(claims, keys, before)

    return forge


def heading(**more: Any) -> Callable[..., str]:
    """Signed as it should be, with more in the header."""
    return lambda claims, keys, _before: good(claims, keys, **more)


def unsigned(alg: str) -> Callable[..., str]:
    return lambda claims, keys, _before: by_hand({"alg": alg, "kid": keys.rsa.kid}, claims, lambda _: b"")


def symmetric(secret: Callable[[Keys], bytes], kid: str | None = None) -> Callable[..., str]:
    def forge(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
        header = {"alg": "HS256", "kid": kid or keys.rsa.kid, "typ": "JWT"}
        return by_hand(header, claims, lambda told: hmac.digest(secret(keys), told, hashlib.sha256))

    return forge


def stranger(**header: Any) -> Callable[..., str]:
    """Signed by a key that is not the issuer's."""

    def forge(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
        own = RSAKey.generate_key(2048, {"kid": "stranger"}, private=True)
        extra = {name: own.as_dict(private=False) if value == "own" else value for name, value in header.items()}
        return signed({"alg": "RS256", "kid": keys.rsa.kid} | extra, claims, own)

    return forge


def with_key(alg: str, name: str, kid: str | None = None) -> Callable[..., str]:
    """Signed by one of the issuer's keys that should not have."""

    def forge(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
        key = getattr(keys, name)
        free = {one: value for one, value in key.as_dict(private=True).items() if one not in {"use", "alg"}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = type(key).import_key(free)
        return signed({"alg": alg, "kid": getattr(keys, kid).kid if kid else key.kid}, claims, plain)

    return forge


def altered(change: Callable[[list[str]], list[str]]) -> Callable[..., str]:
    return lambda claims, keys, _before: ".".join(change(good(claims, keys).split(".")))


def mallory(parts: list[str]) -> list[str]:
    payload = json.loads(base64.urlsafe_b64decode(parts[1] + "=="))
    return [parts[0], b64(json.dumps(payload | {"sub": "mallory", "groups": ["admins"]}).encode()), parts[2]]


def other_spelling(parts: list[str]) -> list[str]:
    """The signature's last letter has bits that nobody needs: another letter means the same bytes."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return [*parts[:2], parts[2][:-1] + letters[letters.index(parts[2][-1]) ^ 1]]


def nested(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
    return signed({"alg": "RS256", "kid": keys.rsa.kid, "cty": "JWT"}, good(claims, keys), keys.rsa)


def flattened(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
    head, body, signature = good(claims, keys).split(".")
    return json.dumps({"protected": head, "payload": body, "signature": signature})


def twice_in_payload(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
    text = json.dumps(claims)
    return by_hand({"alg": "RS256", "kid": keys.rsa.kid}, text[:-1] + ', "sub": "mallory"}', rs256(keys))


def twice_in_header(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
    return by_hand(f'{{"alg": "none", "alg": "RS256", "kid": "{keys.rsa.kid}"}}', claims, rs256(keys))


def not_a_number(claims: dict[str, Any], keys: Keys, _before: Before) -> str:
    text = json.dumps(claims | {"exp": "@"}).replace('"@"', "NaN")
    return by_hand({"alg": "RS256", "kid": keys.rsa.kid}, text, rs256(keys))


ALL: dict[str, Callable[[dict[str, Any], Keys, Before], str]] = {
    "none": unsigned("none"),
    "None": unsigned("None"),
    "nOnE": unsigned("nOnE"),
    "no algorithm": lambda claims, keys, _: by_hand({"kid": keys.rsa.kid}, claims, lambda _: b"x"),
    "none with a signature": lambda claims, keys, _: by_hand({"alg": "none", "kid": keys.rsa.kid}, claims, rs256(keys)),
    "HS256 with the public key as PEM": symmetric(lambda keys: pem_of(keys.rsa)),
    "HS256 with the public modulus": symmetric(lambda keys: keys.rsa.as_dict(private=False)["n"].encode()),
    "HS256 with nothing": symmetric(lambda _: b""),
    "HS256 with the client's secret": symmetric(lambda _: b"correct horse battery staple"),
    "HS256 with a published shared key": symmetric(lambda _: SHARED_SECRET, "shared"),
    "a kid that is a path": symmetric(lambda _: b"", "../../../../dev/null"),
    "an unknown kid": stranger(kid="stranger"),
    "a stranger's key under the issuer's kid": stranger(),
    "the kid of another key": with_key("RS256", "rsa", "ec"),
    "no kid": lambda claims, keys, _: signed({"alg": "RS256"}, claims, keys.rsa),
    "a kid that is no text": lambda claims, keys, _: by_hand({"alg": "RS256", "kid": 1}, claims, rs256(keys)),
    "an algorithm that is not allowed": with_key("RS384", "rsa"),
    "an algorithm its key is not for": with_key("PS256", "rsa"),
    "another curve": with_key("ES384", "p384"),
    "another curve under an allowed name": lambda claims, keys, _: by_hand(
        {"alg": "ES256", "kid": keys.p384.kid}, claims, lambda _: bytes(64)
    ),
    "a signature of zeros": lambda claims, keys, _: by_hand(
        {"alg": "ES256", "kid": keys.ec.kid}, claims, lambda _: bytes(64)
    ),
    "a key of 1024 bits": with_key("RS256", "weak"),
    "a key for encryption": with_key("RS256", "encrypting"),
    "jku": stranger(jku="https://evil.example/jwks", kid="stranger"),
    "jku beside a good signature": heading(jku="https://evil.example/jwks"),
    "x5u": heading(x5u="https://evil.example/cert"),
    "an embedded key": stranger(jwk="own", kid="stranger"),
    "x5c": heading(x5c=["MIIB"]),
    "crit": lambda claims, keys, _: by_hand(
        {"alg": "RS256", "kid": keys.rsa.kid, "crit": ["exp"], "exp": 1}, claims, rs256(keys)
    ),
    "b64": lambda claims, keys, _: by_hand({"alg": "RS256", "kid": keys.rsa.kid, "b64": False}, claims, rs256(keys)),
    "nested": nested,
    "an access token's kind": heading(typ="at+jwt"),
    "encrypted": lambda claims, keys, _: ".".join([b64(b'{"alg":"dir","enc":"A256GCM"}'), "", "AAAA", "AAAA", "AAAA"]),
    "flattened JSON": flattened,
    "two parts": lambda claims, keys, _: good(claims, keys).rpartition(".")[0],
    "four parts": lambda claims, keys, _: good(claims, keys) + ".AAAA",
    "nothing": lambda *_: "",
    "no token": lambda *_: "not-a-token",
    "a payload that was changed": altered(mallory),
    "a signature that was cut": altered(lambda parts: [*parts[:2], parts[2][:-4]]),
    "no signature": altered(lambda parts: [*parts[:2], ""]),
    "another token's signature": lambda claims, keys, before: ".".join(
        [*good(claims, keys).split(".")[:2], before[1].rpartition(".")[2]]
    ),
    "another spelling": altered(other_spelling),
    "padding": altered(lambda parts: [*parts[:2], parts[2] + "=="]),
    "a line break": altered(lambda parts: [parts[0], parts[1] + "\n", parts[2]]),
    "expired": claiming_at(exp=-60),
    "long expired": claiming_at(exp=-86400, iat=-90000),
    "no expiry": claiming(exp=None),
    "an expiry that is a text": claiming(exp="9999999999"),
    "an expiry that is true": claiming(exp=True),
    "an expiry that is no number": not_a_number,
    "not good yet": claiming_at(nbf=3600),
    "issued in the future": claiming_at(iat=3600),
    "issued long ago": claiming_at(iat=-90000),
    "issued at no time": claiming(iat=None),
    "another issuer": claiming(iss="https://evil.example"),
    "an issuer that is nearly ours": lambda claims, keys, before: claiming(iss=claims["iss"] + "/")(
        claims, keys, before
    ),
    "no issuer": claiming(iss=None),
    "another audience": claiming(aud="somebody-else", azp=None),
    "an audience that begins like ours": claiming(aud="horae-console-2", azp=None),
    "an audience of others": claiming(aud=["a", "b"], azp=None),
    "several audiences and no party": claiming(aud=["horae-console", "b"], azp=None),
    "an audience that is an object": claiming(aud={"horae-console": True}),
    "no audience": claiming(aud=None),
    "another party": claiming(azp="somebody-else"),
    "another nonce": claiming(nonce="x" * 43),
    "no nonce": claiming(nonce=None),
    "a nonce that is a list": lambda claims, keys, before: claiming(nonce=[claims["nonce"]])(claims, keys, before),
    "the nonce of the login before": lambda claims, keys, before: claiming(nonce=before[0])(claims, keys, before),
    "the token of the login before": lambda _claims, _keys, before: before[1],
    "nobody": claiming(sub=None),
    "an empty name": claiming(sub=""),
    "a name that is a number": claiming(sub=7),
    "a name with a line break": claiming(sub="alice\nadmin"),
    "claims that appear twice": twice_in_payload,
    "a header that appears twice": twice_in_header,
    "claims that are a list": lambda claims, keys, _: signed({"alg": "RS256", "kid": keys.rsa.kid}, [claims], keys.rsa),
    "claims that are no JSON": lambda _claims, keys, _before: signed(
        {"alg": "RS256", "kid": keys.rsa.kid}, "x", keys.rsa
    ),
    "huge": claiming(padding="x" * 20_000),
}

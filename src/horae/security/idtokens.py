"""Checks the ID tokens of an OpenID issuer; no part of a token is trusted before its signature is verified.

The algorithm must be in a fixed list of public-key signatures. The key comes from the issuer's own set, by its `kid`
and type. A header that names another place for the key, or another way to read the token, is refused.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from horae.domain.foreign import Unreadable, read_base64url, read_unambiguous_json, reading_foreign

ALGORITHMS: Final = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"})
"""The algorithms that a deployment may choose from: no shared secrets, and never `none`."""
CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
"""The curve that each ES algorithm needs."""
HEADER: Final = frozenset({"alg", "kid", "typ", "x5t", "x5t#S256"})
"""The names that a header may hold. Thumbprints are ignored."""
LONGEST: Final = 16 * 1024
"""Characters of a token."""
PART: Final = re.compile(r"[A-Za-z0-9_-]+")
SMALLEST_RSA: Final = 2048
"""Bits of an RSA modulus."""
CLOCK_LEEWAY_S: Final = 30
"""Seconds by which the issuer's clock may differ from ours."""
NO_TIMES: Final = (float("inf"), float("-inf"))
MAX_TOKEN_AGE_S: Final = 3600
"""Seconds that a token may be old when it is used."""
LONGEST_SUBJECT: Final = 190
"""Characters of a subject or of a group."""
MOST_GROUPS: Final = 200
"""Groups that are taken from a token; the rest is dropped."""


class TokenRefused(Exception):
    """Why a token is refused. The reason goes to the log, not to the sender of the token."""


class ExpectedClaims(NamedTuple):
    """The claims that a token must have. `now` is in seconds since 1970."""

    issuer: str
    audience: str
    nonce: str
    algorithms: frozenset[str]
    now: float


class Header(NamedTuple):
    """The algorithm and the key id of a token. Without a `kid` the issuer must have exactly one fitting key."""

    alg: str
    kid: str | None


def header_of(text: str, algorithms: frozenset[str]) -> Header:
    """Read the header of a token in compact form, without verifying its signature."""
    if len(text) > LONGEST or not text.isascii():
        raise TokenRefused("it is too long, or not ASCII")
    parts = text.split(".")
    if len(parts) != 3:
        raise TokenRefused("it has not three parts")
    header = _object(_decode_part(parts[0]))
    if not header.keys() <= HEADER:
        raise TokenRefused(f"its header says {sorted(header.keys() - HEADER)}")
    alg, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if not isinstance(alg, str) or alg not in algorithms & ALGORITHMS:
        raise TokenRefused(f"it is signed with {alg!r}")
    if "kid" in header and (not isinstance(kid, str) or not kid):
        raise TokenRefused("it names a key that nobody can have")
    if not isinstance(kind, str) or kind.upper() != "JWT":
        raise TokenRefused(f"it is a {kind!r}")
    return Header(alg, kid)


def key_for(header: Header, keys: Sequence[Any]) -> Mapping[str, Any] | None:
    """Return the one key of a set that may have signed the token; None where there is none, or more than one."""
    found = [key for key in keys if isinstance(key, dict) and _is_signing_key(header, key) and _fits(header.alg, key)]
    return found[0] if len(found) == 1 else None


def claims_of(text: str, key: Mapping[str, Any], expected: ExpectedClaims) -> dict[str, Any]:
    """Return the claims of a valid token; raises `TokenRefused` for every other.

    1. The header is read again, and the key must fit its `kid` and algorithm.
    2. Every part must be in canonical base64url: a token can be written in one way only.
    3. The signature is verified with the public members of the key, and with the named algorithm alone.
    4. The claims are parsed as unambiguous JSON and checked: issuer, audience, times, nonce, subject.
    """
    header = header_of(text, expected.algorithms)
    if not _is_signing_key(header, key) or not _fits(header.alg, key):
        raise TokenRefused("it was not signed by that key")
    for part in text.split("."):
        _decode_part(part)
    try:
        with reading_foreign(JoseError):
            public = {name: key[name] for name in ("kty", "kid", "n", "e", "crv", "x", "y") if name in key}
            kind = ECKey if header.alg in CURVES else RSAKey
            signed = jws.deserialize_compact(text, kind.import_key(public), algorithms=[header.alg])
    except Unreadable as error:
        raise TokenRefused(f"its signature is not good: {error}") from error
    claims = _object(signed.payload)
    _check(claims, expected)
    return claims


def groups_in(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the groups in a claim; anything but a text or a list of texts yields none."""
    found = claims.get(name, [])
    found = [found] if isinstance(found, str) else found
    if not isinstance(found, list):
        return ()
    texts = {one for one in found if isinstance(one, str) and 0 < len(one) <= LONGEST_SUBJECT and one.isprintable()}
    return tuple(sorted(texts)[:MOST_GROUPS])


def _check(claims: Mapping[str, Any], expected: ExpectedClaims) -> None:
    if claims.get("iss") != expected.issuer:
        raise TokenRefused(f"it is of {claims.get('iss')!r}")
    _check_audience(claims, expected.audience)
    expires, issued, begins = (_seconds(claims, name) for name in ("exp", "iat", "nbf"))
    if expires is None or expires + CLOCK_LEEWAY_S <= expected.now:
        raise TokenRefused("it has expired, or never does")
    if issued is None or not expected.now - MAX_TOKEN_AGE_S <= issued <= expected.now + CLOCK_LEEWAY_S:
        raise TokenRefused("it was issued in the future, too long ago, or at no time")
    if begins is not None and begins > expected.now + CLOCK_LEEWAY_S:
        raise TokenRefused("it is not good yet")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(_bytes(nonce), _bytes(expected.nonce)):
        raise TokenRefused("it is of another login")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
        raise TokenRefused("it names nobody")


def _check_audience(claims: Mapping[str, Any], audience: str) -> None:
    """Require our audience. With several audiences, or an `azp`, the authorized party must be us too."""
    meant = claims.get("aud")
    listed = [meant] if isinstance(meant, str) else meant
    if not isinstance(listed, list) or audience not in listed or not all(isinstance(one, str) for one in listed):
        raise TokenRefused(f"it is for {meant!r}")
    party = claims.get("azp")
    if (len(listed) > 1 or party is not None) and party != audience:
        raise TokenRefused(f"it was asked for by {party!r}")


def _bytes(text: str) -> bytes:
    """Encode a text, also one with half a surrogate pair."""
    return text.encode("utf-8", "surrogatepass")


def _seconds(claims: Mapping[str, Any], name: str) -> float | None:
    """Return a time claim in seconds since 1970; None where it is missing."""
    found = claims.get(name)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int | float) or found in NO_TIMES):
        raise TokenRefused(f"its {name} is no time")
    return found


def _is_signing_key(header: Header, key: Mapping[str, Any]) -> bool:
    return header.kid is None or key.get("kid") == header.kid


def _fits(alg: str, key: Mapping[str, Any]) -> bool:
    """Whether a key has the type that the algorithm needs, is strong enough, and is meant for signatures."""
    if key.get("use", "sig") != "sig" or key.get("alg", alg) != alg:
        return False
    operations = key.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return False
    if alg in CURVES:
        return key.get("kty") == "EC" and key.get("crv") == CURVES[alg]
    modulus = key.get("n")
    return key.get("kty") == "RSA" and isinstance(modulus, str) and len(modulus) * 6 >= SMALLEST_RSA


def _decode_part(part: str) -> bytes:
    """Decode a part; refuses a part that is not written in its canonical form."""
    if not PART.fullmatch(part):
        raise TokenRefused("a part is not base64url")
    try:
        raw = read_base64url(part)
    except Unreadable as error:
        raise TokenRefused("a part is not base64url") from error
    if urlsafe_b64encode(raw).rstrip(b"=").decode() != part:
        raise TokenRefused("a part is written in another way than it is meant")
    return raw


def _object(raw: bytes | None) -> dict[str, Any]:
    """Parse a JSON object that every parser reads alike."""
    try:
        found = read_unambiguous_json(raw or b"")
    except Unreadable as error:
        raise TokenRefused(f"a part is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise TokenRefused("a part is not a JSON object")
    return found

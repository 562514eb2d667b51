"""ID tokens of an OpenID issuer: what makes one good, decided before any of it is believed.

The algorithm comes from a fixed list of signatures by private keys, and the key from the issuer's own set by its `kid`
and its kind. What a header says about where to find a key, or how to read the rest, is not followed but refused.
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
"""All that a deployment may choose from: no shared secrets, and never `none`."""
CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
HEADER: Final = frozenset({"alg", "kid", "typ", "x5t", "x5t#S256"})
"""What a header may hold. Thumbprints are ignored."""
LONGEST: Final = 16 * 1024
PART: Final = re.compile(r"[A-Za-z0-9_-]+")
SMALLEST_RSA: Final = 2048
LEEWAY: Final = 30
NO_TIMES: Final = (float("inf"), float("-inf"))
OLDEST: Final = 3600
LONGEST_SUBJECT: Final = 190
MOST_GROUPS: Final = 200


class Refused(Exception):
    """Why a token is not good. It is for the log; who shows the token is not told."""


class Expected(NamedTuple):
    """What a token must say. `now` is in seconds since 1970."""

    issuer: str
    audience: str
    nonce: str
    algorithms: frozenset[str]
    now: float


class Header(NamedTuple):
    """How it was signed, and by which key; one that names none can only be of an issuer that has one."""

    alg: str
    kid: str | None


def header_of(text: str, algorithms: frozenset[str]) -> Header:
    """The header of a token in compact form, as far as it can be looked at without a key."""
    if len(text) > LONGEST or not text.isascii():
        raise Refused("it is too long, or not ASCII")
    parts = text.split(".")
    if len(parts) != 3:
        raise Refused("it has not three parts")
    header = _object(_decoded(parts[0]))
    if not header.keys() <= HEADER:
        raise Refused(f"its header says {sorted(header.keys() - HEADER)}")
    alg, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if not isinstance(alg, str) or alg not in algorithms & ALGORITHMS:
        raise Refused(f"it is signed with {alg!r}")
    if "kid" in header and (not isinstance(kid, str) or not kid):
        raise Refused("it names a key that nobody can have")
    if not isinstance(kind, str) or kind.upper() != "JWT":
        raise Refused(f"it is a {kind!r}")
    return Header(alg, kid)


def key_for(header: Header, keys: Sequence[Any]) -> Mapping[str, Any] | None:
    """The one key of a set that may have signed; None when there is none, or more than one."""
    found = [key for key in keys if isinstance(key, dict) and _meant(header, key) and _fits(header.alg, key)]
    return found[0] if len(found) == 1 else None


def claims_of(text: str, key: Mapping[str, Any], expected: Expected) -> dict[str, Any]:
    """What a good token claims; raises `Refused` for every other."""
    header = header_of(text, expected.algorithms)
    if not _meant(header, key) or not _fits(header.alg, key):
        raise Refused("it was not signed by that key")
    for part in text.split("."):
        _decoded(part)
    try:
        with reading_foreign(JoseError):
            public = {name: key[name] for name in ("kty", "kid", "n", "e", "crv", "x", "y") if name in key}
            kind = ECKey if header.alg in CURVES else RSAKey
            signed = jws.deserialize_compact(text, kind.import_key(public), algorithms=[header.alg])
    except Unreadable as error:
        raise Refused(f"its signature is not good: {error}") from error
    claims = _object(signed.payload)
    _check(claims, expected)
    return claims


def groups_in(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The groups a token names; what is no list of texts names none."""
    found = claims.get(name, [])
    found = [found] if isinstance(found, str) else found
    if not isinstance(found, list):
        return ()
    texts = {one for one in found if isinstance(one, str) and 0 < len(one) <= LONGEST_SUBJECT and one.isprintable()}
    return tuple(sorted(texts)[:MOST_GROUPS])


def _check(claims: Mapping[str, Any], expected: Expected) -> None:
    if claims.get("iss") != expected.issuer:
        raise Refused(f"it is of {claims.get('iss')!r}")
    _check_audience(claims, expected.audience)
    expires, issued, begins = (_seconds(claims, name) for name in ("exp", "iat", "nbf"))
    if expires is None or expires + LEEWAY <= expected.now:
        raise Refused("it has expired, or never does")
    if issued is None or not expected.now - OLDEST <= issued <= expected.now + LEEWAY:
        raise Refused("it was issued in the future, too long ago, or at no time")
    if begins is not None and begins > expected.now + LEEWAY:
        raise Refused("it is not good yet")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(_bytes(nonce), _bytes(expected.nonce)):
        raise Refused("it is of another login")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
        raise Refused("it names nobody")


def _check_audience(claims: Mapping[str, Any], audience: str) -> None:
    """It is for us, and where it is for others too it was asked for by us."""
    meant = claims.get("aud")
    listed = [meant] if isinstance(meant, str) else meant
    if not isinstance(listed, list) or audience not in listed or not all(isinstance(one, str) for one in listed):
        raise Refused(f"it is for {meant!r}")
    party = claims.get("azp")
    if (len(listed) > 1 or party is not None) and party != audience:
        raise Refused(f"it was asked for by {party!r}")


def _bytes(text: str) -> bytes:
    """A text as bytes, also one with half a character."""
    return text.encode("utf-8", "surrogatepass")


def _seconds(claims: Mapping[str, Any], name: str) -> float | None:
    found = claims.get(name)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int | float) or found in NO_TIMES):
        raise Refused(f"its {name} is no time")
    return found


def _meant(header: Header, key: Mapping[str, Any]) -> bool:
    return header.kid is None or key.get("kid") == header.kid


def _fits(alg: str, key: Mapping[str, Any]) -> bool:
    """Whether a key is of the kind an algorithm needs, strong enough, and meant for signatures."""
    if key.get("use", "sig") != "sig" or key.get("alg", alg) != alg:
        return False
    operations = key.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return False
    if alg in CURVES:
        return key.get("kty") == "EC" and key.get("crv") == CURVES[alg]
    modulus = key.get("n")
    return key.get("kty") == "RSA" and isinstance(modulus, str) and len(modulus) * 6 >= SMALLEST_RSA


def _decoded(part: str) -> bytes:
    """The bytes of a part, in the one way they can be written."""
    if not PART.fullmatch(part):
        raise Refused("a part is not base64url")
    try:
        raw = read_base64url(part)
    except Unreadable as error:
        raise Refused("a part is not base64url") from error
    if urlsafe_b64encode(raw).rstrip(b"=").decode() != part:
        raise Refused("a part is written in another way than it is meant")
    return raw


def _object(raw: bytes | None) -> dict[str, Any]:
    """A JSON object that every reader understands alike."""
    try:
        found = read_unambiguous_json(raw or b"")
    except Unreadable as error:
        raise Refused(f"a part is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise Refused("a part is not a JSON object")
    return found

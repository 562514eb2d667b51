"""ID tokens and envelopes: nothing that their owners did not sign or seal is believed or opened."""

import time
from base64 import urlsafe_b64encode
from uuid import UUID

from joserfc.jwk import ECKey, RSAKey

from horae.domain.encryption.encrypted_values import EncryptedValue, payload_of
from horae.domain.errors import HoraeError
from horae.security import idtokens
from horae.security.envelopes import DataKey

ALLOWED = frozenset({"RS256", "ES256"})
KEYS = [
    key.generate_key(size, {"kid": kid}, private=True).as_dict(private=False)
    for key, size, kid in ((RSAKey, 2048, "r"), (ECKey, "P-256", "e"))
]
SPOT = payload_of(UUID(int=1), "job:article-42:1")
KEY = DataKey(UUID(int=2), 1, b"k" * 32)
SEALED = KEY.encrypt(SPOT, {"a": 1}).text
CLAIMS = b'{"iss": "https://issuer.test", "aud": "horae", "sub": "alice", "nonce": "n", "exp": 9999999999, "iat": 1}'
SEEDS = (
    b"t" + b"eyJhbGciOiJub25lIn0.e30.",
    b'p{"alg": "RS256", "kid": "r"}\0' + CLAIMS,
    b'p{"alg": "ES256", "kid": "e", "typ": "JWT"}\0' + CLAIMS,
    b'p{"alg": "none"}\0{}',
    b'p{"alg": "HS256", "jku": "https://evil.test", "crit": ["b64"]}\0{}',
    b"e" + SEALED.encode(),
    b"e1.1.AAAA",
)


def feed(data: bytes) -> None:
    """The first letter says what the rest is: a token, the parts of one, an envelope."""
    match data[:1]:
        case b"t":
            _token(data[1:].decode(errors="replace"))
        case b"p":
            header, _, claims = data[1:].partition(b"\0")
            _token(".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in (header, claims, b"x" * 64)))
        case _:
            _envelope(data[1:].decode(errors="replace"))


def _token(text: str) -> None:
    expected = idtokens.ExpectedClaims("https://issuer.test", "horae", "n", ALLOWED, time.time())
    try:
        header = idtokens.header_of(text, ALLOWED)
        key = idtokens.key_for(header, KEYS)
        claims = None if key is None else idtokens.claims_of(text, key, expected)
    except idtokens.TokenRefused:
        return
    assert claims is None, "nobody signed this"


def _envelope(text: str) -> None:
    try:
        opened = KEY.decrypt(SPOT, EncryptedValue(text))
    except HoraeError:
        return
    assert opened == {"a": 1}, "nobody sealed this"

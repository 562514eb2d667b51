"""Secrets, signatures, tokens and keys: what is not exactly right proves nothing, and nothing breaks on it."""

import hmac
import json
import time
from uuid import UUID

from standardwebhooks import Webhook, WebhookVerificationError

from horae.delivery.signing import keys_of, sign
from horae.domain.errors import Unauthenticated
from horae.domain.workers.completion_tokens import completion_token, is_completion_token
from horae.security import credentials

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OFFICIAL = Webhook(SECRET)
INSTANCE, TOKEN = UUID(int=1), UUID(int=2)
RIGHT = completion_token(INSTANCE, 1, TOKEN)
KEY = credentials.Credential(UUID("01935a5e-0000-7000-8000-000000000000"), "0" * credentials.SECRET_LENGTH).text()
SEEDS = (
    b"k" + SECRET.encode(),
    b"k" + f"{SECRET} {SECRET}".encode(),
    b"sv1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    b"sv1,AAAA v1a,BBBB v2,",
    b"bhello",
    b"t" + RIGHT.encode(),
    b"c" + KEY.encode(),
)


def feed(data: bytes) -> None:
    """The first letter says what the rest is: keys, a signature, a body, a token, a credential."""
    text = data[1:].decode(errors="replace")
    match data[:1]:
        case b"k":
            _keys(text)
        case b"s":
            assert not _verified(b"{}", text, int(time.time()))
        case b"b":
            _signed(json.dumps(text).encode())
        case b"t":
            assert is_completion_token(text, INSTANCE, 1, TOKEN) == (text == RIGHT)
            assert not is_completion_token(text, INSTANCE, 2, TOKEN)
        case _:
            _credential(text)


def _keys(text: str) -> None:
    keys, why = (), ""
    try:
        keys = keys_of(text)
    except ValueError as error:
        why = str(error)
    assert len(text) < 12 or text not in why, "a refusal does not repeat the secret"
    assert all(24 <= len(key) <= 64 for key in keys)
    assert len(sign(keys, "id", 1, b"").split()) == len(keys)
    assert bool(keys) is not bool(why)


def _signed(body: bytes) -> None:
    now = int(time.time())
    signature = sign(keys_of(SECRET), "id", now, body)
    assert _verified(body, signature, now)
    assert not _verified(body + b" ", signature, now)
    other = signature[:-3] + ("BB=" if signature.endswith("AA=") else "AA=")
    assert not _verified(body, other, now)


def _verified(body: bytes, signature: str, at: int) -> bool:
    headers = {"webhook-id": "id", "webhook-timestamp": str(at), "webhook-signature": signature}
    try:
        OFFICIAL.verify(body, headers)
    except (WebhookVerificationError, ValueError):
        return False
    return True


def _credential(text: str) -> None:
    try:
        read = credentials.read(text)
    except Unauthenticated:
        return
    assert read.text() == text
    assert hmac.compare_digest(read.digest(), read.digest())

import hmac
from base64 import urlsafe_b64decode
from uuid import UUID

from horae.domain.workers.completion_tokens import (
    completion_token,
    completion_token_maker,
    is_completion_token,
)

INSTANCE, OTHER, TOKEN = (UUID(int=number) for number in (1, 2, 3))


def test_a_completion_token_proves_its_own_attempt_only():
    given = completion_token(INSTANCE, 1, TOKEN)
    assert is_completion_token(given, INSTANCE, 1, TOKEN)
    assert not is_completion_token(given, INSTANCE, 2, TOKEN)
    assert not is_completion_token(given, OTHER, 1, TOKEN)
    assert not is_completion_token(given, INSTANCE, 1, OTHER)
    assert not is_completion_token("", INSTANCE, 1, TOKEN)


def test_it_is_an_hmac_of_instance_and_attempt_one_by_one_and_for_many():
    for token in (TOKEN, UUID(int=2**128 - 1), UUID("018f3c5e-1c2d-7abc-8def-0123456789ab")):
        complete = completion_token_maker(token)
        for instance, attempt in ((INSTANCE, 1), (OTHER, 2**31 - 1), (INSTANCE, 2)):
            told = complete(instance, attempt)
            assert told == completion_token(instance, attempt, token)
            digest = hmac.digest(token.bytes, instance.bytes + attempt.to_bytes(4, "big"), "sha256")
            assert urlsafe_b64decode(told + "=") == digest


def test_the_rows_token_cannot_be_read_from_it():
    assert str(TOKEN) not in completion_token(INSTANCE, 1, TOKEN)

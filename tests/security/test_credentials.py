from uuid import uuid4

import pytest

from horae.domain.errors import Invalid, Unauthenticated
from horae.security.credentials import new_credential, read
from horae.security.signed_texts import Signer

SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"


def test_a_key_says_which_one_it_is_and_proves_it():
    made = new_credential(uuid4())
    assert read(made.text()) == made
    assert made.matches(made.digest())
    assert not new_credential(made.key_id).matches(made.digest())
    assert len(made.digest()) == 32


def test_a_mistyped_key_is_seen_without_a_database():
    text = new_credential(uuid4()).text()
    for place in range(len(text)):
        wrong = text[:place] + ("x" if text[place] != "x" else "y") + text[place + 1 :]
        with pytest.raises(Unauthenticated):
            read(wrong)
    for wrong in ("", "horae", "horae___", "horae_" * 9, text + "0", text.upper(), "é" * 96):
        with pytest.raises(Unauthenticated):
            read(wrong)


def test_a_seal_opens_for_its_own_purpose_and_deployment_only():
    seals = Signer(SECRET)
    text = seals.sign("acme jobs", ["a", 1])
    assert seals.verify("acme jobs", text) == ["a", 1]
    for other, purpose in ((seals, "globex jobs"), (Signer(SECRET[::-1]), "acme jobs")):
        with pytest.raises(Invalid):
            other.verify(purpose, text)
    for wrong in ("", "A", text[:-1], "AAAA" + text[4:], "é", "\ud800"):
        with pytest.raises(Invalid):
            seals.verify("acme jobs", wrong)

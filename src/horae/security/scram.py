"""SCRAM verifiers: what PostgreSQL keeps of a password.

A verifier is computed here and sent instead of the password. So the clear password is in no statement, no log of the
server, and no file that is handed to a database administrator.
"""

import hmac
import os
from base64 import b64encode
from hashlib import pbkdf2_hmac, sha256
from typing import Final

ITERATIONS: Final = 4096
"""As PostgreSQL itself uses."""
SALT_BYTES: Final = 16


def verifier_of(password: str, salt: bytes | None = None) -> str:
    """The verifier of an ASCII password, as `alter role … password` takes it (RFC 5803)."""
    salt = os.urandom(SALT_BYTES) if salt is None else salt
    salted = pbkdf2_hmac("sha256", password.encode("ascii"), salt, ITERATIONS)
    stored = sha256(hmac.digest(salted, b"Client Key", sha256)).digest()
    server = hmac.digest(salted, b"Server Key", sha256)
    return f"SCRAM-SHA-256${ITERATIONS}:{_text(salt)}${_text(stored)}:{_text(server)}"


def _text(value: bytes) -> str:
    return b64encode(value).decode()

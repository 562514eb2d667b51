"""`H`: a value that differs from job to job and stays for each, so that a thousand hourly jobs spread."""

from hashlib import sha256

from horae.domain.cron.dialects import Field

LAST_SAFE_DAY = 28  # a hashed day must exist in every month


def pick(salt: str, field: Field, low: int, high: int) -> int:
    """A number from low to high that depends on the salt and the field only."""
    digest = sha256(f"{salt}\0{field.name}".encode("utf-8", "surrogatepass")).digest()
    return low + int.from_bytes(digest[:8]) % (high - low + 1)

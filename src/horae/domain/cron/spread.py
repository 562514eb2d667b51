"""`H`: a value that differs between jobs and is stable for each, so that a thousand hourly jobs are spread out."""

from hashlib import sha256

from horae.domain.cron.dialects import Field

LAST_SAFE_DAY = 28  # a hashed day must exist in every month


def pick(salt: str, field: Field, low: int, high: int) -> int:
    """Return a number from `low` to `high` that depends only on the salt and the field."""
    digest = sha256(f"{salt}\0{field.name}".encode("utf-8", "surrogatepass")).digest()
    return low + int.from_bytes(digest[:8]) % (high - low + 1)

"""Every code that a request can cause is provoked by a test that names it."""

import ast
from pathlib import Path

from horae.domain.errors import HoraeError

TESTS = Path(__file__).parents[1]
PROVOKED = {
    "SCH_400_BAD_REQUEST": "api/test_reading.py",
    "SCH_400_IDEMPOTENCY_KEY": "api/test_idempotency.py",
    "SCH_401_UNAUTHENTICATED": "api/test_document.py",
    "SCH_403_FORBIDDEN": "api/test_access.py",
    "SCH_404_NOT_FOUND": "api/test_jobs.py",
    "SCH_405_METHOD": "api/test_reading.py",
    "SCH_409_CONFLICT": "api/test_tenancies.py",
    "SCH_409_CONTENDED": "api/test_codes.py",
    "SCH_409_COUNT_REACHED": "api/test_f11_counts.py",
    "SCH_409_DUPLICATE": "api/test_seed_calls.py",
    "SCH_409_NAME_TAKEN": "api/test_codes.py",
    "SCH_409_UNOPENABLE": "api/test_encryption.py",
    "SCH_410_GONE": "api/test_runs.py",
    "SCH_413_TOO_LARGE": "api/test_reading.py",
    "SCH_415_MEDIA_TYPE": "api/test_reading.py",
    "SCH_422_INVALID": "api/test_document.py",
    "SCH_422_RESULT_SIZE": "api/test_logs.py",
    "SCH_422_SCHEDULE": "api/test_changes.py",
    "SCH_429_RATE_LIMITED": "api/test_access.py",
    "SCH_429_RETRY_LIMITED": "api/test_runs.py",
    "SCH_503_ARCHIVE": "api/test_cold_instances.py",
    "SCH_503_DISPATCHER_DOWN": "api/test_seed_calls.py",
    "SCH_503_KEYS": "api/test_encryption.py",
    "SCH_503_RELEASE": "api/test_newer_release.py",
    "SCH_503_SHARD_CLOSED": "api/test_codes.py",
    "SCH_503_UNAVAILABLE": "api/test_codes.py",
}
NOT_BY_A_REQUEST = {
    "SCH_500_INTERNAL",  # a fault of ours, which no request is known to cause
    "SCH_503_UNFIT",  # a node does not begin
}


def codes() -> set[str]:
    tree = [HoraeError]
    for error in tree:
        tree += error.__subclasses__()
    return {error.code for error in tree}


def test_every_code_has_its_test():
    assert codes() == set(PROVOKED) | NOT_BY_A_REQUEST


def test_each_test_names_the_code_it_provokes():
    for code, path in PROVOKED.items():
        said = {
            node.value for node in ast.walk(ast.parse((TESTS / path).read_text())) if isinstance(node, ast.Constant)
        }
        assert code in said, f"{path} does not say {code}"


def test_the_page_for_users_has_every_code():
    page = (TESTS.parent / "docs" / "api" / "index.md").read_text()
    assert {line.split("`")[1] for line in page.splitlines() if line.startswith("| `SCH_")} == codes()

"""Which tests `.ci/run` leaves out for its minutes: further cases of what another test of the suite shows already.

`make suite` runs them, and `make wide` runs nothing else. A test is here for its cost, never because it fails. Each
line is the beginning of the names of some tests; what it leaves in `.ci/run` is said beside it.
"""

from typing import Any, Final

import pytest

FAULTS: Final = "tests/system/test_faults.py::test_nothing_is_lost_doubled_or_stuck_and_full_service_is_back_soon"
NO_BUG: Final = "tests/system/test_planted.py::test_without_the_bug_every_promise_is_kept"
BUG: Final = "tests/system/test_planted.py::test_a_planted_bug_is_named"
ARCHIVE: Final = "tests/archive/test_faults.py"
STEPS: Final = f"{ARCHIVE}::test_killed_at_any_step_the_next_round_ends_with_one_truth"

WIDE: Final = (
    # Kept: kill, pause, rolling, cut-node, lose-replies, database-clock, full-disk and drop-answers.
    *(
        f"{FAULTS}[{fault}]"
        for fault in (
            "kill-all",
            "postgres-stop",
            "terminate-storm",
            "cut-cell",
            "drop-packets",
            "sever",
            "reset",
            "slow-database",
            "trickle",
            "node-clock",
            "block-loop",
            "exhaust-pool",
        )
    ),
    # Kept: the bugs of tokens, rescues and claims, with one seed each.
    *(
        f"{BUG}[{bug}"
        for bug in ("local-clock", "next-from-now", "hostname-identity", "persisted-bound", "run-time-deadline")
    ),
    *(f"{BUG}[{bug}-2]" for bug in ("token-dropped", "unguarded-rescue", "claim-in-limit")),
    *(f"{NO_BUG}[{bug}]" for bug in ("local-clock", "next-from-now", "hostname-identity", "persisted-bound")),
    # Kept: 100 seeds and two of the four bugs.
    *(f"tests/simulation/test_simulation.py::test_no_seed_violates_anything[{portion}]" for portion in (2, 3, 4)),
    "tests/simulation/test_simulation.py::test_a_planted_bug_is_found[rescue_without_guard]",
    "tests/simulation/test_simulation.py::test_a_planted_bug_is_found[next_fire_from_now]",
    # Kept: `tests/api/test_hostile.py` and `tests/api/test_document.py` try every route.
    "tests/api/test_fuzz.py",
    # Kept: a cell that refuses; these are those of a cell that says nothing, of which starts and duties are kept.
    "tests/api/test_f06_one_cell_down.py::test_a_tenant_of_a_healthy_cell_reads_all_that_is_its_own[cut]",
    "tests/api/test_f06_one_cell_down.py::test_the_platform_reads_what_there_is_of_all_tenants[cut]",
    "tests/boot/test_f06_duties.py::test_copies_go_on_between_the_cells_that_are_there_and_a_cell_that_comes_back_gets"
    "_what_it_missed[cut]",
    "tests/boot/test_f06_duties.py::test_every_duty_of_an_api_serves_the_cell_that_is_there[cut]",
    "tests/people/test_f06_login.py::test_a_person_logs_in_to_a_tenant_of_the_cell_that_is_there[cut]",
    # Kept: the steps after which a day is half written, half listed or half deleted.
    *(f"{STEPS}[target-{step}-before" for step in ("put", "create", "get", "listing", "delete")),
    *(f"{STEPS}[store-{step}-before" for step in ("listing", "pages", "copy_rows", "checksum", "is_locked", "record")),
    *(f"{STEPS}[{step}-after" for step in ("target-get", "target-listing", "store-listing", "store-is_locked")),
    # Kept: the same ways with files.
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-fails]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-times out]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-stores half]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-stores other bytes]",
    "tests/archive/test_many_days.py",  # kept: `tests/upkeep/test_days.py`
    # Kept: Kafka and NATS; each broker has tests of targets and of what waits.
    *(
        f"tests/events/{test}[{broker}"
        for test in (
            "test_intakes.py::test_the_highest_version_of_every_key_holds",
            "test_ending.py::test_all_intakes_end_at_once_in_the_middle_of_their_batches",
        )
        for broker in ("rabbitmq", "rocketmq")
    ),
    # Kept: exhibitions, which use transactional add, sources and keyed tasks; workers in Go.
    "tests/examples/test_articles.py",
    "tests/examples/test_stock.py",
    "tests/examples/test_workers.py::test_a_worker_in_another_language_handles_what_is_due[java]",
    # Kept: the same examples of the client that is not asynchronous; one is made from the other.
    "tests/sdk/test_examples.py::test_an_example_does_what_it_shows[aio.",
    # Kept: `tests/console/test_seen.py` looks at every page on a phone.
    "tests/console/test_lists.py",
    "tests/boot/test_canaries.py",  # kept: `tests/api/test_encryption.py`
    "tests/benchmarks/test_sources.py",  # kept: `tests/service` repairs smaller sources
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Mark them. Called by pytest before it picks tests by their marks."""
    for item in items:
        if item.nodeid.startswith(WIDE):
            item.add_marker("wide")

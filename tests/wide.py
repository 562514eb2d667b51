"""Which tests `.ci/run` leaves out for its minutes: further cases of what another test of the suite shows already.

`make suite` runs them, and `make wide` runs nothing else. A test is here for its cost. Each
line is the beginning of the names of some tests; what it leaves in `.ci/run` is said beside it.
Two are here because they also judge times that a busy machine spoils: a rate that three nodes use up, and the delays of
rolling restarts.
"""

from typing import Any, Final

import pytest

FAULTS: Final = "tests/system/test_faults.py::test_nothing_is_lost_doubled_or_stuck_and_full_service_is_back_soon"
NO_BUG: Final = "tests/system/test_planted.py::test_without_the_bug_every_promise_is_kept"
BUG: Final = "tests/system/test_planted.py::test_a_planted_bug_is_named"
ARCHIVE: Final = "tests/archive/test_faults.py"
STEPS: Final = f"{ARCHIVE}::test_killed_at_any_step_the_next_round_ends_with_one_truth"


def _of(file: str, *tests: str) -> tuple[str, ...]:
    """Tests of one file, by the beginnings of their names."""
    return tuple(f"tests/{file}.py::test_{test}" for test in tests)


WIDE: Final = (
    # Kept: kill, pause and lose-replies.
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
            "database-clock",
            "drop-answers",
            "rolling",
            "cut-node",
            "full-disk",
        )
    ),
    # Kept: the bugs of tokens, rescues and claims, with one seed each.
    *(
        f"{BUG}[{bug}"
        for bug in ("local-clock", "next-from-now", "hostname-identity", "persisted-bound", "run-time-deadline")
    ),
    *(f"{BUG}[{bug}-2]" for bug in ("token-dropped", "unguarded-rescue", "claim-in-limit")),
    *(f"{NO_BUG}[{bug}]" for bug in ("local-clock", "next-from-now", "hostname-identity", "persisted-bound")),
    # Kept: 50 seeds and two of the four bugs.
    *(f"tests/simulation/test_simulation.py::test_no_seed_violates_anything[{portion}]" for portion in (1, 2, 3, 4)),
    "tests/simulation/test_simulation.py::test_a_planted_bug_is_found[rescue_without_guard]",
    "tests/simulation/test_simulation.py::test_a_planted_bug_is_found[next_fire_from_now]",
    # Kept: `tests/api/test_hostile.py` and `tests/api/test_document.py` try every route.
    "tests/api/test_fuzz.py",
    # Kept: a cell that refuses. These are those of a cell that says nothing; kept of them: a node's start.
    "tests/api/test_f06_one_cell_down.py::test_a_spread_tenants_lists_name_the_missing_cell_and_all_else_is_503[cut]",
    "tests/boot/test_f06_start.py::test_an_api_starts_with_the_cell_that_answers_and_joins_the_other[cut]",
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
    # Kept: the same with files; of the buckets that go wrong, one that stores other bytes.
    "tests/archive/test_cold_reads.py::test_pages_over_three_tiers_are_row_for_row_what_was_there[seaweedfs]",
    "tests/archive/test_format.py::test_every_kind_of_row_comes_back_equal[seaweedfs-1000000]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-fails]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-stores nothing]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-stores and fails]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-times out]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-stores half]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[seaweedfs-stores other bytes]",
    # Kept: a purged tenant that the next round finds.
    *_of("archive/test_duty", "a_purged_tenant_leaves_every_archived_day"),
    "tests/archive/test_many_days.py",  # kept: `tests/upkeep/test_days.py`
    # Kept: NATS; each broker has tests of targets and of what waits.
    *(
        f"tests/events/test_intakes.py::test_the_highest_version_of_every_key_holds[{broker}"
        for broker in ("kafka", "rabbitmq", "rocketmq")
    ),
    # Kept: two nodes.
    *(
        f"tests/engine/test_spread.py::test_one_tenants_fires_are_shared_by_all_nodes_within_a_fifth_of_even[{nodes}]"
        for nodes in (3, 8)
    ),
    # Kept: half of the cases, PostgreSQL, the API process, one limit.
    "tests/domain/cron/test_against_oracle.py::test_every_zone_and_policy_agrees_with_the_oracle[1]",
    "tests/sdk/test_outbox.py::test_killed_between_any_two_steps_a_task_exists_if_and_only_if_its_row_does[mysql-20]",
    "tests/monitoring/test_blocked_loop.py::test_a_blocked_loop_turns_readiness_red_and_back[node]",
    "tests/engine/test_n02_first_waiter.py::test_n02_every_schedule_goes_on_while_a_limit_holds_its_calls_back[4]",
    # Kept: the other tests of a master account.
    "tests/boot/test_managed_postgresql.py::test_the_master_account_alone_creates_runs_dumps_and_restores_a_cell",
    # Kept: exhibitions, which use transactional add, sources and keyed tasks; workers of the client.
    "tests/examples/test_articles.py",
    "tests/examples/test_stock.py",
    "tests/examples/test_workers.py::test_a_worker_in_another_language_handles_what_is_due",
    # Kept: the same examples of the client that is not asynchronous; one is made from the other.
    "tests/sdk/test_examples.py::test_an_example_does_what_it_shows[aio.",
    # Kept: `tests/console/test_seen.py` looks at every page.
    "tests/console/test_lists.py",
    "tests/boot/test_canaries.py",  # kept: `tests/api/test_encryption.py`
    "tests/benchmarks/test_sources.py",  # kept: `tests/service` repairs smaller sources
    # Kept of the console: `test_seen.py` looks at every page with axe.
    *_of("console/test_seen", "every_page_fits_a_phone_its_actions_are_reached_by_keyboard_and_its_policy_holds"),
    *_of("console/test_growth", ""),
    *_of("console/test_retention", ""),
    *_of("console/test_limits", ""),
    *_of("console/test_drills", ""),
    *_of(
        "console/test_graphs",
        "a_failed_step_is_found_and_run_again_from_the_page[zh-CN]",
        "a_failed_step_is_skipped_or_marked_as_succeeded",
        "the_drawing_is_walked_with_the_keyboard",
        "who_may_not_read_payloads_or_change_runs_is_told_so",
        "a_run_and_its_graph_pass_axe_and_fit_a_phone[zh-CN-light]",
    ),
    *_of("console/test_edit_job", "a_job_whose_target_will_be_refused_says_so_on_its_page[zh-CN]"),
    *_of("console/test_why", "a_dead_instance_its_job_and_a_fire_at_a_time_are_explained[zh-CN]"),
    *_of("console/test_many_jobs", "selected_jobs_alone", "columns_are_chosen", "what_is_listed_is_exported"),
    *_of("console/test_on_call", "the_jobs_list_shows_how_each_job_ended", "the_audit_log_names_keys"),
    *_of("console/test_instances", "live_and_ended_are_in_one_list", "what_waits_says_for_what_on_its_page"),
    *_of("console/test_alerts", "a_rule_is_added_changed_and_removed", "a_viewer_sees_alerts"),
    *_of("console/test_dead_letters", "many_are_replayed_by_filter", "the_former_address_leads"),
    *_of("console/test_coupon_job", "a_backfill_is_asked_for"),
    *_of("console/test_tasks", "what_came_too_late"),
    *_of("console/test_tenants", "a_group_gets_a_role"),
    *_of("console/test_runs", "of_a_long_log", "who_may_not_read_payloads"),
    *_of("console/test_list_tools", "open_dead_letters_are_one_filter", "the_page_of_an_instance_shows_the_zone"),
    # Kept: bodies of other shapes, and values that two readers read in two ways, at every route.
    *_of("api/test_hostile", "no_value_in_any_place_of_any_body_is_a_failure_of_ours"),
    *_of("api/test_duplicates", ""),  # kept: `api/test_idempotency.py`
    *_of(
        "api/test_cold_instances",
        "archived_instances_of_another_tenant_are_not_found",  # kept: `archive/test_cold_reads.py` has them, too
        "an_archive_that_lost_its_files",
        "an_archived_payload_is_decrypted",
    ),
    *_of(
        "api/test_f22_server_limits", "f22_readiness_is_not_asked", "one_address_may_have_half", "a_request_that_comes"
    ),
    *_of("api/test_health_causes", "a_target_that_accepts_and_never_answers_is_named_within_a_minute[2-"),
    *_of("api/test_queues", "two_processes_and_a_worker_that_waits_at_one"),
    *_of("api/test_plans", "a_thousand_jobs_are_planned_within_five_seconds"),  # kept: it in `boot/test_front_door.py`
    *_of("api/test_rows_limits", "a_line_that_two_readers", "no_list_gives_more_than_a_page_of_200"),
    # Kept: another walk over the same commands or processes.
    *_of("boot/test_front_door", "a_narrow_terminal_cuts_no_id_and_no_time", "a_viewers_key_gets_403"),
    *_of(
        "boot/test_walk", "a_test_request_reaches", "refusals_are_told", "dead_letters_are_listed", "a_node_runs_until"
    ),
    *_of("boot/test_dev", "a_kept_database", "it_works_on_the_cells", "the_stream_shows", "closing_its_terminal"),
    *_of(
        "boot/test_monitoring",
        "one_of_two_cells_down_is_degraded_and_names_it[node-refuse]",
        "one_of_two_cells_down_is_degraded_and_names_it[api-cut]",
        "with_the_last_cell_cut_it_is_alive_and_not_ready[api]",
    ),
    *_of("boot/test_serve", "a_taken_port_is_named", "cells_that_the_node_and_the_api_name"),
    *_of("boot/test_heartbeat", "no_beat_while_a_cell_is_gone", "a_service_that_refuses"),
    *_of("boot/test_outage_log", "an_outage_of_every_database"),
    *_of("boot/test_terminal", "names_of_jobs_and_queues_are_completed"),
    *_of("boot/test_traces", "a_caller_that_is_not_sampled", "every_fire_is_sampled", "a_dead_collector_loses"),
    *_of("boot/test_init", "roles_of_another_deployment", "what_was_broken_off"),
    *_of("boot/test_supervision", "a_database_that_is_down"),
    *_of("boot/test_f06_duties", "every_duty_of_a_node_serves_the_cell_that_is_there[cut]"),
    # Kept: kills of processes in `system/test_faults.py`; a rate whose node is killed.
    *_of("engine/test_rows_owners", "rolling_restarts_under_load"),
    *_of("engine/test_f14_rates", "three_nodes_keep_a_rate_in_every_window_and_use_all_of_it"),
    *_of("engine/test_rolling", "two_thousand_subjects_under_three_nodes"),
    *_of("engine/test_rows_xids", "a_thousand_fires_a_second"),
    *_of("engine/test_steps", "a_decision_costs_the_same_however_many_wait[two_limits]"),
    *_of("engine/test_wakeups", "in_the_hour_of_twenty_tasks"),
    # Kept: pages that cross all three tiers; a bucket that stores other bytes.
    *_of("archive/test_cold_reads", "pages_over_three_tiers_are_row_for_row", "a_file_that_is_replaced"),
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[file-stores nothing]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[file-stores and fails]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[file-stores half]",
    f"{ARCHIVE}::test_a_bucket_that_goes_wrong_loses_nothing[file-times out]",
    *_of("archive/test_duty", "a_day_that_a_rule_of_the_bucket"),
    # Kept: the other brokers, the other examples of the kits, and one fault of each drill and alert.
    *_of("events/test_given_back", "what_was_not_acknowledged_is_given_out_again_at_once[rocketmq]"),
    *_of("events/test_rocketmq", "what_is_not_acknowledged_in_time"),
    *_of("events/test_topic_traces", "a_trace_leads_from_the_caller_to_the_reader_of_a_topic[rocketmq]"),
    *_of("testing/test_kit", "it_works_over_two_cells", "three_days_pass"),
    *_of("testing/test_client_kit", "the_steps_of_a_graph_are_called"),
    *_of("drills/test_faults", "an_outage_of_all_targets"),
    *_of("monitoring/test_under_load", ""),
    *_of("fuzzing/test_fuzzing", "no_input_breaks_it[json-5000]"),
    *_of("system/test_role_migration", "a_filled_cell_gets_its_policies_under_load"),
    # Kept: the API's tests of the same nouns; `console/test_seen.py` opens every page.
    *_of("console/test_measures", ""),
    *_of("console/test_triage", ""),
    *_of("console/test_workers", ""),
    *_of("console/test_incidents", ""),
    *_of("console/test_backfills", ""),
    *_of("console/test_rolling", ""),
    *_of("console/test_secrets", ""),
    *_of("console/test_edit_job", "an_edit_does_not_overwrite"),
    *_of("console/test_alerts", "a_channel_is_added"),
    *_of("console/test_calendars", ""),
    *_of("console/test_certificates", ""),
    *_of("console/test_events", ""),
    *_of("console/test_first_day", ""),
    *_of("console/test_forecast", ""),
    *_of("console/test_people", ""),
    *_of("console/test_sources", ""),
    *_of("console/test_tenants", "a_key_is_made"),
    # Kept: the verbs of the client by `sdk/test_client.py` and its neighbours; the outbox with fewer steps.
    *_of("sdk/test_examples", "an_example_does_what_it_shows"),
    *_of("sdk/test_outbox", "killed_between_any_two_steps_a_task_exists_if_and_only_if_its_row_does[postgresql-20]"),
    *_of("sdk/test_outbox_answers", ""),
    # Kept: each in another form, in the same folder.
    *_of("archive/test_faults", "a_bucket_that_goes_wrong_loses_nothing[file-fails]", "a_process_killed_with_9"),
    *_of("api/test_holds", "retries_over_the_budget", "a_target_with_as_many_calls"),
    *_of(
        "boot/test_monitoring", "one_of_two_cells_down_is_degraded", "with_the_last_cell_cut", "a_frozen_node_is_missed"
    ),
    *_of("boot/test_terminal", ""),
    *_of("boot/test_init", "an_administrator_gets", "an_account_that_may_not"),
    *_of("boot/test_graphs", "a_graph_is_created_drawn"),
    *_of("engine/test_steps", "a_decision_costs_the_same_however_many_wait[many_limits]"),
    *_of("engine/test_tenants_in_turn", "fires_that_run_alone"),
    *_of("engine/test_silent_key_engine", ""),
    *_of("system/test_recovery", "p1_the_primary"),
    *_of("events/test_ending", ""),
    *_of("events/test_feed", "it_reads_by_summaries"),
    *_of("examples/test_exhibitions", "twenty_approvals"),
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Mark them. Called by pytest before it picks tests by their marks."""
    for item in items:
        if item.nodeid.startswith(WIDE):
            item.add_marker("wide")

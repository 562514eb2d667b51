"""The plants: for each finding one place of the source, the mistake that stood there, and the test that catches it.

`text` stands in `file` exactly once; `mistake` takes its place. Where the code around a mistake has changed since, the
plant does in today's code what the finding describes.
"""

from typing import NamedTuple


class Plant(NamedTuple):
    """A mistake that can be put back into a copy of the source."""

    finding: str
    summary: str
    file: str
    text: str
    mistake: str
    test: str


PLANTS = (
    Plant(
        "F1",
        "a landing that raises is not caught: its flight keeps slot, permit and place",
        "src/horae/engine/flights.py",
        '        except Exception as error:\n            log.error("response.not_processed"',
        '        except ValueError as error:\n            log.error("response.not_processed"',
        "tests/engine/test_landing.py::test_f1_a_mistake_while_a_call_lands_leaks_nothing",
    ),
    Plant(
        "F2",
        "a schedule that cannot be read is refused, and its cursor stops for good",
        "src/horae/engine/fire.py",
        "            return None\n\n    def _step(",
        "            at = ready.timer.at\n"
        "            return DueCursor(ready, Step((Skips(at, at, 1, SkipReason.REFUSED),), None))\n\n"
        "    def _step(",
        "tests/engine/test_definitions.py::test_a_zone_that_this_node_does_not_know_yet_ends_no_schedule",
    ),
    Plant(
        "F3",
        "the name of a limit is as long as the URL in it",
        "src/horae/domain/limits/limits.py",
        'return fit_length(f"{kind}/{name}", MAX_KEY_CHARACTERS)',
        'return f"{kind}/{name}"',
        "tests/engine/test_f03_long_names.py::test_long_names_are_cut_and_stay_different",
    ),
    Plant(
        "F5",
        "a look writes its marks back although a reset came during it",
        "src/horae/engine/class_scanner.py",
        "        if resets == self._resets:\n            self.marks |=",
        "        if resets <= self._resets:\n            self.marks |=",
        "tests/engine/test_f05_resets.py::test_f05_a_reset_that_comes_during_a_look_is_not_lost",
    ),
    Plant(
        "F6",
        "the vacuum goes from cell to cell, and stops at the first one that is down",
        "src/horae/upkeep/vacuum.py",
        "        await self._visits.each(self.store.cells, self._tidy)",
        "        for cell in self.store.cells:\n            await self._tidy(cell)",
        "tests/boot/test_f06_duties.py::test_every_duty_of_a_node_serves_the_cell_that_is_there",
    ),
    Plant(
        "F7",
        "a backfill that raises ends the round of all backfills",
        "src/horae/engine/backfills.py",
        "await self._isolate(one) for one in ours",
        "await self._walk(one) for one in ours",
        "tests/engine/test_f07_isolation.py::test_f7_a_backfill_that_cannot_be_walked_keeps_no_other_waiting",
    ),
    Plant(
        "F8",
        "a computation never gives way to the event loop",
        "src/horae/runtime/heavy.py",
        "            await asyncio.sleep(SLICE_S)\n            ends =",
        "            ends =",
        "tests/api/test_f08_forecast.py::test_no_turn_of_the_loop_is_long_while_a_viewer_asks_for_what_is_coming",
    ),
    Plant(
        "F9",
        "the calendars of a job are read by a second connection inside its transaction",
        "src/horae/service/schedules/schedules.py",
        "        before, schedule = jobs.schedule_with(job, days), jobs.schedule_with(revised, days)",
        "        days = await calendars.by_names(ctx, job.calendars)\n"
        "        before, schedule = jobs.schedule_with(job, days), jobs.schedule_with(revised, days)",
        "tests/api/test_f09_connections.py::test_many_changes_of_jobs_with_a_calendar_at_once_all_succeed",
    ),
    Plant(
        "F10",
        "a claim reads every paused job of its cell",
        "src/horae/engine/claim.py",
        "            taken = await instances.claim(",
        "            await tx.rows(\"select id from job where status = 'PAUSED'\")\n"
        "            taken = await instances.claim(",
        "tests/engine/test_f10_paused_jobs.py"
        "::test_f10_a_claim_beside_100_000_paused_jobs_asks_about_its_own_jobs_only",
    ),
    Plant(
        "F11",
        "nobody counts the subscriptions, intakes and secrets of a tenant",
        "src/horae/service/limits/counts.py",
        "        bounds.check(kind, found.many)\n",
        "",
        "tests/api/test_f11_counts.py::test_one_more_than_a_tenant_may_have_is_refused[subscriptions]",
    ),
    Plant(
        "F12",
        "one tenant may fill all places of name lookups",
        "src/horae/delivery/names.py",
        "LOOKUPS_OF_ONE: Final = 4",
        "LOOKUPS_OF_ONE: Final = LOOKUPS",
        "tests/delivery/test_f12_names.py::test_f12_a_tenant_whose_names_hang_makes_no_other_wait",
    ),
    Plant(
        "F13",
        "a job that is behind costs a statement for each fire",
        "src/horae/service/schedules/owed_fires.py",
        "ROWS_PER_STATEMENT: Final = 500",
        "ROWS_PER_STATEMENT: Final = 1",
        "tests/engine/test_f13_walks.py::test_f13_a_change_pays_what_its_job_owes_with_few_statements",
    ),
    Plant(
        "F14",
        "a rate counts at admission, and its calls leave when their claim is done",
        "src/horae/engine/flights.py",
        "call = self._pace if flight.ready.paces else self._call",
        "call = self._call",
        "tests/engine/test_f14_rates.py::test_a_rate_is_kept_when_claims_had_to_wait_for_a_lock",
    ),
    Plant(
        "F15",
        "a partition is made by a lock on its parent that everyone queues behind",
        "src/horae/store/migrations/0032_attached_partitions.sql",
        "                execute format('create table %I (like %I including all)', partition, parent);\n"
        "                execute format('alter table %I attach partition %I for values from (%L) to (%L)', "
        "parent, partition,\n",
        "                execute format('create table %I partition of %I for values from (%L) to (%L)', "
        "partition, parent,\n",
        "tests/upkeep/test_f15_partitions.py"
        "::test_f15_partitions_are_made_beside_those_who_read_for_long_and_settles_go_on",
    ),
    Plant(
        "F17",
        "the first job at a URL decides how many calls of all jobs may be under way there",
        "src/horae/engine/admission/known_targets.py",
        "Target(now=now, long",
        "Target(made.max_concurrency, now=now, long",
        "tests/engine/test_f17_raised_limits.py"
        "::test_a_job_without_a_limit_is_not_held_back_by_anothers_at_the_same_url",
    ),
    Plant(
        "F18",
        "an answer of 202 gives the permit back, and the work goes on",
        "src/horae/engine/flights.py",
        "self.admission.record_answer(ready, ran.id, health, keeps_running=True)",
        "self.admission.record_answer(ready, ran.id, health)",
        "tests/engine/test_f18_accepted_work.py"
        "::test_f18_no_more_is_accepted_at_once_than_a_limit_of_concurrency_allows[job]",
    ),
    Plant(
        "F19",
        "an encrypted key asks for its password at standard input",
        "src/horae/delivery/tls.py",
        ", password=_no_password)",
        ")",
        "tests/delivery/test_tls.py"
        "::test_a_key_that_a_password_protects_is_refused_at_once_whoever_sits_at_the_terminal",
    ),
    Plant(
        "F20",
        "a narrowed key makes a key with every scope",
        "src/horae/api/routes/identity.py",
        "    caller.check_grant(asked.roles, asked.scopes)\n",
        "",
        "tests/api/test_identity.py::test_a_narrowed_key_makes_no_key_and_binds_no_role_that_reaches_further",
    ),
    Plant(
        "F21",
        "an attempt that is never reported is remembered for ever",
        "src/horae/service/workers/attempt_cache.py",
        " or kept.until < boottime():",
        ":",
        "tests/service/test_f21_memory.py::test_an_attempt_is_forgotten_after_a_while",
    ),
    Plant(
        "F22",
        "each anonymous question for readiness asks every cell",
        "src/horae/service/health/readiness.py",
        "        if self._now() < self._good_until:\n            return self._found\n",
        "        return await look(self._store)\n",
        "tests/api/test_f22_server_limits.py::test_f22_readiness_is_not_asked_of_the_database_for_every_stranger",
    ),
    Plant(
        "F23",
        "a good key is refused where others at its address showed bad ones",
        "src/horae/api/gate.py",
        "        if self._suspects >= MAX_SUSPECTS:\n            self._check_failures(_address(request))\n",
        "        self._check_failures(_address(request))\n",
        "tests/api/test_f23_bad_credentials.py::test_f23_a_good_key_passes_whatever_others_at_its_address_do",
    ),
    Plant(
        "F24",
        "breakers and budgets go by the wall clock of a cell",
        "src/horae/engine/node.py",
        "            wall=store.clock.seconds,\n",
        "            now=store.clock.seconds,\n            wall=store.clock.seconds,\n",
        "tests/engine/test_f24_steady_gates.py::test_f24_retries_are_earned_after_the_clock_was_set_back",
    ),
    Plant(
        "F25",
        "a secret that is not in memory is a secret that does not exist",
        "src/horae/repositories/secret_book.py",
        "        if value is None and not kept.missing_until:\n"
        '            raise KeysUnavailable(f"whether there is a secret {name!r} is not known now")\n',
        "",
        "tests/repositories/test_secret_book.py::test_a_secret_that_was_forgotten_is_not_taken_for_a_missing_one",
    ),
    Plant(
        "N1",
        "a definition that could not be opened is remembered closed",
        "src/horae/repositories/definitions.py",
        "self._known.learn({version: job for version, job in learnt.items() if job.definition.sealed is None})",
        "self._known.learn(learnt)",
        "tests/engine/test_definitions.py::test_what_could_not_be_opened_is_asked_for_again_when_the_keys_are_back",
    ),
    Plant(
        "N2",
        "one of each limit asks again before late fires are looked for in the queues",
        "src/horae/engine/node.py",
        "        for ready in self.admission.pop_unrecorded():",
        "        self.admission.recheck_gates()\n        for ready in self.admission.pop_unrecorded():",
        "tests/engine/test_n02_first_waiter.py::test_n02_every_schedule_goes_on_while_a_limit_holds_its_calls_back",
    ),
    Plant(
        "N3",
        "a failed task that is moved stays a retry",
        "src/horae/store/sql/tasks/tasks/move.sql",
        "lane = case when l.lane = 1 then 0 else l.lane end,",
        "lane = l.lane,",
        "tests/engine/test_n03_moved_tasks.py::test_n03_failed_tasks_that_are_moved_are_first_tries_at_their_new_time",
    ),
    Plant(
        "N4",
        "the lane of a retry that is read from a row is compared by identity",
        "src/horae/engine/admission/target.py",
        "ready.timer.lane == Lane.RETRY",
        "ready.timer.lane is Lane.RETRY",
        "tests/engine/test_n04_retry_budget.py"
        "::test_n04_a_target_that_comes_back_after_a_takeover_is_not_buried_by_its_retries",
    ),
)

from datetime import timedelta

from horae.domain.health.doctor import Severity, examine
from horae.store.cells import Cell
from horae.store.databases.partitions import DAYS_AHEAD
from horae.store.health import health
from horae.store.tx import Tx


async def test_a_cell_says_what_the_doctor_wants_to_know(store):
    cell = store.cells[0]
    async with cell.statement() as tx:
        found = await health.facts(tx)
    assert found.version >= 150000
    assert found.superuser
    assert found.days_ahead in (DAYS_AHEAD, DAYS_AHEAD - 1), "made ahead; a day may have begun since"
    assert found.pending_migrations == 0
    faults = {finding.name for finding in examine(found) if finding.level is Severity.FAULT}
    assert faults == {"fsync", "full_page_writes", "synchronous_commit"}, "the tests' own cluster does without"


async def test_our_own_session_does_not_hide_the_servers_settings(store):
    cell = store.cells[0]
    async with cell.direct() as connection:
        found = await health.settings(Tx(connection, cell.clock.now()))
    assert (found["idle_in_transaction_session_timeout"], found["enable_seqscan"]) == ("0", "on")


async def test_a_reader_that_does_not_stop_is_seen(store):
    cell = store.cells[0]
    async with cell.pool.acquire() as reader:
        transaction = reader.transaction(isolation="repeatable_read")
        await transaction.start()
        await reader.fetch("select * from job")
        async with cell.statement() as tx:
            found = await health.facts(tx)
        await transaction.rollback()
    assert found.oldest_snapshot > timedelta()


async def test_a_cell_knows_what_it_was_made_for_and_a_new_database_knows_nothing(store, cluster):
    cell = store.cells[0]
    async with cell.statement() as tx:
        assert await health.environment(tx) == "test"
    async with Cell("new", cluster.dsn("postgres")).direct() as connection:
        assert await health.environment(Tx(connection, cell.clock.now())) is None

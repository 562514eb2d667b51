"""Another system's tables, read out of its own PostgreSQL."""

import os

import asyncpg
import pytest

from horae.domain.errors import NotFound
from horae.service.imports import ImportedJob, quartz_tables
from horae.service.imports import databases as import_databases
from horae.store.databases import databases

NAMES = (
    quartz_tables.CRON_TABLE,
    quartz_tables.SIMPLE_TABLE,
    quartz_tables.TRIGGERS_TABLE,
    quartz_tables.DETAILS_TABLE,
)
TABLES = """
create table qrtz_cron_triggers (trigger_name text, trigger_group text, cron_expression text, time_zone_id text);
create table qrtz_triggers (trigger_name text, trigger_group text, job_name text, job_group text, trigger_state text,
    trigger_type text, start_time bigint, end_time bigint, misfire_instr smallint, calendar_name text, job_data bytea);
create table qrtz_job_details (job_name text, job_group text, job_class_name text, is_nonconcurrent boolean);
insert into qrtz_cron_triggers values ('report', 'DEFAULT', '0 0 9 ? * MON-FRI', null);
insert into qrtz_triggers values
    ('report', 'DEFAULT', 'Report', 'DEFAULT', 'WAITING', 'CRON', 1700000000000, 0, 2, null, null);
insert into qrtz_job_details values ('Report', 'DEFAULT', 'com.acme.Report', true);
"""


@pytest.fixture
async def quartz(cluster):
    """A database of somebody else's."""
    name = f"quartz_{os.getpid()}"
    await databases.make(cluster.dsn("postgres"), [name])
    connection = await asyncpg.connect(cluster.dsn(name))
    yield connection, cluster.dsn(name)
    await connection.close()
    await databases.drop(cluster.dsn("postgres"), [name])


async def test_quartz_is_read_out_of_its_own_database_and_what_is_missing_there_is_left_out(quartz):
    connection, dsn = quartz
    with pytest.raises(NotFound, match="qrtz_cron_triggers"):
        await import_databases.read(dsn, NAMES)
    await connection.execute(TABLES)
    tables = await import_databases.read(dsn, NAMES)
    assert set(tables) == set(NAMES) - {quartz_tables.SIMPLE_TABLE}
    [found] = quartz_tables.read(tables, zone="Asia/Tokyo")
    assert isinstance(found, ImportedJob)
    assert (found.trigger.expression, found.trigger.zone) == ("0 0 9 ? * MON-FRI", "Asia/Tokyo")
    assert (found.policies.misfire.policy, found.policies.overlap) == ("skip", "queue_one")
    assert found.payload == {"job": "Report", "job_class": "com.acme.Report"}

"""`horae drill` refuses what it may not break, before it breaks anything."""

import asyncio
import os

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.store.store import Store
from tests.steps import query

WHY = ("--reason", "a try")


@pytest.fixture
def refused(tmp_path):
    """Calls a drill in a thread of its own, and returns why it was refused."""

    def call(*words):
        done = CliRunner().invoke(whole(), ["drill", *words, *WHY, "--folder", str(tmp_path / "reports")])
        assert done.exit_code in {1, 3, 4}, (done.output, done.exception)
        assert not (tmp_path / "reports").exists() or not list((tmp_path / "reports").glob("*/report.json"))
        return " ".join(done.output.split())

    return call


@pytest.fixture
def of_environment(environment, cells, monkeypatch):
    """The cells and the settings belong to an environment."""

    def become(name, recorded=None):
        async def write():
            async with Store.of(cells) as store:
                await query(store, f"update cell set environment = '{recorded or name}'")

        asyncio.run(write())
        monkeypatch.setenv("HORAE_ENVIRONMENT", name)

    return become


@pytest.mark.parametrize("environment_name", ["dev", "test"])
def test_there_are_no_drills_outside_of_staging_and_production(of_environment, refused, environment_name):
    of_environment(environment_name)
    assert "staging and production only" in refused("node-loss", "--pid", str(os.getpid()))
    assert "staging only" in refused("outage-of-targets")


def test_production_allows_node_loss_only_and_with_its_name(of_environment, refused, monkeypatch):
    of_environment("production")
    monkeypatch.setenv("HORAE_DEPLOYMENT", "orders-eu")
    assert "staging only" in refused("cell-loss", "--pid", "1")
    assert "by the name of the deployment" in refused("node-loss", "--pid", "1", "--confirm", "orders")
    assert "neither `horae node`" in refused("node-loss", "--pid", str(os.getpid()), "--confirm", "orders-eu")


def test_a_database_of_production_is_safe_from_a_wrong_setting(of_environment, refused):
    of_environment("staging", recorded="production")
    assert "belongs to 'production'" in refused("outage-of-targets")


def test_a_process_that_is_no_node_and_no_server_of_the_cell_is_left_alone(of_environment, refused):
    of_environment("staging")
    assert "neither `horae node`" in refused("node-loss", "--pid", str(os.getpid()))
    assert "is not the PostgreSQL of cell-0" in refused("cell-loss", "--pid", str(os.getpid()))
    assert "say which process" in refused("cell-loss")
    assert "longer than the fault" in refused("outage-of-targets", "--hold", "50", "--limit", "40")

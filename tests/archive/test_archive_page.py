"""docs/archive.md: its settings open an archive, and its statements and programs run."""

import re
from pathlib import Path

from horae.archive.object_store import open_target
from horae.runtime.settings import Settings
from tests.archive.history import day_of, insert, some_id
from tests.archive.test_duty import archive_all
from tests.steps import query

PAGE = (Path(__file__).parents[2] / "docs" / "archive.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_its_settings_open_an_archive(monkeypatch):
    [block] = blocks("sh")
    for name, value in re.findall(r"^export (\w+)=(\S+)$", block, re.MULTILINE):
        monkeypatch.setenv(name, value)
    assert open_target(Settings()) is not None
    [extra] = re.findall(r"pip install '(.*)'", block)
    assert extra == "horae[archive]"


async def test_its_statement_lists_days_and_its_program_finds_an_instance(store, archiver, tmp_path):
    cell = store.cells[0]
    day = day_of(cell, 3)
    own = {"tenant_id": some_id(day.begin), "job_id": some_id(day.begin), "generation": 1}
    id_ = await insert(cell, ended_at=day.begin, business_key="order-1", **own)
    await insert(cell, ended_at=day.begin, business_key="order-2", **own)
    await archive_all(archiver)
    [statement] = blocks("sql")
    assert {row["rows"] for row in await query(cell, statement)} == {0, 2}
    [program] = blocks("python")
    names = {"folder": tmp_path / "archive"}
    exec(program, names)
    assert [row[:2] for row in names["found"]] == [(id_, "SUCCESS")]

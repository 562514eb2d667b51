"""docs/retention.md: its settings are those of the program, and its statements run."""

import re
from pathlib import Path

from horae.runtime.settings import Settings
from tests.steps import query

PAGE = (Path(__file__).parents[2] / "docs" / "retention.md").read_text()


def test_the_page_has_the_defaults_of_the_settings():
    listed = dict(re.findall(r"`HORAE_(\w+)` \((\d+)\)", PAGE))
    assert len(listed) == 6
    for name, value in listed.items():
        assert Settings.model_fields[name.lower()].default == int(value), name


async def test_its_statements_run(store):
    [block] = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    days, dropped = (statement for statement in block.split(";") if statement.strip())
    assert len(await query(store.cells[0], days)) >= 16
    assert await query(store.cells[0], dropped) == []

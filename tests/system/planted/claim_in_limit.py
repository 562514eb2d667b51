"""Workers claim by `in (select … limit … for update skip locked)`.

Where the planner joins by a nested loop the subquery runs anew for every row, skips what it has locked before, and
hands out everything. The session is given the plan that bites, as other statistics or another version would.
"""

import re
from typing import Any

from horae.store import cells
from horae.store.workers import workers
from tests.system.planted.text import rewrite

BITES = {"enable_seqscan": "on", "enable_hashagg": "off", "enable_sort": "off", "enable_material": "off"}


def plant(put: Any) -> None:
    rewrite(
        put,
        {"workers/workers/claim": (workers.sql("workers/workers/claim"), by_in(workers.sql("workers/workers/claim")))},
    )
    put(cells, "OWN", {**cells.OWN, "server_settings": {**cells.SESSION, **BITES}})


def by_in(text: str) -> str:
    """The claim as it is, written the other way round."""
    shape = r"with picked as materialized \((.*?skip locked)\)\n(update.*?)\nfrom picked\nwhere.*?\n(returning.*)"
    found = re.search(shape, text, re.DOTALL)
    assert found is not None, "the claim is written in another way now"
    picked, update = found[1].replace("select q.ctid", "select q.id"), found[2]
    return f"{update}\nwhere l.id in ({picked})\n{found[3]}"

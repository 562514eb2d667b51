"""Where a drill may run."""

import pytest

from horae.domain.drills.drills import DrillKind, check_place
from horae.domain.errors import Conflict, Invalid

CELLS = {"cell-0": "staging"}


@pytest.mark.parametrize("kind", DrillKind)
def test_staging_allows_every_drill_and_dev_and_test_none(kind):
    check_place(kind, "staging", CELLS, "", "")
    for environment in ("dev", "test"):
        with pytest.raises(Conflict, match="staging"):
            check_place(kind, environment, {"cell-0": environment}, "orders", "orders")


@pytest.mark.parametrize("kind", [kind for kind in DrillKind if kind != DrillKind.NODE_LOSS])
def test_production_allows_the_loss_of_a_node_only(kind):
    with pytest.raises(Conflict, match="staging only"):
        check_place(kind, "production", {"cell-0": "production"}, "orders", "orders")


def test_production_wants_the_name_of_the_deployment_typed():
    cells = {"cell-0": "production"}
    check_place(DrillKind.NODE_LOSS, "production", cells, "orders", "orders")
    for deployment, typed in (("orders", ""), ("orders", "order"), ("", "")):
        with pytest.raises(Invalid):
            check_place(DrillKind.NODE_LOSS, "production", cells, deployment, typed)


def test_a_wrong_setting_alone_breaks_nothing():
    with pytest.raises(Conflict, match="cell-1 belongs to 'production'"):
        check_place(DrillKind.CELL_LOSS, "staging", {**CELLS, "cell-1": "production"}, "", "")

"""The command line says at once that the target of a new job will be refused, and the client has the same words."""

import json

import pytest

from horae.runtime.settings import EgressSettings
from horae_client import Client
from tests.boot.api_thread import ApiThread


@pytest.fixture
def api(cells):
    """An API with the egress rules of production."""
    made = ApiThread(cells, egress=EgressSettings())
    yield made
    made.close()


def test_a_job_whose_target_will_be_refused_is_created_with_a_warning(horae, api):
    target = ("--cron", "0 9 * * *", "--url", "http://localhost:8000/coupon")
    said = horae("job", "create", "coupon", *target)
    assert "warning" in said
    assert "HORAE_EGRESS" in said
    assert "HORAE_ENVIRONMENT" in said
    [warning] = horae.json("job", "show", "coupon")["warnings"]
    with Client(api.url, api.key()) as client:
        assert client.jobs.get("coupon").warnings == [warning]
    assert "warning" not in horae("job", "create", "public", *target[:3], "https://example.com/coupon")


def test_a_plan_and_its_application_warn_of_each_target_that_will_be_refused(horae, tmp_path):
    plain, public = (
        {"cron": "0 9 * * *", "target": {"kind": "http", "url": f"{url}/x"}}
        for url in ("http://a.test", "https://a.test")
    )
    file = tmp_path / "jobs.json"  # JSON is YAML
    file.write_text(json.dumps({"owner": "shop", "jobs": {"plain": plain, "public": public}}))
    [plain, public] = horae.json("plan", "--file", str(file))["steps"]
    assert (len(plain["warnings"]), public["warnings"]) == (1, [])
    for words in ("plan", "apply"):
        said = horae(words, "--file", str(file))
        assert said.count("    warning: every run will be a dead letter, because http://a.test/x may") == 1
    assert "warning" not in horae("plan", "--file", str(file)), "nothing is left to do"

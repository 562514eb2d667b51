"""helm, kubeconform and a real API server judge the chart: `make long`, or `pytest -m long -n 0` with this file.

They are built by Go (`tools/kubernetes`), the API server's etcd comes from Debian. No kubelet runs: that pods start is
not shown here.
"""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.api_server import ApiServer
from tests.deploy.manifests import CHART, GOLDEN, ROOT, VALUES, objects, tool

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
BOTH = pytest.mark.parametrize("render", GOLDEN, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def programs():
    return Path(tool("programs"))


@pytest.fixture(scope="module")
def schemas():
    return sorted(Path(tool("schemas")).iterdir())


@pytest.fixture(scope="module")
def api_server(tmp_path_factory):
    with ApiServer(Path(tool("apiserver")), tmp_path_factory.mktemp("apiserver")) as server:
        yield server


def run(*command, status=0):
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_helm_finds_nothing_to_say_about_the_chart(programs, values):
    said = run(programs / "helm", "lint", "--strict", "--values", values, CHART)
    assert "1 chart(s) linted, 0 chart(s) failed" in said
    assert "[WARNING]" not in said
    assert "[ERROR]" not in said


def test_helm_refuses_a_secret_among_the_values(programs):
    said = run(programs / "helm", "template", "horae", CHART, "--set", "settings.api_secret=x", status=1)
    assert "api_secret" in said


def test_helm_makes_of_the_chart_what_is_committed():
    before = [path.read_text() for path in GOLDEN]
    assert Path(tool("render")) == ROOT / "tests/deploy/golden"
    assert [path.read_text() for path in GOLDEN] == before


@BOTH
def test_every_object_fits_the_strict_schema_of_its_kind(programs, schemas, render, record_property):
    assert [folder.name for folder in schemas] == ["v1.30.0", "v1.34.0", "v1.37.0"]
    many = len(objects(render))
    for folder in schemas:
        said = run(*conform(programs, folder), render)
        assert f"{many} resources found in 1 file - Valid: {many}, Invalid: 0, Errors: 0, Skipped: 0" in said
    record_property("objects", many)


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("Deployment", ("spec", "replicsa"), 3),
        ("Deployment", ("spec", "replicas"), "three"),
        ("NetworkPolicy", ("spec", "ingres"), []),
        ("ScaledObject", ("spec", "minReplicas"), 2),
        ("ServiceMonitor", ("spec", "endpoint"), []),
        ("PrometheusRule", ("spec", "groups"), "all"),
    ],
    ids=str,
)
def test_a_wrong_object_is_noticed(programs, schemas, tmp_path, kind, path, value):
    everything = next(one for one in GOLDEN if one.stem == "everything")
    wrong = next(one for one in objects(everything) if one["kind"] == kind)
    *folders, last = path
    inside = wrong
    for folder in folders:
        inside = inside[folder]
    inside[last] = value
    file = tmp_path / "wrong.yaml"
    file.write_text(yaml.safe_dump(wrong))
    for folder in schemas:
        assert "Invalid: 1" in run(*conform(programs, folder), file, status=1)


@BOTH
def test_an_api_server_accepts_every_object(api_server, render, record_property):
    for one in objects(render):
        status, answer = api_server.try_to_create(one)
        assert status == 201, (one["kind"], one["metadata"]["name"], answer)
    record_property("objects", len(objects(render)))


def test_an_api_server_refuses_an_unknown_field(api_server):
    deployment = next(one for one in objects(GOLDEN[0]) if one["kind"] == "Deployment")
    deployment["spec"]["replicsa"] = 3
    status, answer = api_server.try_to_create(deployment)
    assert status == 400
    assert 'unknown field "spec.replicsa"' in answer


def conform(programs, schemas):
    """kubeconform with strict schemas of one version, and none from elsewhere."""
    location = f"{schemas}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    return (programs / "kubeconform", "-strict", "-summary", "-schema-location", location)

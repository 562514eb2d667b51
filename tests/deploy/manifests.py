"""The committed renders of the chart, as objects."""

import copy
import subprocess
import sys
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy/helm/horae"
VALUES = sorted((ROOT / "tests/deploy/values").glob("*.yaml"))
GOLDEN = [ROOT / "tests/deploy/golden" / path.name for path in VALUES]
TOOL = [sys.executable, str(ROOT / "tools/kubernetes")]


def objects(render):
    """The objects of a render; a caller may change them."""
    return copy.deepcopy(_parsed(render))


@cache
def _parsed(render):
    return [one for one in yaml.load_all(render.read_text(), yaml.CSafeLoader) if one is not None]


def of_kind(render, kind):
    """The objects of one kind by their names."""
    return {one["metadata"]["name"]: one for one in objects(render) if one["kind"] == kind}


def pods(render):
    """The pod templates of a render, by the name of their component."""
    found = [one for one in objects(render) if one["kind"] in {"Deployment", "Job"}]
    return {one["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]: one for one in found}


def environment(pod):
    """The variables of a pod's only container: values, and references to secrets."""
    (container,) = pod["spec"]["template"]["spec"]["containers"]
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}


def tool(command):
    """What `tools/kubernetes` prints."""
    return subprocess.run([*TOOL, command], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

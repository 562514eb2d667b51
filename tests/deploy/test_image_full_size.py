"""The container image, built and run for real: its size, user, file system, SBOM and health check."""

import json

import pytest

from tests.deploy.containers import IMAGE, Podman

MAX_MB = 250
LOCKED = ("run", "--rm", "--network=none", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges")
INSTALLED = (
    "import importlib.metadata as m; print(*sorted(d.name.lower().replace('_', '-') for d in m.distributions()))"
)
DEBIAN = ("--entrypoint=dpkg-query", IMAGE, "--show", "--showformat", "${Package} ")


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_image_is_small_runs_as_nobody_special_on_a_read_only_root_and_tells_its_parts(
    podman: Podman, record_property
):
    [found] = json.loads(podman("image", "inspect", IMAGE))
    size_mb = round(found["Size"] / 1e6)
    record_property("image_mb", size_mb)
    record_property("user", found["Config"]["User"])
    assert size_mb <= MAX_MB
    assert found["Config"]["User"] == "10001:10001"
    assert found["Config"]["Entrypoint"] == ["horae"]
    assert found["Healthcheck"]["Test"] == ["CMD", "horae-probe"]
    labels = found["Config"]["Labels"]
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    assert labels["org.opencontainers.image.version"] == podman(*LOCKED, IMAGE, "version")

    def inside(program: str, *words: str) -> str:
        return podman(*LOCKED, f"--entrypoint={program}", IMAGE, *words)

    assert inside("id", "--user") == "10001"
    with pytest.raises(RuntimeError, match="Read-only file system"):
        inside("touch", "/opt/horae/file")
    with pytest.raises(RuntimeError, match="No module named pip"):
        inside("python", "-m", "pip")
    inside("sh", "-c", "test -s /opt/horae/lib/python3*/site-packages/horae/console/index.html")

    python = set(inside("python", "-c", INSTALLED).split())
    debian = set(podman(*LOCKED, *DEBIAN).split())
    record_property("python_packages", len(python))
    record_property("debian_packages", len(debian))
    for name, packages in (("python", python), ("debian", debian)):
        sbom = json.loads(inside("cat", f"/usr/share/horae/sbom/{name}.cdx.json"))
        assert sbom["bomFormat"] == "CycloneDX"
        listed = {one["name"].lower().replace("_", "-") for one in sbom["components"]}
        assert packages <= listed, packages - listed

"""Folds JSON schemas of every kind that the chart makes into one file each, as kubeconform reads them.

The schemas of Kubernetes come from PyPI, those of KEDA and of the Prometheus operator from their Go modules. Unknown
fields are errors in all of them.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final

import yaml
from cache import cache, module_folder

WHEEL: Final = "kubernetes-validate==1.37.0"
WHEEL_SHA256: Final = "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9"
VERSIONS: Final = ("v1.30.0", "v1.34.0", "v1.37.0")
"""The oldest version that the chart supports, the one whose API server is asked, and the newest that there is."""
CRDS: Final = (
    ("github.com/kedacore/keda/v2", "v2.21.0", "config/crd/bases/keda.sh_scaledobjects.yaml"),
    (
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
    ),
    (
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
    ),
)
Schema = dict[str, Any]


def fold_schemas() -> Path:
    """Return the folder with a folder of schemas for each version of Kubernetes."""
    pins = hashlib.sha256(repr((WHEEL_SHA256, VERSIONS, CRDS)).encode() + Path(__file__).read_bytes()).hexdigest()[:12]
    home = cache() / f"schemas-{pins}"
    if not home.exists():
        with tempfile.TemporaryDirectory(dir=cache()) as text:
            new = Path(text) / "new"
            wheel = download_wheel(Path(text))
            for version in VERSIONS:
                fold_kubernetes(wheel, version, new / version)
                for crd in crd_files():
                    fold_crd(crd, new / version)
            new.rename(home)
    return home


def download_wheel(folder: Path) -> Path:
    """Fetch the wheel, which pip compares with its hash."""
    pins = folder / "pins.txt"
    pins.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--require-hashes", "--dest", folder, "-r", pins], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def crd_files() -> list[Path]:
    """Return the files of the custom resource definitions."""
    return [module_folder(module, version) / path for module, version, path in CRDS]


def fold_kubernetes(wheel: Path, version: str, folder: Path) -> None:
    """Write a schema for each kind of Kubernetes, with the definitions that it uses."""
    folder.mkdir(parents=True)
    inside = f"kubernetes_validate/kubernetes-json-schema/{version}-local-strict/"
    with zipfile.ZipFile(wheel) as opened:
        definitions = json.loads(opened.read(f"{inside}_definitions.json"))["$defs"]
        for name in opened.namelist():
            if not name.startswith(inside) or name.endswith(("/_definitions.json", "/all.json")):
                continue
            schema = json.loads(opened.read(name))
            if "x-kubernetes-group-version-kind" not in schema:
                continue
            used = closure(schema, definitions)
            folded = point_inside(schema) | {"definitions": {one: point_inside(definitions[one]) for one in used}}
            (folder / Path(name).name).write_text(json.dumps(folded))


def closure(schema: Schema, definitions: Schema) -> set[str]:
    """Return the names of all definitions that a schema uses, directly or through others."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        new = names_in(waiting.pop()) - found
        found |= new
        waiting += [definitions[name] for name in new]
    return found


def names_in(part: Any) -> set[str]:
    """Return the names of the definitions that a part of a schema refers to."""
    if isinstance(part, dict):
        own = {part["$ref"].rpartition("/")[2]} if isinstance(part.get("$ref"), str) else set()
        return own.union(*map(names_in, part.values()))
    return set().union(*map(names_in, part)) if isinstance(part, list) else set()


def point_inside(part: Any) -> Any:
    """Return a part of a schema whose references stay in its own file."""
    if isinstance(part, dict):
        return {
            key: f"#/definitions/{value.rpartition('/')[2]}"
            if key == "$ref" and isinstance(value, str)
            else point_inside(value)
            for key, value in part.items()
        }
    return [point_inside(one) for one in part] if isinstance(part, list) else part


def fold_crd(file: Path, folder: Path) -> None:
    """Write a schema for each version of a custom resource."""
    for crd in yaml.safe_load_all(file.read_text()):
        group, kind = crd["spec"]["group"].partition(".")[0], crd["spec"]["names"]["kind"].lower()
        for version in crd["spec"]["versions"]:
            schema = be_strict(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {"type": "object"}  # what the API server checks for all kinds
            (folder / f"{kind}-{group}-{version['name']}.json").write_text(json.dumps(schema))


def be_strict(part: Any) -> Any:
    """Return a part of a schema in which fields that are not listed are errors, as in the schemas of Kubernetes."""
    if isinstance(part, list):
        return [be_strict(one) for one in part]
    if not isinstance(part, dict):
        return part
    made = {key: be_strict(value) for key, value in part.items()}
    if part.get("x-kubernetes-int-or-string") is True:
        made.pop("type", None)
        return made | {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    open_to_all = part.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in part
    if part.get("type") == "object" and isinstance(part.get("properties"), dict) and not open_to_all:
        made["additionalProperties"] = False
    return made

"""The renders of the chart are current, keep the rules of the house, and name what exists.

helm, kubeconform and an API server judge them in `make long` (tests/deploy/test_chart_programs.py).
"""

import copy
import json
import re
import subprocess
import sys

import jsonschema_rs
import pytest
import yaml

from horae.boot.cli import WORDS
from horae.runtime.settings import Settings
from horae.runtime.settings.secret_files import file_keys
from tests.deploy.manifests import CHART, GOLDEN, ROOT, VALUES, environment, objects, of_kind, pods

SCHEMA = json.loads((CHART / "values.schema.json").read_text())
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())
BOTH = pytest.mark.parametrize("render", GOLDEN, ids=lambda path: path.stem)
EVERYTHING, MINIMAL = GOLDEN


def merged(base, more):
    """Values over values, as helm merges them."""
    if isinstance(base, dict) and isinstance(more, dict):
        return {key: merged(base.get(key), more[key]) if key in more else base[key] for key in base | more}
    return more


def test_the_renders_are_those_of_this_chart():
    """Run `tools/kubernetes render` after a change of the chart."""
    program = (
        "import renders; print('\\n'.join(renders.first_line(one) for one in sorted(renders.VALUES.glob('*.yaml'))))"
    )
    folder = ROOT / "tools/kubernetes"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    assert [path.read_text().partition("\n")[0] for path in GOLDEN] == done.stdout.splitlines()


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_the_values_fit_their_schema(values):
    jsonschema_rs.Draft202012Validator(SCHEMA).validate(merged(DEFAULTS, yaml.safe_load(values.read_text())))


@pytest.mark.parametrize(
    "wrong",
    [
        {"settings": {"api_secret": "do-not"}},
        {"settings": {"dsn": "postgresql://horae:secret@db/horae"}},
        {"node": {"settings": {"smtp_password": "do-not"}}},
        {"secrets": {"keyring": {"name": "", "key": "keyring.json"}}},
        {"ingress": {"enabled": True}},
        {"keda": {"enabled": True}},
        {"image": {"digest": "latest"}},
        {"nodes": {"replicas": 3}},
    ],
    ids=json.dumps,
)
def test_wrong_values_are_refused(wrong):
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.Draft202012Validator(SCHEMA).validate(merged(copy.deepcopy(DEFAULTS), wrong))


def test_every_value_has_a_schema_and_everything_switches_all_on():
    assert DEFAULTS.keys() == SCHEMA["properties"].keys() - {"global"}
    kinds = {one["kind"] for one in objects(EVERYTHING)}
    assert {
        "ScaledObject",
        "ServiceMonitor",
        "PrometheusRule",
        "Ingress",
        "NetworkPolicy",
        "PodDisruptionBudget",
    } <= kinds
    assert pods(EVERYTHING).keys() == {"node", "api", "migrate", "rescue"}
    assert pods(MINIMAL).keys() == {"node", "api", "migrate"}


@BOTH
def test_no_pod_has_rights_that_it_does_not_need(render):
    for pod in pods(render).values():
        spec = pod["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert container["resources"]["limits"].keys() == {"memory"}, "a throttled scheduler is late"
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()


@BOTH
def test_secrets_are_files_and_no_variable_holds_one(render):
    assert not of_kind(render, "Secret")
    assert "secretKeyRef" not in render.read_text()
    sensitive = re.compile(r"SECRET|PASSWORD|TOKEN|CELLS|DSN")
    for pod in pods(render).values():
        spec = pod["spec"]["template"]["spec"]
        (folder,) = [one["mountPath"] for one in spec["containers"][0]["volumeMounts"] if one["name"] == "secrets"]
        (projected,) = [one["projected"] for one in spec["volumes"] if one["name"] == "secrets"]
        files = [item["path"] for source in projected["sources"] for item in source["secret"]["items"]]
        named = {name: value for name, value in environment(pod).items() if sensitive.search(name)}
        assert named == {f"HORAE_{file.upper()}_FILE": f"{folder}/{file}" for file in files}
        modes = [
            volume.get("secret", volume.get("projected", {})).get("defaultMode", 0o440) for volume in spec["volumes"]
        ]
        assert set(modes) == {0o440}, "the group of the pod reads it, no other"


@BOTH
def test_no_service_sets_a_setting(render):
    """Kubernetes would set HORAE_API_PORT to `tcp://…` in each pod, because there is a service `horae-api`."""
    assert "horae-api" in of_kind(render, "Service")
    assert all(pod["spec"]["template"]["spec"]["enableServiceLinks"] is False for pod in pods(render).values())


@BOTH
def test_every_variable_is_a_setting_and_is_valid(render, monkeypatch):
    known = {f"HORAE_{name.upper()}" for name in [*Settings.model_fields, *file_keys(Settings)]}
    for component, pod in pods(render).items():
        variables = environment(pod)
        assert variables.keys() <= known, component
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                if not name.endswith("_FILE"):
                    patch.setenv(name, value)
            settings = Settings()
        assert settings.environment == "production"
    assert settings.logs_json()


def test_settings_of_a_component_win_over_those_of_all():
    found = {component: environment(pod).get("HORAE_SLOTS") for component, pod in pods(EVERYTHING).items()}
    assert found == {"node": "8000", "api": "4000", "migrate": None, "rescue": "8000"}
    assert environment(pods(EVERYTHING)["node"])["HORAE_DISK_BYTES"] == "500000000000"


@BOTH
def test_every_command_exists_and_has_what_it_needs(render):
    needs = {"node": {"HORAE_CELLS_FILE", "HORAE_KEYRING"}, "migrate": {"HORAE_CELLS_FILE"}}
    needs |= {"api": {"HORAE_API_CELLS_FILE", "HORAE_API_SECRET_FILE", "HORAE_KEYRING"}}
    for component, wanted in needs.items():
        pod = pods(render)[component]
        (container,) = pod["spec"]["template"]["spec"]["containers"]
        assert container["args"] == [component]
        assert component in WORDS
        assert wanted <= environment(pod).keys()
    assert "HORAE_CELLS_FILE" not in environment(pods(render)["api"]), "an API server does not know the engine's role"


@BOTH
def test_probes_ask_the_listener_of_the_process(render):
    ports = {name: Settings.model_fields[f"{name}_monitoring_port"].default for name in ("node", "api")}
    for component, port in ports.items():
        (container,) = pods(render)[component]["spec"]["template"]["spec"]["containers"]
        named = {one["name"]: one["containerPort"] for one in container["ports"]}
        assert named["monitoring"] == port
        assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "monitoring"}
        for probe in ("livenessProbe", "startupProbe"):
            assert container[probe]["httpGet"] == {"path": "/healthz", "port": "monitoring"}, (
                "an outage restarts nothing"
            )
        assert environment(pods(render)[component])["HORAE_MONITORING_HOST"] == "0.0.0.0"


@BOTH
def test_the_keyring_lies_where_the_setting_says(render):
    for component in ("node", "api"):
        pod = pods(render)[component]
        spec = pod["spec"]["template"]["spec"]
        (mount,) = [one for one in spec["containers"][0]["volumeMounts"] if one["name"] == "keyring"]
        (volume,) = [one for one in spec["volumes"] if one["name"] == "keyring"]
        folder, _, file = environment(pod)["HORAE_KEYRING"].rpartition("/")
        assert mount["mountPath"] == folder
        assert volume["secret"]["secretName"]
        assert file in {"keyring.json", "ring.json"}


@BOTH
def test_every_selector_finds_the_pods_of_its_component(render):
    labels = {component: pod["spec"]["template"]["metadata"]["labels"] for component, pod in pods(render).items()}
    for kind in ("PodDisruptionBudget", "NetworkPolicy", "Service", "Deployment"):
        for name, one in of_kind(render, kind).items():
            said = one["spec"].get("podSelector") or one["spec"]["selector"]
            wanted = said.get("matchLabels", said)
            component = name.removeprefix("horae-").removesuffix("-monitoring")
            if component in labels:
                assert wanted.items() <= labels[component].items(), (kind, name)


@BOTH
def test_pods_of_a_component_spread_and_leave_one_at_a_time(render):
    for component in ("node", "api"):
        deployment = pods(render)[component]
        spread = deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert [one["topologyKey"] for one in spread] == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
        assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
        grace_s = float(environment(deployment).get("HORAE_GRACE") or Settings.model_fields["grace"].default)
        assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= grace_s + 30


@BOTH
def test_the_migration_needs_nothing_that_comes_after_it(render):
    job = of_kind(render, "Job")["horae-migrate"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    spec = job["spec"]["template"]["spec"]
    assert "serviceAccountName" not in spec
    assert all(volume.keys() <= {"name", "emptyDir", "projected", "secret"} for volume in spec["volumes"])


def test_the_number_of_nodes_is_left_to_keda_where_it_is_on():
    assert "replicas" not in pods(EVERYTHING)["node"]["spec"]
    assert pods(MINIMAL)["node"]["spec"]["replicas"] == 2
    (scaled,) = of_kind(EVERYTHING, "ScaledObject").values()
    assert scaled["spec"]["scaleTargetRef"]["name"] == pods(EVERYTHING)["node"]["metadata"]["name"]


def test_keda_asks_for_metrics_that_exist_by_the_names_that_monitors_give():
    known = set(re.findall(r"`(horae_\w+)`", (ROOT / "docs/metrics.md").read_text()))
    (scaled,) = of_kind(EVERYTHING, "ScaledObject").values()
    queries = [trigger["metadata"]["query"] for trigger in scaled["spec"]["triggers"]]
    asked = [re.sub("_bucket$", "", name) for query in queries for name in re.findall(r"horae_\w+", query)]
    assert asked == ["horae_trigger_delay_seconds", "horae_backlog_instances"]
    assert set(asked) <= known
    assert all('job="horae-node"' in query for query in queries)


def test_monitors_scrape_each_process_once_under_the_names_of_the_rules():
    services = of_kind(EVERYTHING, "Service")
    jobs = {}
    for name, monitor in of_kind(EVERYTHING, "ServiceMonitor").items():
        wanted = monitor["spec"]["selector"]["matchLabels"].items()
        (service,) = [one for one in services.values() if wanted <= one["metadata"]["labels"].items()]
        (endpoint,) = monitor["spec"]["endpoints"]
        assert [port["name"] for port in service["spec"]["ports"]] == [endpoint["port"]], name
        (label,) = endpoint["relabelings"]
        jobs[label["replacement"]] = service["spec"]["selector"]["app.kubernetes.io/component"]
        assert endpoint["authorization"] == {"credentials": {"name": "scraper", "key": "token"}}
    assert jobs == {"horae-node": "node", "horae-api": "api"}


def test_the_rules_are_those_of_prometheus():
    rules = ROOT / "deploy/prometheus/horae.rules.yml"
    assert (CHART / "files/horae.rules.yml").read_text() == rules.read_text(), f"copy {rules} into the chart"
    (made,) = of_kind(EVERYTHING, "PrometheusRule").values()
    assert made["spec"] == yaml.safe_load(rules.read_text())


def test_the_page_of_the_chart_has_every_value():
    named = set(re.findall(r"`(\w+)`", (CHART / "README.md").read_text()))
    assert named >= DEFAULTS.keys()


def test_the_chart_has_the_version_of_the_product():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert f'version = "{chart["appVersion"]}"' in (ROOT / "pyproject.toml").read_text()

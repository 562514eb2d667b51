"""A real kube-apiserver over a real etcd, without any other part of Kubernetes."""

import secrets
import shutil
import subprocess
import time
from contextlib import ExitStack

import httpx2
import yaml

from tests.cluster import free_port
from tests.deploy.manifests import ROOT, tool

NAMESPACE = "scheduling"
START_TIMEOUT_S = 120.0
PATHS = {
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "Namespace": "/api/v1/namespaces",
}
"""Kinds that belong to no namespace."""
PLURALS = {"Ingress": "ingresses", "NetworkPolicy": "networkpolicies"}


class ApiServer:
    """Started in the block. Objects are only tried: the server checks them and keeps none."""

    def __init__(self, program, folder):
        self._program, self._folder = program, folder
        self._token = secrets.token_hex(16)
        self._stack = ExitStack()

    def __enter__(self):
        with ExitStack() as stack:
            self._start_etcd(stack)
            self._start_server(stack)
            self._until(lambda: self._client.get("/readyz").status_code == 200)
            self._create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
            for crd in tool("crds").splitlines():
                self._create(yaml.safe_load((ROOT / crd).read_text()))
            self._until(lambda: all(self._client.get(path).status_code == 200 for path in CUSTOM))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def try_to_create(self, one):
        """The status and the words of the server about an object, which it does not keep."""
        answer = self._client.post(path_of(one), json=one, params={"dryRun": "All", "fieldValidation": "Strict"})
        return answer.status_code, answer.json().get("message", "")

    def _create(self, one):
        answer = self._client.post(path_of(one), json=one)
        assert answer.status_code == 201, answer.text

    def _start_etcd(self, stack):
        etcd = shutil.which("etcd")
        assert etcd, "install etcd: apt-get install etcd-server"
        self._etcd = f"http://127.0.0.1:{free_port()}"
        peers = f"http://127.0.0.1:{free_port()}"
        addresses = ["--listen-client-urls", self._etcd, "--advertise-client-urls", self._etcd]
        addresses += ["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers]
        self._spawn(
            stack,
            "etcd",
            [etcd, "--data-dir", self._folder / "etcd", *addresses, "--initial-cluster", f"default={peers}"],
        )

    def _start_server(self, stack):
        port = free_port()
        key, public, tokens = (self._folder / name for name in ("sa.key", "sa.pub", "tokens.csv"))
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        subprocess.run(["openssl", "rsa", "-in", key, "-pubout", "-out", public], check=True, capture_output=True)
        tokens.write_text(f'{self._token},tester,1,"system:masters"\n')
        options = {
            "etcd-servers": self._etcd,
            "cert-dir": self._folder / "certificates",
            "bind-address": "127.0.0.1",
            "secure-port": port,
            "token-auth-file": tokens,
            "authorization-mode": "RBAC",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": public,
            "service-account-signing-key-file": key,
            "service-cluster-ip-range": "10.97.0.0/24",
        }
        self._spawn(stack, "apiserver", [self._program, *(f"--{name}={value}" for name, value in options.items())])
        self._client = stack.enter_context(
            httpx2.Client(
                base_url=f"https://127.0.0.1:{port}",
                headers={"Authorization": f"Bearer {self._token}"},
                verify=False,
                timeout=30,
            )
        )

    def _spawn(self, stack, name, command):
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen([str(one) for one in command], stdout=log, stderr=log, cwd=self._folder)
        stack.callback(lambda: (process.kill(), process.wait()))

    def _until(self, condition):
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                if condition():
                    return
            except httpx2.TransportError:
                pass
            assert time.monotonic() < deadline, (self._folder / "apiserver.log").read_text()[-3000:]
            time.sleep(0.2)


def path_of(one):
    """The path at which objects of a kind are created."""
    kind, version = one["kind"], one["apiVersion"]
    if kind in PATHS:
        return PATHS[kind]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{root}/namespaces/{NAMESPACE}/{PLURALS.get(kind, f'{kind.lower()}s')}"


CUSTOM = [
    path_of({"kind": kind, "apiVersion": version})
    for kind, version in (
        ("ScaledObject", "keda.sh/v1alpha1"),
        ("ServiceMonitor", "monitoring.coreos.com/v1"),
        ("PrometheusRule", "monitoring.coreos.com/v1"),
    )
]

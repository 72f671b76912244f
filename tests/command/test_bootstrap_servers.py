# SPDX-License-Identifier: Apache-2.0
"""What is rendered boots a real etcd, API server, controller manager and scheduler, with the static pods' flags."""

from __future__ import annotations

import base64
import http.client
import os
import ssl
import subprocess
from collections.abc import Iterator

import pytest
import yaml
from api_server import SHARED_CRDS
from hcpnet_command import Hcpnet, wait_until
from rendered_control_plane import ControlPlane

LAYOUTS = ["HandMade", "Installer"]
MASTERS = ("system:admin", {"system:masters", "system:authenticated"})
BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
USERS = {
    "HandMade": {
        "kube-controller-manager": ("system:kube-controller-manager", {"system:authenticated"}),
        "kube-scheduler": ("system:kube-scheduler", {"system:authenticated"}),
        "kubelet-bootstrap": ("system:bootstrapper", {"system:authenticated"}),
    },
    "Installer": {
        "kube-controller-manager": MASTERS,
        "kube-scheduler": MASTERS,
        "kubelet-bootstrap": (
            BOOTSTRAPPER,
            {
                "system:serviceaccounts",
                "system:serviceaccounts:openshift-machine-config-operator",
                "system:authenticated",
            },
        ),
    },
}
# What etcd and the aggregator are called in each.
ETCD_CA = {"HandMade": "etcd-ca", "Installer": "etcd-signer"}
# Of objects of the cluster: what has to stand there once everything is applied.
APPLIED = [
    ("namespace/openshift-etcd", ["status", "phase"], "Active"),
    ("infrastructures.config.openshift.io/cluster", ["status", "controlPlaneTopology"], "HighlyAvailable"),
    (
        "infrastructures.config.openshift.io/cluster",
        ["status", "apiServerInternalURI"],
        "https://api-int.ocp4.example.com:6443",
    ),
    ("infrastructures.config.openshift.io/cluster", ["status", "platformStatus", "type"], "None"),
    ("networks.config.openshift.io/cluster", ["spec", "networkType"], "OVNKubernetes"),
    ("networks.operator.openshift.io/cluster", ["spec", "defaultNetwork", "type"], "OVNKubernetes"),
    ("dnses.config.openshift.io/cluster", ["spec", "baseDomain"], "ocp4.example.com"),
    ("ingresses.config.openshift.io/cluster", ["spec", "domain"], "apps.ocp4.example.com"),
    ("clusterversions.config.openshift.io/version", ["spec", "channel"], "stable-4.18"),
    ("--namespace=openshift-config secret/pull-secret", ["type"], "kubernetes.io/dockerconfigjson"),
]


@pytest.fixture(scope="module", params=LAYOUTS)
def control_plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ControlPlane, str]]:
    """One of each for all tests: a start takes longer than they do."""
    layout, folder = str(request.param), tmp_path_factory.mktemp("cluster")
    with_crds = f"  crdsFolder: {SHARED_CRDS}\n" if SHARED_CRDS.is_dir() else ""
    started = ControlPlane(Hcpnet(os.environ["HCPNET_COMMAND"], folder), folder, layout, with_crds)
    try:
        started.start_api()
        yield started, layout
    finally:
        started.stop()


def test_every_kubeconfig_is_who_it_should_be(control_plane: tuple[ControlPlane, str]) -> None:
    running, layout = control_plane
    names = sorted(path.stem for path in (running.out / "kubeconfig").glob("*.kubeconfig"))
    assert len(names) == 8
    for name in names:
        user, groups = USERS[layout].get(name, MASTERS)
        info = running.read(name, "auth", "whoami")["status"]["userInfo"]
        assert (info["username"], set(info["groups"])) == (user, groups), name
        # What it may: secrets of all namespaces are for administrators and the controller manager's kind only.
        allowed = "system:masters" in groups or user == "system:kube-controller-manager"
        assert running.may(name, "list", "secrets") == allowed, name


def test_etcd_and_the_api_server_take_only_their_own_clients(control_plane: tuple[ControlPlane, str]) -> None:
    running, layout = control_plane
    pki = running.out / "pki"
    etcd_ca = pki / f"{ETCD_CA[layout]}.crt"
    etcd_client = (pki / "etcd-client.crt", pki / "etcd-client.key")
    assert running.ask("127.0.0.1", running.etcd_port, etcd_ca, etcd_client, "/health") == 200
    assert running.ask("localhost", running.port, running.server_ca, etcd_client, "/api/v1/secrets") == 401
    admin = yaml.safe_load(running.kubeconfig("admin").read_text())["users"][0]["user"]
    files = []
    for field in ("client-certificate-data", "client-key-data"):
        files.append(running.folder / field)
        files[-1].write_bytes(base64.b64decode(admin[field]))
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
        running.ask("127.0.0.1", running.etcd_port, etcd_ca, (files[0], files[1]), "/health")


def create(running: ControlPlane, manifest: dict[str, object]) -> None:
    done = running.kubectl("admin", "create", "-f", "-", stdin=yaml.safe_dump(manifest))
    assert done.returncode == 0, done.stderr


def start_controllers(running: ControlPlane) -> None:
    if "kube-controller-manager" not in running.processes:
        running.start("kube-controller-manager")


def test_the_scheduler_places_a_pod(control_plane: tuple[ControlPlane, str]) -> None:
    running, _ = control_plane
    start_controllers(running)  # they make the service account of the pod
    running.start("kube-scheduler")
    lease = ("--namespace=kube-system", "get", "lease/kube-scheduler", "--ignore-not-found")
    wait_until(lambda: running.kubectl("admin", *lease).stdout, running.logs)
    account = ("--namespace=default", "get", "serviceaccount/default", "--ignore-not-found")
    wait_until(lambda: running.kubectl("admin", *account).stdout, running.logs)
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    create(
        running,
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "master-0"},
            "status": {"capacity": capacity, "allocatable": capacity},
        },
    )
    create(
        running,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "hello", "namespace": "default"},
            # Nobody says that this node is ready.
            "spec": {
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "hello", "image": "registry.example.com/hello"}],
            },
        },
    )

    def node_of_pod() -> object:
        return running.read("admin", "--namespace=default", "get", "pod/hello")["spec"].get("nodeName")

    wait_until(lambda: node_of_pod() == "master-0", running.logs)


def request_certificate(running: ControlPlane, node: str) -> str:
    """As the kubelet of a new node does: the name of its CertificateSigningRequest."""
    key, request = running.folder / f"{node}.key", running.folder / f"{node}.csr"
    subject = f"/O=system:nodes/CN=system:node:{node}"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        ["openssl", "req", "-new", *curve, "-keyout", str(key), "-out", str(request), "-subj", subject],
        check=True,
        capture_output=True,
        timeout=60,
    )
    manifest = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": f"csr-{node}"},
        "spec": {
            "request": base64.b64encode(request.read_bytes()).decode(),
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
        },
    }
    done = running.kubectl("kubelet-bootstrap", "create", "-f", "-", stdin=yaml.safe_dump(manifest))
    assert done.returncode == 0, done.stderr
    return f"csr-{node}"


@pytest.mark.skipif(not SHARED_CRDS.is_dir(), reason="no CRDs of OpenShift beside this clone")
def test_manifests_apply_in_order_and_nodes_get_their_certificates(control_plane: tuple[ControlPlane, str]) -> None:
    running, layout = control_plane
    assert not running.may("kubelet-bootstrap", "create", "certificatesigningrequests")
    for _ in range(2):  # the second time it changes nothing
        done = running.apply_manifests()
        assert done.returncode == 0, done.stdout + done.stderr
    for where, path, expected in APPLIED:
        value: object = running.read("admin", "get", *where.split())
        for key in path:
            assert isinstance(value, dict)
            value = value[key]
        assert value == expected, where
    gates = running.read("admin", "get", "featuregates.config.openshift.io/cluster")["status"]["featureGates"]
    assert gates[0]["version"] == "4.18.0"
    etcd = running.read("admin", "--namespace=openshift-etcd", "get", "configmap/etcd-endpoints")
    assert etcd["metadata"]["annotations"]["alpha.installer.openshift.io/etcd-bootstrap"] == "192.168.126.100"
    assert etcd.get("data", {}) == {}

    start_controllers(running)
    assert running.may("kubelet-bootstrap", "create", "certificatesigningrequests")
    assert not running.may("kubelet-bootstrap", "approve", "certificatesigningrequests")
    assert not running.may("kubelet-bootstrap", "list", "endpointslices")  # that is for kube-proxy
    name = request_certificate(running, "master-0")
    assert running.kubectl("admin", "certificate", "approve", name).returncode == 0

    def certificate() -> str:
        status = running.read("admin", "get", f"certificatesigningrequests/{name}").get("status", {})
        return str(status.get("certificate", ""))

    wait_until(certificate, running.logs)
    (running.folder / "master-0.crt").write_bytes(base64.b64decode(certificate()))
    config = yaml.safe_load(running.kubeconfig("kubelet-bootstrap").read_text())
    config["users"][0]["user"] = {
        "client-certificate": str(running.folder / "master-0.crt"),
        "client-key": str(running.folder / "master-0.key"),
    }
    running.kubeconfig("node").write_text(yaml.safe_dump(config))
    info = running.read("node", "auth", "whoami")["status"]["userInfo"]
    assert info["username"] == "system:node:master-0"
    assert "system:nodes" in info["groups"]
    # etcd is for the API server alone, whoever the kubelets' authority vouches for.
    node, etcd_ca = (running.folder / "master-0.crt", running.folder / "master-0.key"), f"pki/{ETCD_CA[layout]}.crt"
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
        running.ask("127.0.0.1", running.etcd_port, running.out / etcd_ca, node, "/health")

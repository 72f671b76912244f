# SPDX-License-Identifier: Apache-2.0
"""The command under test: HCPNET_COMMAND names it. And an API server for all who need one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_playbook import Ansible
from api_server import ROOT, SHARED_CRDS, ApiServer
from hcpnet_command import Hcpnet

CRDS = [
    "hypershift.openshift.io_hostedclusters-Hypershift-Default.yaml",
    "hypershift.openshift.io_nodepools-Default.yaml",
    "k8s.cni.cncf.io_ipamclaims.yaml",
    "k8s.cni.cncf.io_multi-networkpolicies.yaml",
    "k8s.cni.cncf.io_network-attachment-definitions.yaml",
    "k8s.ovn.org_clusteruserdefinednetworks.yaml",
    "k8s.ovn.org_routeadvertisements.yaml",
    "k8s.ovn.org_userdefinednetworks.yaml",
    "kubevirt.io_virtualmachines.yaml",
    "metallb.io_ipaddresspools.yaml",
    "metallb.io_l2advertisements.yaml",
    "metallb.io_metallbs.yaml",
    "monitoring.coreos.com_servicemonitors.yaml",
    "security.openshift.io_securitycontextconstraints.yaml",
]


@pytest.fixture
def hcpnet(tmp_path: Path) -> Iterator[Hcpnet]:
    fixture = Hcpnet(os.environ["HCPNET_COMMAND"], tmp_path)
    yield fixture
    for process in fixture.processes:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()


@pytest.fixture
def ansible(tmp_path: Path) -> Ansible:
    return Ansible(tmp_path)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """The spec of examples/bootstrap, in a folder of its own."""
    shutil.copytree(ROOT / "examples/bootstrap", tmp_path / "in")
    return tmp_path / "in/cluster.yaml"


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """One for all: a start takes longer than most tests."""
    server = ApiServer(tmp_path_factory.mktemp("kube"))
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def api(request: pytest.FixtureRequest) -> ApiServer:
    """The same with the kinds of others."""
    if not SHARED_CRDS.is_dir():
        pytest.skip(f"no CRDs of {', '.join(CRDS)} beside this clone")
    server: ApiServer = request.getfixturevalue("api_server")  # none is started in vain
    server.load_crds(*(SHARED_CRDS / name for name in CRDS))
    for namespace in ("hcp", "hcp-blue", "hcp-red"):
        assert server.kubectl("create", "namespace", namespace).returncode == 0
    return server


@pytest.fixture(scope="session")
def api_with_kinds(api: ApiServer) -> ApiServer:
    api.load_crds(*sorted((ROOT / "deploy/crds").glob("*.yaml")))
    return api

# SPDX-License-Identifier: Apache-2.0
"""hcpnet.manifest."""

import pytest
from hcpnet import SpecError
from hcpnet.manifest import cut_name, render
from support import SPEC

TEXTS = {"set.yaml": SPEC.format(cluster="blue")}


@pytest.mark.parametrize("deployment", ["one", "split", "coredns-envoy"])
def test_renders_objects(deployment: str) -> None:
    objects = render(TEXTS, deployment=deployment, link="macvlan:eth1")
    kinds = [o["kind"] for o in objects]
    assert kinds[0] == "ServiceAccount"
    assert kinds.count("Deployment") == (1 if deployment == "one" else 3)
    assert kinds.count("NetworkAttachmentDefinition") == 1
    assert render(TEXTS, deployment=deployment, link="macvlan:eth1") == objects


def test_leaves_kinds_out() -> None:
    kinds = {o["kind"] for o in render(TEXTS, without=["ServiceMonitor", "SecurityContextConstraints"])}
    assert not kinds & {"ServiceMonitor", "SecurityContextConstraints", "ClusterRole"}
    assert "MultiNetworkPolicy" in kinds


def test_refuses() -> None:
    with pytest.raises(SpecError):
        render({"set.yaml": SPEC.format(cluster="Blue")})
    for wrong in ({"deployment": "two"}, {"link": "bridge"}):
        with pytest.raises(ValueError, match="is not"):
            render(TEXTS, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="left out"):
        render(TEXTS, without=["Deployment"])
    with pytest.raises(ValueError, match="limit"):
        cut_name("a", "-dns", 10)


def test_cuts_names() -> None:
    assert cut_name("vlan7", "-dns") == "vlan7-dns"
    one, other = (cut_name("p" * 70 + end * 10, "-dns-config") for end in "xy")
    assert one != other
    assert len(one) == len(other) == 63

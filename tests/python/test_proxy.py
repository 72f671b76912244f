# SPDX-License-Identifier: Apache-2.0
"""hcpnet.proxy."""

import pytest
from hcpnet import SpecError
from hcpnet.proxy import render
from support import SPEC

TEXTS = {"set.yaml": SPEC.format(cluster="blue")}


def test_renders_for_other_programs() -> None:
    (haproxy,) = render(TEXTS, "haproxy", any_address=True, file_prefix="/etc/haproxy/").values()
    assert next(iter(haproxy)) == "haproxy.cfg"
    assert "bind :443" in haproxy["haproxy.cfg"]
    assert "map_str(/etc/haproxy/maps/443-exact.map)" in haproxy["haproxy.cfg"]
    (envoy,) = render(TEXTS, "envoy").values()
    assert set(envoy) == {"envoy.yaml", "lds.yaml", "cds.yaml"}


def test_takes_endpoints() -> None:
    endpoints = {"e.yaml": '"ns/kube-apiserver:6443": ["198.51.100.77:6443"]'}
    (files,) = render(TEXTS, "envoy", endpoints=endpoints).values()
    assert "198.51.100.77" in files["cds.yaml"]


def test_refuses() -> None:
    with pytest.raises(ValueError, match="not a target"):
        render(TEXTS, "nginx")
    with pytest.raises(SpecError):
        render({"set.yaml": SPEC.format(cluster="Blue")}, "envoy")

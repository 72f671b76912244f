# SPDX-License-Identifier: Apache-2.0
"""What lies in the installed package."""

import re
from pathlib import Path
from types import ModuleType

import hcpnet

PACKAGE = Path(hcpnet.__file__).parent
ROOT = Path(__file__).parents[2]


def test_version_is_that_of_the_project() -> None:
    declared = re.search(r"project\(hcpnet VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert declared is not None
    assert hcpnet.__version__ == declared.group(1)


def test_types_come_along_and_are_python() -> None:
    """Case PYB-05; mypy and stubtest run over the installed package beside the tests."""
    assert (PACKAGE / "py.typed").exists()
    modules = [name for name in hcpnet.__all__ if isinstance(getattr(hcpnet, name), ModuleType)]
    assert {"dhcp", "dns", "proxy", "spec", "tls"} <= set(modules)
    for name in ("__init__", *modules):
        assert (PACKAGE / "_core" / f"{name}.pyi").exists(), name
    for path in (PACKAGE / "_core").glob("*.pyi"):
        assert "::" not in path.read_text(), path


def test_docstrings_name_no_cpp_type() -> None:
    for owner in (
        hcpnet,
        hcpnet.Stack,
        hcpnet.Endpoint,
        hcpnet.spec,
        hcpnet.tls,
        hcpnet.dhcp,
        hcpnet.dns,
        hcpnet.proxy,
        hcpnet.proxy.Engine,
    ):
        for name in dir(owner):
            doc = getattr(owner, name).__doc__ or ""
            assert "hcpnet::" not in doc, (owner, name)
            assert "std::" not in doc, (owner, name)


def test_everything_public_is_documented() -> None:
    for owner in (
        hcpnet.Stack,
        hcpnet.Endpoint,
        hcpnet.Diagnostic,
        hcpnet.StackListener,
        hcpnet.RouteExplanation,
        hcpnet.proxy.Engine,
        hcpnet.proxy.Backend,
        hcpnet.proxy.Listener,
    ):
        for name in vars(owner):
            if not name.startswith("_"):
                assert getattr(owner, name).__doc__, (owner, name)

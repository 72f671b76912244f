# SPDX-License-Identifier: Apache-2.0
"""hcpnet.Diagnostic and the exceptions."""

import hcpnet
import pytest
from hcpnet.spec import check


def test_exceptions_form_one_family() -> None:
    assert issubclass(hcpnet.WireError, hcpnet.Error)
    assert issubclass(hcpnet.WireError, ValueError)
    assert issubclass(hcpnet.SpecError, hcpnet.Error)
    assert hcpnet.SpecError.__module__ == "hcpnet"


def test_says_where_and_what() -> None:
    text = (
        "apiVersion: hostedcluster.densityops.com/v1alpha1\n"
        "kind: Infra\n"
        "metadata: {name: a}\n"
        "spec:\n"
        "  networkConfg: {}\n"
    )
    with pytest.raises(hcpnet.SpecError) as error:
        check({"a.yaml": text})
    findings = [d for d in error.value.diagnostics if d.code == "unknown-field"]
    assert len(findings) == 1
    finding = findings[0]
    assert finding.severity is hcpnet.Severity.error
    assert (finding.file, finding.line, finding.column) == ("a.yaml", 5, 3)
    assert finding.path == "/spec/networkConfg"
    assert str(finding).startswith("a.yaml:5:3: error: /spec/networkConfg: ")
    assert str(finding) in str(error.value)


def test_prints_text_that_is_not_utf8() -> None:
    with pytest.raises(hcpnet.SpecError) as error:
        hcpnet.check_files([b"/nowhere/\xff.yaml".decode(errors="surrogateescape")])
    assert error.value.diagnostics[0].code == "unreadable-file"
    assert error.value.diagnostics[0].file == "/nowhere/\\xff.yaml"

# SPDX-License-Identifier: Apache-2.0
"""hcpnet.lint."""

import datetime
import json
from pathlib import Path

import pytest
from hcpnet import Severity, SpecError, lint
from hcpnet.bootstrap import render

EXAMPLE = Path(__file__).parents[2] / "examples/bootstrap"
NETWORK = "apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\n"
ENDPOINTS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: etcd-endpoints, namespace: openshift-etcd}\n"


def test_finds_by_rule_and_place() -> None:
    report = lint.check({"e.yaml": ENDPOINTS, "n.yaml": NETWORK.encode(), "notes": "nothing\n"})
    assert [(f.code, f.severity, f.file, f.line) for f in report.findings] == [
        ("etcd-endpoints", Severity.error, "e.yaml", 3),
        ("operator-network", Severity.info, "n.yaml", 1),
    ]
    assert report.files == 3
    assert report.unrecognised == ["notes"]
    assert report.has(Severity.error)
    assert "[etcd-endpoints]" in report.to_text()
    assert json.loads(report.to_json())["errors"] == 1
    (run,) = json.loads(report.to_sarif())["runs"]
    assert [r["level"] for r in run["results"]] == ["error", "note"]
    assert len(run["tool"]["driver"]["rules"]) == len(lint.rules())


def test_suppressions_have_a_reason() -> None:
    given = [lint.Suppression("operator-network", "the lab has it", file="n.*")]
    report = lint.check({"n.yaml": NETWORK}, suppressions=given)
    assert report.findings == []
    (suppressed,) = report.suppressed
    assert (suppressed.finding.code, suppressed.reason, suppressed.in_source) == (
        "operator-network",
        "the lab has it",
        False,
    )
    comment = "# hcpnet-lint: ignore operator-network: it is kept\n"
    assert lint.check({"n.yaml": comment + NETWORK}).suppressed[0].in_source
    with pytest.raises(ValueError, match="reason"):
        lint.Suppression("operator-network", "")
    with pytest.raises(KeyError):
        lint.Suppression("none", "why not")
    (read,) = lint.parse_suppressions("- {rule: operator-network, reason: it is kept}")
    assert (read.rule, read.file, read.reason) == ("operator-network", "", "it is kept")
    with pytest.raises(SpecError) as raised:
        lint.parse_suppressions("- {rule: operator-network}", file="lint.yaml")
    assert [(d.code, d.file, d.line) for d in raised.value.diagnostics] == [("bad-suppression", "lint.yaml", 1)]


def test_rules_explain_themselves() -> None:
    rule = lint.find_rule("etcd-certificate-usages")
    assert rule.severity is Severity.error
    assert rule.title
    assert rule.why
    assert rule.fix
    assert rule.source
    assert rule.id in rule.explain()
    assert rule.wrong_files != rule.right_files
    assert rule.id in repr(rule)
    assert {r.id for r in lint.rules()} >= {"etcd-certificate-usages", "udn-annotation"}
    with pytest.raises(KeyError):
        lint.find_rule("none")


def test_takes_what_bootstrap_renders(tmp_path: Path) -> None:
    render([EXAMPLE / "cluster.yaml"], tmp_path).write(tmp_path)
    now = datetime.datetime.now(datetime.UTC)
    report = lint.check(lint.read_files([tmp_path]), now=now)
    assert not report.has(Severity.warning), report.to_text()
    late = lint.check(lint.read_files([tmp_path / "pki"]), now=now + datetime.timedelta(days=366))
    assert {f.code for f in late.findings if f.severity is Severity.error} == {"certificate-validity"}
    with pytest.raises(ValueError, match="2260"):
        lint.check({}, now=datetime.datetime(3000, 1, 1))


def test_names_are_those_of_files_and_contents_are_text_or_bytes(tmp_path: Path) -> None:
    (tmp_path / "n\udcff.yaml").write_text(NETWORK)
    (name,) = files = lint.read_files([tmp_path])
    assert name.endswith("n\udcff.yaml")
    (finding,) = lint.check(files).findings
    assert finding.file.endswith("n\\xff.yaml")
    assert "n\\xff.yaml:1" in lint.check(files).to_text()
    comment = b"#!/bin/sh\n# hcpnet-lint: ignore apply-errors-ignored: it is \xff\n"
    (suppressed,) = lint.check({"a.sh": comment + b"oc apply -f a || true\n"}).suppressed
    assert suppressed.reason == "it is \\xff"
    for wrong in ({"a": 1}, {"a": None}, {1: "a"}):
        with pytest.raises(TypeError, match="contents are"):
            lint.check(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="surrogates"):
        lint.check({"a": "\udcff"})


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as raised:
        lint.read_files([tmp_path / "none"])
    assert [d.code for d in raised.value.diagnostics] == ["unreadable-file"]

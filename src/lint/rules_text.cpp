// SPDX-License-Identifier: Apache-2.0
#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

constexpr Rule kRules[] = {
    {.id = "unreadable-text",
     .severity = Severity::error,
     .title = "a file that reads as YAML or JSON and is none",
     .why = "Whoever reads it stops here, or, with a key that is there twice, takes one of the two.",
     .fix = "What the message says; [spec.md](spec.md) explains the kinds of problem.",
     .source = "YAML 1.2.2; RFC 8259",
     .wrong = R"(apiVersion: v1
kind: Namespace
metadata: {name: openshift-etcd
)",
     .wrong_part = "openshift-etcd",
     .right_part = "openshift-etcd}"},
    {.id = "file-limit",
     .severity = Severity::error,
     .title = "a file that is too large to be looked at",
     .why = "Nothing is known about it.",
     .fix = "`Limits::max_file_bytes`; 64 MiB is more than any of these files has.",
     .source = "the limit is ours",
     .wrong = {},
     .wrong_part = {},
     .right_part = {}},
    {.id = "nesting-limit",
     .severity = Severity::error,
     .title = "files in files, more often than is looked into",
     .why = "Nothing is known about the innermost.",
     .fix = "`Limits::max_nesting`; an Ignition config in a MachineConfig with files in it is three.",
     .source = "the limit is ours",
     .wrong = {},
     .wrong_part = {},
     .right_part = {}},
    {.id = "suppression-malformed",
     .severity = Severity::error,
     .title = "a suppression without a reason, or in another form",
     .why = "It suppresses nothing. Who reads it later has to know why it is there.",
     .fix = "`# hcpnet-lint: ignore RULE: REASON`",
     .source = "the form is ours",
     .wrong = R"(# hcpnet-lint: ignore operator-network
apiVersion: operator.openshift.io/v1
kind: Network
metadata: {name: cluster}
)",
     .wrong_part = "operator-network\n",
     .right_part = "operator-network: the network operator of this release does not make it\n"},
    {.id = "suppression-unknown",
     .severity = Severity::error,
     .title = "a suppression of a rule that does not exist",
     .why = "It suppresses nothing; the rule that was meant still finds what it finds.",
     .fix = "The name of the rule; `hcpnet lint --explain RULE` knows them.",
     .source = "the form is ours",
     .wrong = R"(# hcpnet-lint: ignore kube-proxy: it is for a week
apiVersion: operator.openshift.io/v1
kind: Network
metadata: {name: cluster}
)",
     .wrong_part = "ignore kube-proxy:",
     .right_part = "ignore operator-network:"},
    {.id = "suppression-unused",
     .severity = Severity::warning,
     .title = "a suppression that suppresses nothing",
     .why = "What it was for is mended, or it stands in the wrong document; it would hide the next fault of its kind.",
     .fix = "Take it out, or put it into the YAML document that it is about.",
     .source = "the form is ours",
     .wrong = R"(# hcpnet-lint: ignore operator-network: made by hand in the lab
apiVersion: v1
kind: Namespace
metadata: {name: openshift-etcd}
)",
     .wrong_part = "# hcpnet-lint: ignore operator-network: made by hand in the lab\n",
     .right_part = ""},
};

}  // namespace

Family text_rules() {
  return {"Files and suppressions", "What keeps a file from being looked at, and comments that say what to leave out.",
          kRules, nullptr};
}

}  // namespace hcpnet::lint

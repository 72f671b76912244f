// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <hcpnet/reconcile/plan.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>

#include "support/files.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

Json ours(const char* kind, Json content) {
  Json object = {
      {"apiVersion", "v1"},
      {"kind", kind},
      {"metadata", {{"name", "x"}, {"namespace", "ns"}, {"labels", {{"app.kubernetes.io/managed-by", "hcpnet"}}}}}};
  object.update(content);
  return object;
}

std::vector<std::string> actions(const Step& step) {
  std::vector<std::string> list;
  for (const Action& action : step.actions) list.emplace_back(to_string(action.kind));
  return list;
}

TEST(Compare, MakesWhatIsNotThere) {
  const Json desired = ours("ConfigMap", {{"data", {{"a", "b"}}}});
  const Step step = compare(desired, nullptr);
  ASSERT_THAT(actions(step), ElementsAre("create"));
  EXPECT_EQ(step.actions[0].object, desired);
}

TEST(Compare, IsQuietAboutWhatOthersAdd) {
  const Json desired = ours("Service", {{"spec", {{"type", "ClusterIP"}, {"selector", Json::object()}}}});
  Json observed = desired;
  observed["metadata"]["resourceVersion"] = "7";
  observed["metadata"]["labels"]["theirs"] = "x";
  observed["spec"]["clusterIP"] = "172.30.5.5";
  observed["spec"].erase("selector");  // what is empty is left out by the API server
  EXPECT_THAT(actions(compare(desired, &observed)), IsEmpty());
  observed["spec"]["type"] = "NodePort";
  const Step step = compare(desired, &observed);
  ASSERT_THAT(actions(step), ElementsAre("update"));
  EXPECT_EQ(step.actions[0].reason, "differs at /spec/type");
}

/// As an EndpointSlice without endpoints is shown.
TEST(Compare, AnEmptyListMayBeShownAsNull) {
  const Json desired = ours("EndpointSlice", {{"endpoints", Json::array()}, {"ports", Json::array({{{"port", 1}}})}});
  Json observed = desired;
  observed["endpoints"] = nullptr;
  EXPECT_THAT(actions(compare(desired, &observed)), IsEmpty());
  EXPECT_EQ(overlay(observed, desired), observed);
  observed["ports"] = nullptr;
  EXPECT_THAT(actions(compare(desired, &observed)), ElementsAre("update"));
}

TEST(Compare, ComparesListsWholeInObjectsOfOurs) {
  const Json desired = ours("Service", {{"spec", {{"ports", Json::array({{{"name", "a"}, {"port", 1}}})}}}});
  Json observed = desired;
  observed["spec"]["ports"].push_back({{"name", "b"}, {"port", 2}});
  EXPECT_THAT(actions(compare(desired, &observed)), ElementsAre("update"));
}

/// A part of it does not make it.
TEST(Compare, HoldsPartsOfWhatIsNotThere) {
  const Json desired = Json::parse(R"({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
    "metadata": {"name": "w0", "namespace": "lab"}, "spec": {"template": {}}})");
  const Step step = compare(desired, nullptr, true);
  EXPECT_THAT(actions(step), IsEmpty());
  ASSERT_EQ(step.held.size(), 1U);
  EXPECT_EQ(step.held[0].reason, "NotFound");
  EXPECT_EQ(step.held[0].object["metadata"], desired["metadata"]);
}

/// A server-side apply leaves owners that somebody else has added: an update would be planned for ever.
TEST(Compare, LeavesOtherOwners) {
  const auto owned_by = [](std::vector<const char*> uids) {
    Json object = ours("ConfigMap", Json::object());
    for (const char* uid : uids) object["metadata"]["ownerReferences"].push_back({{"uid", uid}, {"controller", true}});
    return object;
  };
  const Json observed = owned_by({"other", "one"});
  EXPECT_THAT(actions(compare(owned_by({"one"}), &observed)), IsEmpty());
  EXPECT_THAT(actions(compare(owned_by({"two"}), &observed)), ElementsAre("update"));
}

/// An object of somebody else is asked for in parts.
TEST(Compare, FindsPartsOfOthersByTheirNames) {
  const Json desired = Json::parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "operator", "namespace": "hypershift"},
    "spec": {"template": {"spec": {"containers": [{"name": "operator", "image": "a:2"}]}}}})");
  Json observed = Json::parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "operator", "namespace": "hypershift"},
    "spec": {"template": {"spec": {"containers": [{"name": "helper", "image": "b:1"}, {"name": "operator", "image": "a:2"}]}}}})");
  EXPECT_THAT(actions(compare(desired, &observed)), IsEmpty());
  observed["spec"]["template"]["spec"]["containers"][1]["image"] = "a:1";
  EXPECT_EQ(compare(desired, &observed).actions.at(0).reason, "differs at /spec/template/spec/containers/1/image");
}

/// An object with one value at a JSON pointer.
Json with(const char* kind, const std::string& pointer, Json value) {
  Json object = ours(kind, Json::object());
  object[Json::json_pointer(pointer)] = std::move(value);
  return object;
}

/// Case OPR-05, its plan part: what becomes of a change that the API server refuses.
TEST(Compare, Opr05ImmutableFieldsAreHeldOrMadeAnew) {
  const std::string file = "manifest/cases/OPR-05.yaml";
  const text::Parsed parsed = text::parse_yaml(file, test::read_file(test::data_path(file)));
  Diagnostics problems;
  const Json data = text::to_json(parsed.documents.at(0), file, problems);
  ASSERT_EQ(data["plan"].size(), 5U);
  for (const Json& entry : data["plan"]) {
    SCOPED_TRACE(entry.dump());
    const std::string kind = entry["kind"], field = entry["field"];
    std::string pointer = '/' + field;
    std::ranges::replace(pointer, '.', '/');
    const auto value = [&](const char* name, const char* otherwise) {
      const Json word = entry.value(name, otherwise);
      return field.ends_with("matchLabels") || field == "roleRef" ? Json{{"app", word}} : word;
    };
    const Json observed = with(kind.c_str(), pointer, value("from", "a"));
    const Step step = compare(with(kind.c_str(), pointer, value("to", "b")), &observed, entry["recreate"].get<bool>());
    EXPECT_EQ(actions(step), entry["expect"]["actions"].get<std::vector<std::string>>());
    EXPECT_EQ(step.held.empty() ? "" : step.held.front().reason, entry["expect"].value("condition_reason", ""));
  }
}

TEST(Compare, WhatHoldsStateOrMakesNetworksIsNeverMadeAnew) {
  for (const auto& [kind, pointer] : {std::pair{"StatefulSet", "/spec/selector/matchLabels/app"},
                                      {"PersistentVolumeClaim", "/spec/volumeMode"},
                                      {"UserDefinedNetwork", "/spec/layer2/subnets"},
                                      {"ClusterUserDefinedNetwork", "/spec/network/layer3/mtu"},
                                      {"IPAMClaim", "/spec/network"}}) {
    const Json observed = with(kind, pointer, "a");
    const Step step = compare(with(kind, pointer, "b"), &observed, true);
    EXPECT_THAT(actions(step), IsEmpty()) << kind;
    ASSERT_EQ(step.held.size(), 1U) << kind;
    EXPECT_EQ(step.held[0].field, pointer);
  }
  const Json routes = with("ClusterUserDefinedNetwork", "/spec/network/layer3/subnets", Json::array({"a"}));
  EXPECT_THAT(actions(compare(
                  with("ClusterUserDefinedNetwork", "/spec/network/layer3/subnets", Json::array({"a", "b"})), &routes)),
              ElementsAre("update"))
      << "subnets can be added";
  const Json fewer = with("ClusterUserDefinedNetwork", "/spec/network/layer3/subnets", Json::array({"b"}));
  const Step step = compare(fewer, &routes, true);
  EXPECT_THAT(actions(step), IsEmpty()) << "but not taken away";
  ASSERT_EQ(step.held.size(), 1U);
  EXPECT_EQ(step.held[0].reason, "ImmutableField");
}

/// Whoever made the namespace may have given the label a value, which nobody looks at.
TEST(Compare, OfTheLabelOfANamespaceThePresenceCounts) {
  Json desired = ours("Namespace", Json::object()), observed = desired;
  desired["metadata"]["labels"]["k8s.ovn.org/primary-user-defined-network"] = "";
  observed["metadata"]["labels"]["k8s.ovn.org/primary-user-defined-network"] = "hcp-blue";
  EXPECT_TRUE(compare(desired, &observed).held.empty());
  EXPECT_THAT(actions(compare(desired, &observed)), IsEmpty());
  desired["metadata"]["labels"]["another"] = "x";
  const Step step = compare(desired, &observed);
  ASSERT_THAT(actions(step), ElementsAre("update"));
  EXPECT_EQ(step.actions[0].object["metadata"]["labels"]["k8s.ovn.org/primary-user-defined-network"], "hcp-blue")
      << "else the update would take it from whoever has set it";
}

/// The API server refuses a smaller one with each attempt.
TEST(Compare, AClaimThatWasGrownKeepsItsSize) {
  Json desired = with("PersistentVolumeClaim", "/spec/resources/requests/storage", "64Mi");
  const Json observed = with("PersistentVolumeClaim", "/spec/resources/requests/storage", "1Gi");
  EXPECT_THAT(actions(compare(desired, &observed)), IsEmpty());
  EXPECT_EQ(overlay(observed, desired), observed);
  desired["metadata"]["labels"]["another"] = "x";
  const Step step = compare(desired, &observed);
  ASSERT_THAT(actions(step), ElementsAre("update"));
  EXPECT_EQ(step.actions[0].object["spec"], observed["spec"]);
}

/// OVN-Kubernetes looks at the label when the namespace is made.
TEST(Compare, ALabelThatComesTooLateIsHeld) {
  Json desired = ours("Namespace", Json::object());
  desired["metadata"]["labels"]["k8s.ovn.org/primary-user-defined-network"] = "";
  const Json observed = ours("Namespace", Json::object());
  const Step step = compare(desired, &observed, true);
  EXPECT_THAT(actions(step), IsEmpty());
  ASSERT_EQ(step.held.size(), 1U);
  EXPECT_EQ(step.held[0].field, "/metadata/labels/k8s.ovn.org~1primary-user-defined-network");
}

TEST(ClusterObjects, AreFoundByGroupKindNamespaceAndName) {
  const auto objects = load_cluster_objects({{"o.yaml", R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: b, namespace: x}}
- {apiVersion: v1, kind: Service, metadata: {name: a, namespace: x}}
- {apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: c, namespace: x}}
- {kind: Service}
---
apiVersion: v1
kind: Namespace
metadata: {name: x}
)"}})
                           .value();
  const auto services = objects.all("", "Service", "x");
  ASSERT_EQ(services.size(), 2U);
  EXPECT_EQ((*services[0])["metadata"]["name"], "a");
  EXPECT_NE(objects.find({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "x"}}}}), nullptr);
  EXPECT_EQ(objects.find({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "y"}}}}), nullptr);
  EXPECT_FALSE(load_cluster_objects({{"o.yaml", "a: [\n"}}));
}

}  // namespace
}  // namespace hcpnet::reconcile

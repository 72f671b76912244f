// SPDX-License-Identifier: Apache-2.0
#include "lint/udn.hpp"

#include <algorithm>

namespace hcpnet::lint {
namespace {

using text::Value;

/// The namespaces of the set that the labels of a selector select; expressions are not looked at.
std::vector<std::string> selected_namespaces(const Set& set, const Value* selector) {
  std::vector<std::string> selected;
  const Value* labels = selector == nullptr ? nullptr : selector->find("matchLabels");
  for (const Object* ns : set.of("", "Namespace")) {
    const bool matches = labels != nullptr && std::ranges::all_of(labels->members, [&](const text::Member& member) {
                           const bool is_name =
                               member.key == "kubernetes.io/metadata.name" && scalar(&member.value) == ns->name;
                           const Value* label = ns->label(member.key);
                           return is_name || (label != nullptr && scalar(label) == scalar(&member.value));
                         });
    if (matches) selected.push_back(ns->name);
  }
  for (const Value& expression : items(selector == nullptr ? nullptr : selector->find("matchExpressions")))
    if (scalar(expression.find("key")) == "kubernetes.io/metadata.name" && scalar(expression.find("operator")) == "In")
      for (const Value& name : items(expression.find("values"))) selected.push_back(scalar(&name));
  return selected;
}

}  // namespace

std::vector<PrimaryNetwork> primary_networks(const Set& set) {
  std::vector<PrimaryNetwork> networks;
  for (const Object& object : set.objects) {
    const bool is_own = object.is("k8s.ovn.org", "UserDefinedNetwork");
    if (!is_own && !object.is("k8s.ovn.org", "ClusterUserDefinedNetwork")) continue;
    PrimaryNetwork network{&object, is_own ? "/spec" : "/spec/network", {}, {}};
    network.layer = network.spec + (object.find(network.spec + "/layer3") != nullptr ? "/layer3" : "/layer2");
    if (object.at(network.layer + "/role") != "Primary") continue;
    if (is_own)
      network.namespaces = {object.ns};
    else
      network.namespaces = selected_namespaces(set, object.find("/spec/namespaceSelector"));
    networks.push_back(std::move(network));
  }
  return networks;
}

bool has_primary_network(const Set& set, std::string_view ns) {
  for (const Object* object : set.of("", "Namespace"))
    if (object->name == ns && object->label(kPrimaryNetworkLabel) != nullptr) return true;
  return std::ranges::any_of(primary_networks(set), [&](const PrimaryNetwork& network) {
    return std::ranges::find(network.namespaces, ns) != network.namespaces.end();
  });
}

std::string control_plane_namespace(const Object& hosted_cluster) {
  std::string name = hosted_cluster.name;
  std::ranges::replace(name, '.', '-');
  return hosted_cluster.ns + '-' + name;
}

bool is_control_plane(const Set& set, std::string_view ns) {
  for (const Object* object : set.of("", "Namespace"))
    if (object->name == ns && object->label("hypershift.openshift.io/hosted-control-plane") != nullptr) return true;
  return std::ranges::any_of(set.of("hypershift.openshift.io", "HostedCluster"),
                             [&](const Object* cluster) { return control_plane_namespace(*cluster) == ns; });
}

}  // namespace hcpnet::lint

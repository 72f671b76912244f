// SPDX-License-Identifier: Apache-2.0
#include "lint/udn.hpp"

#include <algorithm>
#include <hcpnet/manifest/udn.hpp>

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

std::set<std::string, std::less<>> primary_namespaces(const Set& set) {
  std::set<std::string, std::less<>> namespaces;
  for (const Object* object : set.of("", "Namespace"))
    if (object->label(manifest::kPrimaryNetworkLabel) != nullptr) namespaces.insert(object->name);
  for (const PrimaryNetwork& network : primary_networks(set))
    namespaces.insert(network.namespaces.begin(), network.namespaces.end());
  return namespaces;
}

std::string control_plane_namespace(const Object& hosted_cluster) {
  std::string name = hosted_cluster.name;
  std::ranges::replace(name, '.', '-');
  return hosted_cluster.ns + '-' + name;
}

std::set<std::string, std::less<>> control_planes(const Set& set) {
  std::set<std::string, std::less<>> namespaces;
  for (const Object* object : set.of("", "Namespace"))
    if (object->label("hypershift.openshift.io/hosted-control-plane") != nullptr) namespaces.insert(object->name);
  for (const Object* cluster : set.of("hypershift.openshift.io", "HostedCluster"))
    namespaces.insert(control_plane_namespace(*cluster));
  return namespaces;
}

}  // namespace hcpnet::lint

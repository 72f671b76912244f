// SPDX-License-Identifier: Apache-2.0
#include "lint/rules.hpp"

#include <algorithm>

namespace hcpnet::lint {

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies{
      text_rules(),  certificate_rules(), kubeconfig_rules(),    static_pod_rules(), manifest_rules(),
      node_rules(),  ignition_rules(),    load_balancer_rules(), host_rules(),       network_rules(),
      slice_rules(), machine_rules(),     hosted_cluster_rules()};
  return kFamilies;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = [] {
    std::vector<Rule> all;
    for (const Family& family : families()) all.insert(all.end(), family.rules.begin(), family.rules.end());
    return all;
  }();
  return kRules;
}

const Rule* find_rule(std::string_view id) noexcept {
  const auto found = std::ranges::find(rules(), id, &Rule::id);
  return found == rules().end() ? nullptr : &*found;
}

bool describes_cluster(const Set& set) {
  const auto is_given = [&](std::string_view kind) {
    const auto objects = set.of("config.openshift.io", kind);
    return !objects.empty() && !objects.front()->is_observed;
  };
  return is_given("ClusterVersion") && is_given("Infrastructure");
}

std::vector<std::string> cidrs_of(const text::Value* list) {
  std::vector<std::string> cidrs;
  for (const text::Value& item : items(list))
    cidrs.push_back(item.type == text::ValueType::map ? scalar(item.find("cidr")) : scalar(&item));
  return cidrs;
}

bool names_user(const Object& binding, const std::string& user) {
  return std::ranges::any_of(items(binding.find("/subjects")), [&](const text::Value& subject) {
    const std::string name = scalar(subject.find("name"));
    if (scalar(subject.find("kind")) == "ServiceAccount")
      return user == "system:serviceaccount:" + scalar(subject.find("namespace")) + ':' + name;
    return name == user;
  });
}

}  // namespace hcpnet::lint

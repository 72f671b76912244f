// SPDX-License-Identifier: Apache-2.0
// What a DNSPolicy adds, against what its target publishes already: two answers for one name would be mixed into one.
// Records of a view take the place of what is published in it (derive::ZoneSet::add_instead()).
#include <algorithm>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <map>
#include <utility>

#include "spec/names.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

/// Names with a VLAN address of their own, and what has them.
using Published = std::map<dns::Name, std::string>;

/// A text that is no name has a problem of its own.
void publish(Published& names, const std::string& name, const std::string& owner) {
  if (const auto parsed = dns::parse_name(name)) names.emplace(*parsed, owner);
}

void publish_cluster(Published& names, const std::string& domain, bool has_apps, const std::string& owner) {
  for (const std::string_view label : kServiceLabels) publish(names, std::string(label) + domain, owner);
  if (has_apps) publish(names, "*.apps." + domain, owner);
}

/// Without a proxy nothing is published: then a policy may say where the names lead.
Published names_of(const Examined<Infra>& infra, const std::vector<Examined<InfraClusterAttachment>>& attachments) {
  Published names;
  const Infra& value = infra.value;
  if (!value.proxy || !value.proxy->enabled || !infra.subject.is_good("/spec/infraComponents/proxy/enabled"))
    return names;
  for (const auto& [attachment, subject, plan, apps] : attachments)
    if (attachment.metadata.namespace_ == value.metadata.namespace_ && attachment.infra_name == value.metadata.name)
      publish_cluster(names, attachment.cluster_name + '.' + attachment.base_domain,
                      attachment.apps_ingress.enabled || apps != nullptr, "cluster " + attachment.metadata.name);
  if (names.empty() && names_cluster(value))
    publish_cluster(names, *value.dns->cluster_name + '.' + *value.dns->base_domain, false,
                    "cluster " + *value.dns->cluster_name);
  if (!names.empty())
    for (const std::string_view name : kKubernetesNames)
      publish(names, std::string(name), "the proxy of Infra " + value.metadata.key());
  return names;
}

Published names_of(const Examined<DNSServer>& server) {
  Published names;
  for (std::size_t i = 0; i < server.value.static_entries.size(); ++i)
    publish(names, server.value.static_entries[i].hostname,
            "staticEntries of the target (" +
                server.subject.where("/spec/staticEntries/" + std::to_string(i) + "/hostname") + ')');
  return names;
}

void check_policy(Examined<DNSPolicy>& policy, const Published& names) {
  // Case and escapes (`\097pi`) are ways to write a name, not other names.
  const auto check = [&](const std::string& pointer, const std::string& text) {
    const auto name = dns::parse_name(text);
    if (!name || !policy.subject.is_good(pointer)) return;
    if (const auto other = names.find(*name); other != names.end())
      policy.subject.error(code::duplicate_hostname, pointer,
                           "this name is published already, by " + other->second + "; a view can have it otherwise");
  };
  for (std::size_t i = 0; i < policy.value.entries.size(); ++i)
    check("/spec/entries/" + std::to_string(i) + "/hostname", policy.value.entries[i].hostname);
  for (std::size_t i = 0; i < policy.value.records.size(); ++i)
    if (dns::parse_type(policy.value.records[i].type) == dns::Type::a)
      check("/spec/records/" + std::to_string(i) + "/name", policy.value.records[i].name);
}

}  // namespace

void check_published(std::vector<Examined<DNSPolicy>>& policies, PolicyTargets targets,
                     const std::vector<Examined<InfraClusterAttachment>>& attachments) {
  for (Examined<DNSPolicy>& policy : policies) {
    if (!policy.subject.is_good("/metadata/namespace") || !policy.subject.is_good("/spec/targetRef/kind") ||
        !policy.subject.is_good("/spec/targetRef/name"))
      continue;
    const auto is_target = [&](const auto& object) {
      const ObjectMeta& metadata = object.value.metadata;
      return object.subject.has_identity() && metadata.namespace_ == policy.value.metadata.namespace_ &&
             metadata.name == policy.value.target.name;
    };
    if (policy.value.target.kind == "Infra") {
      const auto infra = std::ranges::find_if(targets.infras, is_target);
      if (infra != targets.infras.end()) check_policy(policy, names_of(*infra, attachments));
    } else {
      const auto server = std::ranges::find_if(targets.dns_servers, is_target);
      if (server != targets.dns_servers.end()) check_policy(policy, names_of(*server));
    }
  }
}

}  // namespace hcpnet::spec

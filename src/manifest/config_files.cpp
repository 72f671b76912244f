// SPDX-License-Identifier: Apache-2.0
#include "manifest/config_files.hpp"
#include <array>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "spec/field_writer.hpp"
#include "stack/derive.hpp"

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;

Json object(const char* version, const char* kind, const std::string& ns, const std::string& name) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}, {"namespace", ns}}}};
}

/// Workers of one control plane, as one Machine: who they are one by one matters to nobody here.
Json machine(const std::string& ns, const std::vector<IpAddress>& addresses) {
  Json list = Json::array();
  for (const IpAddress& address : addresses) list.push_back({{"type", "InternalIP"}, {"address", address.to_string()}});
  Json json = object("cluster.x-k8s.io/v1beta1", "Machine", ns, "workers");
  json["status"] = {{"addresses", std::move(list)}};
  return json;
}

/// The VMs of the control planes, ordered by hardware address.
std::map<std::string, Json> machine_instances(const std::set<std::string>& namespaces, const spec::Observed& observed) {
  std::map<std::string, Json> all;
  for (const auto& [mac, ns] : observed.mac_namespaces) {
    if (!namespaces.contains(ns)) continue;
    const auto name = observed.host_names.find(mac);
    Json json = object("kubevirt.io/v1", "VirtualMachineInstance", ns,
                       name != observed.host_names.end() ? name->second : mac.to_string());
    json["status"] = {{"interfaces", Json::array({{{"mac", mac.to_string()}}})}};
    all.emplace(mac.to_string(), std::move(json));
  }
  return all;
}

/// A key of a ConfigMap has no slash, so what lay in folders lies side by side. Named by its content: a pod that reads
/// the policy of one moment and the file of the next would else serve records to a view that they are not for.
std::string file_name(const std::string& text, const char* extension) {
  static constexpr std::size_t kDigits = 16;
  return "records-" + sha256_hex(text).substr(0, kDigits) + extension;
}

std::string zone_text(const dns::Zone& zone) {
  std::string text;
  for (const dns::RRset& rrset : zone.rrsets())
    for (const std::string& rdata : rrset.rdata)
      text += rrset.owner.to_string() + ' ' + std::to_string(rrset.ttl) + " IN " + dns::to_string(rrset.type) + ' ' +
              dns::rdata_to_string(rrset.type, rdata) + '\n';
  return text;
}

std::string hosts_text(const std::vector<dns::RRset>& rrsets) {
  std::string text;
  for (const dns::RRset& rrset : rrsets)
    for (const std::string& rdata : rrset.rdata)
      text += dns::rdata_to_string(rrset.type, rdata) + ' ' + rrset.owner.to_string() + '\n';
  return text;
}

const spec::ValidDnsPolicy* dns_policy_of(const Unit& unit) {
  if (!unit.set.infras.empty()) return &unit.set.infras.front().dns_policy;
  return unit.set.dns_servers.empty() ? nullptr : &unit.set.dns_servers.front().policy;
}

std::pair<std::string, std::string> named_zone(const spec::ValidDnsPolicy::FileRecords& item) {
  std::string text = zone_text(*item.file->zone());
  return {file_name(text, ".zone"), std::move(text)};
}

std::pair<std::string, std::string> named_hosts(const spec::ValidDnsPolicy::FileRecords& item) {
  std::string text = hosts_text(item.file->rrsets());
  return {file_name(text, ".hosts"), std::move(text)};
}

/// `valid` is the same policy, with what its files say.
spec::DNSPolicy with_files_beside_it(spec::DNSPolicy policy, const spec::ValidDnsPolicy& valid) {
  for (std::size_t i = 0; i < policy.zone_files.size(); ++i)
    policy.zone_files[i].path = named_zone(valid.zone_files.at(i)).first;
  for (std::size_t i = 0; i < policy.hosts_files.size(); ++i)
    policy.hosts_files[i].path = named_hosts(valid.hosts_files.at(i)).first;
  return policy;
}

/// Each file that a store can have, by its key in the Secret.
std::array<std::pair<const char*, std::optional<std::string>*>, 4> files_of(spec::DHCPPolicy::SharedStore& store) {
  return {{{"ca.crt", &store.ca_file},
           {"tls.crt", &store.certificate_file},
           {"tls.key", &store.key_file},
           {"password", &store.password_file}}};
}

spec::DHCPPolicy with_mounted_files(spec::DHCPPolicy policy) {
  if (!policy.shared_store) return policy;
  for (const auto& [key, file] : files_of(*policy.shared_store))
    if (*file) *file = std::string(kStorePath) + '/' + key;
  return policy;
}

}  // namespace

std::vector<std::string> store_keys(const Unit& unit) {
  std::vector<std::string> keys;
  for (spec::DHCPPolicy policy : unit.set.dhcp_policies) {  // at most one
    if (!policy.shared_store) continue;
    for (const auto& [key, file] : files_of(*policy.shared_store))
      if (*file) keys.emplace_back(key);
  }
  return keys;
}

std::map<std::string, std::string> record_files(const Unit& unit) {
  std::map<std::string, std::string> files;
  const spec::ValidDnsPolicy* policy = dns_policy_of(unit);
  if (policy == nullptr) return files;
  for (const auto& item : policy->zone_files) files.insert(named_zone(item));
  for (const auto& item : policy->hosts_files) files.insert(named_hosts(item));
  return files;
}

std::optional<Diagnostic> problem_of_largest_record_file(const Unit& unit, std::size_t whole, const std::string& code,
                                                         const std::string& message) {
  const spec::ValidDnsPolicy* policy = dns_policy_of(unit);
  if (policy == nullptr) return {};
  const spec::ValidDnsPolicy::FileRecords* largest = nullptr;
  std::size_t most = 0, sum = 0;
  const auto compare = [&](const spec::ValidDnsPolicy::FileRecords& item, std::size_t bytes) {
    sum += bytes;
    if (largest != nullptr && bytes <= most) return;
    largest = &item;
    most = bytes;
  };
  for (const auto& item : policy->zone_files) compare(item, zone_text(*item.file->zone()).size());
  for (const auto& item : policy->hosts_files) compare(item, hosts_text(item.file->rrsets()).size());
  if (largest == nullptr || sum < whole / 2) return {};
  return derive::problem(
      Severity::error, policy->origin, largest->pointer + "/path", unit.owner, code,
      message + "; the records of " + largest->file->path() + " are " + std::to_string(most) + " of them");
}

std::string network_file(const Unit& unit) {
  std::vector<Json> documents;
  for (const auto& o : unit.set.infras) documents.push_back(spec::to_json(o.spec));
  for (const auto& o : unit.set.attachments) documents.push_back(spec::to_json(o));
  for (const auto& o : unit.set.dhcp_servers) documents.push_back(spec::to_json(o.spec));
  for (const auto& o : unit.set.dns_servers) documents.push_back(spec::to_json(o.spec));
  for (const auto& o : unit.set.proxy_servers) documents.push_back(spec::to_json(o.spec));
  for (const auto& o : unit.set.dhcp_policies) documents.push_back(spec::to_json(with_mounted_files(o)));
  for (const auto& o : unit.set.dns_policies) {
    const spec::ValidDnsPolicy* valid = dns_policy_of(unit);
    documents.push_back(spec::to_json(valid == nullptr ? o : with_files_beside_it(o, *valid)));
  }
  for (const auto& o : unit.set.proxy_policies) documents.push_back(spec::to_json(o));
  for (const auto& o : unit.set.apps_policies) documents.push_back(spec::to_json(o));
  return text::render_yaml_documents(documents);
}

std::string observed_file(const Unit& unit, const spec::Observed& observed) {
  Json items = Json::array();
  std::set<std::string> namespaces;
  for (const spec::ValidInfra& infra : unit.set.infras) {
    for (const spec::ValidCluster& cluster : infra.clusters) {
      namespaces.insert(cluster.control_plane_namespace);
      if (!cluster.apps_vip) continue;
      Json json = object("hostedcluster.densityops.com/v1alpha1", "InfraClusterAttachment", unit.owner.namespace_,
                         cluster.name);
      json["status"] = {{"appsIngressStatus", {{"externalIP", cluster.apps_vip->to_string()}}}};
      items.push_back(std::move(json));
    }
  }
  for (const std::string& ns : namespaces)
    if (const auto workers = observed.namespace_workers.find(ns); workers != observed.namespace_workers.end())
      items.push_back(machine(ns, workers->second));
  for (auto& [mac, json] : machine_instances(namespaces, observed)) items.push_back(std::move(json));
  return text::render_yaml({{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

}  // namespace hcpnet::manifest

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/spec/codes.hpp>
#include <hcpnet/spec/load.hpp>
#include <hcpnet/text/json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <memory>
#include <utility>

#include "spec/field_reader.hpp"
#include "spec/hosted_cluster_status.hpp"
#include "spec/names.hpp"
#include "spec/observed_objects.hpp"
#include "spec/read_source.hpp"

namespace hcpnet::spec {
namespace {

using text::Value;
using text::ValueType;

struct Kind {
  std::string_view name;
  std::string_view api_version;
  KindSet since;  ///< in this set and those after it
  void (*add)(SpecSet& set, Origin origin);
};

template <class T>
void read_into(std::vector<SpecSet::Object<T>>& objects, Origin origin, Diagnostics& problems) {
  T value;
  FieldReader reader(origin, problems);
  describe(reader, value);
  reader.finish();
  objects.push_back({std::move(value), std::move(origin)});
}

void add_attachment(SpecSet& set, Origin origin) {
  // Status is read past, except for what a cluster alone knows: where its load balancer is.
  const Value* ip = text::find(*origin.object, "/status/appsIngressStatus/externalIP");
  std::optional<std::string> observed;
  if (ip != nullptr && ip->type == ValueType::string && !ip->text.empty()) observed = ip->text;
  read_into(set.attachments, std::move(origin), set.problems);
  set.attachments.back().value.observed_apps_ip = std::move(observed);
}

void add_hosted_cluster(SpecSet& set, Origin origin) {
  HostedClusterStatus status = read_status(*origin.object);
  read_into(set.hosted_clusters, std::move(origin), set.problems);
  set.hosted_clusters.back().value.status = std::move(status);
}

constexpr std::array kKinds{
    Kind{"Infra", kOooiApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.infras, std::move(o), s.problems); }},
    Kind{"InfraClusterAttachment", kOooiApiVersion, KindSet::network, add_attachment},
    Kind{"DHCPServer", kOooiApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.dhcp_servers, std::move(o), s.problems); }},
    Kind{"DNSServer", kOooiApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.dns_servers, std::move(o), s.problems); }},
    Kind{"ProxyServer", kOooiApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.proxy_servers, std::move(o), s.problems); }},
    Kind{"DHCPPolicy", kHcpnetApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.dhcp_policies, std::move(o), s.problems); }},
    Kind{"DNSPolicy", kHcpnetApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.dns_policies, std::move(o), s.problems); }},
    Kind{"ProxyPolicy", kHcpnetApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.proxy_policies, std::move(o), s.problems); }},
    Kind{"AppsPolicy", kHcpnetApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.apps_policies, std::move(o), s.problems); }},
    Kind{"BootstrapCluster", kHcpnetApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.bootstrap_clusters, std::move(o), s.problems); }},
    Kind{"PrimaryUDN", kHcpnetApiVersion, KindSet::network,
         [](SpecSet& s, Origin o) { read_into(s.primary_udns, std::move(o), s.problems); }},
    Kind{"HostedCluster", kHypershiftApiVersion, KindSet::names, add_hosted_cluster},
};

/// One document, or one item of a List.
class ObjectLoader {
 public:
  ObjectLoader(SpecSet& set, const SourceText& source, std::size_t file_index, KindSet kinds)
      : set_(set), source_(source), file_index_(file_index), kinds_(kinds) {}

  void load(const std::shared_ptr<const Value>& object, const std::string& path, bool may_be_list) {
    if (object->type == ValueType::invalid) return lose();
    if (object->type != ValueType::map)
      return report_lost(code::wrong_type, path, object->position,
                         std::string(text::to_string(object->type)) + " stands where an object is needed");
    if (is_endpoint_map(*object))
      return report(code::unknown_kind, path, object->position,
                    "this is an endpoint map and no object: it is given with --endpoints");
    const Value* version = identity(*object, path, "apiVersion");
    const Value* kind = identity(*object, path, "kind");
    if (kind == nullptr) return;
    if (may_be_list && kind->text == "List") return load_list(object, version, path);

    const auto known = std::ranges::find(kKinds, kind->text, &Kind::name);
    if (known == kKinds.end() || known->since > kinds_) return report_kind(*kind, version, path);
    if (version == nullptr) return;
    if (version->text != known->api_version)
      return report_lost(code::unsupported_version, path + "/apiVersion", version->position,
                         std::string(known->name) + " is not known in this version", excerpt(version->text),
                         std::string(known->api_version));
    known->add(set_,
               {.file = source_.name, .file_index = file_index_, .path = path, .object = object, .unreadable = {}});
  }

 private:
  /// What stands in a folder beside specs and belongs to another option.
  static bool is_endpoint_map(const Value& object) {
    return object.find("apiVersion") == nullptr && object.find("kind") == nullptr && !object.members.empty() &&
           is_endpoint_key(object.members.front().key);
  }

  const Value* identity(const Value& object, const std::string& path, std::string_view name) {
    const Value* value = object.find(name);
    const std::string field = text::child(path, name);
    if (value == nullptr || value->type == ValueType::null) {
      report_lost(code::missing_field, field, value != nullptr ? value->key : object.owner(),
                  std::string(name) + " is needed to know what this is");
      return nullptr;
    }
    if (value->type == ValueType::string) return value;
    if (value->type == ValueType::invalid)
      lose();
    else
      report_lost(code::wrong_type, field, value->position, "a string is needed here");
    return nullptr;
  }

  void load_list(const std::shared_ptr<const Value>& list, const Value* version, const std::string& path) {
    if (version == nullptr) return;
    if (version->text != "v1")
      return report_lost(code::unsupported_version, path + "/apiVersion", version->position,
                         "a List is known in this version only", excerpt(version->text), "v1");
    for (const text::Member& member : list->members) {
      if (member.key == "apiVersion" || member.key == "kind" || member.key == "metadata" || member.key == "items")
        continue;
      report(code::unknown_field, text::child(path, member.key), member.value.key, "a List has no such field", "",
             std::string(nearest(member.key, {"items", "metadata"})));
    }
    const Value* items = list->find("items");
    if (items != nullptr && items->type == ValueType::invalid) return lose();
    const bool is_list = items != nullptr && items->type == ValueType::list;
    if (items == nullptr || items->type == ValueType::null || (is_list && items->items.empty()))
      return report(code::empty_list, path, list->position, "this List holds nothing", {}, {}, Severity::warning);
    if (items->type != ValueType::list)
      return report_lost(code::wrong_type, path + "/items", items->position, "a list is needed here");
    for (std::size_t i = 0; i < items->items.size(); ++i)
      load(std::shared_ptr<const Value>(list, &items->items[i]), text::child(path + "/items", i), false);
  }

  void report_kind(const Value& kind, const Value* version, const std::string& path) {
    std::vector<std::string_view> names;
    for (const Kind& k : kKinds)
      if (k.since <= kinds_) names.push_back(k.name);
    const std::string_view meant = nearest(kind.text, names);
    // A Secret is nothing that others refer to; a kind that was mistyped may be, and a List inside a List may hold it.
    const bool is_of_targets = version != nullptr && version->text == kOooiApiVersion;
    if (is_of_targets || !meant.empty() || kind.text == "List") lose();
    const bool is_observed = version != nullptr && is_observed_kind(version->text, kind.text);
    report(code::unknown_kind, path + "/kind", kind.position,
           is_observed ? "this is an object as a cluster has it, and no spec: it is given with --observed"
                       : "this is none of the kinds that are known here",
           excerpt(kind.text), std::string(meant));
  }

  /// An object that is left out: another one that seems to be missing from the set may be just this.
  void lose() { set_.complete = false; }

  void report_lost(std::string_view code, const std::string& path, text::Position position, std::string message,
                   std::string found = {}, std::string expected = {}) {
    lose();
    report(code, path, position, std::move(message), std::move(found), std::move(expected));
  }

  void report(std::string_view code, const std::string& path, text::Position position, std::string message,
              std::string found = {}, std::string expected = {}, Severity severity = Severity::error) {
    set_.problems.add({.severity = severity,
                       .file = source_.name,
                       .line = position.line,
                       .column = position.column,
                       .path = path,
                       .code = std::string(code),
                       .message = std::move(message),
                       .found = std::move(found),
                       .expected = std::move(expected)});
  }

  SpecSet& set_;
  const SourceText& source_;
  std::size_t file_index_;
  KindSet kinds_;
};

}  // namespace

text::Parsed read_source(const SourceText& source, const LoadLimits& limits) {
  const std::size_t first = source.text.find_first_not_of(" \t\r\n");
  // Standard input has no name to tell; no YAML file of ours begins with a brace, and kubectl takes one that does for
  // JSON too.
  const bool piped_json = source.name == "-" && first != std::string::npos && source.text[first] == '{';
  text::Parsed parsed = source.name.ends_with(".json") || piped_json
                            ? text::parse_json(source.name, source.text, limits)
                            : text::parse_yaml(source.name, source.text, limits);
  const auto is_empty = [](const Value& document) { return document.type == ValueType::null; };
  if (parsed.complete && std::ranges::all_of(parsed.documents, is_empty))
    parsed.problems.add({.severity = Severity::error,
                         .file = source.name,
                         .line = 1,
                         .column = 1,
                         .path = {},
                         .code = std::string(code::no_documents),
                         .message = "the file holds no document",
                         .found = {},
                         .expected = {}});
  return parsed;
}

SpecSet load(const std::vector<SourceText>& sources, const LoadLimits& limits, KindSet kinds) {
  SpecSet set;
  set.problems = Diagnostics(limits.max_errors);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    text::Parsed parsed = read_source(sources[i], limits);
    set.problems.append(std::move(parsed.problems));
    set.complete &= parsed.complete;
    for (Value& document : parsed.documents) {
      if (document.type == ValueType::null) continue;
      ObjectLoader(set, sources[i], i, kinds).load(std::make_shared<const Value>(std::move(document)), "", true);
    }
  }
  return set;
}

}  // namespace hcpnet::spec

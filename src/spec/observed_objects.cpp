// SPDX-License-Identifier: Apache-2.0
#include "spec/observed_objects.hpp"
#include <algorithm>
#include <array>
#include <hcpnet/spec/claim.hpp>
#include <hcpnet/spec/codes.hpp>
#include <utility>

#include "spec/read_source.hpp"

namespace hcpnet::spec {
namespace {

using text::Value;
using text::ValueType;

struct ObservedKind {
  std::string_view group;
  std::string_view kind;
  std::vector<ObservedObject> ObservedObjects::* list;
};
constexpr std::array kKinds{
    ObservedKind{"", "Service", &ObservedObjects::services},
    ObservedKind{"discovery.k8s.io", "EndpointSlice", &ObservedObjects::slices},
    ObservedKind{"kubevirt.io", "VirtualMachineInstance", &ObservedObjects::machine_instances},
    ObservedKind{"kubevirt.io", "VirtualMachine", &ObservedObjects::virtual_machines},
    ObservedKind{"cluster.x-k8s.io", "Machine", &ObservedObjects::machines},
    ObservedKind{"hypershift.openshift.io", "HostedCluster", &ObservedObjects::hosted_clusters},
    ObservedKind{"hostedcluster.densityops.com", "Infra", &ObservedObjects::infras},
    ObservedKind{"hostedcluster.densityops.com", "InfraClusterAttachment", &ObservedObjects::attachments},
    ObservedKind{"route.openshift.io", "Route", &ObservedObjects::routes},
    ObservedKind{"config.openshift.io", "Ingress", &ObservedObjects::ingresses}};

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

const ObservedKind* find_kind(std::string_view api_version, std::string_view kind) {
  const auto known = std::ranges::find_if(
      kKinds, [&](const ObservedKind& k) { return k.kind == kind && k.group == group_of(api_version); });
  return known == kKinds.end() ? nullptr : &*known;
}

ObjectMeta metadata_of(const Value& object) {
  ObjectMeta metadata;
  const Value* map = object.find("metadata");
  if (map == nullptr) return metadata;
  metadata.name = string_of(*map, "name");
  if (std::string name = string_of(*map, "namespace"); !name.empty()) metadata.namespace_ = std::move(name);
  metadata.creation_timestamp = string_of(*map, "creationTimestamp");
  return metadata;
}

class Collector {
 public:
  Collector(ObservedObjects& objects, const std::string& file, Diagnostics& errors)
      : objects_(objects), file_(file), errors_(errors) {}

  void add(const std::shared_ptr<const Value>& root, const Value& value, const std::string& path, bool may_be_list) {
    if (value.type == ValueType::null) return;
    if (value.type != ValueType::map) {
      errors_.add({.severity = Severity::error,
                   .file = file_,
                   .line = value.position.line,
                   .column = value.position.column,
                   .path = path,
                   .code = std::string(code::wrong_type),
                   .message = "an object of a cluster is a mapping",
                   .found = {},
                   .expected = {}});
      return;
    }
    const std::string kind = string_of(value, "kind");
    if (may_be_list && kind.ends_with("List")) return add_items(root, value, path);
    const ObservedKind* known = find_kind(string_of(value, "apiVersion"), kind);
    if (known == nullptr) return;
    ObservedObject object{metadata_of(value), file_, path, &value, root};
    if (!object.metadata.name.empty()) (objects_.*known->list).push_back(std::move(object));
  }

 private:
  void add_items(const std::shared_ptr<const Value>& root, const Value& list, const std::string& path) {
    const Value* items = list.find("items");
    if (items == nullptr) return;
    for (std::size_t i = 0; i < items->items.size(); ++i)
      add(root, items->items[i], text::child(path + "/items", i), false);
  }

  ObservedObjects& objects_;
  const std::string& file_;
  Diagnostics& errors_;
};

}  // namespace

bool is_observed_kind(std::string_view api_version, std::string_view kind) {
  return find_kind(api_version, kind) != nullptr;
}

std::string text_of(const Value* value) {
  // A timestamp without quotes is no string to YAML 1.1; here only what it says matters.
  const bool is_text = value != nullptr && (value->type == ValueType::string || value->type == ValueType::ambiguous);
  return is_text ? value->text : std::string();
}

std::string string_of(const Value& map, std::string_view field) {
  return text_of(map.find(field));
}

std::string ObservedObject::string_at(std::string_view pointer) const {
  return text_of(find(pointer));
}

const std::vector<Value>& ObservedObject::items_at(std::string_view pointer) const {
  static const std::vector<Value> none;
  const Value* list = find(pointer);
  return list != nullptr ? list->items : none;
}

Diagnostic ObservedObject::warning(std::string_view code, std::string_view pointer, std::string message) const {
  const Value* at = find(pointer);
  const text::Position position = at != nullptr ? at->position : value->position;
  return {.severity = Severity::warning,
          .file = file,
          .line = position.line,
          .column = position.column,
          .path = path + std::string(pointer),
          .code = std::string(code),
          .message = std::move(message),
          .found = {},
          .expected = {}};
}

ObservedObjects collect_objects(const std::vector<SourceText>& sources, const LoadLimits& limits, Diagnostics& errors) {
  ObservedObjects objects;
  for (const SourceText& source : sources) {
    text::Parsed parsed = read_source(source, limits);
    errors.append(std::move(parsed.problems));
    for (Value& document : parsed.documents) {
      const auto root = std::make_shared<const Value>(std::move(document));
      Collector(objects, source.name, errors).add(root, *root, "", true);
    }
  }
  for (const ObservedKind& kind : kKinds)
    std::ranges::stable_sort(objects.*kind.list, [](const ObservedObject& a, const ObservedObject& b) {
      return has_precedence(a.metadata, b.metadata);
    });
  return objects;
}

}  // namespace hcpnet::spec

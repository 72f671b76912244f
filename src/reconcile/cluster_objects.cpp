// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/reconcile/cluster_objects.hpp>
#include <hcpnet/text/to_json.hpp>
#include <utility>

#include "reconcile/json_fields.hpp"
#include "spec/read_source.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;

void add_all(ClusterObjects& objects, Json value) {
  if (!value.is_object()) return;
  if (!string_at(value, "/kind").ends_with("List")) return objects.add(std::move(value));
  const auto items = value.find("items");
  if (items == value.end() || !items->is_array()) return;
  for (Json& item : *items)
    if (item.is_object()) objects.add(std::move(item));
}

}  // namespace

ClusterObjects::Key ClusterObjects::key_of(const Json& object) {
  const std::string version = string_at(object, "/apiVersion");
  const std::size_t slash = version.find('/');
  return {slash == std::string::npos ? std::string() : version.substr(0, slash), string_at(object, "/kind"),
          string_at(object, "/metadata/namespace"), string_at(object, "/metadata/name")};
}

void ClusterObjects::add(Json object) {
  Key key = key_of(object);
  if (!std::get<1>(key).empty() && !std::get<3>(key).empty())
    objects_.insert_or_assign(std::move(key), std::move(object));
}

const Json* ClusterObjects::find(const Json& object) const {
  const auto found = objects_.find(key_of(object));
  return found == objects_.end() ? nullptr : &found->second;
}

std::vector<const Json*> ClusterObjects::all(std::string_view group, std::string_view kind,
                                             std::string_view namespace_) const {
  std::vector<const Json*> found;
  const Key first{std::string(group), std::string(kind), std::string(namespace_), {}};
  for (auto i = objects_.lower_bound(first); i != objects_.end(); ++i) {
    if (std::get<0>(i->first) != group || std::get<1>(i->first) != kind || std::get<2>(i->first) != namespace_) break;
    found.push_back(&i->second);
  }
  return found;
}

Result<ClusterObjects, Diagnostics> load_cluster_objects(const std::vector<spec::SourceText>& sources,
                                                         const spec::LoadLimits& limits) {
  Diagnostics errors(limits.max_errors);
  ClusterObjects objects;
  for (const spec::SourceText& source : sources) {
    text::Parsed parsed = spec::read_source(source, limits);
    errors.append(std::move(parsed.problems));
    Diagnostics unread;  // a value that JSON can't hold is null, like one that is not there
    for (const text::Value& document : parsed.documents) add_all(objects, text::to_json(document, source.name, unread));
  }
  if (errors.has_errors()) return errors;
  return objects;
}

}  // namespace hcpnet::reconcile

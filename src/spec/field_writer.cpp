// SPDX-License-Identifier: Apache-2.0
#include "spec/field_writer.hpp"
#include <nlohmann/json.hpp>

#include "spec/fields.hpp"

namespace hcpnet::spec {
namespace {

using Json = nlohmann::json;

/// Writes every field that has a value.
class FieldWriter final : public Fields {
 public:
  Json take() { return std::move(root_); }

  void text(std::string_view name, Need, Format, std::optional<std::string>& value) override {
    if (value) here()[name] = *value;
  }
  void flag(std::string_view name, bool& value) override { here()[name] = value; }
  void number(std::string_view name, Need, Interval, std::optional<std::int64_t>& value) override {
    if (value) here()[name] = *value;
  }
  void choice(std::string_view name, Need, std::span<const std::string_view> names,
              std::optional<std::size_t>& value) override {
    if (value) here()[name] = names[*value];
  }
  void texts(std::string_view name, ListRule, Format, std::vector<std::string>& values) override {
    if (!values.empty()) here()[name] = values;
  }
  void numbers(std::string_view name, ListRule, Interval, std::vector<std::int64_t>& values) override {
    if (!values.empty()) here()[name] = values;
  }
  void string_map(std::string_view name, MapUse, StringMap& values) override {
    if (!values.empty()) here()[name] = values;
  }
  void ignored(std::string_view) override {}
  void removed(std::string_view, std::string_view) override {}
  void others_ignored() override {}
  using Fields::choice;
  using Fields::text;

 protected:
  bool enter(std::string_view name, Need, bool is_present) override {
    if (!is_present) return false;
    descend(here()[name], Json::object());
    return true;
  }
  void leave() override { path_.pop_back(); }
  std::size_t enter_list(std::string_view name, ListRule, std::size_t size) override {
    descend(here()[name], Json::array());
    return size;
  }
  bool enter_item(std::size_t) override {
    here().emplace_back(Json::object());
    path_.push_back(&here().back());
    return true;
  }
  void leave_list() override { path_.pop_back(); }

 private:
  Json& here() { return *path_.back(); }
  void descend(Json& slot, Json empty) {
    slot = std::move(empty);
    path_.push_back(&slot);
  }

  Json root_ = Json::object();
  std::vector<Json*> path_{&root_};  // nlohmann's maps and a list that grows only below its last item keep addresses
};

/// Takes out of `value` what `defaults` says as well, and what is left empty.
void prune(Json& value, const Json& defaults) {
  for (auto i = value.begin(); i != value.end();) {
    const auto other = defaults.find(i.key());
    if (i->is_object()) prune(*i, other != defaults.end() && other->is_object() ? *other : Json::object());
    const bool is_default = other != defaults.end() && *other == *i;
    const bool is_empty = (i->is_array() && i->empty()) || (i->is_object() && i->empty() && other != defaults.end());
    i = is_default || is_empty ? value.erase(i) : std::next(i);
  }
}

template <class Kind>
Json write(Kind object, std::string_view version, std::string_view kind) {
  FieldWriter writer;
  describe(writer, object);
  Json json = writer.take();
  Kind empty;
  FieldWriter defaults;
  describe(defaults, empty);
  prune(json["spec"], defaults.take()["spec"]);
  json["apiVersion"] = version;
  json["kind"] = kind;
  json["metadata"] = {{"name", object.metadata.name}, {"namespace", object.metadata.namespace_}};
  return json;
}

}  // namespace

Json to_json(const Infra& object) {
  return write(object, kOooiApiVersion, "Infra");
}
Json to_json(const InfraClusterAttachment& object) {
  return write(object, kOooiApiVersion, "InfraClusterAttachment");
}
Json to_json(const DHCPServer& object) {
  return write(object, kOooiApiVersion, "DHCPServer");
}
Json to_json(const DNSServer& object) {
  return write(object, kOooiApiVersion, "DNSServer");
}
Json to_json(const ProxyServer& object) {
  return write(object, kOooiApiVersion, "ProxyServer");
}
Json to_json(const DHCPPolicy& object) {
  return write(object, kHcpnetApiVersion, "DHCPPolicy");
}
Json to_json(const DNSPolicy& object) {
  return write(object, kHcpnetApiVersion, "DNSPolicy");
}
Json to_json(const ProxyPolicy& object) {
  return write(object, kHcpnetApiVersion, "ProxyPolicy");
}
Json to_json(const AppsPolicy& object) {
  return write(object, kHcpnetApiVersion, "AppsPolicy");
}

}  // namespace hcpnet::spec

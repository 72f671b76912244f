// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <hcpnet/text/yaml.hpp>
#include <map>
#include <optional>
#include <set>

#include "spec/field_lister.hpp"
#include "spec/spec_text.hpp"
#include "support/files.hpp"

// Holds our descriptions of the fields against the OpenAPI schemas of both generations of the resources.
namespace hcpnet::spec {
namespace {

namespace fs = std::filesystem;
using text::Value;

/// One property of a schema, by the path that FieldInfo uses.
struct Property {
  const Value* schema = nullptr;
  bool is_required = false;
};
using Schema = std::map<std::string, Property>;

std::string scalar(const Value& map, std::string_view name) {
  const Value* value = map.find(name);
  return value != nullptr ? value->text : std::string();
}

std::set<std::string> strings(const Value& map, std::string_view name) {
  std::set<std::string> result;
  if (const Value* list = map.find(name))
    for (const Value& item : list->items) result.insert(item.text);
  return result;
}

void walk(const Value& schema, const std::string& path, Schema& out) {
  const std::set<std::string> required = strings(schema, "required");
  if (const Value* properties = schema.find("properties")) {
    for (const text::Member& member : properties->members) {
      const std::string child = text::child(path, member.key);
      out[child] = {&member.value, required.contains(member.key)};
      walk(member.value, child, out);
    }
  }
  if (const Value* items = schema.find("items")) {
    out[path + "/*"] = {items, false};
    walk(*items, path + "/*", out);
  }
}

struct Crd {
  std::shared_ptr<Value> document;
  Schema schema;  ///< of spec only: metadata and status are Kubernetes' own and read past
};

std::optional<Crd> read_crd(const fs::path& file) {
  if (!fs::exists(file)) return {};
  text::Parsed parsed = text::parse_yaml(file.string(), test::read_file(file));
  EXPECT_TRUE(parsed.complete) << parsed.problems.to_string();
  Crd crd{std::make_shared<Value>(std::move(parsed.documents.front())), {}};
  walk(*text::find(*crd.document, "/spec/versions/0/schema/openAPIV3Schema/properties/spec"), "/spec", crd.schema);
  return crd;
}

template <class Kind>
std::vector<FieldInfo> list_fields() {
  Kind object;
  FieldLister lister;
  describe(lister, object);
  return lister.fields();
}

/// What the CRDs' patterns mean, as ours.
std::set<Format> formats_of(const Value& schema) {
  static const std::map<std::string, std::set<Format>> meanings{
      {R"(^(?:[0-9]{1,3}\.){3}[0-9]{1,3}$)", {Format::ipv4}},
      {R"(^(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:/[0-9]{1,2})?$)", {Format::ipv4_with_length}},
      {R"(^(?:[0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$)", {Format::ipv4_cidr}},
      {R"(^[0-9]+(s|m|h)$)", {Format::simple_duration}},
      {R"(^[a-z0-9]([-a-z0-9]*[a-z0-9])?$)", {Format::label}},
      {R"(^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$)", {Format::lower_domain}}};
  const std::string pattern = scalar(schema, "pattern");
  const auto found = meanings.find(pattern);
  EXPECT_TRUE(pattern.empty() || found != meanings.end()) << "a pattern that is not known here: " << pattern;
  return found != meanings.end() ? found->second : std::set<Format>{};
}

std::string name_of(Format format) {
  switch (format) {
    case Format::any:
      return "any text";
    case Format::image:
      return "an image";
    case Format::object_name:
      return "an object name";
    case Format::label:
      return "a label";
    case Format::target:
      return "a label or an IPv4 address";
    case Format::service_reference:
      return "an IPv4 address or service.namespace";
    case Format::host_name:
      return "a host name";
    case Format::host_or_wildcard:
      return "a host name or wildcard";
    case Format::lower_domain:
      return "a domain in lower case";
    case Format::ipv4:
      return "an IPv4 address";
    case Format::ipv4_with_length:
      return "an IPv4 address with or without length";
    case Format::ipv4_cidr:
      return "an IPv4 network";
    case Format::cidr:
      return "a network";
    case Format::pool:
      return "a range or network";
    case Format::ip_address:
      return "an address";
    case Format::resolver:
      return "a resolver";
    case Format::go_duration:
      return "a lease time";
    case Format::simple_duration:
      return "a simple duration";
    case Format::mac:
      return "a MAC address";
    default:
      return "a form that no field of theirs has";
  }
}

/// "PATH: WHAT" for each way in which a field of ours is not what the schema says.
std::set<std::string> differences(const FieldInfo& ours, const Property& theirs) {
  std::set<std::string> found;
  const auto differs = [&](const std::string& what) { found.insert(ours.path + ": " + what); };
  const Value& schema = *theirs.schema;
  if (scalar(schema, "type") != ours.type) differs("type " + scalar(schema, "type"));
  if (theirs.is_required != ours.is_required) differs(theirs.is_required ? "required there" : "required here only");
  if (scalar(schema, "default") != ours.default_value.value_or(""))
    differs("default there '" + scalar(schema, "default") + "', here '" + ours.default_value.value_or("") + "'");
  if (strings(schema, "enum") != std::set<std::string>(ours.choices.begin(), ours.choices.end())) differs("choices");
  if (ours.interval) {
    const std::string maximum = scalar(schema, "maximum").empty() ? "2147483647" : scalar(schema, "maximum");
    if (scalar(schema, "minimum") != std::to_string(ours.interval->first) ||
        maximum != std::to_string(ours.interval->last))
      differs("interval");
  }
  if (ours.type == "array") {
    const std::string least = ours.list.min_items > 0 ? std::to_string(ours.list.min_items) : "";
    const bool is_bounded = ours.list.max_items != ListRule{}.max_items;
    if (scalar(schema, "minItems") != least ||
        scalar(schema, "maxItems") != (is_bounded ? std::to_string(ours.list.max_items) : ""))
      differs("number of items");
  }
  if (const auto formats = formats_of(schema); !formats.empty() && !(ours.format && formats.contains(*ours.format)))
    differs("pattern");
  if (ours.format && *ours.format != Format::any && scalar(schema, "pattern").empty())
    differs("stricter here, " + name_of(*ours.format));
  return found;
}

/// Compares one kind with the two generations of its schema.
template <class Kind>
void compare(const fs::path& crds, const std::string& plural, std::set<std::string>& found, std::size_t& compared) {
  const std::string file = "hostedcluster.densityops.com_" + plural + ".yaml";
  const auto newest = read_crd(crds / "oooi-newest" / file);
  const auto older = read_crd(crds / "oooi-2026-01" / file);
  ASSERT_TRUE(newest);
  std::map<std::string, FieldInfo> ours;
  for (const FieldInfo& info : list_fields<Kind>())
    if (info.path.starts_with("/spec/")) ours.emplace(info.path, info);

  for (const auto& [path, info] : ours) {
    // The newest word counts; a field that is gone from it is compared with the older one.
    const Schema& schema = newest->schema.contains(path) || !older ? newest->schema : older->schema;
    const auto property = schema.find(path);
    if (property == schema.end()) {
      found.insert(plural + path + ": here only");
      continue;
    }
    ++compared;
    for (const std::string& difference : differences(info, property->second)) found.insert(plural + difference);
  }
  for (const Crd* crd : {&*newest, older ? &*older : nullptr}) {
    if (crd == nullptr) continue;
    for (const auto& [path, property] : crd->schema)
      if (!ours.contains(path)) found.insert(plural + path + ": not known here");
  }
}

/// A rule about one field that its description does not show, with a spec that the CRD accepts and what is said of it.
struct Stricter {
  std::string difference;
  std::string kind;
  std::string spec;
  std::string problem;
};

std::vector<Stricter> stricter_rules() {
  const std::string dhcp =
      "networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, serverIP: 192.0.2.2}, leaseConfig: {rangeStart: "
      "192.0.2.100, rangeEnd: 192.0.2.149}, options: ";
  const std::string dns =
      "networkConfig: {serverIP: 192.0.2.3, proxyIP: 192.0.2.4}, hostedClusterDomain: a.example.com, ";
  const std::string attachment =
      "infraRef: {name: a}, hostedClusterRef: {name: a}, dns: {clusterName: a, baseDomain: example.com}, ";
  const std::string proxy =
      "networkConfig: {serverIP: 192.0.2.4}, backends: [{name: a, hostname: a.example.com, port: 443, targetService: "
      "svc, targetPort: 443, targetNamespace: ns}], ";
  return {
      {"dhcpservers/spec/options/*/code: stricter here, no code of the protocol itself", "DHCPServer",
       dhcp + "[{code: 54, value: 192.0.2.3}]", "bad-option-value /spec/options/0/code"},
      {"dhcpservers/spec/options/*/value: stricter here, a value that fits the code", "DHCPServer",
       dhcp + "[{code: 26, value: many}]", "bad-option-value /spec/options/0/value"},
      {"dnsservers/spec/cacheTTL: stricter here, at most 4294967294 seconds", "DNSServer",
       dns + "cacheTTL: 4294967295s", "bad-duration /spec/cacheTTL"},
      {"dnsservers/spec/reloadInterval: stricter here, at most 4294967294 seconds", "DNSServer",
       dns + "reloadInterval: 9999999h", "bad-duration /spec/reloadInterval"},
      {"dnsservers/spec/networkConfig/serverIP: stricter here, with a length a host of that network", "DNSServer",
       "networkConfig: {serverIP: 192.0.2.255/24, proxyIP: 192.0.2.4}, hostedClusterDomain: a.example.com",
       "address-reserved /spec/networkConfig/serverIP"},
      {"proxyservers/spec/networkConfig/serverIP: stricter here, with a length a host of that network", "ProxyServer",
       "networkConfig: {serverIP: 192.0.2.0/24}, backends: [{name: a, hostname: a.example.com, port: 443, "
       "targetService: svc, targetPort: 443, targetNamespace: ns}]",
       "address-reserved /spec/networkConfig/serverIP"},
      {"infraclusterattachments/spec/appsIngress/service/annotations: stricter here, keys that Kubernetes takes",
       "InfraClusterAttachment", attachment + "appsIngress: {service: {annotations: {Up.example/a: '-', '': b}}}",
       "bad-name /spec/appsIngress/service/annotations/"},
      {"infraclusterattachments/spec/appsIngress/service/labels: stricter here, labels that Kubernetes takes",
       "InfraClusterAttachment",
       attachment + "appsIngress: {service: {labels: {example.com/a_b.C: '', Up.example/a: b}}}",
       "bad-name /spec/appsIngress/service/labels/Up.example~1a"},
      {"infraclusterattachments/spec/externalService/annotations: stricter here, keys that Kubernetes takes",
       "InfraClusterAttachment", attachment + "externalService: {annotations: {a: b c, -a: b}}",
       "bad-name /spec/externalService/annotations/-a"},
      {"infraclusterattachments/spec/externalService/labels: stricter here, labels that Kubernetes takes",
       "InfraClusterAttachment", attachment + "externalService: {labels: {a: b, c: d e}}",
       "bad-name /spec/externalService/labels/c"},
      {"proxyservers/spec/externalService/annotations: stricter here, keys that Kubernetes takes", "ProxyServer",
       proxy + "externalService: {annotations: {a/b/c: d}}", "bad-name /spec/externalService/annotations/a~1b~1c"},
      {"proxyservers/spec/externalService/labels: stricter here, labels that Kubernetes takes", "ProxyServer",
       proxy + "externalService: {labels: {a: " + std::string(64, 'b') + "}}",
       "bad-name /spec/externalService/labels/a"}};
}

/// The list of docs/spec.md, section "Differences from the CRDs".
std::set<std::string> documented_differences() {
  const std::string text = test::read_file(fs::path(HCPNET_SOURCE_DIR) / "docs/spec.md");
  std::set<std::string> result;
  std::istringstream lines(text.substr(text.find("## Differences from the CRDs")));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("- `")) result.insert(line.substr(3, line.find('`', 3) - 3));
  return result;
}

TEST(Crds, AgreeWithTheFieldsHereButForTheDocumentedDifferences) {
  const char* shared = std::getenv("HCPNET_SHARED");
  const fs::path crds =
      (shared != nullptr ? fs::path(shared) : fs::path(HCPNET_SOURCE_DIR).parent_path() / "shared") / "crds";
  if (!fs::exists(crds / "oooi-newest"))
    GTEST_SKIP() << "no CRDs of oooi at " << crds << "; HCPNET_SHARED names the folder that holds crds/";
  std::set<std::string> found;
  std::size_t compared = 0;
  compare<Infra>(crds, "infras", found, compared);
  compare<InfraClusterAttachment>(crds, "infraclusterattachments", found, compared);
  compare<DHCPServer>(crds, "dhcpservers", found, compared);
  compare<DNSServer>(crds, "dnsservers", found, compared);
  compare<ProxyServer>(crds, "proxyservers", found, compared);
  EXPECT_GT(compared, 120u);
  for (const Stricter& rule : stricter_rules()) {
    EXPECT_THAT(test::errors(std::string(test::kOooi) + "kind: " + rule.kind + "\nmetadata: {name: a}\nspec: {" +
                             rule.spec + "}\n"),
                testing::ElementsAre(rule.problem))
        << rule.difference;
    found.insert(rule.difference);
  }
  const std::set<std::string> documented = documented_differences();
  for (const std::string& difference : found)
    EXPECT_TRUE(documented.contains(difference)) << "not in docs/spec.md:\n- `" << difference << '`';
  for (const std::string& difference : documented)
    EXPECT_TRUE(found.contains(difference)) << "in docs/spec.md, but not so: " << difference;
}

TEST(FieldLister, ListsEveryKindWithoutNamingAFieldTwice) {
  const auto is_unique = [](const std::vector<FieldInfo>& fields) {
    std::set<std::string> paths;
    for (const FieldInfo& info : fields)
      if (!paths.insert(info.path).second) return false;
    return !fields.empty();
  };
  EXPECT_TRUE(is_unique(list_fields<Infra>()));
  EXPECT_TRUE(is_unique(list_fields<InfraClusterAttachment>()));
  EXPECT_TRUE(is_unique(list_fields<DHCPServer>()));
  EXPECT_TRUE(is_unique(list_fields<DNSServer>()));
  EXPECT_TRUE(is_unique(list_fields<ProxyServer>()));
  EXPECT_TRUE(is_unique(list_fields<DHCPPolicy>()));
  EXPECT_TRUE(is_unique(list_fields<DNSPolicy>()));
  EXPECT_TRUE(is_unique(list_fields<ProxyPolicy>()));
  EXPECT_TRUE(is_unique(list_fields<AppsPolicy>()));
  EXPECT_TRUE(is_unique(list_fields<BootstrapCluster>()));
  EXPECT_TRUE(is_unique(list_fields<PrimaryUDN>()));
}

}  // namespace
}  // namespace hcpnet::spec

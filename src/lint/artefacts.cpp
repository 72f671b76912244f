// SPDX-License-Identifier: Apache-2.0
#include "lint/artefacts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <hcpnet/bootstrap/ignition.hpp>
#include <hcpnet/bootstrap/inputs.hpp>
#include <hcpnet/text/json.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "bootstrap/base64.hpp"
#include "lint/lines.hpp"
#include "lint/reporter.hpp"
#include "lint/udn.hpp"
#include "text/byte_order_mark.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;
using text::ValueType;

constexpr std::string_view kCertificateBegin = "-----BEGIN CERTIFICATE-----";

bool has_line(std::string_view text, std::string_view beginning) {
  return text.starts_with(beginning) || text.find('\n' + std::string(beginning)) != std::string_view::npos;
}

bool has_haproxy_section(std::string_view text) {
  return std::ranges::any_of(haproxy_sections(text), [](const HaproxySection& section) {
    const bool is_named = section.kind == "frontend" || section.kind == "backend" || section.kind == "listen";
    const bool is_used = section.find("bind") != nullptr || section.find("server") != nullptr ||
                         section.find("default_backend") != nullptr;
    return is_named && !section.name.empty() && is_used;
  });
}

/// Whether the first line that says anything is one of YAML: prose that quotes a manifest has none there.
bool begins_as_yaml(std::string_view text) {
  for (const Line& line : lines_of(text)) {
    const std::string_view content = line.text;
    if (trimmed(content).empty() || content.front() == '#') continue;
    if (content.starts_with("---") || content.front() == '%') return true;
    const std::size_t colon = content.find(':');
    return colon != std::string_view::npos &&
           content.substr(0, colon).find_first_of(" \t=<[(") == std::string_view::npos;
  }
  return false;
}

/// Of a text that begins with a brace: a member, or nothing, follows in JSON; else it may be a mapping of YAML, or the
/// configuration of some program.
bool begins_as_json(std::string_view text) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", 1);
  return next == std::string_view::npos || text[next] == '"' || text[next] == '}';
}

bool is_script(std::string_view text) {
  return text.starts_with("#!") || has_line(text, "# shellcheck shell=");
}

bool is_environment(std::string_view text) {
  bool has_host_or_port = false;
  for (const Line& line : lines_of(text)) {
    const std::string_view content = trimmed(line.text);
    if (content.empty() || content.front() == '#') continue;
    if (content.find('=') == std::string_view::npos) return false;
    has_host_or_port = has_host_or_port || content.starts_with("KUBERNETES_SERVICE_");
  }
  return has_host_or_port;
}

/// A file's mode: decimal in JSON, which has nothing else; in YAML it may be 0644 or 0o644 as well.
std::optional<unsigned> mode_of(std::string_view text) {
  const bool is_octal = text.size() > 1 && text.front() == '0';
  if (text.starts_with("0o")) text.remove_prefix(2);
  unsigned mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, is_octal ? 8 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return mode;
}

/// Of a status: whose it looks like.
std::string kind_of_status(const Value& status) {
  if (status.find("featureGates") != nullptr) return "FeatureGate";
  for (const char* field : {"apiServerURL", "apiServerInternalURI", "apiServerInternalURL", "controlPlaneTopology",
                            "infrastructureTopology", "infrastructureName"})
    if (status.find(field) != nullptr) return "Infrastructure";
  return {};
}

class Collector {
 public:
  Collector(const Limits& limits, Reporter& reporter) : limits_(limits), reporter_(reporter) {}

  Set run(const std::vector<File>& files) {
    for (const File& file : files)
      if (!collect(origin(file.name), file.text, 1)) set_.unrecognised.push_back(file.name);
    return std::move(set_);
  }

 private:
  const Origin& origin(const std::string& file) { return set_.origins.emplace_back(Origin{file, {}, {}, {}, {}}); }
  /// What stands inside of `outer`.
  const Origin& origin(const Origin& outer, const std::string& inner, text::Position position, std::string path,
                       std::string node_path) {
    Origin made{outer.file, inner, position, std::move(path), std::move(node_path)};
    if (!outer.inner.empty()) {
      made.inner = outer.inner + ", " + inner;
      made.position = outer.position;
      made.path = outer.path;
    }
    return set_.origins.emplace_back(std::move(made));
  }

  /// False when it is nothing that a rule is about.
  bool collect(const Origin& where, std::string_view text, std::size_t depth) {
    if (depth > limits_.max_nesting) {
      reporter_.add("nesting-limit", where, {}, {},
                    "files lie in files " + std::to_string(limits_.max_nesting) + " times; this one is not looked at");
      return true;
    }
    if (text.size() > limits_.max_file_bytes) {
      reporter_.add("file-limit", where, {}, {},
                    "more than " + std::to_string(limits_.max_file_bytes) + " bytes; it is not looked at");
      return true;
    }
    if (text.find('\0') != std::string_view::npos) return false;
    text = text::without_byte_order_mark(text);
    if (is_script(text)) return keep(set_.scripts, where, text);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    if (text[first] == '{') return collect_braces(where, text, text.substr(first), depth);
    if (has_line(text, "-----BEGIN ")) return collect_pem(where, text);
    if (text.substr(first).starts_with("<domain") || text.substr(first).starts_with("<network") ||
        text.substr(first).starts_with("<?xml"))
      return keep(set_.xml_files, where, text);
    if (has_line(text, "[Unit]") || has_line(text, "[Service]")) return keep(set_.units, where, text);
    if (has_line(text, "[crio")) return keep(set_.crio_files, where, text);
    if (is_environment(text)) return keep(set_.environments, where, text);
    const bool has_key = has_line(text, "apiVersion:") || has_line(text, "kind:") || has_line(text, "status:") ||
                         has_line(text, "ignition:");
    if (has_key && begins_as_yaml(text)) return collect_tree(where, text, false, depth);
    return has_haproxy_section(text) && keep(set_.haproxies, where, text);
  }

  bool collect_braces(const Origin& where, std::string_view text, std::string_view content, std::size_t depth) {
    // A template is read by nobody as it is.
    if (content.starts_with("{{") || content.starts_with("{%")) return false;
    if (begins_as_json(content)) return collect_tree(where, text, true, depth);
    const bool has_key =
        content.find("apiVersion") != std::string_view::npos || content.find("ignition") != std::string_view::npos;
    return has_key && collect_tree(where, text, false, depth);
  }

  static bool keep(std::vector<LineFile>& files, const Origin& where, std::string_view text) {
    files.push_back({&where, std::string(text)});
    return true;
  }

  bool collect_pem(const Origin& where, std::string_view text) {
    if (text.find(kCertificateBegin) != std::string_view::npos) add_certificates(where, text, {}, {}, false);
    if (const auto key = pki::parse_private_key(text)) set_.keys.push_back({&where, {1, 1}, *key});
    return true;
  }

  /// `position` is where the text stands, when it is a value of something else; else each has its own line.
  std::vector<pki::Certificate> add_certificates(const Origin& where, std::string_view text, text::Position position,
                                                 const std::string& path, bool is_client) {
    auto certificates = pki::parse_certificates(text);
    if (!certificates) {
      reporter_.add("certificate-unreadable", where, position.line > 0 ? position : text::Position{1, 1}, path,
                    "these are no certificates: " + certificates.error().message());
      return {};
    }
    std::uint32_t line = 1;
    std::size_t counted = 0, at = 0;
    for (const pki::Certificate& certificate : *certificates) {
      at = std::min(text.find(kCertificateBegin, at), text.size());
      line += static_cast<std::uint32_t>(std::ranges::count(text.substr(counted, at - counted), '\n'));
      counted = at;
      at = std::min(at + 1, text.size());
      set_.certificates.push_back(
          {&where, position.line > 0 ? position : text::Position{line, 1}, path, certificate, is_client});
      is_client = false;  // what follows a client's own certificate is its chain
    }
    return *std::move(certificates);
  }

  bool collect_tree(const Origin& where, std::string_view text, bool is_json, std::size_t depth) {
    if (!is_json && collect_crds(text)) return true;
    const text::LoadLimits load{.max_file_bytes = limits_.max_file_bytes, .max_nodes = limits_.max_values};
    text::Parsed parsed = is_json ? text::parse_json(where.file, text, load) : text::parse_yaml(where.file, text, load);
    // What the parser quotes may be a key or a password.
    for (const Diagnostic& problem : parsed.problems)
      reporter_.add("unreadable-text", where, {problem.line, problem.column}, problem.path,
                    problem.message + " [" + problem.code + ']');
    bool is_known = !parsed.complete;
    for (Value& document : parsed.documents) {
      const Value& root = set_.trees.emplace_back(std::move(document));
      is_known = collect_document(where, root, "", depth) || is_known;
    }
    return is_known;
  }

  /// CRDs are large, and nothing but their names is of interest.
  bool collect_crds(std::string_view text) {
    if (!has_line(text, "kind: CustomResourceDefinition")) return false;
    const auto names = bootstrap::read_crd_names({}, text);
    if (names.has_error()) return false;
    if (*names) set_.crds.insert((*names)->begin(), (*names)->end());
    return true;
  }

  bool collect_document(const Origin& where, const Value& root, const std::string& path, std::size_t depth) {
    if (root.type == ValueType::null) return true;  // an empty document
    if (root.type != ValueType::map) return false;
    if (const Value* ignition = root.find("ignition"); ignition != nullptr && ignition->type == ValueType::map) {
      add_ignition(where, root, path, false, depth);
      return true;
    }
    const std::string kind = scalar(root.find("kind")), version = scalar(root.find("apiVersion"));
    if (kind.empty()) return collect_status(where, root, path);
    if (kind == "Config" && root.find("clusters") != nullptr) {
      add_kubeconfig(where, root);
      return true;
    }
    if (kind.ends_with("List") && root.find("items") != nullptr) {
      const std::vector<Value>& list = items(root.find("items"));
      for (std::size_t i = 0; i < list.size(); ++i)
        collect_document(where, list[i], text::child(path + "/items", i), depth);
      return true;
    }
    add_object(where, root, path, kind, version, depth);
    return true;
  }

  bool collect_status(const Origin& where, const Value& root, const std::string& path) {
    const Value* status = root.find("status");
    if (status == nullptr || root.members.size() != 1) return false;
    const std::string kind = kind_of_status(*status);
    if (kind.empty()) return false;
    set_.status_patches.push_back({&where, &root, path, "config.openshift.io/v1", kind, {}, "cluster", false});
    return true;
  }

  void add_object(const Origin& where, const Value& root, const std::string& path, const std::string& kind,
                  const std::string& version, std::size_t depth) {
    Object object{&where, &root, path, version, kind, {}, {}, false};
    object.ns = object.at("/metadata/namespace");
    object.name = object.at("/metadata/name");
    object.is_observed = object.find("/metadata/uid") != nullptr;
    set_.objects.push_back(object);
    set_.objects_by_kind[kind].push_back(&set_.objects.back());
    if (kind == "CustomResourceDefinition") set_.crds.insert(object.name);
    if (kind == "MachineConfig") collect_machine_config(where, object, depth);
    if (kind == "Secret") collect_secret(where, object);
  }

  void collect_machine_config(const Origin& where, const Object& object, std::size_t depth) {
    const Value* config = object.find("/spec/config");
    if (config == nullptr) return;
    const Value* raw = config->find("raw");
    if (raw == nullptr || raw->type != ValueType::string)
      return add_ignition(where, raw != nullptr ? *raw : *config,
                          object.path + (raw != nullptr ? "/spec/config/raw" : "/spec/config"), true, depth);
    const Origin& inner = origin(where, "spec.config.raw", raw->position, object.path + "/spec/config/raw", {});
    text::Parsed parsed = text::parse_json(where.file, raw->text,
                                           {.max_file_bytes = limits_.max_file_bytes, .max_nodes = limits_.max_values});
    for (const Diagnostic& problem : parsed.problems)
      reporter_.add("unreadable-text", inner, {problem.line, problem.column}, problem.path, problem.message);
    for (Value& document : parsed.documents)
      add_ignition(inner, set_.trees.emplace_back(std::move(document)), "", true, depth + 1);
  }

  void collect_secret(const Origin& where, const Object& object) {
    const Value* certificate = object.find("/data/tls.crt");
    const Value* key = object.find("/data/tls.key");
    if (certificate == nullptr) return;
    add_pair(where, certificate, key, object.path + "/data/tls.crt", false);
  }

  /// A certificate in base64 and its key beside it.
  void add_pair(const Origin& where, const Value* certificate, const Value* key, const std::string& path,
                bool is_client) {
    const auto pem = bootstrap::parse_base64(scalar(certificate));
    if (!pem) return reporter_.add("certificate-unreadable", where, certificate->position, path, "this is no base64");
    const auto certificates = add_certificates(where, *pem, certificate->position, path, is_client);
    const auto key_pem = key == nullptr ? std::nullopt : bootstrap::parse_base64(scalar(key));
    if (certificates.empty() || !key_pem) return;
    const auto read = pki::parse_private_key(*key_pem);
    if (!read || !certificates.front().has_key(*read))
      reporter_.add("key-mismatch", where, key->position, path,
                    "the key beside the certificate of " + certificates.front().info().profile.subject.common_name +
                        (read ? " belongs to another one" : " is no key that can be read"));
  }

  void add_kubeconfig(const Origin& where, const Value& root) {
    set_.kubeconfigs.push_back({&where, &root});
    const std::vector<Value>& users = items(root.find("users"));
    for (std::size_t i = 0; i < users.size(); ++i) {
      const Value* user = users[i].find("user");
      const Value* certificate = user == nullptr ? nullptr : user->find("client-certificate-data");
      if (certificate != nullptr)
        add_pair(where, certificate, user->find("client-key-data"),
                 text::child(std::string_view("/users"), i) + "/user/client-certificate-data", true);
    }
    const std::vector<Value>& clusters = items(root.find("clusters"));
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      const std::string path = text::child(std::string_view("/clusters"), i) + "/cluster/certificate-authority-data";
      if (const Value* authority = text::find(root, path)) add_pair(where, authority, nullptr, path, false);
    }
  }

  void add_ignition(const Origin& where, const Value& root, const std::string& path, bool is_machine_config,
                    std::size_t depth) {
    Ignition& config = set_.ignitions.emplace_back();
    config.origin = &where;
    config.root = &root;
    config.path = path;
    config.is_machine_config = is_machine_config;
    const std::vector<Value>& files = items(text::find(root, "/storage/files"));
    for (std::size_t i = 0; i < files.size(); ++i)
      config.files.push_back(read_file(files[i], text::child(path + "/storage/files", i)));
    const std::vector<Value>& units = items(text::find(root, "/systemd/units"));
    for (std::size_t i = 0; i < units.size(); ++i) {
      const Value* contents = units[i].find("contents");
      config.units.push_back({scalar(units[i].find("name")), is_true(units[i].find("enabled")), scalar(contents)});
      if (contents == nullptr || contents->text.empty()) continue;
      const std::string name = config.units.back().name;
      static_cast<void>(
          collect(origin(where, name, contents->position, text::child(path + "/systemd/units", i) + "/contents",
                         "/etc/systemd/system/" + name),
                  contents->text, depth + 1));
    }
    for (const Ignition::File& file : config.files) {
      if (file.contents.empty()) continue;
      const Origin& inner = origin(where, file.path, file.entry->position, file.pointer, file.path);
      static_cast<void>(collect(inner, file.contents, depth + 1));
    }
  }

  static Ignition::File read_file(const Value& entry, std::string pointer) {
    Ignition::File file;
    file.path = scalar(entry.find("path"));
    file.entry = &entry;
    file.pointer = std::move(pointer);
    file.mode = mode_of(scalar(entry.find("mode")));
    const std::string source = scalar(text::find(entry, "/contents/source"));
    const std::string compression = scalar(text::find(entry, "/contents/compression"));
    if (!source.starts_with("data:")) return file;
    auto contents = bootstrap::parse_data_url(source);
    file.is_readable = contents.has_value();
    if (contents && compression.empty()) file.contents = *std::move(contents);
    return file;
  }

  const Limits& limits_;
  Reporter& reporter_;
  Set set_;
};

const Value* member(const Object& object, const char* map, std::string_view key) {
  const Value* found = object.find(map);
  return found == nullptr ? nullptr : found->find(key);
}

}  // namespace

std::string scalar(const Value* value) {
  const bool is_scalar = value != nullptr && value->type != ValueType::list && value->type != ValueType::map &&
                         value->type != ValueType::null && value->type != ValueType::invalid;
  return is_scalar ? value->text : std::string();
}

const std::vector<Value>& items(const Value* value) {
  static const std::vector<Value> kNone;
  return value != nullptr && value->type == ValueType::list ? value->items : kNone;
}

bool is_true(const Value* value) {
  return value != nullptr && value->type == ValueType::boolean && value->flag;
}

nlohmann::json json_in(std::string_view text) {
  const text::Parsed parsed = text::parse_json({}, text);
  Diagnostics ignored;
  if (!parsed.complete || parsed.documents.size() != 1) return nlohmann::json(nlohmann::json::value_t::discarded);
  return text::to_json(parsed.documents.front(), {}, ignored);
}

const Value* Object::annotation(std::string_view key) const {
  return member(*this, "/metadata/annotations", key);
}
const Value* Object::label(std::string_view key) const {
  return member(*this, "/metadata/labels", key);
}
bool Object::is(std::string_view of_group, std::string_view of_kind) const {
  if (kind != of_kind) return false;
  return of_group.empty() ? api_version == "v1" : group() == of_group && api_version != of_group;
}

bool Container::runs(std::string_view program) const {
  const std::string as_path = "bin/" + std::string(program);  // and not /var/lib/etcd
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return word == program || word.ends_with(as_path); });
}

const Value* Container::environment(std::string_view variable) const {
  for (const Value& entry : items(value->find("env")))
    if (scalar(entry.find("name")) == variable) return &entry;
  return nullptr;
}

std::string pod_spec_path(const Object& object) {
  if (object.is("", "Pod")) return "/spec";
  static constexpr std::array<std::string_view, 5> kMakers{"DaemonSet", "Deployment", "Job", "ReplicaSet",
                                                           "StatefulSet"};
  return std::ranges::find(kMakers, object.kind) != kMakers.end() ? "/spec/template/spec" : "";
}

std::vector<Container> containers_of(const Object& object) {
  std::vector<Container> containers;
  const std::string spec = pod_spec_path(object);
  if (spec.empty()) return containers;
  const std::string path = spec + "/containers";
  const std::vector<Value>& list = items(object.find(path));
  for (std::size_t i = 0; i < list.size(); ++i) {
    Container container{
        &object, &list[i], text::child(path, i), scalar(list[i].find("name")), scalar(list[i].find("image")), {}};
    for (const char* field : {"command", "args"})
      for (const Value& word : items(list[i].find(field)))
        for (std::string& piece : words_of(scalar(&word)))
          if (piece != "\\") container.words.push_back(std::move(piece));
    containers.push_back(std::move(container));
  }
  return containers;
}

const Ignition::File* Ignition::file(std::string_view node_path) const {
  const auto found = std::ranges::find(files, node_path, &File::path);
  return found == files.end() ? nullptr : &*found;
}
const Ignition::Unit* Ignition::unit(std::string_view name) const {
  const auto found = std::ranges::find(units, name, &Unit::name);
  return found == units.end() ? nullptr : &*found;
}
bool Ignition::has_sources() const {
  return !items(text::find(*root, "/ignition/config/merge")).empty() ||
         text::find(*root, "/ignition/config/replace") != nullptr;
}
bool Ignition::is_bootstrap() const {
  return std::ranges::any_of(files, [](const File& file) {
    return file.path.starts_with("/etc/kubernetes/manifests/") &&
           file.contents.find("kube-apiserver") != std::string::npos;
  });
}

std::vector<const Object*> Set::of(std::string_view group, std::string_view kind) const {
  std::vector<const Object*> found;
  if (const auto of_kind = objects_by_kind.find(kind); of_kind != objects_by_kind.end())
    std::ranges::copy_if(of_kind->second, std::back_inserter(found),
                         [&](const Object* object) { return object->is(group, kind); });
  return found;
}

const Object* Set::find(std::string_view group, std::string_view kind, std::string_view ns,
                        std::string_view name) const {
  for (const Object* object : of(group, kind))
    if (object->ns == ns && object->name == name) return object;
  return nullptr;
}

const Object* Set::status_of(std::string_view kind) const {
  for (const Object& patch : status_patches)
    if (patch.kind == kind) return &patch;
  for (const Object* object : of("config.openshift.io", kind))
    if (object->find("/status") != nullptr) return object;
  return nullptr;
}

std::string Set::release() const {
  std::string text;
  if (const Object* gate = status_of("FeatureGate")) text = gate->at("/status/featureGates/0/version");
  for (const Object* stream : of("image.openshift.io", "ImageStream"))
    if (text.empty()) text = stream->name;
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return {};
  std::size_t end = dot + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return text.substr(0, end);
}

Set collect(const std::vector<File>& files, const Limits& limits, Reporter& reporter) {
  Set set = Collector(limits, reporter).run(files);
  set.primary_namespaces = primary_namespaces(set);
  set.control_planes = control_planes(set);
  return set;
}

}  // namespace hcpnet::lint

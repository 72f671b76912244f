// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <hcpnet/lint/lint.hpp>
#include <hcpnet/pki/certificate.hpp>
#include <hcpnet/text/value.hpp>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// What the files of a set are, and what is in them.
namespace hcpnet::lint {

/// The text that something was found in: a file, or what an Ignition config, a MachineConfig or a Secret holds.
struct Origin {
  std::string file;
  std::string inner;        ///< empty for a file; else what a person calls it: "/etc/kubernetes/manifests/etcd.yaml"
  text::Position position;  ///< where it stands in the file, if it is inside of one
  std::string path;         ///< the same as a JSON pointer
  std::string node_path;    ///< where it lies on a node; empty when nothing says
};

[[nodiscard]] std::string scalar(const text::Value* value);  ///< of text, a number or a boolean; else empty
[[nodiscard]] const std::vector<text::Value>& items(const text::Value* value);  ///< of a list; else none
[[nodiscard]] bool is_true(const text::Value* value);
/// The JSON in a text such as an annotation's; discarded where it is none, or beyond text::LoadLimits, which hold for
/// it as for a file.
[[nodiscard]] nlohmann::json json_in(std::string_view text);

/// An object of the Kubernetes API, as a manifest or as part of a List.
struct Object {
  const Origin* origin = nullptr;
  const text::Value* root = nullptr;
  std::string path;  ///< of root in its document
  std::string api_version, kind, ns, name;
  bool is_observed = false;  ///< read from a cluster: it has a UID

  [[nodiscard]] const text::Value* find(std::string_view pointer) const { return text::find(*root, pointer); }
  [[nodiscard]] std::string at(std::string_view pointer) const { return scalar(find(pointer)); }
  [[nodiscard]] const text::Value* annotation(std::string_view key) const;
  [[nodiscard]] const text::Value* label(std::string_view key) const;
  [[nodiscard]] std::string group() const { return api_version.substr(0, api_version.find('/')); }
  [[nodiscard]] bool is(std::string_view of_group, std::string_view of_kind) const;  ///< group "" is the core group
};

struct Container {
  const Object* object = nullptr;
  const text::Value* value = nullptr;
  std::string path;  ///< from the object's root
  std::string name, image;
  std::vector<std::string> words;  ///< of command and args, scripts in them taken apart

  /// Whether it runs this program.
  [[nodiscard]] bool runs(std::string_view program) const;
  [[nodiscard]] const text::Value* environment(std::string_view variable) const;  ///< the entry
};
/// Of a Pod or of what makes pods: the pointer to its PodSpec; empty for other kinds.
[[nodiscard]] std::string pod_spec_path(const Object& object);
[[nodiscard]] std::vector<Container> containers_of(const Object& object);

struct CertificateEntry {
  const Origin* origin = nullptr;
  text::Position position;
  std::string path;
  pki::Certificate certificate;
  bool is_client = false;  ///< of the user of a kubeconfig
};
struct KeyEntry {
  const Origin* origin = nullptr;
  text::Position position;
  pki::PrivateKey key;
};

struct Kubeconfig {
  const Origin* origin = nullptr;
  const text::Value* root = nullptr;
};

/// An Ignition config, or the one in a MachineConfig.
struct Ignition {
  struct File {
    std::string path;
    std::optional<unsigned> mode;
    const text::Value* entry = nullptr;
    std::string pointer;  ///< in its document
    bool is_readable = true;
    std::string contents;  ///< empty where they are fetched, or compressed
  };
  struct Unit {
    std::string name;
    bool is_enabled = false;
    std::string contents;
  };
  const Origin* origin = nullptr;
  const text::Value* root = nullptr;
  std::string path;  ///< of root in its document
  bool is_machine_config = false;
  std::vector<File> files;
  std::vector<Unit> units;

  [[nodiscard]] const File* file(std::string_view node_path) const;
  [[nodiscard]] const Unit* unit(std::string_view name) const;
  [[nodiscard]] bool has_sources() const;  ///< it fetches another config
  /// Whether it brings up a control plane of its own: a static kube-apiserver.
  [[nodiscard]] bool is_bootstrap() const;
};

/// A text that is made of lines.
struct LineFile {
  const Origin* origin = nullptr;
  std::string text;
};

/// Everything that was given, taken apart. Objects and values stay where they are.
struct Set {
  std::deque<Origin> origins;
  std::deque<text::Value> trees;

  std::deque<Object> objects;
  std::map<std::string, std::vector<const Object*>, std::less<>> objects_by_kind;
  std::vector<Object> status_patches;  ///< documents with a status alone; the kind is what the status looks like
  std::vector<CertificateEntry> certificates;
  std::vector<KeyEntry> keys;
  std::vector<Kubeconfig> kubeconfigs;
  std::deque<Ignition> ignitions;
  std::vector<LineFile> haproxies, units, environments, crio_files, scripts, xml_files;
  std::set<std::string, std::less<>> crds;  ///< "networks.config.openshift.io"
  std::vector<std::string> unrecognised;
  // As far as the set says; asked object by object, so they are made once.
  std::set<std::string, std::less<>> primary_namespaces;  ///< whose pods have a primary network
  std::set<std::string, std::less<>> control_planes;      ///< namespaces of hosted control planes

  /// The objects of a kind; group "" is the core group.
  [[nodiscard]] std::vector<const Object*> of(std::string_view group, std::string_view kind) const;
  [[nodiscard]] const Object* find(std::string_view group, std::string_view kind, std::string_view ns,
                                   std::string_view name) const;
  /// The status of the one Infrastructure or FeatureGate: of a status patch, else of an object. Its `find` takes
  /// pointers that begin with /status.
  [[nodiscard]] const Object* status_of(std::string_view kind) const;
  /// The release, where something of it names one: "4.18".
  [[nodiscard]] std::string release() const;
};

class Reporter;

/// Takes the files apart. What can't be read is reported.
[[nodiscard]] Set collect(const std::vector<File>& files, const Limits& limits, Reporter& reporter);

}  // namespace hcpnet::lint

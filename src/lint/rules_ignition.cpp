// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bootstrap/ignition.hpp>
#include <hcpnet/text/patch.hpp>
#include <set>

#include "lint/lines.hpp"
#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;

constexpr Rule kRules[] = {
    {.id = "ignition-version",
     .severity = Severity::error,
     .title = "an Ignition config of a version that nodes don't read",
     .why =
         "Ignition stops the boot: `unsupported config version`. Older versions of 3 are read by every newer one; 2 is "
         "another language, which a machine-config server gives to those who don't say what they read.",
     .fix = "3.2.0 to 3.4.0 for OpenShift 4.14 to 4.18, up to 3.5.0 from 4.19 on.",
     .source = "coreos/ignition docs/specs; machine-config-operator pkg/controller/common",
     .wrong = R"({"ignition": {"version": "2.2.0"}}
)",
     .wrong_part = "2.2.0",
     .right_part = "3.2.0"},
    {.id = "ignition-release",
     .severity = Severity::error,
     .title = "an Ignition config that is newer than the release",
     .why = "The boot image of the release does not know the version, and the machine-config operator can't merge it.",
     .fix = "`\"version\": \"3.4.0\"` before OpenShift 4.19.",
     .source = "machine-config-operator pkg/controller/common",
     .wrong = R"(==> worker-0.ign
{"ignition": {"version": "3.5.0"}}
==> image-references
{"kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": "4.18.0"}}
)",
     .wrong_part = "3.5.0",
     .right_part = "3.4.0"},
    {.id = "ignition-duplicate",
     .severity = Severity::error,
     .title = "an Ignition config with a path or a unit that is there twice",
     .why = "Ignition refuses the whole config, at the boot: `duplicate entry defined`.",
     .fix = "One of the two; `bootstrap.merge_ignition` replaces what is there.",
     .source = "coreos/ignition config/v3_4/types",
     .wrong = R"({"ignition": {"version": "3.2.0"},
 "storage": {"files": [
  {"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,master-0"}},
  {"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,master-1"}}]}}
)",
     .wrong_part = ",\n  {\"path\": \"/etc/hostname\", \"mode\": 420, \"contents\": {\"source\": \"data:,master-1\"}}",
     .right_part = ""},
    {.id = "ignition-content",
     .severity = Severity::error,
     .title = "a file whose data URL can't be read",
     .why = "Ignition refuses the whole config, at the boot: `unable to parse data url`. Often a line end got into the "
            "base64, or its padding was cut.",
     .fix = "`base64 -w0`, behind `data:;base64,`.",
     .source = "RFC 2397; coreos/ignition internal/resource",
     .wrong = R"({"ignition": {"version": "3.2.0"},
 "storage": {"files": [{"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:;base64,bWFzdGVyLTA"}}]}}
)",
     .wrong_part = "bWFzdGVyLTA",
     .right_part = "bWFzdGVyLTA="},
    {.id = "ignition-mode",
     .severity = Severity::error,
     .title = "a script that a unit starts and that may not be run",
     .why = "`status=203/EXEC`. Modes in JSON are decimal: 493 is 0755, 420 is 0644, and 755 is something else.",
     .fix = "`\"mode\": 493`",
     .source = "coreos/ignition docs/specs",
     .wrong = R"({"ignition": {"version": "3.2.0"},
 "storage": {"files": [{"path": "/usr/local/bin/prepare.sh", "mode": 420, "contents": {"source": "data:,%23!/bin/bash%0Atrue%0A"}}]},
 "systemd": {"units": [{"name": "prepare.service", "enabled": true,
  "contents": "[Unit]\nDescription=prepare\n[Service]\nExecStart=/usr/local/bin/prepare.sh\n"}]}}
)",
     .wrong_part = "\"mode\": 420",
     .right_part = "\"mode\": 493"},
    {.id = "ignition-secret-mode",
     .severity = Severity::warning,
     .title = "a key or a kubeconfig that everybody on the node may read",
     .why = "Every process on the node may take the identity.",
     .fix = "`\"mode\": 384`, which is 0600.",
     .source = "openssh, Kubernetes and others refuse or warn of such files",
     .wrong = R"({"ignition": {"version": "3.2.0"},
 "storage": {"files": [{"path": "/etc/kubernetes/pki/front-proxy.key", "mode": 420,
  "contents": {"source": "data:,-----BEGIN PRIVATE KEY-----%0AMIG..%0A-----END PRIVATE KEY-----%0A"}}]}}
)",
     .wrong_part = "\"mode\": 420",
     .right_part = "\"mode\": 384"},
    {.id = "ignition-authority-key",
     .severity = Severity::warning,
     .title = "the key of an authority in a node's config",
     .why =
         "Who reads the config, and it is often served over HTTP to whoever asks, can make any identity. A bootstrap "
         "node needs one such key: that with which the controller manager signs what kubelets ask for.",
     .fix = "Leave the keys of the root, of etcd's authority and of the API server's where they were made.",
     .source = "openshift/installer pkg/asset/ignition/bootstrap",
     .wrong = R"(==> etcd-ca.crt
Subject: CN = etcd-ca
X509v3 Basic Constraints: CA:TRUE
==> bootstrap.ign
{"ignition": {"version": "3.2.0"},
 "storage": {"files": [{"path": "/etc/kubernetes/pki/etcd-ca.key", "mode": 384, "contents": {"source": "data:;base64,<etcd-ca.key in base64>"}}]}}
)",
     .wrong_part = "/etc/kubernetes/pki/etcd-ca.key\", \"mode\": 384, \"contents\": {\"source\": "
                   "\"data:;base64,<etcd-ca.key in base64>\"",
     .right_part = "/etc/kubernetes/pki/etcd-ca.crt\", \"mode\": 420, \"contents\": {\"source\": "
                   "\"data:;base64,<etcd-ca.crt in base64>\""},
    {.id = "ignition-pointer-authority",
     .severity = Severity::error,
     .title = "a config that is fetched from a server that the node can't check",
     .why =
         "The machine-config server, and HyperShift's ignition server, have certificates of an authority of their own: "
         "the node says `x509: certificate signed by unknown authority` again and again, and does not boot further.",
     .fix = "The authority as a data URL in `ignition.security.tls.certificateAuthorities`. HyperShift's is the Secret "
            "ignition-server-ca-cert, not root-ca.",
     .source = "coreos/ignition docs/specs; openshift/hypershift nodepool/token.go",
     .wrong = R"({"ignition": {"version": "3.2.0",
  "config": {"merge": [{"source": "https://api-int.ocp4.example.com:22623/config/worker"}]}}}
)",
     .wrong_part = "{\"ignition\": {\"version\": \"3.2.0\",\n",
     .right_part = "{\"ignition\": {\"version\": \"3.2.0\",\n  \"security\": {\"tls\": {\"certificateAuthorities\": "
                   "[{\"source\": \"data:,PEM\"}]}},\n"},
    {.id = "ignition-pointer-plain",
     .severity = Severity::warning,
     .title = "a config that is fetched in the clear",
     .why = "It holds keys and the pull secret, and whoever sits between may put in what he likes: the node runs it as "
            "root.",
     .fix = "https, with the authority in the pointer; or `verification.hash`.",
     .source = "coreos/ignition docs/operator-notes",
     .wrong = R"({"ignition": {"version": "3.2.0",
  "config": {"merge": [{"source": "http://192.168.126.1:8080/worker.ign"}]}}}
)",
     .wrong_part = "{\"source\": \"http://192.168.126.1:8080/worker.ign\"}",
     .right_part =
         "{\"source\": \"http://192.168.126.1:8080/worker.ign\", \"verification\": {\"hash\": \"sha512-0a1b\"}}"},
    {.id = "node-kubeconfig-missing",
     .severity = Severity::error,
     .title = "a node's config without the identity with which it asks for a certificate",
     .why =
         "The machine-config server adds `/etc/kubernetes/kubeconfig` to what it serves. A config that is given to the "
         "node by hand skips it: the kubelet ends with `failed to run Kubelet: unable to load bootstrap kubeconfig`.",
     .fix = "The bootstrap identity's kubeconfig in `/etc/kubernetes/kubeconfig`, mode 0600.",
     .source = "machine-config-operator pkg/server",
     .wrong = R"({"ignition": {"version": "3.4.0"},
 "storage": {"files": [
  {"path": "/etc/kubernetes/apiserver-url.env", "mode": 420, "contents": {"source": "data:,KUBERNETES_SERVICE_HOST='api-int.ocp4.example.com'%0AKUBERNETES_SERVICE_PORT='6443'%0A"}},
  {"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,worker-0"}}]},
 "systemd": {"units": [{"name": "kubelet.service", "enabled": true,
  "contents": "[Unit]\nDescription=kubelet\n[Service]\nExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf\n"}]}}
)",
     .wrong_part = "{\"path\": \"/etc/hostname\", \"mode\": 420",
     .right_part = "{\"path\": \"/etc/kubernetes/kubeconfig\", \"mode\": 384"},
    {.id = "apiserver-url-env-missing",
     .severity = Severity::error,
     .title = "a node's config without apiserver-url.env",
     .why =
         "The network operator sources `/etc/kubernetes/apiserver-url.env` and fails without it; no pod gets a network "
         "then. It is the cause that kube-proxy as a static pod hides.",
     .fix = "The file, with the host and the port of the API server for nodes.",
     .source = "cluster-network-operator manifests/0000_70_cluster-network-operator_03_deployment.yaml",
     .wrong = R"({"ignition": {"version": "3.4.0"},
 "storage": {"files": [
  {"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,KUBERNETES_SERVICE_HOST='api-int.ocp4.example.com'%0AKUBERNETES_SERVICE_PORT='6443'%0A"}},
  {"path": "/etc/kubernetes/kubeconfig", "mode": 384, "contents": {"source": "data:,"}}]}}
)",
     .wrong_part = "/etc/hostname",
     .right_part = "/etc/kubernetes/apiserver-url.env"},
    {.id = "crio-pause-image-missing",
     .severity = Severity::error,
     .title = "a bootstrap node's config that says nothing of the pause image",
     .why =
         "CRI-O pulls its own default, from a registry that the pull secret says nothing about: no static pod starts, "
         "and the kubelet only says that it waits.",
     .fix = "A drop-in below `/etc/crio/crio.conf.d` with `pause_image` of the release.",
     .source = "machine-config-operator templates/common/_base/files/crio.yaml",
     .wrong = R"(==> kube-apiserver.yaml
apiVersion: v1
kind: Pod
metadata: {name: bootstrap-kube-apiserver, namespace: openshift-kube-apiserver}
spec:
  hostNetwork: true
  containers:
  - {name: kube-apiserver, image: quay.io/release@sha256:hyperkube, command: [kube-apiserver]}
==> pause
[crio.image]
pause_image = "quay.io/release@sha256:pod"
global_auth_file = "/var/lib/kubelet/config.json"
==> bootstrap.ign
{"ignition": {"version": "3.4.0"},
 "storage": {"files": [
  {"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,bootstrap"}},
  {"path": "/etc/kubernetes/manifests/kube-apiserver.yaml", "mode": 384, "contents": {"source": "data:;base64,<kube-apiserver.yaml in base64>"}}]}}
)",
     .wrong_part = "{\"path\": \"/etc/hostname\", \"mode\": 420, \"contents\": {\"source\": \"data:,bootstrap\"}}",
     .right_part = "{\"path\": \"/etc/crio/crio.conf.d/00-default\", \"mode\": 420, \"contents\": {\"source\": "
                   "\"data:;base64,<pause in base64>\"}}"},
    {.id = "connection-profile-mode",
     .severity = Severity::error,
     .title = "a profile of NetworkManager that others may read",
     .why =
         "NetworkManager passes over it, for a profile may hold secrets: the node comes up with an address of DHCP, or "
         "with none.",
     .fix = "`\"mode\": 384`, which is 0600.",
     .source = "NetworkManager, nm-settings-keyfile(5)",
     .wrong = R"({"ignition": {"version": "3.2.0"},
 "storage": {"files": [{"path": "/etc/NetworkManager/system-connections/ens3.nmconnection", "mode": 420,
  "contents": {"source": "data:,[connection]%0Aid=ens3%0A"}}]}}
)",
     .wrong_part = "\"mode\": 420",
     .right_part = "\"mode\": 384"},
    {.id = "hypershift-pointer-token",
     .severity = Severity::error,
     .title = "a pointer to HyperShift's ignition server without its token",
     .why = "The server answers 401 to who brings no token of the node pool, and the node tries for ever.",
     .fix = "The header `Authorization: Bearer TOKEN`, the token in base64; `hcpnet bootstrap pointer` writes it.",
     .source = "openshift/hypershift nodepool/token.go, ignition-server",
     .wrong = R"({"ignition": {"version": "3.2.0",
  "config": {"merge": [{"source": "https://ignition.blue.example.com/ignition"}]},
  "security": {"tls": {"certificateAuthorities": [{"source": "data:,PEM"}]}}}}
)",
     .wrong_part = "blue.example.com/ignition\"}",
     .right_part = "blue.example.com/ignition\", \"httpHeaders\": [{\"name\": \"Authorization\", \"value\": \"Bearer "
                   "dG9rZW4=\"}]}"},
};

/// A URL of http or https without what may be secret in it: a user's name and password, a query.
std::string shown(std::string_view url) {
  const std::size_t host = url.find("//") + 2, path = std::min(url.find('/', host), url.size());
  const std::size_t at = url.substr(0, path).rfind('@');
  const std::size_t begin = at == std::string_view::npos ? host : at + 1;
  return std::string(url.substr(0, host)) + std::string(url.substr(begin, url.find('?', begin) - begin));
}

class IgnitionChecker {
 public:
  IgnitionChecker(const Set& set, const Ignition& config, Reporter& reporter)
      : set_(set), config_(config), reporter_(reporter) {}

  void run() {
    check_version();
    check_files();
    check_units();
    check_sources();
    if (config_.is_machine_config || config_.has_sources()) return;  // the machine-config server adds the rest
    config_.is_bootstrap() ? check_bootstrap() : check_node();
  }

 private:
  void add(std::string_view rule, std::string_view pointer, std::string message) {
    const Value* value = text::find(*config_.root, pointer);
    const text::Position position = value != nullptr ? value->position : config_.root->position;
    reporter_.add(rule, *config_.origin, position, config_.path + std::string(pointer), std::move(message));
  }
  void add(std::string_view rule, const Ignition::File& file, std::string message) {
    reporter_.add(rule, *config_.origin, file.entry->position, file.pointer, std::move(message));
  }

  void check_version() {
    const std::string version = scalar(text::find(*config_.root, "/ignition/version"));
    const auto& known = bootstrap::kIgnitionVersions;
    const bool is_three = version.size() == 5 && version.starts_with("3.") && version.ends_with(".0");
    if (!is_three || version > known.back())
      return add("ignition-version", "/ignition/version",
                 version.empty() ? "there is no version" : "nodes don't read the version " + version);
    const auto release = text::parse_release(set_.release());
    if (!release || release->major != 4) return;
    const std::string_view newest = bootstrap::to_string(bootstrap::ignition_version(release->minor));
    if (version > newest)
      add("ignition-release", "/ignition/version",
          "OpenShift " + set_.release() + " reads " + std::string(newest) + " and older, not " + version);
  }

  void check_files() {
    std::set<std::string> paths;
    for (const Ignition::File& file : config_.files) {
      if (!file.path.empty() && !paths.insert(file.path).second)
        add("ignition-duplicate", file, file.path + " is there twice");
      if (!file.is_readable) add("ignition-content", file, "the contents of " + file.path + " are no data URL");
      const bool is_open = (file.mode.value_or(0644) & 0077) != 0;
      if (is_open && file.path.ends_with(".nmconnection"))
        add("connection-profile-mode", file, "NetworkManager passes over " + file.path + " with this mode");
      const std::string& text = file.contents;
      const bool is_secret =
          text.find("PRIVATE KEY-----") != std::string::npos || text.find("client-key-data:") != std::string::npos;
      if (is_open && is_secret) add("ignition-secret-mode", file, "others than root may read " + file.path);
      check_authority_key(file);
    }
  }

  void check_authority_key(const Ignition::File& file) {
    const auto held = std::ranges::find_if(set_.keys, [&](const KeyEntry& entry) {
      return entry.origin->file == config_.origin->file && entry.origin->node_path == file.path;
    });
    if (held == set_.keys.end() || is_signing_key(file.path)) return;
    for (const CertificateEntry& entry : set_.certificates)
      if (entry.certificate.info().profile.is_authority && entry.certificate.has_key(held->key))
        return add("ignition-authority-key", file,
                   file.path + " is the key of the authority " + entry.certificate.info().profile.subject.common_name);
  }
  /// Whether the controller manager of this config signs with it.
  bool is_signing_key(const std::string& path) const {
    return std::ranges::any_of(config_.files, [&](const Ignition::File& file) {
      return file.contents.find("--cluster-signing-key-file=" + path) != std::string::npos;
    });
  }

  void check_units() {
    std::set<std::string> names;
    for (std::size_t i = 0; i < config_.units.size(); ++i) {
      const Ignition::Unit& unit = config_.units[i];
      if (!unit.name.empty() && !names.insert(unit.name).second)
        add("ignition-duplicate", text::child(std::string_view("/systemd/units"), i), unit.name + " is there twice");
      for (const Setting& setting : settings_of(unit.contents)) {
        if (!setting.key.starts_with("ExecStart")) continue;
        const std::vector<std::string> words = words_of(setting.value);
        const Ignition::File* file = words.empty() ? nullptr : config_.file(words.front());
        if (file != nullptr && (file->mode.value_or(0644) & 0111) == 0)
          add("ignition-mode", *file, unit.name + " starts " + file->path + ", which may not be run");
      }
    }
  }

  void check_sources() {
    for (const char* list : {"/ignition/config/merge", "/ignition/config/replace"}) {
      const Value* value = text::find(*config_.root, list);
      if (value == nullptr) continue;
      if (value->type == text::ValueType::map) check_source(*value, list);
      for (std::size_t i = 0; i < items(value).size(); ++i)
        check_source(value->items[i], text::child(std::string_view(list), i));
    }
  }
  void check_source(const Value& source, const std::string& pointer) {
    const std::string url = scalar(source.find("source"));
    const bool is_checked = !scalar(text::find(source, "/verification/hash")).empty();
    if (url.starts_with("http://") && !is_checked)
      add("ignition-pointer-plain", pointer, "the config is fetched from " + shown(url));
    if (!url.starts_with("https://")) return;
    if (items(text::find(*config_.root, "/ignition/security/tls/certificateAuthorities")).empty())
      add("ignition-pointer-authority", pointer, "nothing says who vouches for " + shown(url));
    const auto& headers = items(source.find("httpHeaders"));
    const bool has_token = std::ranges::any_of(
        headers, [](const Value& header) { return scalar(header.find("name")) == "Authorization"; });
    if (url.ends_with("/ignition") && !has_token)
      add("hypershift-pointer-token", pointer, "the server asks for the token of the node pool");
  }

  void check_node() {
    const Ignition::Unit* kubelet = config_.unit("kubelet.service");
    const bool has_kubeconfig = config_.file("/etc/kubernetes/kubeconfig") != nullptr;
    if (kubelet != nullptr && kubelet->is_enabled && !has_kubeconfig)
      add("node-kubeconfig-missing", "", "there is a kubelet and no /etc/kubernetes/kubeconfig");
    if (has_kubeconfig && config_.file("/etc/kubernetes/apiserver-url.env") == nullptr)
      add("apiserver-url-env-missing", "", "there is no /etc/kubernetes/apiserver-url.env");
  }

  void check_bootstrap() {
    const bool has_image = std::ranges::any_of(config_.files, [](const Ignition::File& file) {
      return file.path.starts_with("/etc/crio/") &&
             find(settings_of(file.contents), "crio.image", "pause_image") != nullptr;
    });
    if (!has_image) add("crio-pause-image-missing", "", "nothing says which pause image CRI-O takes");
    for (std::size_t i = 0; i < config_.units.size(); ++i)
      if (starts_kubelet(config_.units[i].contents, true))
        add("bootstrap-kubelet-kubeconfig", text::child(std::string_view("/systemd/units"), i),
            config_.units[i].name + " starts a kubelet with a kubeconfig, which waits for an API server");
    for (const Ignition::File& file : config_.files)
      if (file.contents.starts_with("#!") && starts_kubelet(file.contents, false))
        add("bootstrap-kubelet-kubeconfig", file,
            file.path + " starts a kubelet with a kubeconfig, which waits for an API server");
  }
  /// One with a kubeconfig. What a unit starts without a configuration file is found in the unit by itself.
  static bool starts_kubelet(std::string_view text, bool needs_configuration) {
    return std::ranges::any_of(lines_of(text, true), [&](const Line& line) {
      const std::vector<std::string> words = words_of(line.text);
      const bool is_kubelet = std::ranges::any_of(
          words, [](const std::string& word) { return word == "kubelet" || word.ends_with("/kubelet"); });
      return is_kubelet && (flag(words, "--kubeconfig") || flag(words, "--bootstrap-kubeconfig")) &&
             (!needs_configuration || flag(words, "--config"));
    });
  }

  const Set& set_;
  const Ignition& config_;
  Reporter& reporter_;
};

void check(const Set& set, const Options&, Reporter& reporter) {
  for (const Ignition& config : set.ignitions) IgnitionChecker(set, config, reporter).run();
}

}  // namespace

Family ignition_rules() {
  return {"Ignition", "Configs that nodes read at their first boot, and what lies in them.", kRules, check};
}

}  // namespace hcpnet::lint

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "lint/lines.hpp"
#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

constexpr Rule kRules[] = {
    {.id = "bootstrap-kubelet-kubeconfig",
     .severity = Severity::error,
     .title = "a kubelet for static pods that waits for an API server",
     .why =
         "With a kubeconfig it wants to register, and to read its own Node first. On the bootstrap node the API server "
         "is one of the pods that this kubelet has to start: it waits for itself.",
     .fix = "No `--kubeconfig` and no `--bootstrap-kubeconfig`: a standalone kubelet.",
     .source = "openshift/installer data/data/bootstrap/files/usr/local/bin/kubelet.sh.template",
     .wrong = R"([Unit]
Description=kubelet of the bootstrap node
[Service]
ExecStart=/usr/bin/kubelet \
  --anonymous-auth=false \
  --container-runtime-endpoint=unix:///var/run/crio/crio.sock \
  --pod-manifest-path=/etc/kubernetes/manifests \
  --kubeconfig=/etc/kubernetes/kubeconfig \
  --cgroup-driver=systemd
)",
     .wrong_part = "  --kubeconfig=/etc/kubernetes/kubeconfig \\\n",
     .right_part = ""},
    {.id = "kubelet-nothing-to-run",
     .severity = Severity::error,
     .title = "a kubelet with neither an API server nor a folder of pods",
     .why = "It comes up, is healthy, and runs nothing.",
     .fix =
         "`--pod-manifest-path=/etc/kubernetes/manifests` on the bootstrap node; elsewhere the configuration that the "
         "machine-config operator writes.",
     .source = "Kubernetes, Create static Pods",
     .wrong = R"([Unit]
Description=kubelet of the bootstrap node
[Service]
ExecStart=/usr/bin/kubelet --anonymous-auth=false --container-runtime-endpoint=unix:///var/run/crio/crio.sock --cgroup-driver=systemd
)",
     .wrong_part = "/usr/bin/kubelet ",
     .right_part = "/usr/bin/kubelet --pod-manifest-path=/etc/kubernetes/manifests "},
    {.id = "kubelet-runtime-endpoint",
     .severity = Severity::error,
     .title = "a kubelet that is not told of CRI-O",
     .why = "Its default is containerd's socket, which RHCOS does not have: it ends and is started again.",
     .fix = "`--container-runtime-endpoint=unix:///var/run/crio/crio.sock`",
     .source = "Kubernetes, kubelet reference; openshift/installer kubelet.sh.template",
     .wrong = R"([Unit]
Description=kubelet of the bootstrap node
[Service]
ExecStart=/usr/bin/kubelet --anonymous-auth=false --pod-manifest-path=/etc/kubernetes/manifests --cgroup-driver=systemd
)",
     .wrong_part = "/usr/bin/kubelet ",
     .right_part = "/usr/bin/kubelet --container-runtime-endpoint=unix:///var/run/crio/crio.sock "},
    {.id = "kubelet-cgroup-driver",
     .severity = Severity::error,
     .title = "a kubelet with another cgroup driver than CRI-O",
     .why = "CRI-O has `systemd`, the kubelet's default is `cgroupfs`: no container starts, `expected cgroupsPath to "
            "be of "
            "format \"slice:prefix:name\"`.",
     .fix = "`--cgroup-driver=systemd`",
     .source = "Kubernetes, Configuring a cgroup driver; openshift/installer kubelet.sh.template",
     .wrong = R"([Unit]
Description=kubelet of the bootstrap node
[Service]
ExecStart=/usr/bin/kubelet --anonymous-auth=false --pod-manifest-path=/etc/kubernetes/manifests --container-runtime-endpoint=unix:///var/run/crio/crio.sock
)",
     .wrong_part = "/usr/bin/kubelet ",
     .right_part = "/usr/bin/kubelet --cgroup-driver=systemd "},
    {.id = "kubelet-anonymous",
     .severity = Severity::warning,
     .title = "a kubelet that obeys everybody",
     .why =
         "Without a configuration the kubelet takes anonymous requests and allows them all: who reaches port 10250 may "
         "run commands in the pods of the control plane.",
     .fix = "`--anonymous-auth=false`",
     .source = "Kubernetes, Kubelet authentication/authorization; openshift/installer kubelet.sh.template",
     .wrong = R"([Unit]
Description=kubelet of the bootstrap node
[Service]
ExecStart=/usr/bin/kubelet --cgroup-driver=systemd --pod-manifest-path=/etc/kubernetes/manifests --container-runtime-endpoint=unix:///var/run/crio/crio.sock
)",
     .wrong_part = "/usr/bin/kubelet ",
     .right_part = "/usr/bin/kubelet --anonymous-auth=false "},
    {.id = "unit-path",
     .severity = Severity::error,
     .title = "a unit that starts a program below /opt",
     .why = "SELinux gives files below /opt/openshift no type that a service may run: `status=203/EXEC`, `Permission "
            "denied`. By hand, as root in a shell, the same script works.",
     .fix =
         "The program below `/usr/local/bin`, where files get the type `bin_t`; below `/opt` only what lies in folders "
         "called bin, sbin or libexec has it.",
     .source = "openshift/installer data/data/bootstrap/systemd; SELinux policy of RHCOS",
     .wrong = R"([Unit]
Description=bootkube
ConditionPathExists=!/opt/openshift/.bootkube.done
[Service]
ExecStart=/opt/openshift/bootkube.sh
)",
     .wrong_part = "ExecStart=/opt/openshift/bootkube.sh",
     .right_part = "ExecStart=/usr/local/bin/bootkube.sh"},
    {.id = "bootkube-again",
     .severity = Severity::warning,
     .title = "a bootkube that begins again after each boot",
     .why = "Nothing tells it that it was done: a reboot of the bootstrap node applies the first manifests over what "
            "operators have made of them since.",
     .fix =
         "`ConditionPathExists=!/opt/openshift/.bootkube.done`, and a `touch` of that file at the end of the script.",
     .source = "openshift/installer data/data/bootstrap/systemd/common/units/bootkube.service.template",
     .wrong = R"([Unit]
Description=bootkube
[Service]
ExecStart=/usr/local/bin/bootkube.sh
)",
     .wrong_part = "Description=bootkube\n",
     .right_part = "Description=bootkube\nConditionPathExists=!/opt/openshift/.bootkube.done\n"},
    {.id = "crio-pause-image",
     .severity = Severity::error,
     .title = "a CRI-O that takes its pause image from somewhere else than the release",
     .why = "CRI-O starts each pod with a pause container. Its own default is in a registry that the pull secret says "
            "nothing about and that an air gap does not reach: no pod starts, static ones included. The name of the "
            "drop-in does not matter; the machine-config operator's is `00-default`.",
     .fix = "`[crio.image]` with `pause_image` of the release (`oc adm release info --image-for=pod`) and "
            "`pause_command = \"/usr/bin/pod\"`.",
     .source = "machine-config-operator templates/common/_base/files/crio.yaml",
     .wrong = R"([crio.image]
global_auth_file = "/var/lib/kubelet/config.json"
pause_image = "registry.k8s.io/pause:3.10"
pause_image_auth_file = "/var/lib/kubelet/config.json"
pause_command = "/usr/bin/pod"
)",
     .wrong_part = "registry.k8s.io/pause:3.10",
     .right_part = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:7e5c2c0a"},
    {.id = "crio-pull-secret",
     .severity = Severity::error,
     .title = "a pause image that CRI-O may not pull",
     .why =
         "The images of a release are behind the pull secret, and CRI-O pulls its pause image by itself, without a pod "
         "that brings one: `unauthorized: access to the requested resource is not authorized`.",
     .fix = "`pause_image_auth_file` or `global_auth_file`: `/var/lib/kubelet/config.json`.",
     .source = "machine-config-operator templates/common/_base/files/crio.yaml; crio.conf(5)",
     .wrong = R"([crio.image]
pause_image = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:7e5c2c0a"
pause_command = "/usr/bin/pod"
)",
     .wrong_part = "pause_command",
     .right_part = "pause_image_auth_file = \"/var/lib/kubelet/config.json\"\npause_command"},
    {.id = "apiserver-url-env",
     .severity = Severity::error,
     .title = "an apiserver-url.env that does not say where the API server is",
     .why =
         "The network operator sources it and dials what it says. With no host or no port it fails, and no pod gets a "
         "network; that is what kube-proxy seems to be needed for.",
     .fix = "`KUBERNETES_SERVICE_HOST='api-int.DOMAIN'` and `KUBERNETES_SERVICE_PORT='6443'`, the host and port of "
            "Infrastructure's `apiServerInternalURI`.",
     .source = "machine-config-operator templates/common/_base/files/apiserver-url-env.yaml; cluster-network-operator "
               "manifests/0000_70_cluster-network-operator_03_deployment.yaml",
     .wrong = R"(KUBERNETES_SERVICE_HOST=''
KUBERNETES_SERVICE_PORT='6443'
)",
     .wrong_part = "HOST=''",
     .right_part = "HOST='api-int.ocp4.example.com'"},
};

/// Flags of the one kubelet that a unit starts; nullopt when it starts something else.
std::optional<std::vector<std::string>> kubelet_words(const std::vector<Setting>& settings, std::uint32_t& line) {
  for (const Setting& setting : settings) {
    if (setting.section != "Service" || setting.key != "ExecStart") continue;
    std::vector<std::string> words = words_of(setting.value);
    const auto program = std::ranges::find_if(
        words, [](const std::string& word) { return word == "kubelet" || word.ends_with("/kubelet"); });
    if (program == words.end()) continue;
    line = setting.line;
    words.erase(words.begin(), program);
    return words;
  }
  return std::nullopt;
}

void check_kubelet(const LineFile& file, const std::vector<Setting>& settings, Reporter& reporter) {
  std::uint32_t line = 0;
  const auto words = kubelet_words(settings, line);
  // What the machine-config operator writes has a configuration file, which says all of this; what a variable holds is
  // not known here.
  const auto is_variable = [](const std::string& word) { return word.starts_with('$'); };
  if (!words || flag(*words, "--config") || std::ranges::any_of(*words, is_variable)) return;
  const bool has_folder = flag(*words, "--pod-manifest-path").has_value();
  const bool has_server = flag(*words, "--kubeconfig") || flag(*words, "--bootstrap-kubeconfig");
  if (has_folder && has_server)
    reporter.add("bootstrap-kubelet-kubeconfig", file, line,
                 "this kubelet has a kubeconfig and waits for an API server");
  if (!has_folder && !has_server) reporter.add("kubelet-nothing-to-run", file, line, "this kubelet has nothing to run");
  if (flag(*words, "--container-runtime-endpoint").value_or("").find("crio.sock") == std::string::npos)
    reporter.add("kubelet-runtime-endpoint", file, line, "this kubelet is not told where CRI-O listens");
  if (flag(*words, "--cgroup-driver") != "systemd")
    reporter.add("kubelet-cgroup-driver", file, line, "this kubelet has not the cgroup driver systemd");
  if (flag(*words, "--anonymous-auth") != "false")
    reporter.add("kubelet-anonymous", file, line, "this kubelet takes anonymous requests");
}

/// Whether SELinux's policy gives a file below /opt a type that no service may run.
bool is_kept_from_services(std::string_view program) {
  const auto is_in = [&](std::string_view folder) { return program.find(folder) != std::string_view::npos; };
  return program.starts_with("/opt/") && !is_in("/bin/") && !is_in("/sbin/") && !is_in("/libexec/");
}

void check_unit(const LineFile& file, Reporter& reporter) {
  const std::vector<Setting> settings = settings_of(file.text);
  check_kubelet(file, settings, reporter);
  bool is_bootkube = false, is_once = false;
  std::uint32_t line = 0;
  for (const Setting& setting : settings) {
    is_once = is_once || (setting.key == "ConditionPathExists" && setting.value.starts_with('!'));
    if (!setting.key.starts_with("ExecStart")) continue;
    const std::vector<std::string> words = words_of(setting.value);
    // systemd.service(5): characters in front of the path change how it is run.
    const std::string program =
        words.empty() ? std::string() : words[0].substr(std::min(words[0].find_first_not_of("@-:+!"), words[0].size()));
    if (is_kept_from_services(program))
      reporter.add("unit-path", file, setting.line, "SELinux lets no service run " + program);
    if (setting.key == "ExecStart" && program.ends_with("/bootkube.sh")) {
      is_bootkube = true;
      line = setting.line;
    }
  }
  if (is_bootkube && !is_once)
    reporter.add("bootkube-again", file, line, "no ConditionPathExists=! keeps it from beginning again");
}

void check_crio(const LineFile& file, Reporter& reporter) {
  const std::vector<Setting> settings = settings_of(file.text);
  const Setting* image = find(settings, "crio.image", "pause_image");
  if (image == nullptr) return;
  if (image->value.find("@sha256:") == std::string::npos)
    return reporter.add("crio-pause-image", file, image->line, "the pause image is " + image->value);
  if (find(settings, "crio.image", "pause_image_auth_file") == nullptr &&
      find(settings, "crio.image", "global_auth_file") == nullptr)
    reporter.add("crio-pull-secret", file, image->line,
                 "nothing says with which pull secret the pause image is pulled");
}

/// Host and port of a URL such as "https://api-int.ocp4.example.com:6443"; an address of IPv6 without its brackets.
std::pair<std::string, std::string> host_and_port(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find('/'));
  const std::size_t colon = url.rfind(':');
  const bool has_port = colon != std::string_view::npos && url.find(']', colon) == std::string_view::npos;
  std::string_view host = has_port ? url.substr(0, colon) : url;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), has_port ? std::string(url.substr(colon + 1)) : "443"};
}

void check_environment(const Set& set, const LineFile& file, Reporter& reporter) {
  const std::vector<Setting> settings = settings_of(file.text);
  const Object* status = set.status_of("Infrastructure");
  const std::string url = status == nullptr ? std::string() : status->at("/status/apiServerInternalURI");
  const auto [host, port] = host_and_port(url);
  const auto compare = [&](const char* key, const std::string& expected) {
    const Setting* setting = find(settings, "", key);
    const std::string value = setting == nullptr ? std::string() : setting->value;
    const std::uint32_t line = setting == nullptr ? 1 : setting->line;
    if (value.empty())
      reporter.add("apiserver-url-env", file, line, std::string(key) + " has no value");
    else if (!url.empty() && value != expected && value != '[' + expected + ']')
      reporter.add("apiserver-url-env", file, line,
                   std::string(key) + " is " + value + ", and Infrastructure has " + url);
    else if (value.find('/') != std::string::npos)
      reporter.add("apiserver-url-env", file, line, std::string(key) + " is " + value + ", which is no host or port");
  };
  compare("KUBERNETES_SERVICE_HOST", host);
  compare("KUBERNETES_SERVICE_PORT", port);
}

void check(const Set& set, const Options&, Reporter& reporter) {
  for (const LineFile& file : set.units) check_unit(file, reporter);
  for (const LineFile& file : set.crio_files) check_crio(file, reporter);
  for (const LineFile& file : set.environments) check_environment(set, file, reporter);
}

}  // namespace

Family node_rules() {
  return {"Units and configuration of a node", "systemd units, drop-ins of CRI-O, apiserver-url.env.", kRules, check};
}

}  // namespace hcpnet::lint

// SPDX-License-Identifier: Apache-2.0
#include "manifest/workload.hpp"
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <utility>

namespace hcpnet::manifest {
namespace {

constexpr int kFirstPrivilegedEnd = 1024;
constexpr int kConfigMode = 0644;
constexpr int kSecretMode = 0400;

Json probe(const std::string& path, std::uint16_t port, int failures) {
  return {{"httpGet", {{"path", path}, {"port", port}, {"scheme", "HTTP"}}},
          {"failureThreshold", failures},
          {"periodSeconds", 10},
          {"successThreshold", 1},
          {"timeoutSeconds", 3}};
}

Json container_security(const Workload& w) {
  Json capabilities = {{"drop", Json::array({"ALL"})}};
  if (w.needs_raw_socket) capabilities["add"] = Json::array({"NET_RAW"});
  // The kernel refuses to start a program whose file capabilities the container can't have.
  if (w.has_file_capabilities) capabilities["add"] = Json::array({"NET_BIND_SERVICE"});
  return {{"allowPrivilegeEscalation", false},
          {"privileged", false},
          {"readOnlyRootFilesystem", true},
          {"capabilities", std::move(capabilities)}};
}

/// A capability that is added reaches root alone; everybody else has it only in the bounding set. So a raw socket takes
/// root without any other power, and low ports take no capability but a sysctl, which is among the safe ones.
Json pod_security(const Workload& w) {
  Json json = {{"seccompProfile", {{"type", "RuntimeDefault"}}}, {"runAsNonRoot", !w.needs_raw_socket}};
  if (w.needs_raw_socket) json["runAsUser"] = 0;
  if (std::ranges::any_of(w.ports, [](const Port& p) { return p.port < kFirstPrivilegedEnd; }))
    json["sysctls"] = Json::array({{{"name", "net.ipv4.ip_unprivileged_port_start"}, {"value", "0"}}});
  return json;
}

Json volumes(const Workload& w) {
  Json config = {{"name", w.config_name}, {"defaultMode", kConfigMode}};
  for (const auto& [key, path] : w.config_items) config["items"].push_back({{"key", key}, {"path", path}});
  Json list = Json::array({{{"name", "config"}, {"configMap", std::move(config)}}});
  if (!w.secret.empty()) {
    Json secret = {{"secretName", w.secret}, {"defaultMode", kSecretMode}};
    for (const std::string& key : w.secret_keys) secret["items"].push_back({{"key", key}, {"path", key}});
    list.push_back({{"name", "store"}, {"secret", std::move(secret)}});
  }
  if (w.state_path.empty()) return list;
  Json state = {{"name", "state"}};
  if (w.claim.empty())
    state["emptyDir"] = Json::object();
  else
    state["persistentVolumeClaim"] = {{"claimName", w.claim}};
  list.push_back(std::move(state));
  return list;
}

Json mounts(const Workload& w) {
  Json list = Json::array({{{"name", "config"}, {"mountPath", w.config_path}, {"readOnly", true}}});
  if (!w.secret.empty()) list.push_back({{"name", "store"}, {"mountPath", w.secret_path}, {"readOnly", true}});
  if (!w.state_path.empty()) list.push_back({{"name", "state"}, {"mountPath", w.state_path}});
  return list;
}

Json container_ports(const Workload& w) {
  Json list = Json::array();
  for (const Port& p : w.ports) list.push_back({{"name", p.name}, {"containerPort", p.port}, {"protocol", p.protocol}});
  list.push_back({{"name", "metrics"}, {"containerPort", kObservePort}, {"protocol", "TCP"}});
  return list;
}

/// What the API server takes for an image without a policy.
const char* pull_policy(const std::string& image) {
  const std::size_t slash = image.rfind('/');
  const std::string_view last = std::string_view(image).substr(slash == std::string::npos ? 0 : slash + 1);
  const bool is_fixed = last.find('@') != std::string_view::npos ||
                        (last.find(':') != std::string_view::npos && !last.ends_with(":latest"));
  return is_fixed ? "IfNotPresent" : "Always";
}

Json container(const Workload& w) {
  const Json pod_address = {{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "status.podIP"}}}};
  Json json = {{"name", w.component},
               {"image", w.image},
               {"imagePullPolicy", pull_policy(w.image)},
               {"args", w.args},
               {"env", Json::array({{{"name", "POD_IP"}, {"valueFrom", pod_address}}})},
               {"ports", container_ports(w)},
               {"livenessProbe", probe(w.live_path, w.live_port, 3)},
               {"readinessProbe", probe(w.ready_path, w.ready_port, 3)},
               {"startupProbe", probe(w.live_path, w.live_port, 30)},
               {"resources", {{"requests", {{"cpu", "50m"}, {"memory", "64Mi"}}}, {"limits", {{"memory", "512Mi"}}}}},
               {"securityContext", container_security(w)},
               {"terminationMessagePath", "/dev/termination-log"},
               {"terminationMessagePolicy", "FallbackToLogsOnError"},
               {"volumeMounts", mounts(w)}};
  if (!w.command.empty()) json["command"] = w.command;
  return json;
}

/// One node that fails takes one of them along, where there are more nodes.
Json apart(Json labels) {
  return {{"podAntiAffinity",
           {{"preferredDuringSchedulingIgnoredDuringExecution",
             Json::array({{{"weight", 100},
                           {"podAffinityTerm",
                            {{"labelSelector", {{"matchLabels", std::move(labels)}}},
                             {"topologyKey", "kubernetes.io/hostname"}}}}})}}}};
}

}  // namespace

Json deployment(const Unit& unit, const Workload& w) {
  const std::string hash = sha256_hex(w.config.dump());
  Json annotations = Json::object();
  if (!w.addresses.empty())
    annotations["k8s.v1.cni.cncf.io/networks"] = networks_annotation(unit.attachment, w.addresses);
  if (!w.reloads) annotations["hcpnet.io/config-hash"] = hash;
  Json pod = {{"metadata", {{"labels", labels(unit, w.component)}}},
              {"spec",
               {{"automountServiceAccountToken", false},
                {"containers", Json::array({container(w)})},
                {"dnsPolicy", "ClusterFirst"},
                {"enableServiceLinks", false},
                {"restartPolicy", "Always"},
                {"schedulerName", "default-scheduler"},
                {"securityContext", pod_security(w)},
                {"serviceAccount", w.account},
                {"serviceAccountName", w.account},
                {"terminationGracePeriodSeconds", 30},
                {"volumes", volumes(w)}}}};
  if (!annotations.empty()) pod["metadata"]["annotations"] = std::move(annotations);
  Json strategy = {{"type", "Recreate"}};
  if (w.replicas > 1) {
    strategy = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", "25%"}, {"maxUnavailable", "25%"}}}};
    pod["spec"]["affinity"] = apart(selector_labels(unit, w.component));
  }
  Json json = make_object(unit, "apps/v1", "Deployment", w.name, w.component);
  json["metadata"]["annotations"]["hcpnet.io/config-hash"] = hash;
  json["spec"] = {{"replicas", w.replicas},
                  {"strategy", std::move(strategy)},
                  {"progressDeadlineSeconds", 600},
                  {"revisionHistoryLimit", 10},
                  {"selector", {{"matchLabels", selector_labels(unit, w.component)}}},
                  {"template", std::move(pod)}};
  return json;
}

}  // namespace hcpnet::manifest

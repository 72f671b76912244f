// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/text/yaml.hpp>

#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;

constexpr Rule kRules[] = {
    {.id = "manifest-missing",
     .severity = Severity::error,
     .title = "a set for a whole cluster without an object that an operator reads",
     .why =
         "The operator that looks for it waits or ends: the cluster-version operator for FeatureGate, the network "
         "operator for the config Network and cluster-config-v1, the etcd operator for etcd-endpoints, the ingress "
         "operator for DNS and Ingress; nodes may not ask for certificates without the binding; images are not pulled "
         "without the pull secret.",
     .fix = "The object. A set is one for a whole cluster when it has both a ClusterVersion and an Infrastructure.",
     .source = "openshift/installer pkg/asset/manifests; the operators' own informers",
     .wrong = R"(==> cluster.yaml
apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
spec: {clusterID: 3f7f4a2e-8d2b-4c56-9a57-0c9a3b1e6d10}
---
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
spec: {platformSpec: {type: None}}
---
apiVersion: config.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec: {clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}], serviceNetwork: [172.30.0.0/16], networkType: OVNKubernetes}
---
apiVersion: config.openshift.io/v1
kind: DNS
metadata: {name: cluster}
spec: {baseDomain: ocp4.example.com}
---
apiVersion: config.openshift.io/v1
kind: Ingress
metadata: {name: cluster}
spec: {domain: apps.ocp4.example.com}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-config-v1, namespace: kube-system}
data: {install-config: "controlPlane: {replicas: 3}"}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: etcd-endpoints
  namespace: openshift-etcd
  annotations: {alpha.installer.openshift.io/etcd-bootstrap: 192.168.126.100}
---
apiVersion: v1
kind: Secret
metadata: {name: pull-secret, namespace: openshift-config}
type: kubernetes.io/dockerconfigjson
data: {.dockerconfigjson: e30=}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: node-bootstrappers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:node-bootstrapper}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: system:bootstrapper}
==> infrastructure-status.json
{"status": {"infrastructureName": "ocp4-x7k2m", "platform": "None", "platformStatus": {"type": "None"},
  "apiServerURL": "https://api.ocp4.example.com:6443", "apiServerInternalURI": "https://api-int.ocp4.example.com:6443",
  "controlPlaneTopology": "HighlyAvailable", "infrastructureTopology": "HighlyAvailable"}}
==> feature-gate-status.json
{"status": {"featureGates": [{"version": "4.18.0", "enabled": [], "disabled": []}]}}
)",
     .wrong_part = "---\napiVersion: config.openshift.io/v1\nkind: Ingress\n",
     .right_part = "---\napiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata: {name: cluster}\nspec: "
                   "{featureSet: \"\"}\n---\napiVersion: config.openshift.io/v1\nkind: Ingress\n"},
    {.id = "singleton-name",
     .severity = Severity::error,
     .title = "an object of the cluster's configuration under another name",
     .why =
         "Operators read the one called `cluster` (ClusterVersion: `version`) and no other. What has another name is "
         "accepted and never looked at.",
     .fix = "`cluster`, or `version`.",
     .source = "openshift/api config/v1",
     .wrong = R"(apiVersion: config.openshift.io/v1
kind: DNS
metadata: {name: ocp4}
spec: {baseDomain: ocp4.example.com}
)",
     .wrong_part = "name: ocp4}",
     .right_part = "name: cluster}"},
    {.id = "infrastructure-status",
     .severity = Severity::error,
     .title = "an Infrastructure whose status says less than operators need",
     .why =
         "Almost every operator reads it first. Without `controlPlaneTopology` and `infrastructureTopology` they don't "
         "know how many replicas to run and end; without the platform's type the network operator makes no "
         "configuration, which looks as if the operator's Network had to be made by hand.",
     .fix = "A status patch with both topologies, `apiServerURL`, `apiServerInternalURI`, `platform`, "
            "`platformStatus.type` and `infrastructureName`.",
     .source = "openshift/api config/v1 types_infrastructure.go",
     .wrong = R"({"status": {"infrastructureName": "ocp4-x7k2m", "platform": "None", "platformStatus": {"type": "None"},
  "apiServerURL": "https://api.ocp4.example.com:6443", "apiServerInternalURI": "https://api-int.ocp4.example.com:6443",
  "controlPlaneTopology": "HighlyAvailable"}}
)",
     .wrong_part = "\"controlPlaneTopology\": \"HighlyAvailable\"",
     .right_part = "\"controlPlaneTopology\": \"HighlyAvailable\", \"infrastructureTopology\": \"HighlyAvailable\""},
    {.id = "infrastructure-internal-url",
     .severity = Severity::error,
     .title = "an Infrastructure that does not say where nodes find the API server",
     .why =
         "The machine-config operator makes `/etc/kubernetes/apiserver-url.env` of it. Without it the file has no "
         "host, "
         "the network operator fails on the file, and no pod gets a network. The Go type calls the field "
         "APIServerInternalURL, its JSON name is `apiServerInternalURI`; the other spelling is dropped without a word.",
     .fix = "`apiServerInternalURI: https://api-int.DOMAIN:6443`",
     .source = "openshift/api config/v1 types_infrastructure.go; machine-config-operator templates",
     .wrong = R"({"status": {"infrastructureName": "ocp4-x7k2m", "platform": "None", "platformStatus": {"type": "None"},
  "apiServerURL": "https://api.ocp4.example.com:6443", "apiServerInternalURL": "https://api-int.ocp4.example.com:6443",
  "controlPlaneTopology": "HighlyAvailable", "infrastructureTopology": "HighlyAvailable"}}
)",
     .wrong_part = "apiServerInternalURL",
     .right_part = "apiServerInternalURI"},
    {.id = "status-in-manifest",
     .severity = Severity::warning,
     .title = "an object with its status, and no patch that writes the status",
     .why =
         "Status is a subresource: `oc apply` and `oc create` drop it without a word, and operators see an object "
         "without one. What the machine-config operator reads as a file has its status in it; what is applied has not.",
     .fix =
         "A patch beside it: `oc patch infrastructures.config.openshift.io/cluster --subresource=status --type=merge "
         "--patch-file FILE`.",
     .source = "Kubernetes API conventions, spec and status",
     .wrong = R"(==> infrastructure.yaml
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
spec: {platformSpec: {type: None}}
status:
  infrastructureName: ocp4-x7k2m
  platform: None
  platformStatus: {type: None}
  apiServerURL: https://api.ocp4.example.com:6443
  apiServerInternalURI: https://api-int.ocp4.example.com:6443
  controlPlaneTopology: HighlyAvailable
  infrastructureTopology: HighlyAvailable
)",
     .wrong_part =
         "status:\n  infrastructureName: ocp4-x7k2m\n  platform: None\n  platformStatus: {type: None}\n  apiServerURL: "
         "https://api.ocp4.example.com:6443\n  apiServerInternalURI: https://api-int.ocp4.example.com:6443\n  "
         "controlPlaneTopology: HighlyAvailable\n  infrastructureTopology: HighlyAvailable\n",
     .right_part = "==> infrastructure-status.yaml\nstatus:\n  infrastructureName: ocp4-x7k2m\n  platform: None\n  "
                   "platformStatus: {type: None}\n  apiServerURL: https://api.ocp4.example.com:6443\n  "
                   "apiServerInternalURI: https://api-int.ocp4.example.com:6443\n  controlPlaneTopology: "
                   "HighlyAvailable\n  infrastructureTopology: HighlyAvailable\n"},
    {.id = "status-missing",
     .severity = Severity::error,
     .title = "a set for a new cluster with an Infrastructure or a FeatureGate that has no status anywhere",
     .why =
         "The status is what operators read. Of FeatureGate it names the features of the release: an operator ends at "
         "the first one that it does not find, and the machine-config controller renders nothing.",
     .fix =
         "A status patch beside the object; in the object itself where the machine-config operator reads it as a file.",
     .source = "openshift/api config/v1; library-go configobserver/featuregates",
     .wrong = R"(==> controllerconfig.yaml
apiVersion: machineconfiguration.openshift.io/v1
kind: ControllerConfig
metadata: {name: machine-config-controller}
==> master.machineconfigpool.yaml
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: master}
==> feature-gate.yaml
apiVersion: config.openshift.io/v1
kind: FeatureGate
metadata: {name: cluster}
spec: {featureSet: ""}
)",
     .wrong_part = "spec: {featureSet: \"\"}\n",
     .right_part =
         "spec: {featureSet: \"\"}\nstatus: {featureGates: [{version: 4.18.0, enabled: [], disabled: []}]}\n"},
    {.id = "feature-gate-version",
     .severity = Severity::error,
     .title = "a FeatureGate status without a release",
     .why = "Each operator looks for the entry of its own release and waits for it; one without a version is no "
            "release's.",
     .fix = "`version: 4.18.0`, the release that is installed.",
     .source = "library-go configobserver/featuregates",
     .wrong = R"({"status": {"featureGates": [{"enabled": [], "disabled": []}]}}
)",
     .wrong_part = "{\"enabled\"",
     .right_part = "{\"version\": \"4.18.0\", \"enabled\""},
    {.id = "cluster-version-update",
     .severity = Severity::error,
     .title = "a ClusterVersion with desiredUpdate at the installation",
     .why = "The operator starts with the release that it runs from, and takes this for an update to another one: it "
            "tries "
            "to fetch and verify it, and installs nothing meanwhile.",
     .fix = "No `desiredUpdate`.",
     .source = "cluster-version-operator pkg/cvo/updatepayload.go; openshift/installer pkg/asset/manifests",
     .wrong = R"(apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
spec:
  clusterID: 3f7f4a2e-8d2b-4c56-9a57-0c9a3b1e6d10
  desiredUpdate: {version: 4.18.0}
)",
     .wrong_part = "  desiredUpdate: {version: 4.18.0}\n",
     .right_part = ""},
    {.id = "cluster-version-id",
     .severity = Severity::error,
     .title = "a ClusterVersion without clusterID",
     .why =
         "The field is required: the API server refuses the object, and the operator that finds none makes one of its "
         "own, with an id that nothing else knows.",
     .fix = "`clusterID`, a UUID of this cluster.",
     .source = "openshift/api config/v1 types_cluster_version.go",
     .wrong = R"(apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
spec: {channel: stable-4.18}
)",
     .wrong_part = "{channel: stable-4.18}",
     .right_part = "{channel: stable-4.18, clusterID: 3f7f4a2e-8d2b-4c56-9a57-0c9a3b1e6d10}"},
    {.id = "operator-network",
     .severity = Severity::info,
     .title = "the operator's Network, made by hand",
     .why = "Harmless. The network operator makes it of the config Network as soon as it reads a valid status of "
            "Infrastructure. Where it seemed to be needed, that status was missing (`infrastructure-status`).",
     .fix = "Nothing has to be done.",
     .source = "cluster-network-operator pkg/controller/clusterconfig/clusterconfig_controller.go",
     .wrong = R"(apiVersion: operator.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec:
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  serviceNetwork: [172.30.0.0/16]
  defaultNetwork: {type: OVNKubernetes}
)",
     .wrong_part =
         "operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec:\n  clusterNetwork: [{cidr: "
         "10.128.0.0/14, hostPrefix: 23}]\n  serviceNetwork: [172.30.0.0/16]\n  defaultNetwork: {type: OVNKubernetes}",
     .right_part = "config.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec:\n  clusterNetwork: [{cidr: "
                   "10.128.0.0/14, hostPrefix: 23}]\n  serviceNetwork: [172.30.0.0/16]\n  networkType: OVNKubernetes"},
    {.id = "operator-network-differs",
     .severity = Severity::error,
     .title = "an operator's Network that says something else than the config Network",
     .why = "The network operator refuses to change what is there: `invalid configuration`, ClusterOperator network "
            "Degraded, no pod network.",
     .fix = "The same clusterNetwork, serviceNetwork and type in both, or the config Network alone.",
     .source = "cluster-network-operator pkg/controller/clusterconfig, pkg/network/cluster_config.go",
     .wrong = R"(# hcpnet-lint: ignore operator-network: for the example
apiVersion: operator.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec:
  clusterNetwork: [{cidr: 10.132.0.0/14, hostPrefix: 23}]
  serviceNetwork: [172.30.0.0/16]
  defaultNetwork: {type: OVNKubernetes}
---
apiVersion: config.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec:
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  serviceNetwork: [172.30.0.0/16]
  networkType: OVNKubernetes
)",
     .wrong_part = "10.132.0.0/14",
     .right_part = "10.128.0.0/14"},
    {.id = "cluster-config-content",
     .severity = Severity::error,
     .title = "a cluster-config-v1 that does not describe the installation",
     .why = "The network operator reads `controlPlane.replicas` and the proxy settings in the key `install-config`, "
            "and is "
            "Degraded without them.",
     .fix = "The key `install-config` with an install-config in it, as YAML, with `controlPlane.replicas`.",
     .source = "cluster-network-operator pkg/network/ovn_kubernetes.go, pkg/controller/proxyconfig/controller.go",
     .wrong = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-config-v1, namespace: kube-system}
data:
  install-config: |
    baseDomain: example.com
)",
     .wrong_part = "    baseDomain: example.com\n",
     .right_part = "    baseDomain: example.com\n    controlPlane: {name: master, replicas: 3}\n"},
    {.id = "cluster-config-secret",
     .severity = Severity::warning,
     .title = "a cluster-config-v1 with the pull secret in it",
     .why = "It is a ConfigMap: everybody who may read those of kube-system may pull, and push, with the secret.",
     .fix = "`pullSecret: \"\"`, as the installer writes it.",
     .source = "openshift/installer pkg/asset/installconfig/clusterconfigmap",
     .wrong = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-config-v1, namespace: kube-system}
data:
  install-config: |
    controlPlane: {name: master, replicas: 3}
    pullSecret: '{"auths": {"quay.io": {"auth": "dXNlcjpwYXNz"}}}'
)",
     .wrong_part = "'{\"auths\": {\"quay.io\": {\"auth\": \"dXNlcjpwYXNz\"}}}'",
     .right_part = "\"\""},
    {.id = "etcd-endpoints",
     .severity = Severity::error,
     .title = "an etcd-endpoints that names the bootstrap node in its data",
     .why = "The etcd operator reads the bootstrap node's address from an annotation, and every entry of the data as a "
            "member of its own. Without the annotation it does not know the bootstrap member, and never takes it out.",
     .fix = "Annotation `alpha.installer.openshift.io/etcd-bootstrap: ADDRESS`, no data.",
     .source = "cluster-etcd-operator bindata/bootkube/manifests/00_etcd-endpoints-cm.yaml",
     .wrong = R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: etcd-endpoints
  namespace: openshift-etcd
data: {bootstrapIP: 192.168.126.100}
)",
     .wrong_part = "data: {bootstrapIP: 192.168.126.100}\n",
     .right_part = "  annotations: {alpha.installer.openshift.io/etcd-bootstrap: 192.168.126.100}\n"},
    {.id = "crd-missing",
     .severity = Severity::error,
     .title = "an object of a kind whose CRD is not among those of the set",
     .why = "`no matches for kind`: it can't be applied. CRDs of a release come from two places, openshift/api (image "
            "`cluster-config-api`) and the cluster-version operator for ClusterVersion and ClusterOperator; who has "
            "one of "
            "them lacks the rest.",
     .fix = "CRDs of both, applied first.",
     .source = "openshift/api; cluster-version-operator `render`",
     .wrong = R"(==> crds.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: dnses.config.openshift.io
==> cluster-version.yaml
apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
spec: {clusterID: 3f7f4a2e-8d2b-4c56-9a57-0c9a3b1e6d10}
)",
     .wrong_part = "  name: dnses.config.openshift.io\n",
     .right_part = "  name: clusterversions.config.openshift.io\n"},
    {.id = "machine-config-inputs",
     .severity = Severity::error,
     .title = "inputs of the machine-config controller of which one is missing",
     .why =
         "`machine-config-controller bootstrap` reads one folder: what `machine-config-operator bootstrap` wrote "
         "(ControllerConfig, MachineConfigPools), a FeatureGate with its status, and the image references. Without one "
         "of them it renders nothing.",
     .fix = "All of `<dest>/bootstrap/manifests`, the FeatureGate and image-references in one folder.",
     .source = "machine-config-operator cmd/machine-config-controller/bootstrap.go, pkg/controller/bootstrap",
     .wrong = R"(==> controllerconfig.yaml
apiVersion: machineconfiguration.openshift.io/v1
kind: ControllerConfig
metadata: {name: machine-config-controller}
==> feature-gate.yaml
apiVersion: config.openshift.io/v1
kind: FeatureGate
metadata: {name: cluster}
spec: {featureSet: ""}
==> feature-gate-status.json
{"status": {"featureGates": [{"version": "4.18.0", "enabled": [], "disabled": []}]}}
)",
     .wrong_part = "==> feature-gate.yaml",
     .right_part = "==> master.machineconfigpool.yaml\napiVersion: machineconfiguration.openshift.io/v1\nkind: "
                   "MachineConfigPool\nmetadata: {name: master}\n==> feature-gate.yaml"},
};

struct Needed {
  const char *group, *kind, *ns, *name;
};
constexpr std::array kNeeded{Needed{"config.openshift.io", "FeatureGate", "", "cluster"},
                             Needed{"config.openshift.io", "Network", "", "cluster"},
                             Needed{"config.openshift.io", "DNS", "", "cluster"},
                             Needed{"config.openshift.io", "Ingress", "", "cluster"},
                             Needed{"", "ConfigMap", "kube-system", "cluster-config-v1"},
                             Needed{"", "ConfigMap", "openshift-etcd", "etcd-endpoints"},
                             Needed{"", "Secret", "openshift-config", "pull-secret"}};
constexpr std::array<std::string_view, 8> kSingletons{"ClusterVersion", "DNS",     "FeatureGate", "Image",
                                                      "Infrastructure", "Ingress", "Network",     "Proxy"};

/// The resource of a kind: "networks", "dnses", "ingresses".
std::string plural_of(const std::string& kind) {
  std::string plural;
  for (const char c : kind) plural += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (plural.ends_with('y')) return plural.substr(0, plural.size() - 1) + "ies";
  return plural + (plural.ends_with('s') ? "es" : "s");
}

class ManifestChecker {
 public:
  ManifestChecker(const Set& set, Reporter& reporter)
      : set_(set),
        is_whole_(describes_cluster(set)),
        has_inputs_(!set.of("machineconfiguration.openshift.io", "ControllerConfig").empty()),
        has_release_crds_(std::ranges::any_of(
            set.crds, [](const std::string& name) { return name.ends_with(".config.openshift.io"); })),
        reporter_(reporter) {}

  void run() {
    if (is_whole_) check_needed();
    for (const Object& object : set_.objects)
      if (!object.is_observed) check(object);
    check_status("Infrastructure");
    check_status("FeatureGate");
    check_networks();
    check_machine_config_inputs();
  }

 private:
  void check_needed() {
    const Object& version = *set_.of("config.openshift.io", "ClusterVersion").front();
    for (const Needed& needed : kNeeded)
      if (set_.find(needed.group, needed.kind, needed.ns, needed.name) == nullptr)
        reporter_.add(
            "manifest-missing", version, "",
            std::string("the set has no ") + needed.kind + ' ' + needed.ns + (*needed.ns ? "/" : "") + needed.name);
    const auto bindings = set_.of("rbac.authorization.k8s.io", "ClusterRoleBinding");
    if (std::ranges::none_of(
            bindings, [](const Object* binding) { return binding->at("/roleRef/name") == "system:node-bootstrapper"; }))
      reporter_.add("manifest-missing", version, "", "the set has no ClusterRoleBinding to system:node-bootstrapper");
  }

  void check(const Object& object) {
    const bool is_config = object.group() == "config.openshift.io";
    if (is_config && std::ranges::find(kSingletons, object.kind) != kSingletons.end() &&
        object.name != (object.kind == "ClusterVersion" ? "version" : "cluster"))
      reporter_.add("singleton-name", object, "/metadata/name",
                    "operators look at no " + object.kind + ' ' + object.name);
    if (object.is("config.openshift.io", "ClusterVersion")) check_version(object);
    if (object.is("", "ConfigMap") && object.ns == "kube-system" && object.name == "cluster-config-v1")
      check_cluster_config(object);
    if (object.is("", "ConfigMap") && object.ns == "openshift-etcd" && object.name == "etcd-endpoints")
      check_endpoints(object);
    // Files for the machine-config operator are read and not applied; they have no CRD beside them. A cluster that is
    // there already has its CRDs.
    const std::string group = object.group();
    if (has_release_crds_ && (is_config || group == "operator.openshift.io") &&
        !set_.crds.contains(plural_of(object.kind) + '.' + group))
      reporter_.add("crd-missing", object, "/kind", "the set has CRDs and not " + plural_of(object.kind) + '.' + group);
  }

  void check_version(const Object& object) {
    if (object.find("/spec/desiredUpdate") != nullptr)
      reporter_.add("cluster-version-update", object, "/spec/desiredUpdate",
                    "the operator takes this for an update and installs nothing");
    if (object.at("/spec/clusterID").empty())
      reporter_.add("cluster-version-id", object, "/spec/clusterID", "clusterID is missing");
  }

  void check_cluster_config(const Object& object) {
    const Value* text = object.find("/data/install-config");
    const text::Parsed parsed = text::parse_yaml({}, scalar(text));
    const bool is_read = parsed.complete && !parsed.problems.has_errors() && parsed.documents.size() == 1;
    if (!is_read || scalar(text::find(parsed.documents.front(), "/controlPlane/replicas")).empty())
      return reporter_.add(
          "cluster-config-content", object, "/data/install-config",
          text == nullptr ? "there is no key install-config" : "controlPlane.replicas is not in the install-config");
    if (!scalar(parsed.documents.front().find("pullSecret")).empty())
      reporter_.add("cluster-config-secret", object, "/data/install-config", "the pull secret is in it");
  }

  void check_endpoints(const Object& object) {
    const Value* data = object.find("/data");
    if (object.annotation("alpha.installer.openshift.io/etcd-bootstrap") == nullptr)
      reporter_.add("etcd-endpoints", object, "/metadata/annotations",
                    "the annotation alpha.installer.openshift.io/etcd-bootstrap is missing");
    else if (data != nullptr && !data->members.empty())
      reporter_.add("etcd-endpoints", object, "/data", "each entry of the data counts as a member");
  }

  void check_status(const std::string& kind) {
    for (const Object& patch : set_.status_patches)
      if (patch.kind == kind) check_status_of(patch);
    const auto patched = std::ranges::find(set_.status_patches, kind, &Object::kind) != set_.status_patches.end();
    const Object* without = nullptr;
    bool has_status = patched;
    for (const Object* object : set_.of("config.openshift.io", kind)) {
      if (object->is_observed) continue;
      const bool is_whole = object->find("/status") != nullptr;
      has_status = has_status || is_whole;
      if (!is_whole) {
        without = object;
        continue;
      }
      check_status_of(*object);
      const bool is_read = has_inputs_ && !is_whole_;  // as a file, by the machine-config operator
      if (!patched && !is_read)
        reporter_.add("status-in-manifest", *object, "/status",
                      "applied, this " + kind + " loses its status, and nothing in the set patches it");
    }
    // A cluster that is there already keeps the status that it has.
    if (without != nullptr && !has_status && (is_whole_ || has_inputs_))
      reporter_.add("status-missing", *without, "/status", "nothing in the set writes the status of " + kind);
  }

  void check_status_of(const Object& object) {
    if (object.kind == "FeatureGate") {
      const std::vector<Value>& gates = items(object.find("/status/featureGates"));
      for (std::size_t i = 0; i < gates.size(); ++i)
        if (scalar(gates[i].find("version")).empty())
          reporter_.add("feature-gate-version", object, text::child(std::string_view("/status/featureGates"), i),
                        "these features are of no release");
      return;
    }
    std::string missing;
    for (const char* pointer :
         {"/status/controlPlaneTopology", "/status/infrastructureTopology", "/status/apiServerURL", "/status/platform",
          "/status/platformStatus/type", "/status/infrastructureName"})
      if (object.at(pointer).empty()) (missing += missing.empty() ? "" : ", ") += pointer + sizeof("/status");
    if (!missing.empty())
      reporter_.add("infrastructure-status", object, "/status", "the status of Infrastructure lacks " + missing);
    if (object.at("/status/apiServerInternalURI").empty()) {
      const bool is_misspelt = object.find("/status/apiServerInternalURL") != nullptr;
      reporter_.add("infrastructure-internal-url", object,
                    is_misspelt ? "/status/apiServerInternalURL" : "/status/apiServerInternalURI",
                    is_misspelt ? "the API has no apiServerInternalURL; it is called apiServerInternalURI"
                                : "apiServerInternalURI is missing");
    }
  }

  void check_networks() {
    const auto configs = set_.of("config.openshift.io", "Network");
    for (const Object* object : set_.of("operator.openshift.io", "Network")) {
      if (object->is_observed || object->name != "cluster") continue;
      reporter_.add("operator-network", *object, "", "the network operator makes this object itself");
      if (configs.empty()) continue;
      const Object& config = *configs.front();
      const auto differs = [&](const char* pointer) {
        const Value* list = object->find(pointer);  // absent, it is taken from the other one
        return list != nullptr && cidrs_of(list) != cidrs_of(config.find(pointer));
      };
      std::string what;
      for (const char* pointer : {"/spec/clusterNetwork", "/spec/serviceNetwork"})
        if (what.empty() && differs(pointer)) what = pointer;
      const std::string type = object->at("/spec/defaultNetwork/type");
      if (what.empty() && !type.empty() && type != config.at("/spec/networkType")) what = "/spec/defaultNetwork/type";
      if (!what.empty())
        reporter_.add("operator-network-differs", *object, what, "the config Network has something else here");
    }
  }

  void check_machine_config_inputs() {
    const std::string_view group = "machineconfiguration.openshift.io";
    const auto configs = set_.of(group, "ControllerConfig");
    if (configs.empty() || configs.front()->is_observed) return;
    std::string missing;
    if (set_.of(group, "MachineConfigPool").empty()) missing = "a MachineConfigPool";
    if (set_.of("config.openshift.io", "FeatureGate").empty())
      missing += std::string(missing.empty() ? "" : " and ") + "the FeatureGate";
    if (!missing.empty())
      reporter_.add("machine-config-inputs", *configs.front(), "",
                    "beside the ControllerConfig the set lacks " + missing);
  }

  const Set& set_;
  bool is_whole_;          ///< for a whole cluster
  bool has_inputs_;        ///< of the machine-config controller
  bool has_release_crds_;  ///< or some of them
  Reporter& reporter_;
};

void check(const Set& set, const Options&, Reporter& reporter) {
  ManifestChecker(set, reporter).run();
}

}  // namespace

Family manifest_rules() {
  return {"Manifests of a cluster", "The objects between an empty API server and the cluster-version operator.", kRules,
          check};
}

}  // namespace hcpnet::lint

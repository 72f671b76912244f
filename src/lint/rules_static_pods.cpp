// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>

#include "lint/lines.hpp"
#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;

constexpr Rule kRules[] = {
    {.id = "static-pod-kind",
     .severity = Severity::error,
     .title = "a Deployment where a kubelet looks for static pods",
     .why = "The kubelet runs Pods from that folder and says of anything else that it can't decode it. A Deployment in "
            "the API would not run either: the bootstrap kubelet registers no node, so nothing can be placed.",
     .fix = "A Pod.",
     .source = "Kubernetes, Create static Pods; openshift/installer bootkube.sh",
     .wrong = R"(==> cluster-version-operator.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: other-operator, namespace: openshift-cluster-version}
spec: {template: {spec: {containers: [{name: operator, image: quay.io/release@sha256:cvo}]}}}
==> bootstrap.ign
{"ignition": {"version": "3.2.0"},
 "storage": {"files": [
  {"path": "/etc/kubernetes/manifests/operator.yaml", "mode": 384, "contents": {"source": "data:;base64,<cluster-version-operator.yaml in base64>"}}]}}
)",
     .wrong_part =
         "apps/v1\nkind: Deployment\nmetadata: {name: other-operator, namespace: openshift-cluster-version}\nspec: "
         "{template: {spec: {containers: [{name: operator, image: quay.io/release@sha256:cvo}]}}}",
     .right_part = "v1\nkind: Pod\nmetadata: {name: other-operator, namespace: openshift-cluster-version}\nspec: "
                   "{hostNetwork: true, containers: [{name: operator, image: quay.io/release@sha256:cvo}]}"},
    {.id = "static-pod-host-network",
     .severity = Severity::error,
     .title = "a part of the control plane outside of the host's network",
     .why =
         "There is no pod network before there is a control plane: the pod waits for it, and it for the pod. It stays "
         "in ContainerCreating.",
     .fix = "`hostNetwork: true`",
     .source = "openshift/installer bootkube manifests",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata: {name: bootstrap-kube-scheduler, namespace: openshift-kube-scheduler}
spec:
  containers:
  - name: kube-scheduler
    image: quay.io/release@sha256:hyperkube
    command: [kube-scheduler]
    args: [--kubeconfig=/etc/kubernetes/kubeconfigs/kube-scheduler.kubeconfig]
)",
     .wrong_part = "spec:\n",
     .right_part = "spec:\n  hostNetwork: true\n"},
    {.id = "static-pod-image",
     .severity = Severity::warning,
     .title = "a part of the control plane whose image is named by a tag",
     .why = "A release names its images by digest, and what is mirrored is found by digest alone. A tag gives another "
            "image tomorrow, and none in an air gap.",
     .fix = "The pull spec of the release: `oc adm release info --image-for=NAME RELEASE`.",
     .source = "openshift/installer bootkube.sh; ImageDigestMirrorSet",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata: {name: bootstrap-kube-scheduler, namespace: openshift-kube-scheduler}
spec:
  hostNetwork: true
  containers:
  - name: kube-scheduler
    image: registry.k8s.io/kube-scheduler:v1.31.4
    command: [kube-scheduler]
)",
     .wrong_part = "registry.k8s.io/kube-scheduler:v1.31.4",
     .right_part = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:7e5c2c0a"},
    {.id = "version-operator-image",
     .severity = Severity::error,
     .title = "a cluster-version operator that does not run from the release image",
     .why =
         "It reads what it has to install from `/release-manifests` of its own image. The operator's image alone has "
         "none: `open /release-manifests: no such file or directory`.",
     .fix = "The image of the pod and `--release-image` are the same.",
     .source = "cluster-version-operator bootstrap/bootstrap-pod.yaml",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata: {name: bootstrap-cluster-version-operator, namespace: openshift-cluster-version}
spec:
  hostNetwork: true
  containers:
  - name: cluster-version-operator
    image: quay.io/release@sha256:cvo
    args: [start, "--release-image=quay.io/release@sha256:release", --listen=, --kubeconfig=/etc/kubernetes/kubeconfig]
    env:
    - {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}
    - {name: CLUSTER_PROFILE, value: self-managed-high-availability}
    securityContext: {privileged: true}
)",
     .wrong_part = "image: quay.io/release@sha256:cvo",
     .right_part = "image: quay.io/release@sha256:release"},
    {.id = "version-operator-listen",
     .severity = Severity::error,
     .title = "a bootstrap cluster-version operator that would serve metrics",
     .why = "Metrics are served over TLS, for which there is no certificate yet: it ends with `--listen was not set "
            "empty, "
            "so --serving-cert-file must be set`.",
     .fix = "`--listen=`, with nothing behind the sign.",
     .source = "cluster-version-operator pkg/start/start.go, bootstrap/bootstrap-pod.yaml",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata: {name: bootstrap-cluster-version-operator, namespace: openshift-cluster-version}
spec:
  hostNetwork: true
  containers:
  - name: cluster-version-operator
    image: quay.io/release@sha256:release
    args: [start, "--release-image=quay.io/release@sha256:release", --kubeconfig=/etc/kubernetes/kubeconfig]
    env:
    - {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}
    - {name: CLUSTER_PROFILE, value: self-managed-high-availability}
    securityContext: {privileged: true}
)",
     .wrong_part = "sha256:release\", --kubeconfig",
     .right_part = "sha256:release\", --listen=, --kubeconfig"},
    {.id = "version-operator-profile",
     .severity = Severity::error,
     .title = "a cluster-version operator without CLUSTER_PROFILE",
     .why =
         "It installs the manifests of the profile and no others. Without one nothing says which of several forms of "
         "the same object is meant.",
     .fix = "`self-managed-high-availability`; a hosted cluster's is `ibm-cloud-managed`.",
     .source = "cluster-version-operator docs/dev/operators.md, lib/manifest",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata: {name: bootstrap-cluster-version-operator, namespace: openshift-cluster-version}
spec:
  hostNetwork: true
  containers:
  - name: cluster-version-operator
    image: quay.io/release@sha256:release
    args: [start, "--release-image=quay.io/release@sha256:release", --listen=]
    env:
    - {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}
    securityContext: {privileged: true}
)",
     .wrong_part = "value: 127.0.0.1}\n",
     .right_part = "value: 127.0.0.1}\n    - {name: CLUSTER_PROFILE, value: self-managed-high-availability}\n"},
    {.id = "version-operator-privileged",
     .severity = Severity::error,
     .title = "a bootstrap cluster-version operator that is not privileged",
     .why = "It reads the host's kubeconfig and writes `/etc/cvo/updatepayloads`, which SELinux lets no other "
            "container do.",
     .fix = "`securityContext: {privileged: true}`",
     .source = "cluster-version-operator bootstrap/bootstrap-pod.yaml",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata: {name: bootstrap-cluster-version-operator, namespace: openshift-cluster-version}
spec:
  hostNetwork: true
  containers:
  - name: cluster-version-operator
    image: quay.io/release@sha256:release
    args: [start, "--release-image=quay.io/release@sha256:release", --listen=]
    env:
    - {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}
    - {name: CLUSTER_PROFILE, value: self-managed-high-availability}
    securityContext: {readOnlyRootFilesystem: true}
)",
     .wrong_part = "{readOnlyRootFilesystem: true}",
     .right_part = "{privileged: true, readOnlyRootFilesystem: true}"},
    {.id = "version-operator-address",
     .severity = Severity::error,
     .title = "a bootstrap cluster-version operator that is not told where the API server is",
     .why = "A pod asks the Service's address, 172.30.0.1, and on the bootstrap node nothing leads there.",
     .fix = "`KUBERNETES_SERVICE_HOST=127.0.0.1` (and the port, 6443): the API server of the same node.",
     .source = "cluster-version-operator bootstrap/bootstrap-pod.yaml",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata: {name: bootstrap-cluster-version-operator, namespace: openshift-cluster-version}
spec:
  hostNetwork: true
  containers:
  - name: cluster-version-operator
    image: quay.io/release@sha256:release
    args: [start, "--release-image=quay.io/release@sha256:release", --listen=]
    env:
    - {name: CLUSTER_PROFILE, value: self-managed-high-availability}
    securityContext: {privileged: true}
)",
     .wrong_part = "    env:\n",
     .right_part = "    env:\n    - {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}\n"},
    {.id = "version-operator-early",
     .severity = Severity::info,
     .title = "a cluster-version operator that starts together with the API server",
     .why =
         "It needs CRDs, and these are applied once there is an API server. Until then it ends and is started again: "
         "\"CRDs first\" holds only because of that, and who looks at the node meanwhile sees it fail.",
     .fix =
         "Put it into `/etc/kubernetes/manifests` when the manifests are applied, as `hcpnet bootstrap render` does.",
     .source = "cluster-version-operator pkg/start; openshift/installer bootkube.sh",
     .wrong = R"(==> cluster-version-operator.yaml
apiVersion: v1
kind: Pod
metadata: {name: bootstrap-cluster-version-operator, namespace: openshift-cluster-version}
spec:
  hostNetwork: true
  containers:
  - name: cluster-version-operator
    image: quay.io/release@sha256:release
    args: [start, "--release-image=quay.io/release@sha256:release", --listen=]
    env:
    - {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}
    - {name: CLUSTER_PROFILE, value: self-managed-high-availability}
    securityContext: {privileged: true}
==> bootstrap.ign
{"ignition": {"version": "3.2.0"},
 "storage": {"files": [
  {"path": "/etc/kubernetes/manifests/cvo.yaml", "mode": 384, "contents": {"source": "data:;base64,<cluster-version-operator.yaml in base64>"}}]}}
)",
     .wrong_part = "/etc/kubernetes/manifests/cvo.yaml",
     .right_part = "/opt/openshift/static-pods/cvo.yaml"},
    {.id = "kube-proxy-workaround",
     .severity = Severity::info,
     .title = "kube-proxy as a static pod",
     .why = "A workaround. An installed cluster never runs it: pods outside of the host's network wait for the pod "
            "network, "
            "and what has to come before that asks where `/etc/kubernetes/apiserver-url.env` says. Where kube-proxy "
            "seemed "
            "to be needed, that file was missing, or the status of Infrastructure, from which it is made.",
     .fix = "The status of Infrastructure with `apiServerInternalURI`, apiserver-url.env on each node; then take "
            "kube-proxy out.",
     .source = "cluster-network-operator manifests/0000_70_cluster-network-operator_03_deployment.yaml",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata: {name: kube-proxy, namespace: kube-system}
spec:
  hostNetwork: true
  containers:
  - name: kube-proxy
    image: quay.io/release@sha256:kube-proxy
    command: [kube-proxy]
    args: [--config=/etc/kubernetes/kube-proxy/config.yaml]
    securityContext: {privileged: true}
)",
     .wrong_part = "apiVersion: v1\nkind: Pod\nmetadata: {name: kube-proxy, namespace: kube-system}\nspec:\n  "
                   "hostNetwork: true\n  containers:\n  - name: kube-proxy\n    image: "
                   "quay.io/release@sha256:kube-proxy\n    command: [kube-proxy]\n    args: "
                   "[--config=/etc/kubernetes/kube-proxy/config.yaml]\n    securityContext: {privileged: true}\n",
     .right_part = "KUBERNETES_SERVICE_HOST='api-int.ocp4.example.com'\nKUBERNETES_SERVICE_PORT='6443'\n"},
    {.id = "kube-proxy-beside-ovn",
     .severity = Severity::warning,
     .title = "kube-proxy in a cluster whose network is OVN-Kubernetes",
     .why = "Both of them write how Services are reached. OVN-Kubernetes has it all by itself; kube-proxy's rules go "
            "before "
            "its own for traffic of the hosts, and still name endpoints when OVN has moved on.",
     .fix = "Take kube-proxy out once the pod network is up; better never put it in (`kube-proxy-workaround`).",
     .source = "cluster-network-operator: `deployKubeProxy` is false for OVNKubernetes",
     .wrong = R"(==> kube-proxy.yaml
apiVersion: v1
kind: Pod
metadata: {name: kube-proxy, namespace: kube-system}
spec:
  hostNetwork: true
  containers:
  - name: kube-proxy
    image: quay.io/release@sha256:kube-proxy
    command: [kube-proxy]
    securityContext: {privileged: true}
==> network.yaml
apiVersion: config.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec:
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  serviceNetwork: [172.30.0.0/16]
  networkType: OVNKubernetes
)",
     .wrong_part =
         "==> kube-proxy.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: kube-proxy, namespace: "
         "kube-system}\nspec:\n  hostNetwork: true\n  containers:\n  - name: kube-proxy\n    image: "
         "quay.io/release@sha256:kube-proxy\n    command: [kube-proxy]\n    securityContext: {privileged: true}\n",
     .right_part = ""},
    {.id = "kube-proxy-image",
     .severity = Severity::error,
     .title = "kube-proxy from the image hyperkube",
     .why = "OpenShift's hyperkube has the API server, the controller manager, the scheduler and the kubelet, and no "
            "kube-proxy: CRI-O finds no such program, and the pod fails with errors such as `ID cannot be empty`.",
     .fix = "The release's image `kube-proxy`.",
     .source = "openshift/kubernetes openshift-hack/images; the tags of a release",
     .wrong = R"(# hcpnet-lint: ignore kube-proxy-workaround: until apiserver-url.env is right
apiVersion: v1
kind: Pod
metadata: {name: kube-proxy, namespace: kube-system}
spec:
  hostNetwork: true
  containers:
  - name: kube-proxy
    image: quay.io/release/hyperkube@sha256:1f2e
    command: [kube-proxy]
    securityContext: {privileged: true}
)",
     .wrong_part = "release/hyperkube@",
     .right_part = "release/kube-proxy@"},
    {.id = "kube-proxy-privileged",
     .severity = Severity::error,
     .title = "kube-proxy without the right to write the packet filter",
     .why = "Every rule that it writes is refused; it logs `Permission denied` and no Service is reached.",
     .fix = "`securityContext: {privileged: true}`",
     .source = "Kubernetes cluster/addons/kube-proxy",
     .wrong = R"(# hcpnet-lint: ignore kube-proxy-workaround: until apiserver-url.env is right
apiVersion: v1
kind: Pod
metadata: {name: kube-proxy, namespace: kube-system}
spec:
  hostNetwork: true
  containers:
  - name: kube-proxy
    image: quay.io/release@sha256:kube-proxy
    command: [kube-proxy]
)",
     .wrong_part = "command: [kube-proxy]\n",
     .right_part = "command: [kube-proxy]\n    securityContext: {privileged: true}\n"},
    {.id = "kube-proxy-binding",
     .severity = Severity::info,
     .title = "a bootstrap identity that may read what kube-proxy needs",
     .why =
         "A workaround that comes with kube-proxy as a static pod. Everybody who holds the identity of a new node, and "
         "every Ignition config holds it, may then list Services, EndpointSlices and Nodes.",
     .fix = "Take it out together with kube-proxy (`kube-proxy-workaround`).",
     .source = "Kubernetes, the ClusterRole system:node-proxier",
     .wrong = R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: bootstrapper-proxy}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:node-proxier}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: system:bootstrapper}
)",
     .wrong_part = "kind: User, name: system:bootstrapper",
     .right_part = "kind: User, name: system:kube-proxy"},
};

constexpr std::array<std::string_view, 4> kControlPlane{"etcd", "kube-apiserver", "kube-controller-manager",
                                                        "kube-scheduler"};

bool is_privileged(const Container& container) {
  return is_true(text::find(*container.value, "/securityContext/privileged"));
}

class PodChecker {
 public:
  PodChecker(const Set& set, Reporter& reporter) : set_(set), reporter_(reporter) {
    for (const Object* network : set_.of("config.openshift.io", "Network"))
      has_ovn_ = has_ovn_ || network->at("/spec/networkType") == "OVNKubernetes";
    for (const Object* pod : set_.of("", "Pod"))
      for (const Container& container : containers_of(*pod))
        if (container.runs("kube-apiserver") && !container.image.empty()) api_server_images_.insert(container.image);
  }

  void run() {
    for (const Object& object : set_.objects) {
      const bool is_static = object.origin->node_path.starts_with("/etc/kubernetes/manifests/");
      if (is_static && !object.is("", "Pod"))
        reporter_.add("static-pod-kind", object, "/kind", "a kubelet runs no " + object.kind + " from this folder");
      if (object.is_observed) continue;
      for (const Container& container : containers_of(object)) check(container, is_static);
    }
    for (const Object* binding : set_.of("rbac.authorization.k8s.io", "ClusterRoleBinding")) {
      const bool is_bootstrapper =
          names_user(*binding, "system:bootstrapper") ||
          names_user(*binding, "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper");
      if (binding->at("/roleRef/name") == "system:node-proxier" && is_bootstrapper)
        reporter_.add("kube-proxy-binding", *binding, "/subjects",
                      binding->name + " gives the identity of new nodes what kube-proxy needs");
    }
  }

 private:
  void add(std::string_view rule, const Container& container, std::string_view below, std::string message) {
    reporter_.add(rule, *container.object, container.path + std::string(below), std::move(message));
  }

  void check(const Container& container, bool is_static) {
    const Object& object = *container.object;
    if (!object.is("", "Pod")) return;
    // An API server of a hosted cluster is a Deployment; a Pod of that name lies in its namespace and has a UID.
    const auto program =
        std::ranges::find_if(kControlPlane, [&](std::string_view name) { return container.runs(name); });
    if (program != kControlPlane.end()) check_control_plane(container, *program);
    const auto release = flag(container.words, "--release-image");
    if (release && container.runs("start")) check_version_operator(container, *release, is_static);
    if (container.runs("kube-proxy")) check_kube_proxy(container);
  }

  void check_control_plane(const Container& container, std::string_view program) {
    if (!is_true(container.object->find("/spec/hostNetwork")))
      reporter_.add("static-pod-host-network", *container.object, "/spec/hostNetwork",
                    std::string(program) + " needs the host's network");
    check_image(container);
  }
  void check_image(const Container& container) {
    if (container.image.find("@sha256:") == std::string::npos)
      add("static-pod-image", container, "/image", container.name + " has the image " + container.image);
  }

  void check_version_operator(const Container& container, const std::string& release, bool is_static) {
    if (container.image != release)
      add("version-operator-image", container, "/image",
          "the image is " + container.image + ", the release " + release);
    if (flag(container.words, "--listen") != std::string())
      add("version-operator-listen", container, "/args", "--listen= is not among the arguments");
    if (container.environment("CLUSTER_PROFILE") == nullptr)
      add("version-operator-profile", container, "/env", "CLUSTER_PROFILE is not set");
    if (container.environment("KUBERNETES_SERVICE_HOST") == nullptr)
      add("version-operator-address", container, "/env", "KUBERNETES_SERVICE_HOST is not set");
    if (!is_privileged(container))
      add("version-operator-privileged", container, "/securityContext", "it is not privileged");
    if (!is_true(container.object->find("/spec/hostNetwork")))
      reporter_.add("static-pod-host-network", *container.object, "/spec/hostNetwork",
                    "the cluster-version operator needs the host's network");
    if (is_static)
      add("version-operator-early", container, "", "it starts together with the API server, before there are CRDs");
  }

  void check_kube_proxy(const Container& container) {
    if (has_ovn_)
      add("kube-proxy-beside-ovn", container, "", "kube-proxy runs beside OVN-Kubernetes");
    else
      add("kube-proxy-workaround", container, "",
          "kube-proxy hides that apiserver-url.env is missing or wrong, or the status of Infrastructure");
    if (!is_privileged(container)) add("kube-proxy-privileged", container, "/securityContext", "it is not privileged");
    if (container.image.find("hyperkube") != std::string::npos || api_server_images_.contains(container.image))
      add("kube-proxy-image", container, "/image", "this image has no kube-proxy");
  }

  const Set& set_;
  Reporter& reporter_;
  bool has_ovn_ = false;
  std::set<std::string, std::less<>> api_server_images_;
};

void check(const Set& set, const Options&, Reporter& reporter) {
  PodChecker(set, reporter).run();
}

}  // namespace

Family static_pod_rules() {
  return {"Static pods", "What the bootstrap node runs, and what nodes run beside the kubelet.", kRules, check};
}

}  // namespace hcpnet::lint

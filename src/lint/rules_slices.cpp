// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>

#include "lint/lines.hpp"
#include "lint/rules.hpp"
#include "lint/udn.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;

constexpr Rule kRules[] = {
    {.id = "slice-two-forms",
     .severity = Severity::error,
     .title = "an EndpointSlice for both networks at once",
     .why =
         "OVN-Kubernetes takes a slice for a user-defined network only where the label `kubernetes.io/service-name` is "
         "absent, and DNS takes it only where it is there. With both it is for the default network, and the second "
         "label "
         "does nothing.",
     .fix = "Two slices: one with `k8s.ovn.org/service-name` and the network's annotation, one for DNS.",
     .source = "ovn-kubernetes go-controller/pkg/util/util.go; coredns plugin/kubernetes/object/endpoint.go",
     .wrong = R"(apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: apps-blue-worker-0
  namespace: clusters-blue
  labels: {endpointslice.kubernetes.io/managed-by: hcpnet.io, k8s.ovn.org/service-name: apps, kubernetes.io/service-name: apps}
  annotations: {k8s.ovn.org/endpointslice-network: clusters-blue_hcp-blue}
addressType: IPv4
endpoints: [{addresses: ["10.150.0.120"]}]
)",
     .wrong_part = ", kubernetes.io/service-name: apps",
     .right_part = ""},
    {.id = "slice-network",
     .severity = Severity::error,
     .title = "an EndpointSlice for a user-defined network that does not say which",
     .why = "OVN-Kubernetes takes it only when the annotation `k8s.ovn.org/endpointslice-network` is the name of the "
            "network; without it the Service has no endpoint and its address refuses.",
     .fix =
         "`<namespace>_<name>` of a UserDefinedNetwork, `cluster_udn_<name>` of a ClusterUserDefinedNetwork; and the "
         "label `k8s.ovn.org/service-name` beside it.",
     .source = "ovn-kubernetes go-controller/pkg/util/multi_network.go, util.go",
     .wrong = R"(apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: apps-blue-worker-0
  namespace: clusters-blue
  labels: {endpointslice.kubernetes.io/managed-by: hcpnet.io, k8s.ovn.org/service-name: apps}
  annotations: {k8s.ovn.org/endpointslice-network: clusters-blue.hcp-blue}
addressType: IPv4
endpoints: [{addresses: ["10.150.0.120"]}]
)",
     .wrong_part = "clusters-blue.hcp-blue",
     .right_part = "clusters-blue_hcp-blue"},
    {.id = "slice-manager",
     .severity = Severity::error,
     .title = "an EndpointSlice that says that a controller made it",
     .why = "The controller whose name it has looks after all slices with that name, and deletes those that it did not "
            "make.",
     .fix = "A name of your own, such as `hcpnet.io`.",
     .source = "Kubernetes EndpointSlices, management; ovn-kubernetes endpointslicemirror controller",
     .wrong = R"(apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: apps-blue-worker-0
  namespace: clusters-blue
  labels: {endpointslice.kubernetes.io/managed-by: endpointslice-mirror-controller.k8s.ovn.org, k8s.ovn.org/service-name: apps}
  annotations: {k8s.ovn.org/endpointslice-network: clusters-blue_hcp-blue}
addressType: IPv4
endpoints: [{addresses: ["10.150.0.120"]}]
)",
     .wrong_part = "endpointslice-mirror-controller.k8s.ovn.org",
     .right_part = "hcpnet.io"},
    {.id = "slice-hostname",
     .severity = Severity::error,
     .title = "an EndpointSlice of etcd-discovery without the names of its pods",
     .why =
         "Members call each other `etcd-0.etcd-discovery.NAMESPACE.svc`; DNS makes that name of `hostname`. Without it "
         "only the Service's own name resolves, and no cluster forms. The reverse look-up, by which a member is "
         "recognised, is made of the same.",
     .fix = "`hostname: etcd-0` at each endpoint.",
     .source = "coredns plugin/kubernetes/object/endpoint.go, reverse.go; etcd client/pkg/transport",
     .wrong = R"(apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: etcd-discovery-udn
  namespace: clusters-blue
  labels: {endpointslice.kubernetes.io/managed-by: hcpnet.io, kubernetes.io/service-name: etcd-discovery}
addressType: IPv4
endpoints: [{addresses: ["10.150.0.5"], conditions: {ready: true}}]
)",
     .wrong_part = "[\"10.150.0.5\"],",
     .right_part = "[\"10.150.0.5\"], hostname: etcd-0,"},
    {.id = "slice-not-ready",
     .severity = Severity::error,
     .title = "an EndpointSlice of etcd-discovery with an endpoint that is not ready",
     .why = "DNS leaves it out. A member is not ready before it has peers, and has no peers before it is found: the "
            "Service "
            "publishes addresses that are not ready, and a slice made by hand has to say so itself.",
     .fix = "`conditions: {ready: true, serving: true}` from the moment that the pod has its address.",
     .source = "coredns plugin/kubernetes/object/endpoint.go; Kubernetes publishNotReadyAddresses",
     .wrong = R"(apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: etcd-discovery-udn
  namespace: clusters-blue
  labels: {endpointslice.kubernetes.io/managed-by: hcpnet.io, kubernetes.io/service-name: etcd-discovery}
addressType: IPv4
endpoints: [{addresses: ["10.150.0.5"], hostname: etcd-0, conditions: {ready: false}}]
)",
     .wrong_part = "ready: false",
     .right_part = "ready: true"},
    {.id = "slice-self-registered",
     .severity = Severity::warning,
     .title = "an EndpointSlice that puts etcd's other address back into DNS",
     .why =
         "Newer HyperShift has each etcd pod write a slice `etcd-discovery-self-POD` with its address on the default "
         "network. On a primary network peers are then told an address that they don't reach, beside the right one, at "
         "each start of a pod.",
     .fix = "Whoever keeps the slices for DNS has to take these out as well, again and again.",
     .source = "openshift/hypershift control-plane-operator dnsresolver/cmd.go",
     .wrong = R"(==> network.yaml
apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: hcp-blue, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
==> slice.yaml
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: etcd-discovery-self-etcd-0
  namespace: clusters-blue
  labels: {endpointslice.kubernetes.io/managed-by: etcd-self-register.hypershift.openshift.io, kubernetes.io/service-name: etcd-discovery}
addressType: IPv4
endpoints: [{addresses: ["10.128.2.17"], hostname: etcd-0, conditions: {ready: true}}]
)",
     .wrong_part = "managed-by: etcd-self-register.hypershift.openshift.io",
     .right_part = "managed-by: hcpnet.io"},
    {.id = "slice-orphaned",
     .severity = Severity::error,
     .title = "a slice of HyperShift's without the label of its Service",
     .why = "HyperShift finds its slices by the manager's name and reads the Service from the label, to delete those "
            "whose "
            "machine is gone. Without it that fails for all of them; and the label comes back with the machine's next "
            "event.",
     .fix = "Leave HyperShift's slice as it is, and put one for the user-defined network beside it.",
     .source = "openshift/hypershift hostedclusterconfigoperator/controllers/machine/machine.go",
     .wrong = R"(apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: apps-blue-worker-0-ipv4
  namespace: clusters-blue
  labels: {endpointslice.kubernetes.io/managed-by: control-plane-operator.hypershift.openshift.io}
addressType: IPv4
endpoints: [{addresses: ["10.150.0.120"]}]
)",
     .wrong_part = "control-plane-operator.hypershift.openshift.io}",
     .right_part = "control-plane-operator.hypershift.openshift.io, kubernetes.io/service-name: apps}"},
    {.id = "headless-service",
     .severity = Severity::warning,
     .title = "a headless Service in a namespace with a primary network",
     .why = "OVN-Kubernetes mirrors its slices for the network, and DNS does not look at mirrors: the name resolves to "
            "the "
            "pods' addresses on the default network, which nothing on the primary one reaches.",
     .fix = "A Service with an address; or slices for DNS, kept by a controller of your own.",
     .source =
         "ovn-kubernetes endpointslicemirror controller; coredns plugin/kubernetes; OpenShift Virtualization docs",
     .wrong = R"(apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: machines, namespace: machines}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: machines}
spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}
)",
     .wrong_part = "clusterIP: None, ",
     .right_part = ""},
    {.id = "endpoints-object",
     .severity = Severity::warning,
     .title = "Endpoints, made by hand",
     .why = "Deprecated since Kubernetes 1.33. A controller mirrors them into EndpointSlices, and OVN-Kubernetes "
            "passes over "
            "those for user-defined networks.",
     .fix = "An EndpointSlice with the label `kubernetes.io/service-name`.",
     .source = "Kubernetes 1.33, Continuing the transition from Endpoints to EndpointSlices",
     .wrong = R"(apiVersion: v1
kind: Endpoints
metadata: {name: oauth-bridge, namespace: default}
subsets: [{addresses: [{ip: 10.150.0.7}], ports: [{port: 6443}]}]
)",
     .wrong_part = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: oauth-bridge, namespace: default}\nsubsets: "
                   "[{addresses: [{ip: 10.150.0.7}], ports: [{port: 6443}]}]\n",
     .right_part =
         "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: oauth-bridge\n  namespace: "
         "default\n  labels: {kubernetes.io/service-name: oauth-bridge, endpointslice.kubernetes.io/managed-by: "
         "hcpnet.io}\naddressType: IPv4\nendpoints: [{addresses: [\"10.150.0.7\"]}]\nports: [{port: 6443}]\n"},
    {.id = "etcd-policy-peer",
     .severity = Severity::error,
     .title = "a policy that has etcd listen for clients on every address, and not for peers",
     .why =
         "One member works. With three the others are still asked on the default network's address, which a pod on a "
         "primary network does not reach: 2380 is refused.",
     .fix = "`ETCD_LISTEN_PEER_URLS` as well: `https://0.0.0.0:2380`.",
     .source = "openshift/hypershift control-plane-operator v2/assets/etcd/statefulset.yaml",
     .wrong = R"(apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: etcd-listens}
spec:
  failurePolicy: Fail
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "etcd", env: [Object.spec.containers.env{name: "ETCD_LISTEN_CLIENT_URLS", value: "https://0.0.0.0:2379"}]}]}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: etcd-listens}
spec: {policyName: etcd-listens}
)",
     .wrong_part = "value: \"https://0.0.0.0:2379\"}]",
     .right_part = "value: \"https://0.0.0.0:2379\"}, Object.spec.containers.env{name: \"ETCD_LISTEN_PEER_URLS\", "
                   "value: \"https://0.0.0.0:2380\"}]"},
    {.id = "etcd-listen-twice",
     .severity = Severity::error,
     .title = "an etcd that listens on every address and on localhost",
     .why = "The second one is part of the first: `bind: address already in use`, and the member ends.",
     .fix = "`https://0.0.0.0:2379` alone; with IPv6 `https://[::]:2379`.",
     .source = "etcd embed; socket(7)",
     .wrong = R"(apiVersion: apps/v1
kind: StatefulSet
metadata: {name: etcd, namespace: clusters-blue}
spec:
  template:
    spec:
      containers:
      - name: etcd
        env:
        - {name: ETCD_LISTEN_CLIENT_URLS, value: "https://0.0.0.0:2379,https://localhost:2379"}
)",
     .wrong_part = ",https://localhost:2379",
     .right_part = ""},
    {.id = "etcd-listen-address",
     .severity = Severity::error,
     .title = "an etcd on a primary network that listens on the pod's other address",
     .why =
         "`POD_IP` is `status.podIP`, the address on the default network. DNS may lead to the right address, and the "
         "connection is refused there.",
     .fix = "Have it listen on every address: `https://0.0.0.0:2379` and `:2380`. HyperShift writes the StatefulSet "
            "again; "
            "a MutatingAdmissionPolicy for the pods stays.",
     .source = "openshift/hypershift control-plane-operator v2/assets/etcd/statefulset.yaml",
     .wrong = R"(==> namespace.yaml
apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: hcp-blue, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
==> etcd.yaml
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: etcd, namespace: clusters-blue}
spec:
  template:
    spec:
      containers:
      - name: etcd
        env:
        - {name: ETCD_LISTEN_CLIENT_URLS, value: "https://$(POD_IP):2379,https://localhost:2379"}
)",
     .wrong_part = "https://$(POD_IP):2379,https://localhost:2379",
     .right_part = "https://0.0.0.0:2379"},
    {.id = "etcd-policy-ignored",
     .severity = Severity::warning,
     .title = "a policy for etcd's pods whose failure is ignored",
     .why =
         "Where the expression can't be evaluated, after an upgrade, etcd's pods come without it: the cluster fails as "
         "if there were no policy, and nothing says why.",
     .fix = "`failurePolicy: Fail`: the pod is refused, with the reason.",
     .source = "Kubernetes, MutatingAdmissionPolicy",
     .wrong = R"(apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: etcd-listens}
spec:
  failurePolicy: Ignore
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "etcd", env: [Object.spec.containers.env{name: "ETCD_LISTEN_CLIENT_URLS", value: "https://0.0.0.0:2379"}, Object.spec.containers.env{name: "ETCD_LISTEN_PEER_URLS", value: "https://0.0.0.0:2380"}]}]}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: etcd-listens}
spec: {policyName: etcd-listens}
)",
     .wrong_part = "failurePolicy: Ignore",
     .right_part = "failurePolicy: Fail"},
    {.id = "policy-unbound",
     .severity = Severity::error,
     .title = "an admission policy without its binding",
     .why = "A policy does nothing by itself: it is accepted, and no pod is changed.",
     .fix = "A MutatingAdmissionPolicyBinding with `policyName`.",
     .source = "Kubernetes, MutatingAdmissionPolicy",
     .wrong = R"(apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: etcd-listens}
spec: {failurePolicy: Fail, mutations: []}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: etcd-listens}
spec: {policyName: etcd}
)",
     .wrong_part = "policyName: etcd}",
     .right_part = "policyName: etcd-listens}"},
    {.id = "policy-dns-selector",
     .severity = Severity::error,
     .title = "a NetworkPolicy that lets machines of a primary network reach DNS by its pods",
     .why =
         "These pods are on another network, where a selector has no meaning; the machines ask the Service's address, "
         "which reaches the policy as it is: `lookup ... on 172.30.0.10:53: i/o timeout`.",
     .fix = "`ipBlock: {cidr: 172.30.0.10/32}`, the address of `openshift-dns/dns-default`, UDP and TCP 53. Policies "
            "add up: "
            "HyperShift's own needs no change.",
     .source = "ovn-kubernetes go-controller/pkg/ovn services_controller.go; openshift/hypershift network_policies.go",
     .wrong = R"(==> network.yaml
apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: hcp-blue, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
==> policy.yaml
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: dns, namespace: clusters-blue}
spec:
  podSelector: {matchLabels: {kubevirt.io: virt-launcher}}
  policyTypes: [Egress]
  egress:
  - ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]
    to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-dns}}}]
)",
     .wrong_part = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-dns}}}",
     .right_part = "{ipBlock: {cidr: 172.30.0.10/32}}"},
    {.id = "policy-service-port",
     .severity = Severity::error,
     .title = "a NetworkPolicy with the port of a Service instead of the pod's",
     .why = "A policy sees what arrives at the pod, on the pod's port: the proxy's connection is dropped.",
     .fix = "`app: oauth-openshift` 6443, `app: ignition-server-proxy` 8443, `app: kube-apiserver` 6443 and, for "
            "konnectivity, 8091.",
     .source = "openshift/hypershift control-plane-operator/controllers/hostedcontrolplane",
     .wrong = R"(apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: proxy, namespace: clusters-blue}
spec:
  podSelector: {matchLabels: {app: ignition-server-proxy}}
  policyTypes: [Ingress]
  ingress:
  - ports: [{protocol: TCP, port: 443}]
    from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: hcpnet}}}]
)",
     .wrong_part = "port: 443",
     .right_part = "port: 8443"},
    {.id = "policy-opens-all",
     .severity = Severity::warning,
     .title = "a NetworkPolicy that opens a whole control plane",
     .why = "Every pod of the namespace, etcd included, is open to whoever has the label, on every port.",
     .fix = "The three pods that a proxy needs, with their ports, and the proxy's own pods as `from`.",
     .source = "openshift/hypershift network_policies.go, what it opens itself",
     .wrong = R"(apiVersion: v1
kind: Namespace
metadata:
  name: clusters-blue
  labels: {hypershift.openshift.io/hosted-control-plane: "true"}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: allow-infrastructure, namespace: clusters-blue}
spec:
  podSelector: {}
  policyTypes: [Ingress]
  ingress:
  - from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: hcpnet}}}]
)",
     .wrong_part = "podSelector: {}",
     .right_part = "podSelector: {matchLabels: {app: oauth-openshift}}"},
    {.id = "proxy-backend",
     .severity = Severity::error,
     .title = "a proxy's backend at a port that the control plane does not have",
     .why =
         "The Service refuses it, or another program answers: `oauth-openshift` has 6443 and not 443, "
         "`konnectivity-server` 8091 and not 8090, and nodes fetch their configs from `ignition-server-proxy`, whose "
         "certificate has the Route's name, and not from `ignition-server` behind it.",
     .fix = "kube-apiserver:6443, oauth-openshift:6443, konnectivity-server:8091, ignition-server-proxy:443.",
     .source = "openshift/hypershift control-plane-operator/controllers/hostedcontrolplane",
     .wrong = R"(apiVersion: hostedcluster.densityops.com/v1alpha1
kind: ProxyServer
metadata: {name: proxy, namespace: hcpnet}
spec:
  networkConfig: {serverIP: 192.168.100.3}
  backends:
  - {name: oauth, hostname: oauth.blue.example.com, port: 443, targetService: oauth-openshift, targetPort: 443, targetNamespace: clusters-blue}
)",
     .wrong_part = "targetPort: 443",
     .right_part = "targetPort: 6443"},
    {.id = "root-ca-key",
     .severity = Severity::error,
     .title = "a Secret root-ca that is asked for tls.crt",
     .why =
         "Its keys are `ca.crt` and `ca.key`: the pod does not start, `references non-existent secret key: tls.crt`.",
     .fix = "`ca.crt`, better of the ConfigMap root-ca, which holds no key. For nodes neither is right: the authority "
            "of the "
            "ignition server is the Secret ignition-server-ca-cert.",
     .source = "openshift/hypershift control-plane-operator/controllers/hostedcontrolplane/pki",
     .wrong = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: viewer, namespace: clusters-blue}
spec:
  template:
    spec:
      containers: [{name: viewer, image: example.com/viewer@sha256:1f2e}]
      volumes:
      - {name: ca, secret: {secretName: root-ca, items: [{key: tls.crt, path: ca.crt}]}}
)",
     .wrong_part = "key: tls.crt",
     .right_part = "key: ca.crt"},
    {.id = "corefile-loop",
     .severity = Severity::error,
     .title = "a DNS server for a zone that forwards the zone back",
     .why = "The cluster's DNS sends the zone to this server, and this server sends what it does not know of it back, "
            "to the "
            "tenth address of the service network: each such question goes round until it times out.",
     .fix = "Answer for the zone alone: NXDOMAIN for what is not there, no `forward`.",
     .source = "coredns plugin/forward; dns.operator.openshift.io spec.servers",
     .wrong = R"(==> corefile.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: coredns-config, namespace: internal-apps-dns}
data:
  Corefile: |
    .:5353 {
      hosts {
        172.31.40.2 console-openshift-console.apps.blue.example.com
        fallthrough
      }
      forward . 172.31.0.10
    }
==> dns.yaml
apiVersion: operator.openshift.io/v1
kind: DNS
metadata: {name: default}
spec:
  servers: [{name: internal-apps, zones: [apps.blue.example.com], forwardPlugin: {upstreams: ["172.31.9.9:5353"]}}]
)",
     .wrong_part = "      forward . 172.31.0.10\n",
     .right_part = ""},
    {.id = "guest-dns-zone",
     .severity = Severity::error,
     .title = "a name that is served and that nothing leads to the server for",
     .why = "The cluster's DNS asks the internal server for its zones alone. A name outside of them, such as the OAuth "
            "Route's below the management cluster's domain, still gets the external answer.",
     .fix = "The exact name as one more zone of `spec.servers[]`.",
     .source = "dns.operator.openshift.io spec.servers; coredns",
     .wrong = R"(==> corefile.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: coredns-config, namespace: internal-apps-dns}
data:
  Corefile: |
    .:5353 {
      hosts {
        172.31.40.2 console-openshift-console.apps.blue.example.com
        172.31.40.3 oauth-clusters-blue.apps.mgmt.example.com
      }
    }
==> dns.yaml
apiVersion: operator.openshift.io/v1
kind: DNS
metadata: {name: default}
spec:
  servers: [{name: internal-apps, zones: [apps.blue.example.com], forwardPlugin: {upstreams: ["172.31.9.9:5353"]}}]
)",
     .wrong_part = "zones: [apps.blue.example.com]",
     .right_part = "zones: [apps.blue.example.com, oauth-clusters-blue.apps.mgmt.example.com]"},
};

bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

struct BackendPort {
  std::string_view service;
  std::string_view port;  ///< empty: nobody outside should come here
};
constexpr std::array kBackendPorts{
    BackendPort{"kube-apiserver", "6443"},      BackendPort{"oauth-openshift", "6443"},
    BackendPort{"konnectivity-server", "8091"}, BackendPort{"ignition-server-proxy", "443"},
    BackendPort{"ignition-server", ""},         BackendPort{"konnectivity-server-local", ""}};
struct PodPorts {
  std::string_view app;
  std::array<std::string_view, 2> ports;
};
constexpr std::array kPodPorts{PodPorts{"oauth-openshift", {"6443", "6443"}},
                               PodPorts{"ignition-server-proxy", {"8443", "8443"}},
                               PodPorts{"kube-apiserver", {"6443", "8091"}}};

void check_slice(const Set& set, const Object& slice, Reporter& reporter) {
  const Value* ovn = slice.label(kOvnServiceLabel);
  const Value* dns = slice.label(kServiceLabel);
  const Value* network = slice.annotation(kSliceNetworkAnnotation);
  if (ovn != nullptr && dns != nullptr)
    return reporter.add("slice-two-forms", slice, "/metadata/labels", "this slice has the labels of both forms");
  const std::string manager = scalar(slice.label(kSliceManagerLabel));
  static constexpr std::array<std::string_view, 3> kControllers{"endpointslice-controller.k8s.io",
                                                                "endpointslicemirroring-controller.k8s.io",
                                                                "endpointslice-mirror-controller.k8s.ovn.org"};
  if (!slice.is_observed && std::ranges::find(kControllers, manager) != kControllers.end())
    reporter.add("slice-manager", slice, "/metadata/labels", manager + " makes its slices itself");
  if (manager == "etcd-self-register.hypershift.openshift.io" && set.primary_namespaces.contains(slice.ns))
    reporter.add("slice-self-registered", slice, "/metadata/labels",
                 "the address of the default network goes into DNS");
  if (manager == "control-plane-operator.hypershift.openshift.io" && dns == nullptr)
    reporter.add("slice-orphaned", slice, "/metadata/labels",
                 "the label " + std::string(kServiceLabel) + " is missing");
  const std::string name = scalar(network);
  const bool is_name = name.starts_with("cluster_udn_") || name.starts_with(slice.ns + '_');
  if ((ovn == nullptr) != (network == nullptr))
    reporter.add(
        "slice-network", slice, "/metadata",
        ovn != nullptr ? "the annotation with the network is missing" : "the label with the Service is missing");
  else if (network != nullptr && !is_name)
    reporter.add("slice-network", slice, "/metadata/annotations", name + " is no name of a network of this namespace");
  if (scalar(dns) != "etcd-discovery" || slice.is_observed) return;
  const std::vector<Value>& endpoints = items(slice.find("/endpoints"));
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const std::string pointer = text::child(std::string_view("/endpoints"), i);
    if (scalar(endpoints[i].find("hostname")).empty())
      reporter.add("slice-hostname", slice, pointer, "this endpoint has no hostname");
    if (const Value* ready = text::find(endpoints[i], "/conditions/ready");
        ready != nullptr && ready->type == text::ValueType::boolean && !ready->flag)
      reporter.add("slice-not-ready", slice, pointer, "DNS leaves out an endpoint that is not ready");
  }
}

void check_etcd(const Set& set, const Object& object, Reporter& reporter) {
  for (const Container& container : containers_of(object)) {
    if (container.name != "etcd") continue;
    for (const char* name : {"ETCD_LISTEN_CLIENT_URLS", "ETCD_LISTEN_PEER_URLS"}) {
      const Value* entry = container.environment(name);
      const std::string urls = entry == nullptr ? std::string() : scalar(entry->find("value"));
      const bool is_everywhere = contains(urls, "//0.0.0.0:") || contains(urls, "//[::]:");
      if (is_everywhere && (contains(urls, "//localhost:") || contains(urls, "//127.0.0.1:")))
        reporter.add("etcd-listen-twice", object, container.path + "/env", std::string(name) + " is " + urls);
      bool has_policy = false;
      for (const Object* policy : set.of("admissionregistration.k8s.io", "MutatingAdmissionPolicy"))
        for (const Value& mutation : items(policy->find("/spec/mutations")))
          has_policy = has_policy || contains(scalar(text::find(mutation, "/applyConfiguration/expression")), name);
      if (contains(urls, "$(POD_IP)") && !has_policy && set.primary_namespaces.contains(object.ns))
        reporter.add("etcd-listen-address", object, container.path + "/env",
                     std::string(name) + " is the address on the default network");
    }
  }
}

void check_policy(const Set& set, const Object& policy, Reporter& reporter) {
  const auto bindings = set.of("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding");
  if (!policy.is_observed && std::ranges::none_of(bindings, [&](const Object* binding) {
        return binding->at("/spec/policyName") == policy.name;
      }))
    reporter.add("policy-unbound", policy, "/metadata/name", "no binding of the set names " + policy.name);
  const std::vector<Value>& mutations = items(policy.find("/spec/mutations"));
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    const std::string expression = scalar(text::find(mutations[i], "/applyConfiguration/expression"));
    const bool has_client = contains(expression, "ETCD_LISTEN_CLIENT_URLS");
    const bool has_peer = contains(expression, "ETCD_LISTEN_PEER_URLS");
    const std::string pointer = text::child(std::string_view("/spec/mutations"), i);
    if (has_client && !has_peer)
      reporter.add("etcd-policy-peer", policy, pointer, "ETCD_LISTEN_PEER_URLS is left as it is");
    if ((has_client || has_peer) && policy.at("/spec/failurePolicy") == "Ignore")
      reporter.add("etcd-policy-ignored", policy, "/spec/failurePolicy", "where it fails etcd comes without it");
    if ((has_client || has_peer) && contains(expression, "//0.0.0.0:") && contains(expression, "//localhost:"))
      reporter.add("etcd-listen-twice", policy, pointer, "localhost is part of 0.0.0.0");
  }
}

/// A rule of a NetworkPolicy: whether it is about DNS, and whether it names addresses.
bool is_for_dns(const Value& rule) {
  return std::ranges::any_of(items(rule.find("ports")),
                             [](const Value& port) { return scalar(port.find("port")) == "53"; });
}
bool has_block(const Value& rule) {
  return std::ranges::any_of(items(rule.find("to")), [](const Value& peer) { return peer.find("ipBlock") != nullptr; });
}
/// Policies add up: where one lets machines reach DNS by its address, another one may say what it likes.
bool reaches_dns_by_address(const Set& set, std::string_view ns) {
  for (const Object* policy : set.of("networking.k8s.io", "NetworkPolicy"))
    if (policy->ns == ns && std::ranges::any_of(items(policy->find("/spec/egress")),
                                                [](const Value& rule) { return is_for_dns(rule) && has_block(rule); }))
      return true;
  return false;
}

void check_network_policy(const Set& set, const Object& policy, Reporter& reporter) {
  const std::string app = policy.at("/spec/podSelector/matchLabels/app");
  const std::vector<Value>& ingress = items(policy.find("/spec/ingress"));
  for (std::size_t i = 0; i < ingress.size(); ++i) {
    const std::string pointer = text::child(std::string_view("/spec/ingress"), i);
    for (const PodPorts& known : kPodPorts)
      for (const Value& port : items(ingress[i].find("ports")))
        if (const std::string number = scalar(port.find("port"));
            app == known.app && !number.empty() && number[0] <= '9' &&
            std::ranges::find(known.ports, number) == known.ports.end())
          reporter.add("policy-service-port", policy, pointer + "/ports",
                       "the pods of " + app + " have no port " + number);
    const Value* selector = policy.find("/spec/podSelector");
    const bool is_everything = selector != nullptr && selector->members.empty();
    const bool is_from_outside = std::ranges::any_of(
        items(ingress[i].find("from")), [](const Value& peer) { return peer.find("namespaceSelector") != nullptr; });
    if (is_everything && is_from_outside && ingress[i].find("ports") == nullptr &&
        set.control_planes.contains(policy.ns) && !policy.is_observed)
      reporter.add("policy-opens-all", policy, pointer, "every pod of " + policy.ns + " is open, on every port");
  }
  if (!set.primary_namespaces.contains(policy.ns) || reaches_dns_by_address(set, policy.ns)) return;
  const std::vector<Value>& egress = items(policy.find("/spec/egress"));
  for (std::size_t i = 0; i < egress.size(); ++i)
    if (is_for_dns(egress[i]) && !items(egress[i].find("to")).empty())
      reporter.add("policy-dns-selector", policy, text::child(std::string_view("/spec/egress"), i) + "/to",
                   "no pod of another network is reached by a selector");
}

void check_backends(const Object& proxy, Reporter& reporter) {
  const std::vector<Value>& backends = items(proxy.find("/spec/backends"));
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const std::string service = scalar(backends[i].find("targetService"));
    const std::string port = scalar(backends[i].find("targetPort"));
    const auto known = std::ranges::find(kBackendPorts, service, &BackendPort::service);
    if (known == kBackendPorts.end() || known->port == port) continue;
    reporter.add("proxy-backend", proxy, text::child(std::string_view("/spec/backends"), i),
                 known->port.empty()
                     ? service + " is not for clients from outside"
                     : "the Service " + service + " has the port " + std::string(known->port) + ", not " + port);
  }
}

/// Every mapping below `value` that names the Secret root-ca and the key tls.crt.
void check_root_ca(const Object& object, const Value& value, const std::string& pointer, Reporter& reporter) {
  const bool is_volume = scalar(value.find("secretName")) == "root-ca";
  for (const Value& item : items(is_volume ? value.find("items") : nullptr))
    if (scalar(item.find("key")) == "tls.crt")
      reporter.add("root-ca-key", object, pointer + "/items", "the Secret root-ca has no key tls.crt");
  if (const Value* reference = value.find("secretKeyRef"); reference != nullptr &&
                                                           scalar(reference->find("name")) == "root-ca" &&
                                                           scalar(reference->find("key")) == "tls.crt")
    reporter.add("root-ca-key", object, pointer + "/secretKeyRef", "the Secret root-ca has no key tls.crt");
  for (const text::Member& member : value.members)
    check_root_ca(object, member.value, text::child(pointer, member.key), reporter);
  for (std::size_t i = 0; i < value.items.size(); ++i)
    check_root_ca(object, value.items[i], text::child(pointer, i), reporter);
}

/// Names that the `hosts` of a Corefile answer for, each with its line.
std::vector<Line> host_names(const std::string& corefile) {
  std::vector<Line> names;
  bool is_inside = false;
  for (const Line& line : lines_of(corefile)) {
    const std::vector<std::string> words = words_of(line.text);
    if (words.empty()) continue;
    if (words.front() == "hosts")
      is_inside = true;
    else if (words.front() == "}")
      is_inside = false;
    else if (is_inside && parse_ip_address(words.front()))
      for (std::size_t i = 1; i < words.size(); ++i) names.push_back({line.number, words[i]});
  }
  return names;
}

void check_guest_dns(const Set& set, const Object& config, Reporter& reporter) {
  const Value* corefile = config.find("/data/Corefile");
  if (corefile == nullptr) return;
  std::set<std::string> zones;
  for (const Object* dns : set.of("operator.openshift.io", "DNS"))
    for (const Value& server : items(dns->find("/spec/servers")))
      for (const Value& zone : items(server.find("zones"))) zones.insert(scalar(&zone));
  if (zones.empty()) return;
  for (const Line& line : lines_of(corefile->text)) {
    const std::vector<std::string> words = words_of(line.text);
    if (words.size() < 3 || words[0] != "forward" || words[1] != ".") continue;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto address = parse_ipv4(words[i]);
      // The DNS Service has the tenth address of the service network.
      if (address && (address->value() & 0xFFFF) == 10)
        reporter.add("corefile-loop", config, "/data/Corefile", "what is not found goes back to " + words[i]);
    }
  }
  for (const Line& name : host_names(corefile->text)) {
    const bool is_asked = std::ranges::any_of(
        zones, [&](const std::string& zone) { return name.text == zone || name.text.ends_with('.' + zone); });
    if (!is_asked)
      reporter.add("guest-dns-zone", config, "/data/Corefile", "no zone leads to this server for " + name.text);
  }
}

void check(const Set& set, const Options&, Reporter& reporter) {
  for (const Object& object : set.objects) {
    if (object.is("discovery.k8s.io", "EndpointSlice")) check_slice(set, object, reporter);
    if (object.is("", "Endpoints") && !object.is_observed)
      reporter.add("endpoints-object", object, "/kind", "Endpoints are deprecated");
    if (object.is("", "Service") && !object.is_observed && object.at("/spec/clusterIP") == "None" &&
        set.primary_namespaces.contains(object.ns))
      reporter.add("headless-service", object, "/spec/clusterIP", "DNS answers with addresses of the default network");
    if (object.is("admissionregistration.k8s.io", "MutatingAdmissionPolicy")) check_policy(set, object, reporter);
    if (object.is("networking.k8s.io", "NetworkPolicy")) check_network_policy(set, object, reporter);
    if (object.is("hostedcluster.densityops.com", "ProxyServer")) check_backends(object, reporter);
    if (object.is("", "ConfigMap")) check_guest_dns(set, object, reporter);
    if (pod_spec_path(object).empty()) continue;
    check_etcd(set, object, reporter);
    check_root_ca(object, *object.root, "", reporter);
  }
}

}  // namespace

Family slice_rules() {
  return {"Around a primary network", "EndpointSlices, etcd, policies and DNS of a hosted control plane.", kRules,
          check};
}

}  // namespace hcpnet::lint

// SPDX-License-Identifier: Apache-2.0
// What the example of a rule does not show: its other forms, and what looks like them and is right.
#include "lint/lint_support.hpp"

namespace hcpnet::lint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::set<std::string> codes(const std::string& text) {
  return test::codes_of(test::lint_text(text));
}

std::string network(const std::string& layer2, const std::string& topology = "Layer2",
                    const std::string& ns = "machines") {
  return "apiVersion: k8s.ovn.org/v1\nkind: UserDefinedNetwork\nmetadata: {name: n, namespace: " + ns +
         "}\nspec: {topology: " + topology + ", layer2: {" + layer2 + "}}\n";
}
const std::string kKept = ", ipam: {lifecycle: Persistent}";

TEST(Networks, AreRefusedAsTheApiServerRefusesThem) {
  const std::string primary = "role: Primary, ", v4 = "subnets: [10.1.0.0/16]";
  EXPECT_THAT(codes(network(primary + v4 + kKept)), IsEmpty());
  EXPECT_THAT(codes(network(primary + "subnets: [10.1.0.0/16, 'fd01::/64']" + kKept)), IsEmpty());
  EXPECT_THAT(codes(network("role: Secondary, ipam: {mode: Disabled}")), IsEmpty());
  for (const std::string& wrong : {network(primary + v4 + kKept, "Layer3"),
                                   network(primary + v4 + ", ipam: {mode: Disabled, lifecycle: Persistent}"),
                                   network("role: Secondary, ipam: {mode: Disabled, lifecycle: Persistent}"),
                                   network("role: Secondary, " + v4 + ", ipam: {mode: Disabled}"),
                                   network(primary + "subnets: [10.1.0.0/16, 10.2.0.0/16]" + kKept),
                                   network(primary + "subnets: [10.1.0.0/16, 'fd01::/64', 10.2.0.0/16]" + kKept),
                                   network(primary + "mtu: 576, subnets: ['fd01::/64']" + kKept),
                                   network(primary + "mtu: 1279, subnets: ['fd01::/64']" + kKept),
                                   network(primary + "subnets: [10.1.0.0]" + kKept),
                                   network(primary + v4 + ", reservedSubnets: [10.2.0.0/24]" + kKept),
                                   network(primary + v4 + ", infrastructureSubnets: [10.1.0.1/24]" + kKept),
                                   network(primary + v4 + ", defaultGatewayIPs: [10.1.0.1, 10.1.0.2]" + kKept)})
    EXPECT_THAT(codes(wrong), ElementsAre("udn-refused")) << wrong;
  EXPECT_THAT(codes(network(primary + "mtu: 1280, subnets: ['fd01::/64']" + kKept)), IsEmpty());
  EXPECT_THAT(codes(network(primary + v4 + ", reservedSubnets: [10.1.9.0/24], defaultGatewayIPs: [10.1.0.1]" + kKept)),
              IsEmpty());
}

TEST(Networks, OverlapWithWhatTheSetNames) {
  const std::string own = network("role: Primary, subnets: [10.132.0.0/16]" + kKept, "Layer2", "clusters-blue");
  EXPECT_THAT(codes(own), IsEmpty());
  const std::string hosted =
      "---\napiVersion: hypershift.openshift.io/v1beta1\nkind: HostedCluster\nmetadata: {name: blue, namespace: "
      "clusters}\n"
      "spec: {networking: {clusterNetwork: [{cidr: 10.132.0.0/14}]}}\n";
  EXPECT_THAT(codes(own + hosted), ElementsAre("udn-subnet"));
  const std::string cluster =
      "---\napiVersion: config.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {serviceNetwork: "
      "[10.132.8.0/22]}\n";
  EXPECT_THAT(codes(own + cluster), ElementsAre("udn-subnet"));
  for (const char* taken :
       {"100.88.4.0/24", "169.254.9.0/24", "172.20.0.0/16", "'fd98::/64'", "'fd00::/32'", "100.65.0.0/16"})
    EXPECT_THAT(codes(network(std::string("role: Primary, subnets: [") + taken + "]" + kKept)),
                ElementsAre("udn-subnet"))
        << taken;
  const std::string join = "role: Primary, subnets: [10.1.0.0/16], joinSubnets: [";
  EXPECT_THAT(codes(network(join + "100.65.0.0/16]" + kKept)), IsEmpty());
  EXPECT_THAT(codes(network(join + "100.64.0.0/16]" + kKept)), ElementsAre("udn-subnet"));
}

TEST(Networks, OfTheClusterSelectTheirNamespaces) {
  const std::string ns = "apiVersion: v1\nkind: Namespace\nmetadata: {name: blue, labels: {team: a}}\n---\n";
  const auto cluster = [](const std::string& selector) {
    return "apiVersion: k8s.ovn.org/v1\nkind: ClusterUserDefinedNetwork\nmetadata: {name: n}\nspec:\n  "
           "namespaceSelector: " +
           selector +
           "\n  network: {topology: Layer2, layer2: {role: Primary, subnets: [10.1.0.0/16], ipam: {lifecycle: "
           "Persistent}}}\n";
  };
  for (const char* selector :
       {"{matchLabels: {team: a}}", "{matchLabels: {kubernetes.io/metadata.name: blue}}",
        "{matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [blue]}]}"})
    EXPECT_THAT(codes(ns + cluster(selector)), ElementsAre("udn-label-missing")) << selector;
  EXPECT_THAT(codes(ns + cluster("{matchLabels: {team: b}}")), IsEmpty());
}

std::string pod_with(const std::string& annotation) {
  return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: machines\n  annotations:\n    " + annotation +
         '\n';
}

TEST(Annotations, AreReadAsOvnKubernetesDoes) {
  const std::string ports = "k8s.ovn.org/open-default-ports: ";
  for (const char* wrong : {"x", "'[{protocol: tcp}]'", "'[{protocol: icmp, port: 1}]'", "'{protocol: tcp}'"})
    EXPECT_THAT(codes(pod_with(ports + wrong)), ElementsAre("open-default-ports")) << wrong;
  EXPECT_THAT(codes(pod_with(ports + "'[{protocol: icmp}, {protocol: udp, port: 53}]'")), IsEmpty());
  const std::string element = R"('[{"name": "default", "namespace": "ovn-kubernetes"}]')";
  EXPECT_THAT(codes(pod_with("v1.multus-cni.io/default-network: " + element)), IsEmpty());
  EXPECT_THAT(codes(pod_with("kubevirt.io/domain: a\n    v1.multus-cni.io/default-network: " + element)),
              ElementsAre("default-network-annotation"));
  for (const char* wrong : {"default/x", "'[]'", "'[1]'", R"('[{"name": "default", "namespace": 1}]')"})
    EXPECT_THAT(codes(pod_with(std::string("v1.multus-cni.io/default-network: ") + wrong)),
                ElementsAre("default-network-annotation"))
        << wrong;
  EXPECT_THAT(codes(pod_with("k8s.v1.cni.cncf.io/networks: other/nad")), IsEmpty());
  EXPECT_THAT(codes(pod_with(R"(k8s.v1.cni.cncf.io/networks: '[{"name": "a", "ips": null}]')")), IsEmpty());
  EXPECT_THAT(codes(pod_with(R"(k8s.v1.cni.cncf.io/networks: '[{"name": "a", "ips": "192.0.2.4/24"}]')")),
              ElementsAre("attachment-address"));
  EXPECT_THAT(codes(pod_with(R"(k8s.v1.cni.cncf.io/networks: '[1, {"name": "a", "namespace": "other"}]')")),
              ElementsAre("attachment-namespace"));
}

TEST(Annotations, MayHoldMoreThanAStack) {
  const std::string lists = std::string(300'000, '[') + std::string(300'000, ']');
  EXPECT_THAT(codes(pod_with("v1.multus-cni.io/default-network: '[{\"namespace\": " + lists + "}]'")),
              ElementsAre("default-network-annotation"));
  EXPECT_THAT(codes("apiVersion: hypershift.openshift.io/v1beta1\nkind: NodePool\nmetadata:\n  name: p\n  namespace: "
                    "c\n  annotations:\n    hypershift.openshift.io/kubevirt-vm-jsonpatch: "
                    "'[{\"op\": \"add\", \"path\": \"/a\", \"value\": " +
                    lists + "}]'\n"),
              ElementsAre("vm-patch-syntax"));
}

std::string machine(const std::string& interface, const std::string& annotation = "a: b",
                    const std::string& kind = "VirtualMachine") {
  const std::string body =
      "domain: {devices: {interfaces: [{name: default" + interface + "}]}}, networks: [{name: default, pod: {}}]}";
  const std::string head = "apiVersion: kubevirt.io/v1\nkind: " + kind + "\nmetadata: {name: m, namespace: machines";
  if (kind == "VirtualMachineInstance") return head + ", annotations: {" + annotation + "}}\nspec: {" + body + '\n';
  return head + "}\nspec: {template: {metadata: {annotations: {" + annotation + "}}, spec: {" + body + "}}\n";
}

TEST(Machines, HaveOneBindingThatFitsTheirNetwork) {
  const std::string udn = "---\n" + network("role: Primary, subnets: [10.1.0.0/16]" + kKept);
  for (const char* kind : {"VirtualMachine", "VirtualMachineInstance"}) {
    EXPECT_THAT(codes(machine("", "a: b", kind)), ElementsAre("vm-bindings"));
    for (const char* one : {", bridge: {}", ", macvtap: {}", ", passt: {}"})
      EXPECT_THAT(codes(machine(one, "a: b", kind)), IsEmpty()) << one;
    EXPECT_THAT(codes(machine(", masquerade: {}", "a: b", kind) + udn), ElementsAre("vm-primary-binding"));
    for (const char* good : {", passtBinding: {}", ", binding: {name: passt}", ", binding: {name: l2bridge}"})
      EXPECT_THAT(codes(machine(good, "a: b", kind) + udn), IsEmpty()) << good;
    EXPECT_THAT(codes(machine(", bridge: {}", "network.kubevirt.io/ip-addresses: '{}'", kind)),
                ElementsAre("vm-addresses"));
    for (const char* wrong : {"x", "'[]'", R"('{"default": "10.0.0.1"}')", R"('{"default": [1]}')"})
      EXPECT_THAT(codes(machine(", bridge: {}", std::string("network.kubevirt.io/addresses: ") + wrong, kind)),
                  ElementsAre("vm-addresses"))
          << wrong;
  }
}

TEST(HostedClusters, AreLookedAtServiceByService) {
  const auto cluster = [](const std::string& strategy) {
    return "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedCluster\nmetadata: {name: b, namespace: "
           "c}\nspec:\n  services:\n"
           "  - {service: APIServer, servicePublishingStrategy: " +
           strategy +
           "}\n"
           "  - {service: OAuthServer, servicePublishingStrategy: {type: Route}}\n"
           "  - {service: Konnectivity, servicePublishingStrategy: {type: Route}}\n"
           "  - {service: Ignition, servicePublishingStrategy: {type: Route}}\n";
  };
  EXPECT_THAT(codes(cluster("{type: Route, route: {hostname: api.b.example.com}}")), IsEmpty());
  EXPECT_THAT(codes(cluster("{type: Route, route: {hostname: api-int.b.example.com}}")),
              ElementsAre("hosted-cluster-api-int"));
  const auto proxy = [](const std::string& service) {
    return "apiVersion: hostedcluster.densityops.com/v1alpha1\nkind: ProxyServer\nmetadata: {name: p, namespace: "
           "n}\nspec: {backends: [{hostname: api-int.b.example.com, targetPort: 443, targetService: " +
           service + "}]}\n";
  };
  EXPECT_THAT(codes(proxy("ignition-server-proxy")), ElementsAre("hosted-cluster-api-int"));
  EXPECT_THAT(codes(proxy("machine-config")), IsEmpty()) << "of a self-managed cluster";
  for (const char* wrong : {"a", "'*.b.example.com'", "a_b.example.com", "a..example.com", "a.b.c1"})
    EXPECT_THAT(codes(cluster(std::string("{type: Route, route: {hostname: ") + wrong + "}}")),
                ElementsAre("hosted-cluster-hostname"))
        << wrong;
  EXPECT_THAT(codes("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: operator, namespace: hypershift}\nspec: "
                    "{template: {spec: "
                    "{containers: [{name: operator, env: [{name: IMAGE_KUBEVIRT_CAPI_PROVIDER, value: a}]}]}}}\n"),
              ElementsAre("image-override"));
}

TEST(Slices, NeedLabelAndNetworkTogether) {
  const auto slice = [](const std::string& metadata) {
    return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s, namespace: n, " + metadata +
           "}\n";
  };
  const std::string label = "labels: {k8s.ovn.org/service-name: s}",
                    network = "annotations: {k8s.ovn.org/endpointslice-network: ";
  EXPECT_THAT(codes(slice(label)), ElementsAre("slice-network"));
  EXPECT_THAT(codes(slice(network + "n_u}")), ElementsAre("slice-network"));
  EXPECT_THAT(codes(slice(label + ", " + network + "other_u}")), ElementsAre("slice-network"));
  EXPECT_THAT(codes(slice(label + ", " + network + "n_u}")), IsEmpty());
  EXPECT_THAT(codes(slice(label + ", " + network + "cluster_udn_u}")), IsEmpty());
  // The mirror controller's own slice, as a cluster prints it.
  EXPECT_THAT(codes(slice("uid: a, labels: {k8s.ovn.org/service-name: s, endpointslice.kubernetes.io/managed-by: "
                          "endpointslice-mirror-controller.k8s.ovn.org}, " +
                          network + "n_u}")),
              IsEmpty());
}

TEST(Policies, AddUp) {
  const auto policy = [](const std::string& name, const std::string& peer) {
    return "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: " + name +
           ", namespace: machines}\nspec: {podSelector: {}, egress: [{ports: [{port: 53}], to: [{" + peer + "}]}]}\n";
  };
  const std::string own = network("role: Primary, subnets: [10.1.0.0/16]" + kKept);
  const std::string by_pods = policy("a", "namespaceSelector: {}");
  const std::string by_address = policy("b", "ipBlock: {cidr: 172.30.0.10/32}");
  EXPECT_THAT(codes(own + by_pods), ElementsAre("policy-dns-selector"));
  EXPECT_THAT(codes(own + by_pods + by_address), IsEmpty());
  EXPECT_THAT(codes(by_pods), IsEmpty());
}

TEST(Manifests, HaveOtherForms) {
  const std::string map =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-config-v1, namespace: kube-system}\n";
  EXPECT_THAT(codes(map), ElementsAre("cluster-config-content"));
  EXPECT_THAT(codes(map + "data: {install-config: '['}\n"), ElementsAre("cluster-config-content"));
  EXPECT_THAT(codes("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: etcd-endpoints\n  namespace: openshift-etcd\n "
                    " annotations: "
                    "{alpha.installer.openshift.io/etcd-bootstrap: 1.2.3.4}\ndata: {a: 1.2.3.4}\n"),
              ElementsAre("etcd-endpoints"));
  EXPECT_THAT(codes("{\"status\": {\"apiServerInternalURL\": \"https://a:6443\"}}"),
              ElementsAre("infrastructure-internal-url", "infrastructure-status"));
  const std::string networks =
      "apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {defaultNetwork: {type: "
      "OpenShiftSDN}}\n"
      "---\napiVersion: config.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {networkType: "
      "OVNKubernetes}\n";
  EXPECT_THAT(codes(networks), ElementsAre("operator-network", "operator-network-differs"));
}

TEST(Manifests, OfAClusterThatIsThereMayBeParts) {
  const std::string gate = "apiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata: {name: cluster}\n";
  EXPECT_THAT(codes(gate + "spec: {featureSet: TechPreviewNoUpgrade}\n"), IsEmpty());
  const std::string crd =
      "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: "
      "things.example.com\n";
  EXPECT_THAT(codes(gate + crd), IsEmpty());
  const std::string networks =
      "apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {managementState: "
      "Managed}\n---\napiVersion: config.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: "
      "{clusterNetwork: [{cidr: 10.128.0.0/14}], networkType: OVNKubernetes}\n";
  EXPECT_THAT(codes(networks), ElementsAre("operator-network"));
}

TEST(Manifests, OfTheMachineConfigControllerAreReadWithTheirStatus) {
  const std::string inputs =
      "apiVersion: machineconfiguration.openshift.io/v1\nkind: ControllerConfig\nmetadata: {name: a}\n---\napiVersion: "
      "machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: master}\n---\n";
  const std::string gate = "apiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata: {name: cluster}\n";
  EXPECT_THAT(codes(inputs + gate), ElementsAre("status-missing"));
  EXPECT_THAT(codes(inputs + gate + "status: {featureGates: [{version: 4.18.0}]}\n"), IsEmpty());
  EXPECT_THAT(codes(gate + "status: {featureGates: [{version: 4.18.0}]}\n"), ElementsAre("status-in-manifest"));
}

TEST(Authorities, HaveNoMoreBelowThemThanTheirPathLengthSays) {
  const auto found = [](const std::string& lowest) {
    return test::codes_of(
        check(test::ExampleFiles(test::kNow)
                  .make({{"a.crt", "Subject: CN = a\nX509v3 Basic Constraints: CA:TRUE, pathlen:1\n"},
                         {"b.crt", "Subject: CN = b\nIssuer: CN = a\nX509v3 Basic Constraints: CA:TRUE\n"},
                         {"c.crt", "Subject: CN = c\nIssuer: CN = b\n" + lowest + '\n'}})));
  };
  EXPECT_THAT(found("X509v3 Extended Key Usage: TLS Web Client Authentication"), IsEmpty());
  EXPECT_THAT(found("X509v3 Basic Constraints: CA:TRUE"), ElementsAre("authority-path-length"));
}

TEST(Etcd, IsKnownByItsServiceAndByWhatItServesWith) {
  const auto found = [](const std::string& file, const std::string& names) {
    return test::codes_of(check(
        test::ExampleFiles(test::kNow)
            .make({{file,
                    "Subject: CN = server\nX509v3 Extended Key Usage: TLS Web Server Authentication\nX509v3 Subject "
                    "Alternative Name: " +
                        names + '\n'},
                   {"etcd.yaml",
                    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: n}\nspec: {hostNetwork: true, "
                    "containers: [{name: a, image: 'a@sha256:1', command: [etcd, "
                    "--cert-file=/etc/kubernetes/pki/etcd/server.crt]}]}\n"}})));
  };
  EXPECT_THAT(found("a.crt", "DNS:localhost, DNS:etcd.openshift-etcd.svc"), ElementsAre("etcd-certificate-usages"));
  EXPECT_THAT(found("out/etcd/server.crt", "DNS:localhost"), ElementsAre("etcd-certificate-usages"));
  EXPECT_THAT(found("out/registry/server.crt", "DNS:localhost"), IsEmpty());
}

TEST(ApiServers, NeedTheFirstServiceAddressWhereTheSetNamesIt) {
  const auto files = [](const std::string& address) {
    return test::ExampleFiles(test::kNow)
        .make(
            {{"a.crt",
              "Subject: CN = kube-apiserver\nX509v3 Extended Key Usage: TLS Web Server Authentication\nX509v3 Subject "
              "Alternative Name: DNS:kubernetes.default.svc, DNS:localhost, DNS:api.a.b, DNS:api-int.a.b, IP Address:" +
                  address + '\n'},
             {"n",
              "apiVersion: config.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {serviceNetwork: "
              "[172.30.0.0/16]}\n"}});
  };
  EXPECT_THAT(test::codes_of(check(files("172.30.0.1"))), ElementsAre("kube-apiserver-single-certificate"));
  EXPECT_THAT(test::codes_of(check(files("10.0.0.1"))),
              ElementsAre("kube-apiserver-names", "kube-apiserver-single-certificate"));
}

TEST(ApiServers, WithCertificatesByNameNeedThemAll) {
  const auto found = [](const std::string& names) {
    return test::codes_of(
        check(test::ExampleFiles(test::kNow)
                  .make({{"a.crt",
                          "Subject: CN = a\nX509v3 Extended Key Usage: TLS Web Server Authentication\nX509v3 Subject "
                          "Alternative Name: " +
                              names + '\n'},
                         {"b.crt",
                          "Subject: CN = b\nX509v3 Extended Key Usage: TLS Web Server Authentication\nX509v3 Subject "
                          "Alternative Name: DNS:api.a.b\n"},
                         {"c.crt",
                          "Subject: CN = c\nX509v3 Extended Key Usage: TLS Web Server Authentication\nX509v3 Subject "
                          "Alternative Name: DNS:kubernetes.default.svc\n"},
                         {"d.crt",
                          "Subject: CN = d\nX509v3 Extended Key Usage: TLS Web Server Authentication\nX509v3 Subject "
                          "Alternative Name: DNS:api-int.a.b\n"},
                         {"p",
                          "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: n}\nspec: {hostNetwork: true, "
                          "containers: [{name: a, image: "
                          "'a@sha256:1', command: [kube-apiserver, '--tls-sni-cert-key=a.crt,a.key']}]}\n"}})));
  };
  EXPECT_THAT(found("DNS:localhost"), IsEmpty());
  EXPECT_THAT(found("DNS:other"), ElementsAre("kube-apiserver-names"));
}

TEST(Haproxy, AsksInsideTlsInTwoWays) {
  const std::string head =
      "listen api\n  mode tcp\n  bind :6443\n  timeout client 1h\n  timeout server 1h\n  option httpchk\n";
  const std::string server = "  server a 1.2.3.4:6443 check\n";
  EXPECT_THAT(codes(head + server), ElementsAre("haproxy-plain-check"));
  EXPECT_THAT(codes(head + "  http-check connect ssl\n" + server), IsEmpty());
  EXPECT_THAT(codes(head + "  server a 1.2.3.4:6443 check ssl verify none\n"), IsEmpty());
  // HyperShift's own proxy on each node: the option alone asks nothing.
  EXPECT_THAT(codes(head + "  server a 1.2.3.4:6443\n"), IsEmpty());
  EXPECT_THAT(codes("defaults\n  timeout client 10\n  timeout server 10s\n" + head.substr(0, 35) + server),
              ElementsAre("haproxy-connect-check", "haproxy-idle-timeout"));
  EXPECT_THAT(codes("defaults\n  timeout client 1s\n  timeout tunnel 1d\n" + head.substr(0, 35) + server),
              ElementsAre("haproxy-connect-check"));
  EXPECT_THAT(codes("listen other\n  mode http\n  bind :8080\n  server a 1.2.3.4:80 check\n"), IsEmpty());
  // An answer that a TCP check expects tells as much.
  const std::string tcp =
      head.substr(0, head.find("  option httpchk")) + "  option tcp-check\n  tcp-check connect ssl\n";
  EXPECT_THAT(codes(tcp + "  tcp-check send GET\\ /readyz\\r\\n\n  tcp-check expect string ok\n" + server), IsEmpty());
  EXPECT_THAT(codes(tcp + server), ElementsAre("haproxy-connect-check"));
}

TEST(Kubelets, WithAConfigurationAreLeftAlone) {
  EXPECT_THAT(codes("[Service]\nExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf\n"), IsEmpty());
  EXPECT_THAT(codes("[Service]\nExecStart=/usr/bin/kubelet --v=2 $KUBELET_ARGS\n"), IsEmpty());
  EXPECT_THAT(codes("[Service]\nExecStart=-/opt/run.sh\n"), ElementsAre("unit-path"));
  EXPECT_THAT(codes("[Service]\nExecStart=/opt/site/bin/run.sh\n"), IsEmpty());
}

TEST(Kubelets, OfABootstrapNodeHaveNoKubeconfigHoweverTheyStart) {
  const auto found = [](const std::string& unit, const std::string& script) {
    return codes(R"({"ignition": {"version": "3.2.0"}, "storage": {"files": [
 {"path": "/etc/kubernetes/manifests/a.yaml", "mode": 384, "contents": {"source": "data:,kube-apiserver"}},
 {"path": "/etc/crio/crio.conf.d/a", "mode": 420,
  "contents": {"source": "data:,[crio.image]%0Apause_image=a@sha256:1%0Aglobal_auth_file=b%0A"}},
 {"path": "/usr/local/bin/kubelet.sh", "mode": 493, "contents": {"source": "data:,%23!/bin/bash%0A)" +
                 script + R"(%0A"}}]},
 "systemd": {"units": [{"name": "kubelet.service", "enabled": true, "contents": "[Service]\nExecStart=)" +
                 unit + R"(\n"}]}})");
  };
  const std::string by_script = "/usr/local/bin/kubelet.sh", waiting = "/usr/bin/kubelet --config=/a --kubeconfig=/b";
  EXPECT_THAT(found(by_script, "exec /usr/bin/kubelet --config=/a"), IsEmpty());
  EXPECT_THAT(found(by_script, "exec " + waiting), ElementsAre("bootstrap-kubelet-kubeconfig"));
  EXPECT_THAT(found(waiting, "true"), ElementsAre("bootstrap-kubelet-kubeconfig"));
}

TEST(Environments, AgreeWithTheStatusOfInfrastructure) {
  const std::string status =
      R"({"status": {"infrastructureName": "a", "platform": "None", "platformStatus": {"type": "None"}, "apiServerURL": "b",
      "apiServerInternalURI": "https://api-int.a.b:6443", "controlPlaneTopology": "External", "infrastructureTopology": "SingleReplica"}})";
  const auto found = [](const std::string& text, const std::string& host, const std::string& port) {
    const std::string lines = "KUBERNETES_SERVICE_HOST='" + host + "'\nKUBERNETES_SERVICE_PORT='" + port + "'\n";
    return test::codes_of(check({{"s", text}, {"e", lines}}));
  };
  EXPECT_THAT(found(status, "api-int.a.b", "6443"), IsEmpty());
  EXPECT_THAT(found(status, "api.a.b", "6443"), ElementsAre("apiserver-url-env"));
  EXPECT_THAT(found(status, "int.a.b", "6443"), ElementsAre("apiserver-url-env"));
  EXPECT_THAT(found(status, "api-int.a.b", "443"), ElementsAre("apiserver-url-env"));
  std::string other = status;
  other.replace(other.find("api-int.a.b:6443"), std::string("api-int.a.b:6443").size(), "[fd01::1]:6443");
  for (const char* host : {"fd01::1", "[fd01::1]"}) EXPECT_THAT(found(other, host, "6443"), IsEmpty()) << host;
  other.replace(other.find(":6443"), std::string(":6443").size(), "/");
  EXPECT_THAT(found(other, "fd01::1", "443"), IsEmpty());
}

TEST(Environments, HaveAHostAndNoUrl) {
  const std::string port = "KUBERNETES_SERVICE_PORT='6443'\n";
  EXPECT_THAT(test::codes_of(check({{"e", "KUBERNETES_SERVICE_HOST='api-int.a.b'\n" + port}})), IsEmpty());
  EXPECT_THAT(test::codes_of(check({{"e", "KUBERNETES_SERVICE_HOST='https://api-int.a.b'\n" + port}})),
              ElementsAre("apiserver-url-env"));
}

TEST(Kubeconfigs, AreForTheHostOfTheirServer) {
  const auto found = [](const std::string& server) {
    return check(test::ExampleFiles(test::kNow)
                     .make({{"a.crt",
                             "Subject: CN = a\nX509v3 Extended Key Usage: TLS Web Server Authentication\nX509v3 "
                             "Subject Alternative Name: DNS:api.a.b, DNS:*.c.d, IP Address:192.0.2.4\n"},
                            {"k", "apiVersion: v1\nkind: Config\nusers: []\nclusters: [{name: a, cluster: {server: '" +
                                      server + "'}}]\n"}}))
        .findings.to_string();
  };
  for (const char* good :
       {"https://api.a.b:6443", "https://x.c.d/path", "https://192.0.2.4", "https://u:p@api.a.b:6443"})
    EXPECT_EQ(found(good), "") << good;
  for (const char* bad : {"https://a.b:6443", "https://x.y.c.d", "https://192.0.2.5:6443", "https://[fd01::1]:6443"})
    EXPECT_THAT(found(bad), testing::HasSubstr("[kubeconfig-server-name]")) << bad;
  EXPECT_THAT(found("https://c2Vj:cmV0@e.f"),
              testing::AllOf(testing::HasSubstr("is for e.f ["), testing::Not(testing::HasSubstr("c2Vj"))));
}

TEST(Modes, AreDecimalInJsonAndMayBeOctalInYaml) {
  const auto config = [](const std::string& mode) {
    return "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {name: 99-key}\nspec:\n"
           "  config:\n    ignition: {version: 3.2.0}\n    storage:\n      files:\n"
           "      - path: /etc/site.key\n        mode: " +
           mode +
           "\n        contents: {source: 'data:,-----BEGIN PRIVATE KEY-----%0AMIG..%0A-----END PRIVATE KEY-----%0A'}\n";
  };
  for (const char* good : {"384", "0600", "0o600"}) EXPECT_THAT(codes(config(good)), IsEmpty()) << good;
  for (const char* bad : {"420", "0644", "0o644", "600"})
    EXPECT_THAT(codes(config(bad)), ElementsAre("ignition-secret-mode")) << bad;
}

TEST(Scripts, AreReadLineByLine) {
  EXPECT_THAT(codes("#!/bin/sh\n# oc apply || true\noc get csr\nkubectl apply -f a\n"), IsEmpty());
  EXPECT_THAT(codes("#!/bin/sh\nkubectl create -f a \\\n  || true\n"), ElementsAre("apply-errors-ignored"));
  EXPECT_THAT(codes("#!/bin/sh\noc apply -f a||true\n"), ElementsAre("apply-errors-ignored"));
  EXPECT_THAT(codes("#!/bin/sh\noc apply -f a || :\n"), ElementsAre("apply-errors-ignored"));
  EXPECT_THAT(codes("#!/bin/sh\noc apply -f a || exit 1\n"), IsEmpty());
  EXPECT_THAT(codes("#!/bin/sh\nkubectl create namespace a || true\n"), IsEmpty());
  const std::string loop = "#!/bin/sh\nfor csr in $(oc get csr -o name); do\n";
  EXPECT_THAT(codes(loop + "  oc adm certificate approve $csr\ndone\n"), ElementsAre("approve-everything"));
  EXPECT_THAT(codes(loop + "  if is_ours $csr; then oc adm certificate approve $csr; fi\ndone\n"), IsEmpty());
  EXPECT_THAT(codes(loop + "  echo $csr\ndone\noc adm certificate approve csr-x7k2m\n"), IsEmpty());
  EXPECT_THAT(codes("#!/bin/sh\nfor csr in $(oc get csr -o name); do echo $csr; done\noc adm certificate approve a\n"),
              IsEmpty());
  EXPECT_THAT(codes("#!/bin/sh\noc get pod virt-launcher-a -o jsonpath='{.status.podIP}'\n"),
              ElementsAre("pod-address-of-script"));
  EXPECT_THAT(
      codes("#!/bin/sh\ncoreos-installer install /dev/vda --insecure-ignition --ignition-url=http://a/$1.ign \\\n"
            "  --ignition-hash=sha512-1\n"),
      IsEmpty());
  EXPECT_THAT(codes("#!/bin/sh\nfirewall-cmd --add-port=9090/tcp\n"), IsEmpty());
}

}  // namespace
}  // namespace hcpnet::lint

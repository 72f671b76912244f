// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "lint/rules.hpp"
#include "lint/udn.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;

constexpr Rule kRules[] = {
    {.id = "hosted-cluster-namespace",
     .severity = Severity::warning,
     .title = "a HostedCluster in what looks like its control plane's namespace",
     .why = "The control plane's namespace is `NAMESPACE-NAME`: of the HostedCluster `blue` in `clusters-blue` it is "
            "`clusters-blue-blue`. A namespace, a label or a network that was prepared for it is in the wrong place.",
     .fix = "The HostedCluster in `clusters`; what is prepared for its control plane in `clusters-blue`.",
     .source = "openshift/hypershift hypershift-operator/controllers/manifests",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters-blue}
spec: {platform: {type: KubeVirt}}
)",
     .wrong_part = "namespace: clusters-blue",
     .right_part = "namespace: clusters"},
    {.id = "hosted-cluster-services",
     .severity = Severity::error,
     .title = "a HostedCluster that does not say how each of the four services is published",
     .why = "The API server refuses it, and the field can't be changed later.",
     .fix = "APIServer, OAuthServer, Konnectivity and Ignition; `hcpnet names --services` writes them.",
     .source = "openshift/hypershift api/hypershift/v1beta1 hostedcluster_types.go",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec:
  platform: {type: KubeVirt}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: LoadBalancer, loadBalancer: {hostname: api.blue.example.com}}}
  - {service: OAuthServer, servicePublishingStrategy: {type: Route, route: {hostname: oauth.blue.example.com}}}
  - {service: Konnectivity, servicePublishingStrategy: {type: Route, route: {hostname: konnectivity.blue.example.com}}}
)",
     .wrong_part = "konnectivity.blue.example.com}}}\n",
     .right_part = "konnectivity.blue.example.com}}}\n  - {service: Ignition, servicePublishingStrategy: {type: Route, "
                   "route: {hostname: ignition.blue.example.com}}}\n"},
    {.id = "hosted-cluster-hostname",
     .severity = Severity::error,
     .title = "a name for a service that the API does not take",
     .why = "The names of Routes and load balancers have a domain and letters in it alone: no address, no wildcard, no "
            "underscore. The API server refuses the HostedCluster.",
     .fix = "A name such as `oauth.blue.example.com`.",
     .source = "openshift/hypershift api/hypershift/v1beta1, the pattern of hostname",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec:
  platform: {type: KubeVirt}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: LoadBalancer, loadBalancer: {hostname: 192.168.100.3}}}
  - {service: OAuthServer, servicePublishingStrategy: {type: Route, route: {hostname: oauth.blue.example.com}}}
  - {service: Konnectivity, servicePublishingStrategy: {type: Route, route: {hostname: konnectivity.blue.example.com}}}
  - {service: Ignition, servicePublishingStrategy: {type: Route, route: {hostname: ignition.blue.example.com}}}
)",
     .wrong_part = "hostname: 192.168.100.3",
     .right_part = "hostname: api.blue.example.com"},
    {.id = "hosted-cluster-api-int",
     .severity = Severity::warning,
     .title = "a hosted cluster's service under the name api-int",
     .why = "Nothing of HyperShift calls the API so, and no certificate has the name. It comes from self-managed "
            "clusters, "
            "and from tools that copy their names.",
     .fix = "`api.DOMAIN`",
     .source = "openshift/hypershift: no hit for api-int",
     .wrong = R"(apiVersion: hostedcluster.densityops.com/v1alpha1
kind: ProxyServer
metadata: {name: proxy, namespace: hcpnet}
spec:
  networkConfig: {serverIP: 192.168.100.3}
  backends:
  - {name: api, hostname: api-int.blue.example.com, port: 6443, targetService: kube-apiserver, targetPort: 6443, targetNamespace: clusters-blue}
)",
     .wrong_part = "hostname: api-int.",
     .right_part = "hostname: api."},
    {.id = "hosted-cluster-api-address",
     .severity = Severity::info,
     .title = "an API server that is published under an address alone",
     .why = "A choice with a consequence: kubeconfigs and nodes have the load balancer's address, which no DNS leads "
            "elsewhere, so machines of an isolated network have to reach that very address.",
     .fix = "`loadBalancer.hostname: api.DOMAIN`, before the HostedCluster is made; it can't be changed later.",
     .source = "openshift/hypershift control-plane-operator/controllers/hostedcontrolplane/kas/service.go",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec:
  platform: {type: KubeVirt}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: LoadBalancer}}
  - {service: OAuthServer, servicePublishingStrategy: {type: Route, route: {hostname: oauth.blue.example.com}}}
  - {service: Konnectivity, servicePublishingStrategy: {type: Route, route: {hostname: konnectivity.blue.example.com}}}
  - {service: Ignition, servicePublishingStrategy: {type: Route, route: {hostname: ignition.blue.example.com}}}
)",
     .wrong_part = "{type: LoadBalancer}",
     .right_part = "{type: LoadBalancer, loadBalancer: {hostname: api.blue.example.com}}"},
    {.id = "hosted-cluster-node-port",
     .severity = Severity::info,
     .title = "a service at a node port that the API server chooses",
     .why = "A choice with a consequence: a proxy, a firewall or a load balancer in front has to listen on the port, "
            "and it "
            "is known only once the cluster is there, and another after it was made anew.",
     .fix = "`nodePort.port`, from the range of node ports.",
     .source = "openshift/hypershift api/hypershift/v1beta1 NodePortPublishingStrategy",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec:
  platform: {type: KubeVirt}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: NodePort, nodePort: {address: 192.168.100.9}}}
  - {service: OAuthServer, servicePublishingStrategy: {type: Route, route: {hostname: oauth.blue.example.com}}}
  - {service: Konnectivity, servicePublishingStrategy: {type: Route, route: {hostname: konnectivity.blue.example.com}}}
  - {service: Ignition, servicePublishingStrategy: {type: Route, route: {hostname: ignition.blue.example.com}}}
)",
     .wrong_part = "{address: 192.168.100.9}",
     .right_part = "{address: 192.168.100.9, port: 30443}"},
    {.id = "image-override",
     .severity = Severity::warning,
     .title = "HyperShift with an image of somebody else",
     .why =
         "Not supported, and not kept: an upgrade or a new installation of the operator overwrites it, and an override "
         "that stays runs old code against a new API.",
     .fix = "The image of the release. KubeVirt's Cluster API provider has no default in some builds of HyperShift: "
            "there it "
            "has to be named, and this may be suppressed.",
     .source = "openshift/hypershift docs, custom images",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata:
  name: blue
  namespace: clusters
  annotations: {hypershift.openshift.io/control-plane-operator-image: "quay.io/somebody/cpo:udn"}
spec: {platform: {type: KubeVirt}}
)",
     .wrong_part =
         "  annotations: {hypershift.openshift.io/control-plane-operator-image: \"quay.io/somebody/cpo:udn\"}\n",
     .right_part = ""},
};

/// ^(?:[a-zA-Z0-9-]+\.)+[a-zA-Z]{2,}$
bool is_published_host(std::string_view host) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const std::size_t dot = host.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view top = host.substr(dot + 1), rest = host.substr(0, dot);
  const bool has_empty_label =
      rest.empty() || rest.front() == '.' || rest.back() == '.' || rest.find("..") != std::string_view::npos;
  return top.size() >= 2 && std::ranges::all_of(top, is_letter) && !has_empty_label &&
         std::ranges::all_of(rest,
                             [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
}

void check_services(const Object& cluster, Reporter& reporter) {
  const std::vector<Value>& services = items(cluster.find("/spec/services"));
  if (services.empty()) return;  // a draft that `hcpnet names --services` completes
  std::string missing;
  for (const char* name : {"APIServer", "OAuthServer", "Konnectivity", "Ignition"})
    if (std::ranges::none_of(services, [&](const Value& entry) { return scalar(entry.find("service")) == name; }))
      (missing += missing.empty() ? "" : ", ") += name;
  if (!missing.empty())
    reporter.add("hosted-cluster-services", cluster, "/spec/services",
                 "nothing says how these are published: " + missing);
  for (std::size_t i = 0; i < services.size(); ++i) {
    const std::string pointer = text::child(std::string_view("/spec/services"), i) + "/servicePublishingStrategy";
    const std::string type = cluster.at(pointer + "/type");
    std::string host;
    for (const char* field : {"/route/hostname", "/loadBalancer/hostname"})
      if (const std::string text = cluster.at(pointer + field); !text.empty()) {
        host = text;
        if (!is_published_host(text))
          reporter.add("hosted-cluster-hostname", cluster, pointer + field, text + " is no name that the API takes");
        if (text.starts_with("api-int."))
          reporter.add("hosted-cluster-api-int", cluster, pointer + field, "a hosted cluster has no api-int");
      }
    const std::string service = scalar(services[i].find("service"));
    if (service == "APIServer" && type == "LoadBalancer" && host.empty())
      reporter.add("hosted-cluster-api-address", cluster, pointer, "the API server has an address and no name");
    const std::string port = cluster.at(pointer + "/nodePort/port");
    if (type == "NodePort" && (port.empty() || port == "0" || port.starts_with('-')))
      reporter.add("hosted-cluster-node-port", cluster, pointer, "the API server chooses the port of " + service);
  }
}

void check_overrides(const Object& object, Reporter& reporter) {
  for (const char* key :
       {"hypershift.openshift.io/control-plane-operator-image", "hypershift.openshift.io/capi-provider-kubevirt-image"})
    if (object.annotation(key) != nullptr)
      reporter.add("image-override", object, "/metadata/annotations",
                   std::string(key) + " names an image of somebody else");
  for (const Container& container : containers_of(object))
    if (container.environment("IMAGE_KUBEVIRT_CAPI_PROVIDER") != nullptr && !object.is_observed)
      reporter.add("image-override", object, container.path + "/env",
                   "IMAGE_KUBEVIRT_CAPI_PROVIDER names an image of somebody else");
}

/// A backend for a Service of a hosted control plane; a self-managed cluster, which a proxy may stand in front of as
/// well, has api-int.
void check_backends(const Object& proxy, Reporter& reporter) {
  static constexpr std::array<std::string_view, 4> kServices{"kube-apiserver", "oauth-openshift", "konnectivity-server",
                                                             "ignition-server-proxy"};
  const std::vector<Value>& backends = items(proxy.find("/spec/backends"));
  for (std::size_t i = 0; i < backends.size(); ++i)
    if (scalar(backends[i].find("hostname")).starts_with("api-int.") &&
        std::ranges::find(kServices, scalar(backends[i].find("targetService"))) != kServices.end())
      reporter.add("hosted-cluster-api-int", proxy, text::child(std::string_view("/spec/backends"), i) + "/hostname",
                   "a hosted cluster has no api-int");
}

void check(const Set& set, const Options&, Reporter& reporter) {
  for (const Object& object : set.objects) {
    check_overrides(object, reporter);
    if (object.is("hostedcluster.densityops.com", "ProxyServer")) check_backends(object, reporter);
    if (!object.is("hypershift.openshift.io", "HostedCluster")) continue;
    if (object.ns.ends_with('-' + object.name))
      reporter.add("hosted-cluster-namespace", object, "/metadata/namespace",
                   "the control plane of " + object.name + " will be in " + control_plane_namespace(object));
    check_services(object, reporter);
  }
}

}  // namespace

Family hosted_cluster_rules() {
  return {"Hosted clusters", "HyperShift's HostedClusters, and what proxies for them name.", kRules, check};
}

}  // namespace hcpnet::lint

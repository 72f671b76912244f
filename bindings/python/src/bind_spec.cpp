// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <hcpnet/spec/validate.hpp>

#include "bind.hpp"
#include "casters.hpp"
#include "durations.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"
#include "sources.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace spec;

void bind_metadata(py::module_& m) {
  py::class_<ObjectMeta>(m, "ObjectMeta", "Identity of an object.")
      .def_readonly("name", &ObjectMeta::name, "str.")
      .def_readonly("namespace", &ObjectMeta::namespace_, "str.")
      .def_readonly("labels", &ObjectMeta::labels, "dict[str, str].")
      .def_readonly("annotations", &ObjectMeta::annotations, "dict[str, str].")
      .def_property_readonly("key", &ObjectMeta::key, "str: \"namespace/name\".");
}

void bind_components(py::module_& m) {
  py::class_<Ipv4Range>(m, "Ipv4Range", "Addresses from first to last, both included.")
      .def_readonly("first", &Ipv4Range::first, "IPv4Address.")
      .def_readonly("last", &Ipv4Range::last, "IPv4Address.")
      .def("__len__", &Ipv4Range::size)
      .def("__contains__", &Ipv4Range::contains, py::arg("address"))
      .def("__str__", &Ipv4Range::to_string);
  py::class_<ValidCluster>(m, "ValidCluster", "One hosted cluster on a network.")
      .def_readonly("name", &ValidCluster::name, "str: of the attachment; of a legacy Infra its dns.clusterName.")
      .def_readonly("hosted_cluster", &ValidCluster::hosted_cluster, "str: \"namespace/name\" of the HostedCluster.")
      .def_readonly("domain", &ValidCluster::domain, "str: \"<clusterName>.<baseDomain>\", lower case.")
      .def_readonly("control_plane_namespace", &ValidCluster::control_plane_namespace, "str: where its services are.")
      .def_readonly("apps_pool", &ValidCluster::apps_pool, "Ipv4Range | None: of its application addresses.")
      .def_readonly("static_apps_vip", &ValidCluster::static_apps_vip,
                    "IPv4Address | None: of an AppsPolicy; the only address of apps_pool.")
      .def_readonly("apps_vip", &ValidCluster::apps_vip, "IPv4Address | None: static, or as observed.");
  py::class_<ValidDhcp>(m, "ValidDhcp", "DHCP of a network.")
      .def_readonly("server_ip", &ValidDhcp::server_ip, "IPv4Address.")
      .def_readonly("pool", &ValidDhcp::pool, "Ipv4Range: what clients get.")
      .def_readonly("lease_time", &ValidDhcp::lease_time, "datetime.timedelta.");
  py::class_<ValidDns>(m, "ValidDns", "DNS of a network.")
      .def_readonly("server_ip", &ValidDns::server_ip, "IPv4Address.");
  py::class_<ValidProxy>(m, "ValidProxy", "Proxy of a network.")
      .def_readonly("server_ip", &ValidProxy::server_ip, "IPv4Address.")
      .def_readonly("internal_proxy_service", &ValidProxy::internal_proxy_service, "str | None: as written.");
}

void bind_dhcp_policy(py::module_& m) {
  py::class_<ValidDhcpPolicy::Pool>(m, "ValidDhcpPool", "Addresses for clients.")
      .def_readonly("range", &ValidDhcpPolicy::Pool::range, "Ipv4Range.")
      .def_readonly("client_classes", &ValidDhcpPolicy::Pool::client_classes,
                    "list[str]: whose clients get an address; empty for every client.");
  py::class_<ValidDhcpPolicy::Subnet>(m, "ValidDhcpSubnet", "A further subnet on the link.")
      .def_readonly("cidr", &ValidDhcpPolicy::Subnet::cidr, "IPv4Network.")
      .def_readonly("gateway", &ValidDhcpPolicy::Subnet::gateway, "IPv4Address | None.")
      .def_readonly("server_ip", &ValidDhcpPolicy::Subnet::server_ip, "IPv4Address | None: our own in it.")
      .def_readonly("pools", &ValidDhcpPolicy::Subnet::pools, "list[ValidDhcpPool].");
  using Store = DHCPPolicy::SharedStore;
  py::class_<Store>(m, "ValidSharedStore", "Where the leases of several servers are.")
      .def_readonly("endpoints", &Store::endpoints, "list[str]: of etcd.")
      .def_readonly("prefix", &Store::prefix, "str: what its keys begin with.")
      .def_readonly("ca_file", &Store::ca_file, "str | None; files are as they can be opened.")
      .def_readonly("certificate_file", &Store::certificate_file, "str | None.")
      .def_readonly("key_file", &Store::key_file, "str | None.")
      .def_readonly("server_name", &Store::server_name, "str | None: in etcd's certificate.")
      .def_readonly("username", &Store::username, "str | None.")
      .def_readonly("password_file", &Store::password_file, "str | None.")
      .def_readonly("max_skew", &Store::max_skew, "datetime.timedelta: by which the servers' clocks may differ.");
  py::class_<ValidDhcpPolicy>(m, "ValidDhcpPolicy", "The DHCPPolicy of a network; the defaults where there is none.")
      .def_readonly("authoritative", &ValidDhcpPolicy::authoritative, "bool.")
      .def_property_readonly(
          "identity",
          [](const ValidDhcpPolicy& policy) {
            return policy.client_identity == DHCPPolicy::ClientIdentity::mac ? "mac" : "clientID";
          },
          "str: \"mac\" or \"clientID\", by which IPv4 clients are known again.")
      .def_readonly("exclusions", &ValidDhcpPolicy::exclusions, "list[Ipv4Range]: never given from a pool.")
      .def_readonly("pools", &ValidDhcpPolicy::pools, "list[ValidDhcpPool]: after the target's own range.")
      .def_readonly("subnets", &ValidDhcpPolicy::subnets, "list[ValidDhcpSubnet].")
      .def_readonly("shared_store", &ValidDhcpPolicy::shared_store, "ValidSharedStore | None.")
      .def_property_readonly(
          "client_classes",
          [](const ValidDhcpPolicy& policy) {
            std::vector<std::string> names;
            for (const DHCPPolicy::ClientClass& one : policy.client_classes) names.push_back(one.name);
            return names;
          },
          "list[str]: their names; the earlier one wins.");
}

void bind_servers(py::module_& m) {
  py::class_<ValidInfra>(m, "ValidInfra", "A network with everything that serves it.")
      .def_readonly("metadata", &ValidInfra::metadata, "ObjectMeta.")
      .def_readonly("cidr", &ValidInfra::cidr, "IPv4Network.")
      .def_readonly("gateway", &ValidInfra::gateway, "IPv4Address | None.")
      .def_readonly("dhcp", &ValidInfra::dhcp, "ValidDhcp | None: present and enabled.")
      .def_readonly("dns", &ValidInfra::dns, "ValidDns | None: present and enabled.")
      .def_readonly("proxy", &ValidInfra::proxy, "ValidProxy | None: present and enabled.")
      .def_readonly("clusters", &ValidInfra::clusters, "list[ValidCluster]: ordered by name.")
      .def_readonly("dhcp_policy", &ValidInfra::dhcp_policy, "ValidDhcpPolicy.");
  py::class_<ValidDhcpServer>(m, "ValidDhcpServer", "A DHCPServer by itself.")
      .def_readonly("metadata", &ValidDhcpServer::metadata, "ObjectMeta.")
      .def_readonly("cidr", &ValidDhcpServer::cidr, "IPv4Network.")
      .def_readonly("gateway", &ValidDhcpServer::gateway, "IPv4Address.")
      .def_readonly("dhcp", &ValidDhcpServer::dhcp, "ValidDhcp.")
      .def_readonly("dns_servers", &ValidDhcpServer::dns_servers, "list[IPv4Address].")
      .def_readonly("policy", &ValidDhcpServer::policy, "ValidDhcpPolicy.");
  py::class_<ValidDnsServer>(m, "ValidDnsServer", "A DNSServer by itself.")
      .def_readonly("metadata", &ValidDnsServer::metadata, "ObjectMeta.")
      .def_readonly("server_ip", &ValidDnsServer::server_ip, "IPv4Address.")
      .def_readonly("port", &ValidDnsServer::port, "int.")
      .def_readonly("domain", &ValidDnsServer::domain, "str: hostedClusterDomain, lower case.");
  py::class_<ValidProxyServer>(m, "ValidProxyServer", "A ProxyServer by itself.")
      .def_readonly("metadata", &ValidProxyServer::metadata, "ObjectMeta.")
      .def_readonly("server_ip", &ValidProxyServer::server_ip, "IPv4Address.");
}

}  // namespace

void bind_spec(py::module_& parent) {
  py::module_ m = parent.def_submodule("spec", "Reading and checking specs.");
  bind_metadata(m);
  bind_components(m);
  bind_dhcp_policy(m);
  bind_servers(m);
  py::class_<ValidSet>(m, "ValidSet", "A set of specs that has passed every rule.")
      .def_readonly("infras", &ValidSet::infras, "list[ValidInfra].")
      .def_readonly("dhcp_servers", &ValidSet::dhcp_servers, "list[ValidDhcpServer].")
      .def_readonly("dns_servers", &ValidSet::dns_servers, "list[ValidDnsServer].")
      .def_readonly("proxy_servers", &ValidSet::proxy_servers, "list[ValidProxyServer].")
      .def_property_readonly(
          "warnings", [](const ValidSet& set) { return to_list(set.warnings); },
          "list[Diagnostic]: accepted and yet worth a look.");
  m.def(
      "check",
      [](const py::dict& texts, bool hosted_clusters, const py::dict& record_files) {
        const std::vector<SourceText> sources = to_sources(texts);
        const std::vector<RecordText> records = to_records(record_files);
        const WithoutGil no_gil;
        return validate(load(sources, {}, hosted_clusters ? KindSet::names : KindSet::network), records).value();
      },
      py::arg("texts"), py::kw_only(), py::arg("hosted_clusters") = false, py::arg("record_files") = py::dict(),
      R"doc(Read and check a set of specs.

Args:
    texts (dict[str, str]): one set, by the names that findings call them; one that ends in ".json" is JSON, any other YAML.
    hosted_clusters (bool): HostedClusters may be among them.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    ValidSet: addresses, names and servers, as they will be served.
Raises:
    SpecError: ``diagnostics`` holds every problem at once.
Spec:
    hostedcluster.densityops.com/v1alpha1 and hcpnet.io/v1alpha1.)doc");
}

}  // namespace hcpnet::python

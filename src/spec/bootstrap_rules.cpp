// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "spec/format.hpp"
#include "spec/names.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kNetworks = "/spec/networks";
const std::string kNodes = "/spec/nodes";

std::string at_node(std::size_t index, const char* field) {
  return kNodes + '/' + std::to_string(index) + '/' + field;
}

class BootstrapRules {
 public:
  explicit BootstrapRules(Examined<BootstrapCluster>& cluster)
      : cluster_(cluster.value), subject_(cluster.subject), plan_(cluster.plan) {}

  void run() {
    check_domain();
    check_networks();
    check_host_prefix();
    check_addresses();
    check_names_and_macs();
    check_disks();
    check_roles();
    check_authorities();
  }

 private:
  /// The value at `pointer` as `parse` reads it, if nothing is wrong with it so far.
  template <class Parse>
  auto good(const std::string& pointer, const std::string& text, Parse parse) const -> decltype(parse(text)) {
    if (!subject_.is_good(pointer)) return {};
    return parse(text);
  }
  std::optional<Ipv4Cidr> network(const char* name, const std::string& text) const {
    return good(kNetworks + '/' + name, text, [](const std::string& t) { return parse_ipv4_cidr(t); });
  }

  /// The longest name that the cluster has of itself has to fit into DNS.
  void check_domain() {
    constexpr std::string_view kLongest = "downloads-openshift-console.apps.";
    if (!subject_.is_good("/spec/clusterName") || !subject_.is_good("/spec/baseDomain")) return;
    const std::size_t bytes = kLongest.size() + cluster_.cluster_name.size() + 1 + cluster_.base_domain.size();
    if (bytes > kMaxNameBytes)
      subject_.error(code::bad_hostname, "/spec/baseDomain",
                     "the name " + std::string(kLongest) + "<clusterName>.<baseDomain> would have " +
                         std::to_string(bytes) + " characters; 253 are allowed");
  }

  void check_networks() {
    std::vector<std::pair<const char*, Ipv4Cidr>> seen;
    for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"machine", cluster_.networks.machine},
                                     {"pod", cluster_.networks.pod},
                                     {"service", cluster_.networks.service}}) {
      const auto cidr = network(name, text);
      if (!cidr) continue;
      const auto other = std::ranges::find_if(seen, [&](const auto& s) { return Cidr(s.second).overlaps(*cidr); });
      if (other != seen.end())
        subject_.error(code::networks_overlap, kNetworks + '/' + name,
                       cidr->to_string() + " overlaps the " + other->first + " network " + other->second.to_string());
      else
        seen.emplace_back(name, *cidr);
    }
  }

  void check_host_prefix() {
    const auto pod = network("pod", cluster_.networks.pod);
    const std::string pointer = kNetworks + "/hostPrefix";
    if (!pod || !subject_.is_good(pointer)) return;
    if (cluster_.networks.host_prefix <= pod->prefix_length())
      return subject_.error(
          code::out_of_range, pointer,
          "each node gets a part of the pod network: longer than /" + std::to_string(pod->prefix_length()));
    const std::uint64_t parts = std::uint64_t{1} << (cluster_.networks.host_prefix - pod->prefix_length());
    if (parts < cluster_.nodes.size())
      subject_.error(code::out_of_range, pointer,
                     "the pod network has " + std::to_string(parts) + " parts of this size, for " +
                         std::to_string(cluster_.nodes.size()) + " nodes");
  }

  void check_addresses() {
    std::vector<OwnedAddress> owned;
    const auto add = [&](std::string owner, std::string pointer, const std::string& text) {
      const auto address = good(pointer, text, [](const std::string& t) { return parse_ipv4(t); });
      if (address) owned.push_back({std::move(owner), std::move(pointer), *address});
    };
    if (cluster_.networks.gateway) add("networks.gateway", kNetworks + "/gateway", *cluster_.networks.gateway);
    add("apiVIP", "/spec/apiVIP", cluster_.api_vip);
    add("ingressVIP", "/spec/ingressVIP", cluster_.ingress_vip);
    for (std::size_t i = 0; i < cluster_.nodes.size(); ++i)
      add("the address of node " + std::to_string(i), at_node(i, "address"), cluster_.nodes[i].address);
    plan_ = check_network(subject_, network("machine", cluster_.networks.machine), std::move(owned), dhcp_range());
  }

  std::optional<RangeFields> dhcp_range() {
    const std::optional<std::string>& start = cluster_.networks.dhcp_start;
    const std::optional<std::string>& end = cluster_.networks.dhcp_end;
    if (!start && !end) return {};
    const std::string start_pointer = kNetworks + "/dhcpStart", end_pointer = kNetworks + "/dhcpEnd";
    if (!start || !end) {
      const std::string& pointer = start ? end_pointer : start_pointer;
      if (subject_.is_good(pointer)) subject_.missing(pointer, "a range has both ends");
      return {};
    }
    const auto parse = [](const std::string& t) { return parse_ipv4(t); };
    return RangeFields{start_pointer, end_pointer, good(start_pointer, *start, parse), good(end_pointer, *end, parse)};
  }

  void check_names_and_macs() {
    std::map<std::string, std::size_t> names;
    std::map<MacAddress, std::size_t> macs;
    for (std::size_t i = 0; i < cluster_.nodes.size(); ++i) {
      if (const std::string pointer = at_node(i, "name"); subject_.is_good(pointer)) {
        const auto [first, is_new] = names.emplace(cluster_.nodes[i].name, i);
        if (!is_new)
          subject_.error(code::duplicate_name, pointer, "node " + std::to_string(first->second) + " has this name");
        else if (cluster_.nodes[i].name == "api" || cluster_.nodes[i].name == "api-int")
          subject_.error(code::duplicate_name, pointer, "in the zone of the nodes this is the name of the API");
        else if (cluster_.nodes[i].name == "localhost")
          subject_.error(code::bad_name, pointer, "a machine of this name counts as one without a name");
      }
      const std::string pointer = at_node(i, "macAddress");
      const auto mac =
          good(pointer, cluster_.nodes[i].mac_address, [](const std::string& t) { return parse_mac_address(t); });
      if (!mac) continue;
      const auto [first, is_new] = macs.emplace(*mac, i);
      if (!is_new)
        subject_.error(code::duplicate_name, pointer,
                       "node " + std::to_string(first->second) + " has this MAC address");
    }
  }

  /// It stands in scripts, and in what is typed at a console, without quotes.
  void check_disks() {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._:+=-";
    for (std::size_t i = 0; i < cluster_.nodes.size(); ++i) {
      const std::string& disk = cluster_.nodes[i].disk;
      const std::string pointer = at_node(i, "disk");
      if (subject_.is_good(pointer) && (disk.find_first_not_of(kPlain) != std::string::npos || disk.starts_with('-')))
        subject_.error(code::bad_name, pointer, "a device such as /dev/vda, of letters, digits and /._:+=- only");
    }
  }

  /// etcd needs more than half of its members: four bear the loss of one, as three do.
  void check_roles() {
    if (!subject_.is_good(kNodes)) return;
    std::size_t bootstrap = 0, control_plane = 0;
    for (std::size_t i = 0; i < cluster_.nodes.size(); ++i) {
      const std::string pointer = at_node(i, "role");
      if (!subject_.is_good(pointer)) return;  // nothing is known of how many there are
      control_plane += cluster_.nodes[i].role == NodeRole::control_plane ? 1 : 0;
      if (cluster_.nodes[i].role == NodeRole::bootstrap && ++bootstrap == 2)
        subject_.error(code::bad_nodes, pointer, "one node bootstraps; there is one already");
    }
    if (bootstrap == 0) subject_.error(code::bad_nodes, kNodes, "a node with the role Bootstrap is needed");
    for (std::size_t i = 0; bootstrap > 0 && i < cluster_.nodes.size(); ++i)
      if (const std::string pointer = at_node(i, "name"); cluster_.nodes[i].name == "bootstrap" &&
                                                          cluster_.nodes[i].role != NodeRole::bootstrap &&
                                                          subject_.is_good(pointer))
        subject_.error(code::duplicate_name, pointer, "certificates of the bootstrap node have this name");
    if (control_plane == 0) subject_.error(code::bad_nodes, kNodes, "a node with the role ControlPlane is needed");
    if (control_plane > 0 && control_plane % 2 == 0)
      subject_.warning(code::even_control_plane, kNodes,
                       std::to_string(control_plane) + " control-plane nodes bear no more losses than " +
                           std::to_string(control_plane - 1));
  }

  void check_authorities() {
    std::map<std::string, std::size_t> names;
    for (std::size_t i = 0; i < cluster_.pki.authorities.size(); ++i) {
      const std::string pointer = "/spec/pki/authorities/" + std::to_string(i) + "/name";
      if (!subject_.is_good(pointer)) continue;
      const auto [first, is_new] = names.emplace(cluster_.pki.authorities[i].name, i);
      if (!is_new)
        subject_.error(code::duplicate_name, pointer, "authority " + std::to_string(first->second) + " has this name");
    }
  }

  const BootstrapCluster& cluster_;
  Subject& subject_;
  NetworkPlan& plan_;
};

}  // namespace

void check_bootstrap_cluster(Examined<BootstrapCluster>& cluster) {
  BootstrapRules(cluster).run();
}

}  // namespace hcpnet::spec

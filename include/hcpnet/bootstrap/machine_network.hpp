// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/pki/file_set.hpp>
#include <hcpnet/rendered_file.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The network of a cluster's machines: its names, and on a host with libvirt the network itself, the machines and the
/// packet filter. Pure. Thread-safe.
namespace hcpnet::bootstrap {

/// What an earlier rendering gave, by name.
using PreviousZones = std::map<std::string, std::string>;

/// Zone files (RFC 1035), "zones/ZONE.zone": the cluster's domain with api, api-int, *.apps and the nodes; and the
/// addresses of the machine network, with PTR records of the API address and the nodes. A network that ends inside an
/// octet is in the zone of the octet above it. A zone that says the same as in `previous` keeps its serial, a changed
/// one gets a greater one, YYYYMMDD00 of `day` where that is greater.
[[nodiscard]] std::vector<RenderedFile> render_zones(const spec::ValidBootstrapCluster& cluster,
                                                     const PreviousZones& previous = {},
                                                     std::optional<std::uint32_t> day = {});

/// A network of libvirt: NAT, the same names by its DNS, and each node's address by its DHCP, for the time in which it
/// runs from the live ISO. Empty without a gateway, whose address is this host's: the bridge is then somebody else's.
[[nodiscard]] std::string render_libvirt_network(const spec::ValidBootstrapCluster& cluster);

/// A machine of libvirt, "<cluster>-<node>", with a disk and the live ISO. It boots from the disk; an empty one falls
/// through to the ISO. Its UUID is made of its name, so that who defines it again changes it.
[[nodiscard]] std::string render_libvirt_domain(const spec::ValidBootstrapCluster& cluster,
                                                const spec::ValidNode& node);
/// "<cluster>-<node>"
[[nodiscard]] std::string machine_name(const spec::ValidBootstrapCluster& cluster, const spec::ValidNode& node);

/// Rules for nft, in a table of their own that replaces itself: to the virtual addresses only the load balancer's
/// ports, 22623 for machines alone, because what it serves holds keys; and the machines' addresses hidden behind this
/// host's when they leave their network.
[[nodiscard]] std::string render_packet_filter(const spec::ValidBootstrapCluster& cluster);

/// The same for a host with firewalld, below /etc/firewalld: a zone of the machines' addresses, a service for each
/// virtual address and port, a policy that lets machines out behind this host's address.
[[nodiscard]] std::vector<RenderedFile> render_firewalld(const spec::ValidBootstrapCluster& cluster);

/// A systemd unit that gives the bridge the virtual addresses whenever it is there.
[[nodiscard]] std::string render_address_unit(const spec::ValidBootstrapCluster& cluster);

/// All of these: zones/, libvirt/network.xml, libvirt/machines/NODE.xml, nftables.nft, firewalld/, and
/// virtual-addresses.service where keepalived doesn't hold the addresses.
[[nodiscard]] std::vector<pki::OutputFile> render_machine_network(const spec::ValidBootstrapCluster& cluster,
                                                                  const PreviousZones& previous = {},
                                                                  std::optional<std::uint32_t> day = {});

}  // namespace hcpnet::bootstrap

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp6/config.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace hcpnet::dhcp {

/// By what a client is known again (RFC 2131 section 4.2).
enum class Identity : std::uint8_t {
  mac,        ///< its hardware address, whatever identifier it shows: firmware, installer and installed system of one
              ///< machine are one client, machines cloned from one image are several
  client_id,  ///< its client identifier (option 61, RFC 4361), whatever interface it comes from; one that sends none is
              ///< known by what RFC 2132 section 9.14 makes of a hardware address: 1, for Ethernet, and the address
};

/// An address kept for one client by configuration; of `mac` and `client_id` one is there.
struct Reservation {
  std::optional<MacAddress> mac;
  Ipv4 address;
  std::string host_name;       ///< may be empty
  std::string client_id = {};  ///< option 61 as sent; it goes before a hardware address that another one is for
};

/// An option to send as it is (RFC 2132 numbering, 1 to 254); longer than 255 bytes is split as RFC 3396 says.
struct RawOption {
  std::uint8_t code = 0;
  std::vector<std::uint8_t> data;
  friend bool operator==(const RawOption&, const RawOption&) = default;
};

/// Of one link; a client may be in several.
inline constexpr std::size_t kMaxClientClasses = 64;
/// Of all subnets on one link together.
inline constexpr std::size_t kMaxPools = 8192;

/// What the fields of BOOTP tell a machine that boots from the network (RFC 2131 section 2).
struct Boot {
  Ipv4 next_server;              ///< siaddr; 0.0.0.0: not told
  std::string server_host_name;  ///< sname, at most 63 bytes; empty: not told
  std::string file;              ///< file, at most 127 bytes; empty: not told
};

/// A kind of client, known by what its messages carry.
struct ClientClass {
  std::string name;
  /// Every list that is not empty has to have an item that fits. Texts are compared byte by byte.
  struct Match {
    std::vector<std::string> vendor_classes = {};  ///< option 60 begins with it (RFC 2132 section 9.13)
    std::vector<std::string> user_classes = {};    ///< a user class of option 77 (RFC 3004), or the whole option
    std::vector<std::vector<std::uint8_t>> mac_prefixes = {};    ///< the hardware address begins with it
    std::vector<std::string> circuit_ids = {}, remote_ids = {};  ///< sub-options 1 and 2 of option 82 (RFC 3046)
    std::vector<std::uint16_t> architectures = {};               ///< one of option 93 (RFC 4578 section 2.1)
  } match;
  std::vector<RawOption> options;  ///< before those of pool and subnet
  Boot boot;                       ///< before that of the subnet, each field by itself
};

/// Addresses for clients.
struct Pool {
  Ipv4Range range;
  /// Only clients of one of these classes get an address here, and they get one here first. Empty: every client. A
  /// class that is not there has no clients.
  std::vector<std::string> client_classes = {};
  std::vector<RawOption> options = {};  ///< for clients whose address lies in it, before those of the subnet
};

/// Messages of one client beyond this are dropped: a bucket of `burst` messages that fills up again in time.
struct ClientRateLimit {
  std::uint32_t messages_per_second = 0;
  std::uint32_t burst = 0;
};

/// A store of leases that several servers share: etcd, by its API v3 (docs/dhcp.md, "More than one server").
struct SharedStore {
  /// "https://192.0.2.9:2379", at least one. The next one is turned to where one does not answer.
  std::vector<std::string> endpoints;
  std::string prefix;  ///< what the keys begin with, no slash at its end: servers with the same one share their leases
  // PEM files, read at each connection. All of them may be empty.
  std::string ca_file = {};           ///< who may sign etcd's certificate; empty: whom the system trusts
  std::string certificate_file = {};  ///< our own, with key_file; empty: none
  std::string key_file = {};
  std::string server_name = {};    ///< in etcd's certificate; empty: the host of the endpoint
  std::string username = {};       ///< empty: etcd asks for none
  std::string password_file = {};  ///< its first line is the password
  /// How far apart the calendars of the servers may be. An address is given to another client only when its lease has
  /// been over for longer.
  std::chrono::seconds max_skew{5};
  friend bool operator==(const SharedStore&, const SharedStore&) = default;
};

/// One network that is served.
struct Subnet {
  /// Of the Infra or DHCPServer, "namespace/name"; of a further subnet of a shared network with its network after it,
  /// "namespace/name/198.51.100.0/24". Unique.
  std::string name;
  Ipv4Cidr cidr;
  Ipv4 server_id;           ///< our address on the link; also names the interface that is served
  std::vector<Pool> pools;  ///< in the order of preference; where two overlap the first one has the address
  std::optional<Ipv4> router;
  std::vector<Ipv4> dns_servers;
  std::string domain_name;  ///< empty: not sent
  /// The domain below which clients have names in our DNS, for clients that ask (option 81, RFC 4702); no dot at its
  /// end. Empty: they have none.
  std::string names_domain = {};
  std::chrono::seconds lease_time{3600};
  bool authoritative = true;
  std::vector<RawOption> options;  ///< instead of, or in addition to, what follows from the fields above
  Identity identity = Identity::mac;
  std::vector<Reservation> reservations;
  std::vector<Ipv4Range> exclusions;  ///< never given from a pool; a reservation may lie in one
  /// Subnets with the same name here are on one link, not empty: a shared network. They stand together; the first of
  /// them says what holds for all: authoritative, identity, client_classes, rate_limit, probe_timeout, shared_store. A
  /// client has one lease on the link, in whichever of them; the others may have no address of ours, then `server_id`
  /// is that of the first.
  std::string shared_network;
  std::vector<ClientClass> client_classes;  ///< the earlier one wins where two give the same option
  Boot boot;
  std::optional<ClientRateLimit> rate_limit;  ///< absent: none
  /// An address is asked for before it is offered (RFC 2131 section 3.1), and the offer waits so long for an answer.
  /// Absent: it is not.
  std::optional<std::chrono::milliseconds> probe_timeout;
  std::optional<SharedStore> shared_store;  ///< absent: the pools are this server's alone
};

struct Config {
  std::vector<Subnet> subnets;
  std::unordered_map<MacAddress, std::string> host_names;  ///< observed: VM name by interface address
  std::vector<dhcp6::Subnet> subnets6;                     ///< none: no DHCPv6
};

}  // namespace hcpnet::dhcp

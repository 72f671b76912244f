// SPDX-License-Identifier: Apache-2.0
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp/server.hpp>

#include "bind.hpp"
#include "casters.hpp"
#include "text.hpp"
#include "utc.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace dhcp;

void bind_lease(py::module_& m) {
  py::native_enum<LeaseState>(m, "LeaseState", "enum.Enum", "What a lease is worth.")
      .value("bound", LeaseState::bound)
      .value("released", LeaseState::released)
      .value("expired", LeaseState::expired)
      .value("declined", LeaseState::declined)
      .finalize();
  py::class_<Lease>(m, "Lease", "A binding and how long it lasts, as synced to disk.")
      .def_readonly("address", &Lease::address, "IPv4Address.")
      .def_readonly("mac", &Lease::mac, "str: lower case, colons.")
      .def_property_readonly(
          "client_id", [](const Lease& l) { return raw_bytes(l.client_id); },
          "bytes: option 61; empty when none was sent.")
      .def_property_readonly(
          "host_name", [](const Lease& l) { return peer_text(l.host_name); }, "str: option 12; empty when unknown.")
      .def_readonly(
          "subnet", &Lease::subnet,
          "str: the Infra or DHCPServer, \"namespace/name\"; a further subnet of its link has its network after that.")
      .def_readonly("state", &Lease::state, "LeaseState.")
      .def_property_readonly(
          "started", [](const Lease& l) { return utc(l.started); }, "datetime.datetime: UTC.")
      .def_property_readonly("expires", [](const Lease& l) { return utc(l.expires); }, "datetime.datetime: UTC.");
  py::native_enum<LeaseEventKind>(m, "LeaseEventKind", "enum.Enum", "What happened to a lease.")
      .value("bound", LeaseEventKind::bound)
      .value("renewed", LeaseEventKind::renewed)
      .value("released", LeaseEventKind::released)
      .value("expired", LeaseEventKind::expired)
      .value("declined", LeaseEventKind::declined)
      .value("conflict", LeaseEventKind::conflict)
      .finalize();
  py::class_<LeaseEvent>(m, "LeaseEvent", "A change of a lease, after it is on disk.")
      .def_readonly("kind", &LeaseEvent::kind, "LeaseEventKind.")
      .def_readonly("lease", &LeaseEvent::lease, "Lease: after the change.");
}

}  // namespace

void bind_dhcp(py::module_& parent) {
  py::module_ m = parent.def_submodule("dhcp", "Leases and counters of DHCP.");
  bind_lease(m);
  py::class_<ServerStats::PerPool>(m, "PoolStats", "Gauges of one pool.")
      .def_readonly("range", &ServerStats::PerPool::range, "spec.Ipv4Range: as configured.")
      .def_readonly("size", &ServerStats::PerPool::size, "int: addresses to give; none that is excluded or reserved.")
      .def_readonly("bound", &ServerStats::PerPool::bound, "int.")
      .def_readonly("offered", &ServerStats::PerPool::offered, "int.")
      .def_readonly("declined", &ServerStats::PerPool::declined, "int.");
  py::class_<ServerStats::PerSubnet>(m, "SubnetStats",
                                     "Gauges of one network, of reservations and leases outside its pools as well.")
      .def_readonly("pool_size", &ServerStats::PerSubnet::pool_size, "int: addresses to give.")
      .def_readonly("bound", &ServerStats::PerSubnet::bound, "int.")
      .def_readonly("offered", &ServerStats::PerSubnet::offered, "int.")
      .def_readonly("declined", &ServerStats::PerSubnet::declined, "int.")
      .def_readonly("pools", &ServerStats::PerSubnet::pools, "list[PoolStats]: of DHCPv4, as configured.");
  py::class_<ServerStats::V6>(m, "ServerStats6", "Those of DHCPv6.")
      .def_readonly("received", &ServerStats::V6::received, "dict[str, int]: by message type, such as \"SOLICIT\".")
      .def_readonly("sent", &ServerStats::V6::sent, "dict[str, int]: by message type.")
      .def_readonly("dropped", &ServerStats::V6::dropped, "dict[str, int]: by reason.")
      .def_readonly("events", &ServerStats::V6::events, "dict[str, int]: of leases, such as \"bound\".")
      .def_readonly("subnets", &ServerStats::V6::subnets, "dict[str, SubnetStats]: by Infra or DHCPServer.");
  py::class_<ServerStats::Shared>(m, "SharedStats", "Of leases that are shared with other servers.")
      .def_readonly("is_reachable", &ServerStats::Shared::is_reachable,
                    "bool: the store; while it is not, nobody is answered.")
      .def_readonly("claims", &ServerStats::Shared::claims,
                    "dict[str, int]: writes of leases by result: \"owned\", \"lost\", \"unreachable\".")
      .def_readonly("taken", &ServerStats::Shared::taken, "int: records of other servers.")
      .def_readonly("unreadable", &ServerStats::Shared::unreadable,
                    "int: of them, damaged or of a later version; their addresses rest.")
      .def_readonly("losses", &ServerStats::Shared::losses, "int: of the connection.");
  py::class_<ServerStats>(m, "ServerStats", "Counters since start.")
      .def_readonly("received", &ServerStats::received, "dict[str, int]: by message type, such as \"DISCOVER\".")
      .def_readonly("sent", &ServerStats::sent, "dict[str, int]: by message type.")
      .def_readonly("dropped", &ServerStats::dropped, "dict[str, int]: by reason.")
      .def_readonly("events", &ServerStats::events, "dict[str, int]: of leases, such as \"bound\".")
      .def_readonly("probes", &ServerStats::probes,
                    "dict[str, int]: of addresses before they were offered: \"unanswered\", \"answered\".")
      .def_readonly("commits", &ServerStats::commits, "int: group commits that reached the disk.")
      .def_readonly("commit_failures", &ServerStats::commit_failures, "int.")
      .def_readonly(
          "subnets", &ServerStats::subnets,
          "dict[str, SubnetStats]: by Infra or DHCPServer; a further subnet of its link has its network after that.")
      .def_readonly("shared", &ServerStats::shared,
                    "dict[str, SharedStats]: by Infra or DHCPServer, those whose policy has sharedStore.")
      .def_readonly("v6", &ServerStats::v6, "ServerStats6.");
}

}  // namespace hcpnet::python

// SPDX-License-Identifier: Apache-2.0
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include <hcpnet/dns/server.hpp>
#include <hcpnet/dns/zone.hpp>

#include "bind.hpp"
#include "casters.hpp"
#include "text.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace dns;

py::list rdata(const RRset& rrset) {
  py::list list;
  for (const std::string& data : rrset.rdata) list.append(raw_bytes(data));
  return list;
}

}  // namespace

void bind_dns(py::module_& parent) {
  py::module_ m = parent.def_submodule("dns", "Zones and counters of DNS.");
  py::class_<RRset>(m, "RRset", "Records of one owner, type and TTL (RFC 2181 section 5).")
      .def_property_readonly(
          "owner", [](const RRset& r) { return r.owner.to_string(); }, "str: presentation form with a dot at the end.")
      .def_property_readonly(
          "type", [](const RRset& r) { return static_cast<unsigned>(r.type); }, "int: RR type; 1 is A.")
      .def_readonly("ttl", &RRset::ttl, "int: seconds.")
      .def_property_readonly("rdata", &rdata, "list[bytes]: wire form, names uncompressed.");
  py::class_<Zone, std::shared_ptr<Zone>>(m, "Zone", "Authoritative data under one apex.")
      .def_property_readonly(
          "apex", [](const Zone& z) { return z.apex().to_string(); }, "str: presentation form with a dot at the end.")
      .def_property_readonly(
          "rrsets", [](const Zone& z) { return z.rrsets(); }, "list[RRset]: canonical order, SOA first.");
  py::class_<ServerStats>(m, "ServerStats", "Counters since start, and gauges.")
      .def_readonly("queries_udp", &ServerStats::queries_udp, "int.")
      .def_readonly("queries_tcp", &ServerStats::queries_tcp, "int.")
      .def_readonly("responses", &ServerStats::responses, "dict[str, int]: by RCODE name, such as \"NXDOMAIN\".")
      .def_readonly("by_view", &ServerStats::by_view, "dict[str, int]: queries by view.")
      .def_readonly("dropped", &ServerStats::dropped, "dict[str, int]: by reason.")
      .def_readonly("format_errors", &ServerStats::format_errors,
                    "dict[str, int]: queries answered FORMERR, by what was wrong with them.")
      .def_readonly("cookies", &ServerStats::cookies,
                    "dict[str, int]: queries by what their cookie was: \"client_only\", \"invalid\", \"valid\".")
      .def_readonly("transfers", &ServerStats::transfers, "int: zone transfers begun.")
      .def_readonly("notifies_sent", &ServerStats::notifies_sent, "int.")
      .def_readonly("notifies_acknowledged", &ServerStats::notifies_acknowledged, "int.")
      .def_readonly("notifies_failed", &ServerStats::notifies_failed, "int.")
      .def_readonly("forwarded", &ServerStats::forwarded, "int.")
      .def_readonly("forward_failures", &ServerStats::forward_failures, "int.")
      .def_readonly("cache_hits", &ServerStats::cache_hits, "int.")
      .def_readonly("cache_misses", &ServerStats::cache_misses, "int.")
      .def_readonly("stale_answers", &ServerStats::stale_answers, "int: given after their time.")
      .def_readonly("prefetches", &ServerStats::prefetches, "int.")
      .def_readonly("upstream_replies", &ServerStats::upstream_replies,
                    "dict[str, dict[str, int]]: by upstream, then by RCODE name, \"timeout\" or \"error\".")
      .def_readonly("cache_entries", &ServerStats::cache_entries, "int: gauge.")
      .def_readonly("pending_forwards", &ServerStats::pending_forwards, "int: gauge.");
  bind_dns_render(m);
}

}  // namespace hcpnet::python

// SPDX-License-Identifier: Apache-2.0
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include <hcpnet/dns/explain.hpp>
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

std::vector<std::string> lines(const RRset& rrset) {
  std::vector<std::string> all;
  for (const std::string& data : rrset.rdata)
    all.push_back(to_line({rrset.owner, rrset.type, kClassIn, rrset.ttl, data}));
  return all;
}

/// What every histogram has.
template <class Histogram>
py::class_<Histogram> bind_histogram(py::module_& m, const char* name, const char* doc, const char* unit) {
  return py::class_<Histogram>(m, name, doc)
      .def_property_readonly(
          "bounds", [](const Histogram& h) { return std::vector<double>(h.kBounds.begin(), h.kBounds.end()); }, unit)
      .def_property_readonly(
          "counts", [](const Histogram& h) { return std::vector<std::uint64_t>(h.counts.begin(), h.counts.end()); },
          "list[int]: up to each bound, and beyond the last.");
}

void bind_server_stats(py::module_& m) {
  py::class_<ServerStats::Requests>(m, "Requests", "Queries of one kind.")
      .def_readonly("proto", &ServerStats::Requests::proto, "str: \"udp\" or \"tcp\".")
      .def_readonly("family", &ServerStats::Requests::family, "int: 1 for IPv4, 2 for IPv6.")
      .def_readonly("type", &ServerStats::Requests::type,
                    "str: such as \"A\"; \"other\" for those that are seldom asked for.")
      .def_readonly("count", &ServerStats::Requests::count, "int.");
  bind_histogram<ServerStats::Durations>(m, "Durations", "How long replies took, from the receipt of the query.",
                                         "list[float]: seconds, ascending.")
      .def_readonly("sum_seconds", &ServerStats::Durations::sum_seconds, "float: of all replies.");
  bind_histogram<ServerStats::Sizes>(m, "Sizes", "How large messages were.", "list[float]: bytes, ascending.")
      .def_readonly("sum_bytes", &ServerStats::Sizes::sum_bytes, "int: of all messages.");
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
      .def_readonly("chains_cut", &ServerStats::chains_cut,
                    "int: replies that end after 8 aliases, or lead to too many upstreams.")
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
                    "dict[str, dict[str, int]]: by upstream, then by RCODE name, \"other\", \"timeout\" or \"error\".")
      .def_readonly("cache_entries", &ServerStats::cache_entries, "int: gauge.")
      .def_readonly("cache_bytes", &ServerStats::cache_bytes, "int: gauge.")
      .def_readonly("cache_evictions", &ServerStats::cache_evictions, "int: answers that made room for others.")
      .def_readonly("pending_forwards", &ServerStats::pending_forwards, "int: gauge.")
      .def_readonly("coalesced", &ServerStats::coalesced, "int: queries that joined a question in flight.")
      .def_readonly("upstream_probes", &ServerStats::upstream_probes, "int: of upstreams that were silent.")
      .def_readonly("case_changed", &ServerStats::case_changed, "int: upstreams that do not keep the case of names.")
      .def_readonly("tcp_connections", &ServerStats::tcp_connections, "int: gauge.")
      .def_readonly("requests", &ServerStats::requests, "list[Requests]: those that there were.")
      .def_readonly("durations", &ServerStats::durations, "Durations.")
      .def_readonly("upstream_durations", &ServerStats::upstream_durations,
                    "dict[str, dict[str, Durations]]: of replies, by upstream and RCODE name.")
      .def_readonly("query_sizes", &ServerStats::query_sizes, "dict[str, Sizes]: by \"udp\" and \"tcp\".")
      .def_readonly("response_sizes", &ServerStats::response_sizes, "dict[str, Sizes]: by \"udp\" and \"tcp\".");
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
      .def_property_readonly("rdata", &rdata, "list[bytes]: wire form, names uncompressed.")
      .def_property_readonly("lines", &lines, "list[str]: the records, as lines of a zone file.");
  py::class_<Zone, std::shared_ptr<Zone>>(m, "Zone", "Authoritative data under one apex.")
      .def_property_readonly(
          "apex", [](const Zone& z) { return z.apex().to_string(); }, "str: presentation form with a dot at the end.")
      .def_property_readonly(
          "rrsets", [](const Zone& z) { return z.rrsets(); }, "list[RRset]: canonical order, SOA first.")
      .def_property_readonly(
          "is_available", [](const Zone& z) { return z.is_available(); },
          "bool: False where nobody knows what its names point to; queries are answered SERVFAIL.");
  bind_server_stats(m);
  bind_dns_render(m);
}

}  // namespace hcpnet::python

// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <hcpnet/dns/explain.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <hcpnet/stack.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/files.hpp>

#include "bind.hpp"
#include "casters.hpp"
#include "dns_arguments.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"
#include "sources.hpp"
#include "text.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace dns;

std::vector<DnsServerConfig> servers_of(const py::dict& texts, const py::dict& observed, const py::dict& record_files) {
  const SourceFiles files{to_sources(texts), to_sources(observed), {}, to_records(record_files)};
  const WithoutGil no_gil;
  const auto checked = check_files(files).value();
  return make_stack_config(checked.set, checked.observed, {}).value().dns;
}

py::dict render_servers(const py::dict& texts, const std::string& target_name, const py::dict& observed,
                        const py::dict& record_files, RenderOptions options) {
  const auto target = parse_render_target(target_name);
  if (!target) throw py::value_error("'" + target_name + "' is not a target");
  py::dict all;
  for (const DnsServerConfig& server : servers_of(texts, observed, record_files)) {
    options.coredns.cache_ttl = server.cache_ttl;
    py::dict files;
    for (const RenderedFile& file : render(server.config, *target, options).value().files)
      files[py::str(file.name)] = file.text;
    all[py::str(server.owner)] = files;
  }
  return all;
}

py::list zones_of(const py::dict& texts, const py::dict& observed, const py::dict& record_files) {
  py::list all;
  for (const DnsServerConfig& server : servers_of(texts, observed, record_files))
    for (const View& view : server.config.views)
      for (const auto& zone : view.zones) all.append(StackZone{server.owner, view.name, view.clients, zone});
  return all;
}

py::list explain_servers(const py::dict& texts, const std::string& name, const IpAddress& client,
                         const std::string& type_text, const py::dict& observed, const py::dict& record_files) {
  const Type type = data_type_of(type_text);
  py::list all;
  for (const DnsServerConfig& server : servers_of(texts, observed, record_files))
    all.append(explain(server.config, name_of(name), type, client).value());
  return all;
}

/// What `hcpnet dns query` shows.
struct Answer {
  std::string server;
  SimulatedReply reply;
};

std::vector<std::string> lines_of(const std::vector<Record>& records) {
  std::vector<std::string> lines;
  for (const Record& record : records) lines.push_back(to_line(record));
  return lines;
}

std::vector<Answer> query_servers(const py::dict& texts, const std::string& name, const IpAddress& client,
                                  const std::string& type_text, const py::dict& observed,
                                  const py::dict& record_files) {
  const Type type = type_of(type_text);
  Message query;
  query.flags = flag::kRecursionDesired;
  query.questions = {{name_of(name), type, kClassIn}};
  std::vector<Answer> all;
  for (const DnsServerConfig& server : servers_of(texts, observed, record_files))
    all.push_back({server.owner, simulate_query(server.config, query, client).value()});
  return all;
}

void bind_query(py::module_& m) {
  py::class_<Answer>(m, "Answer", "What one DNS server of a set says.")
      .def_readonly("server", &Answer::server, "str: \"namespace/name\" of the object that describes it.")
      .def_property_readonly(
          "view", [](const Answer& a) { return a.reply.view; }, "str: empty when the client belongs to none.")
      .def_property_readonly(
          "rcode",
          [](const Answer& a) {
            return a.reply.is_forwarded ? std::string() : to_string(a.reply.reply.value().rcode());
          },
          "str: such as \"NXDOMAIN\"; empty when an upstream decides.")
      .def_property_readonly(
          "answers",
          [](const Answer& a) { return a.reply.reply ? lines_of(a.reply.reply->answers) : std::vector<std::string>(); },
          "list[str]: records, as lines of a zone file.")
      .def_property_readonly(
          "authority",
          [](const Answer& a) {
            return a.reply.reply ? lines_of(a.reply.reply->authority) : std::vector<std::string>();
          },
          "list[str]: the SOA of what is not there, or the name servers of a referral.")
      .def_property_readonly(
          "upstreams", [](const Answer& a) { return a.reply.upstreams; },
          "list[str]: who is asked for the name, or for what an alias in `answers` points to.");
  m.def("query", &query_servers, py::arg("texts"), py::arg("name"), py::arg("client"), py::arg("type") = "A",
        py::arg("observed") = py::dict(), py::arg("record_files") = py::dict(),
        R"doc(Answer a query as the DNS servers of a set would.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    name (str): domain name, with or without the dot at its end.
    client (str | IPv4Address | IPv6Address): address of the client.
    type (str): type of record, such as "AAAA" or "TYPE65".
    observed (dict[str, str]): objects as read from a cluster, in the same form.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    list[Answer]: one per DNS server of the set.
Raises:
    SpecError: the set is wrong.
    ValueError: no name, address or type.)doc");
}

void bind_explanation(py::module_& m) {
  py::class_<ExplainStep>(m, "ExplainStep", "One name that was looked up.")
      .def_readonly("name", &ExplainStep::name, "str: with a dot at the end.")
      .def_readonly("zone", &ExplainStep::zone, "str: the apex that owns the name; empty when none does.")
      .def_property_readonly(
          "rule", [](const ExplainStep& s) { return std::string(to_string(s.rule)); },
          "str: \"exact\", \"wildcard\", \"alias\", \"nodata\", \"nxdomain\", \"unavailable\", \"forwarded\", "
          "\"refused\", \"referral\", \"no-view\" or \"not-allowed\".")
      .def_readonly("matched", &ExplainStep::matched, "str: the owner of the records; empty when there is none.")
      .def_readonly("records", &ExplainStep::records, "list[str]: as lines of a zone file.");
  py::class_<Explanation>(m, "Explanation", "What a client gets for a name, and why.")
      .def_readonly("view", &Explanation::view, "str: empty when the client belongs to none.")
      .def_readonly("prefix", &Explanation::prefix, "IPv4Network | IPv6Network | None: what chose the view.")
      .def_readonly("steps", &Explanation::steps, "list[ExplainStep]: more than one after an alias.")
      .def_readonly("upstreams", &Explanation::upstreams, "list[str]: who is asked, when the name is forwarded.");
  m.def("explain", &explain_servers, py::arg("texts"), py::arg("name"), py::arg("client"), py::arg("type") = "A",
        py::arg("observed") = py::dict(), py::arg("record_files") = py::dict(),
        R"doc(Say which view, zone and rule answer a client.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    name (str): domain name, with or without the dot at its end.
    client (str | IPv4Address | IPv6Address): address of the client.
    type (str): type of record, such as "AAAA" or "TYPE65".
    observed (dict[str, str]): objects as read from a cluster, in the same form.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    list[Explanation]: one per DNS server of the set.
Raises:
    SpecError: the set is wrong.
    ValueError: no name, address, or type that records have.)doc");
}

void bind_zone_files(py::module_& m) {
  m.def(
      "parse_zone_file",
      [](const std::string& file, const std::string& text, const std::optional<std::string>& origin) {
        const std::optional<Name> apex = origin ? std::optional(name_of(*origin)) : std::nullopt;
        Diagnostics warnings;
        const auto zone = [&] {
          const WithoutGil no_gil;
          ZoneRecords records = parse_zone_file(file, text, apex).value();
          warnings = std::move(records.warnings);
          return std::const_pointer_cast<Zone>(make_zone(std::move(records)));
        }();
        return py::make_tuple(zone, to_list(warnings));
      },
      py::arg("file"), py::arg("text"), py::arg("origin") = py::none(), R"doc(Read a zone file.

Args:
    file (str): its name in diagnostics.
    text (str): the whole file.
    origin (str | None): what relative names are below, until $ORIGIN says otherwise.
Returns:
    tuple[Zone, list[Diagnostic]]: its records; warnings about records given twice and TTLs that differ.
Raises:
    SpecError: ``diagnostics`` holds every problem with its line.
Spec:
    RFC 1035 section 5; RFC 2308 section 4; RFC 3597 section 5.)doc");
  m.def(
      "parse_hosts_file",
      [](const std::string& file, const std::string& text) {
        py::list entries;
        for (const HostsEntry& entry : parse_hosts_file(file, text).value()) {
          py::list names;
          for (const Name& name : entry.names) names.append(name.to_string());
          entries.append(py::make_tuple(entry.address, names));
        }
        return entries;
      },
      py::arg("file"), py::arg("text"), R"doc(Read a hosts file.

Args:
    file (str): its name in diagnostics.
    text (str): the whole file.
Returns:
    list[tuple[IPv4Address | IPv6Address, list[str]]]: addresses with their names, as they stand in the file.
Raises:
    SpecError: ``diagnostics`` holds every problem with its line.)doc");
  m.def("render_zone_file", &render_zone_file, py::arg("zone"), py::arg("serial"), R"doc(Write a zone as a zone file.

Args:
    zone (Zone): the zone.
    serial (int): for its SOA, 32 bits.
Returns:
    str: the file.
Spec:
    RFC 1035 section 5; RFC 3597 section 5.)doc");
  m.def("next_serial", &next_serial, py::arg("previous"), py::arg("day") = py::none(),
        R"doc(A serial that is greater than the previous one, and never 0.

Args:
    previous (int): the serial so far, 32 bits.
    day (int | None): today as YYYYMMDD; YYYYMMDD00 is taken where that is greater.
Returns:
    int: the new serial.
Spec:
    RFC 1982 section 3.2.)doc");
}

}  // namespace

void bind_dns_render(py::module_& m) {
  m.def("zones", &zones_of, py::arg("texts"), py::arg("observed") = py::dict(), py::arg("record_files") = py::dict(),
        R"doc(Show what the DNS of a set serves.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    observed (dict[str, str]): objects as read from a cluster, in the same form.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    list[StackZone]: every zone of each view of each DNS server.
Raises:
    SpecError: the set is wrong.)doc");
  bind_zone_files(m);
  bind_explanation(m);
  bind_query(m);
  m.def(
      "render",
      [](const py::dict& texts, const std::string& target, const py::dict& observed, const py::dict& record_files,
         bool any_address, const std::string& file_prefix, const std::map<std::string, std::string>& previous,
         std::optional<std::uint32_t> day) {
        RenderOptions options;
        options.any_address = any_address;
        options.file_prefix = file_prefix;
        options.previous = previous;
        options.day = day;
        return render_servers(texts, target, observed, record_files, options);
      },
      py::arg("texts"), py::arg("target"), py::kw_only(), py::arg("observed") = py::dict(),
      py::arg("record_files") = py::dict(), py::arg("any_address") = false, py::arg("file_prefix") = "",
      py::arg("previous") = std::map<std::string, std::string>{}, py::arg("day") = py::none(),
      R"doc(Write the DNS of a set as the configuration of another server.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    target (str): "zonefile", "hosts", "coredns", "bind", "unbound" or "dnsmasq".
    observed (dict[str, str]): objects as read from a cluster, in the same form.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
    any_address (bool): listen on every address instead of those of the set.
    file_prefix (str): in front of file names inside the configuration.
    previous (dict[str, str]): files of the last rendering; zone files go on from their serials.
    day (int | None): today as YYYYMMDD, for new serials.
Returns:
    dict[str, dict[str, str]]: text by file name, by server ("namespace/name").
Raises:
    SpecError: the set is wrong, or the target can't express it.
    ValueError: no such target.)doc");
}

}  // namespace hcpnet::python

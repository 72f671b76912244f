// SPDX-License-Identifier: Apache-2.0
// Zone files and hosts files.
#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <optional>
#include <utility>

#include "dns/host_name.hpp"
#include "dns/missing_name_server.hpp"
#include "dns/render_common.hpp"
#include "dns/soa.hpp"

namespace hcpnet::dns {
namespace {

RRset with_serial(RRset soa, std::uint32_t serial) {
  put_serial(soa.rdata.front(), serial);
  return soa;
}

}  // namespace

std::string render_zone_file(const Zone& zone, std::uint32_t serial) {
  std::string text = "; " + std::string(rendering::kNotice);
  const auto add = [&](const RRset& set) {
    for (const std::string& line : rendering::record_lines(set.owner.to_string(), set, set.ttl)) text += line + '\n';
  };
  add(with_serial(zone.soa(), serial));
  std::optional<RRset> name_server = missing_name_server(zone);
  for (const RRset& set : zone.rrsets()) {
    if (&set == &zone.soa()) continue;
    // In the place where a reader of this file would find it, so that rendering that gives the same again.
    if (name_server && (set.type > Type::ns || set.owner != zone.apex())) add(*std::exchange(name_server, {}));
    add(set);
  }
  if (name_server) add(*name_server);
  return text;
}

namespace rendering {

std::string Job::add_zone_file(const View& view, const Zone& zone) {
  RenderedFile file{safe_word(view.name) + '/' + safe_word(without_dot(zone.apex())) + ".zone", {}};
  std::uint32_t serial = serial_in(zone.soa_rdata());
  if (const auto before = options.previous.find(file.name); before != options.previous.end()) {
    // A file that can't be read has no serial to go on from.
    if (const auto known = parse_zone_file(file.name, before->second))
      serial = render_zone_file(zone, known->serial) == before->second ? known->serial
                                                                       : next_serial(known->serial, options.day);
  }
  file.text = render_zone_file(zone, serial);
  std::string name = options.file_prefix + file.name;
  out.files.push_back(std::move(file));
  return name;
}

void zone_files(Job& job) {
  if (!require_available(job)) return;
  for (const View& view : job.config.views)
    for (const auto& zone : view.zones) {
      static_cast<void>(job.add_zone_file(view, *zone));
      if (const std::string flaw = flaw_of(*zone); !flaw.empty())
        job.warn("name-server", "BIND and others load nothing of a zone like this: view " + view.name, flaw);
    }
}

void hosts(Job& job) {
  if (!require_available(job)) return;
  for (const View& view : job.config.views) {
    std::map<IpAddress, std::vector<std::string>> names;
    const HiddenNames hidden(view);
    for (const auto& zone : view.zones) {
      for (const RRset& set : zone->rrsets()) {
        if (&set == &zone->soa()) continue;
        if (hidden.contains(*zone, set.owner)) {
          job.warn_of_hidden(view, *zone, set);
          continue;
        }
        const bool is_address = set.type == Type::a || set.type == Type::aaaa;
        if (!is_address || !is_host_name(set.owner)) {
          job.warn("not-representable", "a hosts file of view " + view.name + " has no such record",
                   set.owner.to_string() + ' ' + to_string(set.type));
          continue;
        }
        for (const std::string& rdata : set.rdata) {
          if (const auto address = parse_ip_address(rdata_to_string(set.type, rdata)))
            names[*address].push_back(without_dot(set.owner));
        }
      }
    }
    RenderedFile file{safe_word(view.name) + ".hosts", "# " + std::string(kNotice)};
    for (const auto& [address, all] : names) {
      file.text += address.to_string();
      for (const std::string& name : all) file.text += ' ' + name;
      file.text += '\n';
    }
    job.out.files.push_back(std::move(file));
  }
}

}  // namespace rendering
}  // namespace hcpnet::dns

// SPDX-License-Identifier: Apache-2.0
// Zone files and hosts files.
#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <optional>
#include <utility>

#include "dns/missing_name_server.hpp"
#include "dns/render_common.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::size_t kSoaNumbersBytes = 20;

/// Its last five numbers begin with the serial.
RRset with_serial(RRset soa, std::uint32_t serial) {
  std::string& rdata = soa.rdata.front();
  if (rdata.size() < kSoaNumbersBytes) return soa;
  ByteWriter({reinterpret_cast<std::uint8_t*>(rdata.data() + rdata.size() - kSoaNumbersBytes), 4}).u32(serial);
  return soa;
}

std::uint32_t serial_of(const RRset& soa) {
  const std::string& rdata = soa.rdata.front();
  return rdata.size() < kSoaNumbersBytes ? 0 : ByteReader(as_bytes(rdata).last(kSoaNumbersBytes)).u32();
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
  std::uint32_t serial = serial_of(zone.soa());
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
    for (const auto& zone : view.zones) static_cast<void>(job.add_zone_file(view, *zone));
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
        if (!is_address || set.owner.is_wildcard() || !is_plain(set.owner) || set.owner.is_root()) {
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

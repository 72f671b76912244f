// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <string>

#include "dns/dns_support.hpp"
#include "support/files.hpp"

namespace hcpnet::test {

inline std::shared_ptr<const dns::Zone> zone_of(std::string_view apex, std::vector<dns::RRset> rrsets,
                                                dns::Availability availability = dns::Availability::available) {
  return std::make_shared<const dns::Zone>(name(apex), std::move(rrsets), 1, availability);
}

/// Two clusters as two sides see them: a VLAN inside a wider site, and everybody else.
inline dns::Config two_clusters() {
  dns::Config config;
  config.listeners = {{ipv4("127.90.2.1"), 53}};
  const auto clusters = [](std::string_view proxy, std::string_view blue_apps, std::string_view red_apps) {
    std::vector<std::shared_ptr<const dns::Zone>> zones;
    for (const auto& [cluster, apps] : {std::pair("blue", blue_apps), std::pair("red", red_apps)}) {
      const std::string domain = std::string(cluster) + ".hc.example.com";
      std::vector<dns::RRset> records;
      for (const char* label : {"api.", "api-int.", "oauth.", "ignition.", "konnectivity."})
        records.push_back(a_record(label + domain, proxy));
      records.push_back(a_record("*.apps." + domain, apps));
      zones.push_back(zone_of(domain, std::move(records)));
    }
    return zones;
  };
  auto vlan = clusters("192.0.2.4", "192.0.2.200", "192.0.2.210");
  vlan.push_back(zone_of("kubernetes", {a_record("kubernetes", "192.0.2.4")}));
  config.views.push_back(
      {"pod", {cidr("0.0.0.0/0"), cidr("::/0")}, clusters("172.30.9.4", "172.30.9.4", "172.30.9.4")});
  config.views.push_back({"vlan", {cidr("127.90.1.0/24")}, std::move(vlan)});
  return config;
}

/// Two clusters, with all that a policy can say of upstreams and of who may ask.
inline dns::Config guarded_clusters() {
  dns::Config config = two_clusters();
  config.forwarding.upstreams = {{ipv4("127.90.9.9"), 5300}, {ipv4("192.0.2.53"), 53}};
  config.forwarding.zones = {{name("corp.example"), {{ipv4("192.0.2.54"), 53}}},
                             {name("a.corp.example"), {{ipv4("192.0.2.55"), 5300}, {ipv4("192.0.2.56"), 53}}}};
  config.forwarding.policy = dns::UpstreamPolicy::round_robin;
  config.views[0].allowed = {cidr("10.0.0.0/8"), cidr("2001:db8::/32")};
  config.views[0].forwarding_allowed.emplace();
  config.views[1].forwarding_allowed = {cidr("127.90.1.0/25")};
  return config;
}
/// The same with nothing but zones to forward.
inline dns::Config zones_only() {
  dns::Config config = guarded_clusters();
  config.forwarding.upstreams.clear();
  return config;
}

/// Everything that makes wildcards hard, and a type of each kind (the zone of the field cases, and more).
inline dns::Config hard_zones() {
  dns::Config config;
  config.listeners = {{ipv4("127.90.2.1"), 53}};
  auto cases = dns::parse_zone_file("zone-hcp1.txt", read_file(data_path("dns_render/zone-hcp1.txt"))).value();
  config.views.push_back({"files", {cidr("127.90.3.0/24")}, {dns::make_zone(std::move(cases))}});
  std::vector<dns::RRset> records{
      a_record("*.apps.hcp1.example.com", "192.0.2.4"),
      a_record("console.apps.hcp1.example.com", "192.0.2.6"),
      a_record("real.deeper.apps.hcp1.example.com", "192.0.2.7"),
      a_record("f.*.wild.hcp1.example.com", "192.0.2.8"),
      a_record("*.b.apps.hcp1.example.com", "192.0.2.9"),
      {name("console.apps.hcp1.example.com"),
       dns::Type::aaaa,
       60,
       {std::string("\x20\x01\x0d\xb8", 4) + std::string(12, '\1')}},
      {name("*.apps.hcp1.example.com"), dns::Type::mx, 60, {std::string("\0\x0a\2mx\0", 6)}},
      {name("_x._tcp.hcp1.example.com"), dns::Type::srv, 60, {std::string("\0\0\0\1\1\xbb\1h\0", 9)}}};
  config.views.push_back({"templates",
                          {cidr("127.90.4.0/24")},
                          {zone_of("hcp1.example.com", records),
                           zone_of("inner.hcp1.example.com", {a_record("*.inner.hcp1.example.com", "192.0.2.10")}),
                           zone_of("unknown.test", {}, dns::Availability::unavailable)}});
  return config;
}

inline std::string text_of(const dns::Rendered& rendered, std::string_view file) {
  for (const dns::RenderedFile& f : rendered.files)
    if (f.name == file) return f.text;
  ADD_FAILURE() << "no file " << file;
  return {};
}

inline std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace hcpnet::test

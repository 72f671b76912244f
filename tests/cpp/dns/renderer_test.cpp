// SPDX-License-Identifier: Apache-2.0
// What is rendered, and the field cases ZON-01 to ZON-11. Whether other servers take it: render_programs_test,
// coredns_test.
#include <gmock/gmock.h>

#include <chrono>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/spec/validate.hpp>
#include <hcpnet/text/yaml.hpp>
#include <optional>
#include <regex>
#include <set>

#include "dns/render_support.hpp"

namespace hcpnet::dns {
namespace {

using test::a_record;
using test::cidr;
using test::name;
using test::zone_of;

text::Value case_data(const std::string& file) {
  auto parsed = text::parse_yaml(file, test::read_file(test::data_path("dns_render/" + file)));
  EXPECT_TRUE(parsed.complete) << parsed.problems.to_string();
  return std::move(parsed.documents.at(0));
}

std::string corefile(const Config& config, const RenderOptions& options = {}) {
  const auto rendered = render(config, RenderTarget::coredns, options);
  EXPECT_TRUE(rendered) << rendered.error().to_string();
  return rendered ? test::text_of(*rendered, "Corefile") : std::string{};
}

Config one_view(std::vector<std::shared_ptr<const Zone>> zones) {
  Config config;
  config.listeners = {{test::ipv4("192.0.2.3"), 53}};
  config.views = {test::view_of(std::move(zones))};
  return config;
}

std::string first_code(const Result<Rendered, Diagnostics>& rendered) {
  return rendered ? "none" : rendered.error().items().at(0).code;
}

TEST(Render, TheSameInputGivesTheSameBytesWhateverTheOrderOfRecords) {
  const Config config = test::two_clusters();
  Config shuffled = config;
  std::vector<RRset> records = config.views[1].zones[0]->rrsets();
  std::ranges::reverse(records);
  shuffled.views[1].zones[0] = std::make_shared<const Zone>(name("blue.hc.example.com"), records);
  for (const RenderTarget target : kRenderTargets) {
    const auto one = render(config, target);
    const auto two = render(shuffled, target);
    ASSERT_TRUE(one && two) << to_string(target);
    EXPECT_EQ(one->files, two->files) << to_string(target);
    EXPECT_FALSE(one->files.empty());
  }
}

TEST(Render, TargetsHaveTheNamesOfTheCommand) {
  for (const RenderTarget target : kRenderTargets) EXPECT_EQ(parse_render_target(to_string(target)), target);
  EXPECT_EQ(parse_render_target("corefile"), std::nullopt);
}

TEST(Render, AZoneWithoutDataIsAnErrorWhereItCantBeServfail) {
  const Config config = one_view({zone_of("a.test", {}, Availability::unavailable)});
  for (const RenderTarget target : kRenderTargets) {
    if (target == RenderTarget::coredns) continue;
    EXPECT_EQ(first_code(render(config, target)), "unavailable-zone");
  }
  EXPECT_NE(corefile(config).find("template ANY ANY a.test. {\n        rcode SERVFAIL\n"), std::string::npos);
}

TEST(RenderCoreDns, TheMostSpecificViewComesFirst) {
  const std::string text = corefile(test::two_clusters());
  const std::size_t vlan = text.find("view vlan {\n        expr incidr(client_ip(), '127.90.1.0/24')\n");
  const std::size_t pod = text.find(
      "view pod {\n        expr (incidr(client_ip(), '0.0.0.0/0') && !incidr(client_ip(), "
      "'127.90.1.0/24')) || incidr(client_ip(), '::/0')\n");
  ASSERT_NE(vlan, std::string::npos) << text;
  ASSERT_NE(pod, std::string::npos);
  EXPECT_LT(vlan, pod);
}

TEST(RenderCoreDns, AViewExcludesWhatALaterOneClaimsInside) {
  Config config = one_view({});
  config.views = {{"a", {cidr("10.0.0.0/8"), cidr("10.1.2.0/24")}, {}}, {"b", {cidr("10.1.0.0/16")}, {}}};
  const std::string text = corefile(config);
  EXPECT_NE(text.find("expr incidr(client_ip(), '10.1.2.0/24') || (incidr(client_ip(), '10.0.0.0/8') && "
                      "!incidr(client_ip(), '10.1.0.0/16'))\n"),
            std::string::npos)
      << text;
  const auto bind = render(config, RenderTarget::bind).value();
  EXPECT_NE(test::text_of(bind, "named.conf").find("match-clients { 10.1.2.0/24; !10.1.0.0/16; 10.0.0.0/8; };"),
            std::string::npos);
}

TEST(RenderCoreDns, NothingOfAZoneIsForwarded) {
  Config config = test::two_clusters();
  config.forwarding.upstreams = {{test::ipv4("198.51.100.53"), 53}};
  const std::string text = corefile(config);
  for (const char* apex : {"blue.hc.example.com.", "red.hc.example.com."}) {
    const std::string last = std::string("template ANY ANY ") + apex + " {\n        rcode NXDOMAIN\n";
    EXPECT_EQ(test::count(text, last), 2U) << "once in each view";
  }
  EXPECT_NE(text.find("    forward . 198.51.100.53\n}"), std::string::npos) << text;
}

TEST(RenderCoreDns, AViewThatTemplatesCantHoldGetsZoneFiles) {
  RenderOptions options;
  options.file_prefix = "/etc/coredns/";
  const auto rendered = render(test::hard_zones(), RenderTarget::coredns, options);
  ASSERT_TRUE(rendered);
  EXPECT_NE(test::text_of(*rendered, "Corefile")
                .find("    file /etc/coredns/files/hcp1.example.com.zone hcp1.example.com.\n"),
            std::string::npos);
  EXPECT_EQ(rendered->files.size(), 2U);
  EXPECT_EQ(rendered->files[0].name, "Corefile");
}

std::shared_ptr<const Zone> zone_with_delegation() {
  const std::string server(as_text(name("ns.sub.z.test").wire()));
  return zone_of("z.test", {a_record("www.z.test", "192.0.2.1"),
                            {name("sub.z.test"), Type::ns, 30, {server}},
                            a_record("ns.sub.z.test", "192.0.2.53")});
}

TEST(RenderCoreDns, AViewWithADelegationGetsZoneFiles) {
  const auto rendered = render(one_view({zone_with_delegation()}), RenderTarget::coredns);
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->files.size(), 2U) << "a template answers, and can't refer";
}

TEST(RenderDnsmasq, LeavesOutWhatIsDelegatedAndSaysSo) {
  const auto rendered = render(one_view({zone_with_delegation()}), RenderTarget::dnsmasq);
  ASSERT_TRUE(rendered);
  const std::string& text = rendered->files.at(0).text;
  EXPECT_NE(text.find("host-record=www.z.test,192.0.2.1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("sub.z.test"), std::string::npos) << text;
  std::vector<std::string> left_out;
  for (const Diagnostic& d : rendered->warnings)
    if (d.code == "not-representable") left_out.push_back(d.found);
  EXPECT_EQ(left_out, (std::vector<std::string>{"sub.z.test. NS", "ns.sub.z.test. A"}));
}

TEST(Render, SaysWhatOtherNameServersRefuse) {
  const auto servers = [](std::string_view owner, std::string_view server) {
    return RRset{name(owner), Type::ns, 30, {std::string(as_text(name(server).wire()))}};
  };
  const auto flaw = [](std::vector<RRset> records) -> std::string {
    const Config config = one_view({zone_of("z.test", std::move(records))});
    const auto files = render(config, RenderTarget::zonefile);
    const auto bind = render(config, RenderTarget::bind);
    if (bind) return files.value().warnings.empty() ? "none" : "a warning alone";
    const Diagnostic error = bind.error().items().at(0);
    EXPECT_EQ(error.code, "name-server");
    EXPECT_EQ(files.value().warnings.items().at(0).found, error.found);
    return error.found;
  };
  const RRset own = servers("z.test", "ns.z.test");
  RRset as_alias = servers("ns.z.test", "other.test");
  as_alias.type = Type::cname;
  EXPECT_EQ(flaw({own}), "the zone z.test. has the name server ns.z.test. without an address");
  EXPECT_EQ(flaw({own, as_alias}), "the zone z.test. has the name server ns.z.test., which is an alias");
  EXPECT_EQ(flaw({servers("*.w.z.test", "ns.other.test")}),
            "the zone z.test. has name servers at the wildcard *.w.z.test.");
  EXPECT_EQ(flaw({own, a_record("*.z.test", "192.0.2.1")}), "none");
  EXPECT_EQ(flaw({servers("z.test", "ns.other.test")}), "none");
  EXPECT_EQ(flaw({servers("z.test", "ns.sub.z.test"), servers("sub.z.test", "ns.other.test")}), "none") << "delegated";
}

RRset alias(std::string_view owner, std::string_view target) {
  return {name(owner), Type::cname, 30, {std::string(as_text(name(target).wire()))}};
}

std::string dnsmasq_conf(const Config& config) {
  const auto rendered = render(config, RenderTarget::dnsmasq);
  EXPECT_TRUE(rendered) << rendered.error().to_string();
  return rendered ? test::text_of(*rendered, "dnsmasq-default.conf") : std::string{};
}

TEST(RenderDnsmasq, LeavesOutAliasesThatLeadInCircles) {
  const std::string text = dnsmasq_conf(
      one_view({zone_of("z.test", {alias("a.z.test", "b.y.test"), alias("to-a.z.test", "A.z.test"),
                                   alias("self.z.test", "self.z.test"), alias("good.z.test", "www.z.test"),
                                   alias("away.z.test", "www.example.org"), a_record("www.z.test", "192.0.2.1")}),
                zone_of("y.test", {alias("b.y.test", "a.z.test"), alias("to-good.y.test", "good.z.test")})}));
  EXPECT_EQ(test::count(text, "\ncname="), 3U) << text;
  for (const char* line : {"\ncname=good.z.test,www.z.test,30\n", "\ncname=away.z.test,www.example.org,30\n",
                           "\ncname=to-good.y.test,good.z.test,30\n"})
    EXPECT_EQ(test::count(text, line), 1U) << line << text;
}

TEST(RenderDnsmasq, AHiddenAliasMakesNoCircle) {
  const std::string text = dnsmasq_conf(one_view(
      {zone_of("z.test", {alias("x.sub.z.test", "www.sub.z.test")}),
       zone_of("sub.z.test", {alias("www.sub.z.test", "x.sub.z.test"), a_record("x.sub.z.test", "192.0.2.1")})}));
  EXPECT_EQ(test::count(text, "\ncname=www.sub.z.test,x.sub.z.test,30\n"), 1U) << text;
}

TEST(RenderDnsmasq, ALongChainOfAliasesCostsNoMoreThanItsLength) {
  constexpr std::size_t kAliases = 5000;
  std::vector<RRset> records{a_record("c0.z.test", "192.0.2.1")};
  for (std::size_t i = 1; i <= kAliases; ++i)
    records.push_back(alias("c" + std::to_string(i) + ".z.test", "c" + std::to_string(i - 1) + ".z.test"));
  const Config config = one_view({zone_of("z.test", std::move(records))});
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = dnsmasq_conf(config);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10))
      << "minutes where each is followed anew";
  EXPECT_EQ(test::count(text, "\ncname="), kAliases);
}

TEST(Render, WhatAZoneBelowHidesIsNotShownByProgramsWithoutZones) {
  const Config config =
      one_view({zone_of("z.test", {a_record("www.z.test", "192.0.2.1"), a_record("x.apps.z.test", "203.0.113.9"),
                                   a_record("*.y.apps.z.test", "203.0.113.10")}),
                zone_of("apps.z.test", {a_record("*.apps.z.test", "192.0.2.2")})});
  for (const RenderTarget target : {RenderTarget::hosts, RenderTarget::unbound, RenderTarget::dnsmasq}) {
    const auto rendered = render(config, target);
    ASSERT_TRUE(rendered);
    for (const RenderedFile& file : rendered->files)
      EXPECT_EQ(file.text.find("203.0.113."), std::string::npos) << file.text;
    const auto& warnings = rendered->warnings.items();
    EXPECT_EQ(std::ranges::count(warnings, "records-hidden", &Diagnostic::code), 2) << rendered->warnings.to_string();
  }
}

TEST(RenderCoreDns, OptionsThatCoreDnsWouldRefuseAreErrors) {
  Config config = one_view({});
  RenderOptions options;
  options.coredns.reload = std::chrono::seconds(1);
  EXPECT_EQ(first_code(render(config, RenderTarget::coredns, options)), "bad-option");
  options = {};
  options.coredns.health = Endpoint{Ipv4{}, 53};
  EXPECT_EQ(first_code(render(config, RenderTarget::coredns, options)), "port-collides");
  config = one_view({zone_of("a\\ b.test", {})});
  EXPECT_EQ(first_code(render(config, RenderTarget::coredns)), "name-not-supported");
}

TEST(RenderUnbound, SaysThatADelegationIsNotReferred) {
  const std::string server(as_text(name("ns.sub.z.test").wire()));
  const auto rendered =
      render(one_view({zone_of("z.test", {{name("sub.z.test"), Type::ns, 30, {server}}})}), RenderTarget::unbound);
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->warnings.items().at(0).code, "delegation");
}

TEST(RenderUnbound, WhatExistsBelowAWildcardIsAZoneOfItsOwn) {
  const auto rendered = render(
      one_view({zone_of("z.test", {a_record("*.apps.z.test", "192.0.2.1"), a_record("x.y.apps.z.test", "192.0.2.2")})}),
      RenderTarget::unbound);
  ASSERT_TRUE(rendered);
  const std::string text = test::text_of(*rendered, "unbound.conf");
  EXPECT_NE(
      text.find("    local-zone: \"apps.z.test.\" redirect\n    local-data: 'apps.z.test. 30 IN A 192.0.2.1'\n"
                "    local-zone: \"y.apps.z.test.\" static\n    local-data: 'x.y.apps.z.test. 30 IN A 192.0.2.2'\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(rendered->warnings.items().at(0).code, "wildcard-apex");
}

TEST(RenderHosts, HasNamesByAddressAndWarnsOfWhatItCantHold) {
  const auto rendered = render(test::two_clusters(), RenderTarget::hosts);
  ASSERT_TRUE(rendered);
  EXPECT_NE(
      test::text_of(*rendered, "vlan.hosts").find("\n192.0.2.4 api.blue.hc.example.com api-int.blue.hc.example.com "),
      std::string::npos);
  EXPECT_EQ(rendered->warnings.warning_count(), 4U) << "the wildcards";
  const auto entries = parse_hosts_file("vlan.hosts", test::text_of(*rendered, "vlan.hosts"));
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1U);
  EXPECT_EQ(entries->front().names.size(), 11U);
}

/// Names with their addresses, as far as a hosts file can have them.
using Hosts = std::set<std::pair<Name, std::string>>;
Hosts hosts_of(const std::vector<RRset>& rrsets) {
  Hosts hosts;
  for (const RRset& set : rrsets) {
    if ((set.type != Type::a && set.type != Type::aaaa) || set.owner.is_wildcard()) continue;
    for (const std::string& rdata : set.rdata) hosts.emplace(set.owner, rdata_to_string(set.type, rdata));
  }
  return hosts;
}

TEST(RenderHosts, IsReadBackAsTheSameNamesAndAddresses) {
  Config config = test::two_clusters();
  std::vector<RRset> records{
      a_record("www.z.test", "192.0.2.1"),
      a_record("www.z.test", "192.0.2.2"),
      a_record("API.z.test", "192.0.2.1"),
      a_record("z.test", "192.0.2.3"),
      make_aaaa(name("www.z.test"), *parse_ipv6("2001:db8::1"), 30),
      make_aaaa(name("mapped.z.test"), *parse_ipv6("::ffff:192.0.2.1"), 30),
      alias("left-out.z.test", "www.z.test"),
  };
  config.views[1].zones.push_back(zone_of("z.test", std::move(records)));
  const auto rendered = render(config, RenderTarget::hosts);
  ASSERT_TRUE(rendered);
  std::size_t count = 0;
  for (const View& view : config.views) {
    Hosts expected;
    for (const auto& zone : view.zones) expected.merge(hosts_of(zone->rrsets()));
    const auto entries = parse_hosts_file(view.name, test::text_of(*rendered, view.name + ".hosts"));
    ASSERT_TRUE(entries) << entries.error().to_string();
    EXPECT_TRUE(hosts_of(to_rrsets(*entries, 30)) == expected) << view.name;
    count += expected.size();
  }
  EXPECT_EQ(count, 10U + 11U + 6U);
}

TEST(RenderFiles, NamesStayInsideTheFolder) {
  Config config = one_view({zone_of(".", {}), zone_of("a/b\\.c.test", {}), zone_of("\\.\\..test", {})});
  config.views[0].name = "../etc";
  for (const RenderedFile& file : render(config, RenderTarget::zonefile).value().files)
    EXPECT_TRUE(std::regex_match(file.name, std::regex("%2E\\.%2Fetc/[A-Za-z0-9%_-][A-Za-z0-9%._-]*\\.zone")))
        << file.name;
}

TEST(ZoneCases, Zon01CacheIsWholeSecondsOrAnError) {
  for (const text::Value& row : case_data("ZON-01.yaml").items) {
    const std::string written = row.find("in")->text;
    SCOPED_TRACE(written);
    const auto checked = spec::check({{"dns.yaml", R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DNSServer
metadata: {name: d, namespace: hcp}
spec:
  networkConfig: {serverIP: 192.0.2.3, proxyIP: 192.0.2.4}
  hostedClusterDomain: a.example.com
  cacheTTL: ")" + written + "\"\n"}});
    if (row.find("error") != nullptr) {
      EXPECT_TRUE(checked.has_error());
      continue;
    }
    ASSERT_FALSE(checked.has_error()) << checked.error().to_string();
    RenderOptions options;
    options.coredns.cache_ttl = checked->dns_servers.at(0).cache_ttl;
    std::smatch found;
    const std::string text = corefile(one_view({}), options);
    const bool has_cache = std::regex_search(text, found, std::regex("\n *(cache.*)\n"));
    EXPECT_EQ(has_cache ? found[1].str() : "", row.find("out")->text);
  }
}

TEST(ZoneCases, Zon03ProcessWidePluginsStandOnce) {
  Config config = one_view({});
  config.views = {{"a", {cidr("10.1.0.0/16")}, {}}, {"b", {cidr("10.2.0.0/16")}, {}}, {"c", {cidr("0.0.0.0/0")}, {}}};
  const std::string text = corefile(config);
  const auto data = case_data("ZON-03.yaml");
  EXPECT_EQ(test::count(text, "\n.:53 {\n"), std::stoul(data.find("blocks")->text));
  for (const text::Member& plugin : data.find("expect")->members)
    EXPECT_EQ(test::count(text, "\n    " + plugin.key + ' '), std::stoul(plugin.value.text)) << plugin.key;
  EXPECT_EQ(test::count(text, "\n    prometheus :9153\n"), 3U) << "each view is counted, on one listener";
}

TEST(ZoneCases, Zon03PortsAreDistinctFromEachOtherAndFromThatOfDns) {
  const Config config = one_view({});
  std::optional<Endpoint> CoreDnsOptions::* const services[] = {&CoreDnsOptions::health, &CoreDnsOptions::ready,
                                                                &CoreDnsOptions::prometheus};
  std::set<std::uint16_t> ports{config.listeners.at(0).port};
  const CoreDnsOptions usual;
  for (const auto service : services) {
    ports.insert((usual.*service).value().port);
    RenderOptions options;
    (options.coredns.*service).value().port = config.listeners.at(0).port;
    EXPECT_EQ(first_code(render(config, RenderTarget::coredns, options)), "port-collides");
    for (const auto other : services) {
      if (other == service) continue;
      options.coredns = usual;
      (options.coredns.*service).value().port = (usual.*other).value().port;
      EXPECT_EQ(first_code(render(config, RenderTarget::coredns, options)), "port-collides");
    }
  }
  EXPECT_EQ(ports.size(), 4U) << "as they are unless given";
}

TEST(ZoneCases, Zon05ExplicitNamesWinOverTheWildcardAndOtherTypesAreNodata) {
  // coredns_test asks a real CoreDNS; here: the order in which its templates would be tried.
  const auto data = case_data("ZON-05.yaml");
  std::vector<RRset> records;
  for (const text::Value& entry : data.find("entries")->items)
    records.push_back(a_record(entry.find("host")->text, entry.find("ip")->text));
  const std::string text = corefile(one_view({zone_of("hcp1.example.com", records)}));
  EXPECT_EQ(test::count(text, "hosts"), 0U);
  struct Template {
    std::string type, body;
  };
  std::vector<Template> templates;
  const std::regex block("template (?:IN|ANY) (\\S+) hcp1\\.example\\.com\\. \\{\n((?:        .*\n)*)    \\}");
  for (std::sregex_iterator at(text.begin(), text.end(), block), end; at != end; ++at)
    templates.push_back({(*at)[1], (*at)[2]});
  ASSERT_FALSE(templates.empty());
  for (const text::Value& query : data.find("queries")->items) {
    const std::string& question = query.items[0].text;
    const std::string asked = question.substr(0, question.find(' ')) + '.',
                      type = question.substr(question.find(' ') + 1);
    std::string outcome = "no template";
    for (const Template& t : templates) {
      bool matches = t.body.find("match ") == std::string::npos;
      const std::regex match("match (.*)\n");
      for (std::sregex_iterator at(t.body.begin(), t.body.end(), match), end; at != end; ++at)
        matches = matches || std::regex_search(asked, std::regex((*at)[1].str()));
      if (!matches || (t.type != "ANY" && t.type != type)) continue;
      std::smatch address;
      if (std::regex_search(t.body, address, std::regex("answer \".* A (.*)\"")))
        outcome = address[1];
      else
        outcome = t.body.find("rcode NXDOMAIN") != std::string::npos ? "NXDOMAIN" : "NODATA";
      break;
    }
    // "apps" itself exists, above its wildcard: RFC 4592 section 2.2.2 has NODATA for it; the case wants no address.
    if (asked == "apps.hcp1.example.com.") {
      EXPECT_EQ(outcome, "NODATA");
    } else {
      EXPECT_EQ(query.items[1].text.substr(0, outcome.size()), outcome) << question;
    }
  }
}

TEST(ZoneCases, Zon07StringsAndOwnersAreEscaped) {
  const auto data = case_data("ZON-07.yaml");
  const auto& values = data.find("values")->items;
  const auto& expected = data.find("expect_lines")->items;
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(quote_string(values[i].text), expected[i].text);
    const std::string wire = static_cast<char>(values[i].text.size()) + values[i].text;
    EXPECT_EQ(rdata_to_string(Type::txt, wire), expected[i].text);
    EXPECT_EQ(parse_rdata(Type::txt, expected[i].text).value(), wire);
  }
  const Name at = make_name(std::string("\2@x\1a\0", 6)).value();
  const Name dollar = make_name(std::string("\4$ttl\1a\0", 8)).value();
  const std::string text = render_zone_file(
      Zone(name("a"), {make_a(at, test::ipv4("192.0.2.1"), 5), make_a(dollar, test::ipv4("192.0.2.2"), 5)}), 1);
  EXPECT_NE(text.find("\n\\@x.a. 5 IN A 192.0.2.1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n\\$ttl.a. 5 IN A 192.0.2.2\n"), std::string::npos) << text;
}

bool is_greater_serial(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) > 0;
}

TEST(ZoneCases, Zon09TheSerialMovesOnlyForwardAndOnlyWithTheContent) {
  for (const text::Value& step : case_data("ZON-09.yaml").items) {
    const auto previous = static_cast<std::uint32_t>(std::stoul(step.find("prev")->text));
    const std::string expect = step.find("expect")->text;
    SCOPED_TRACE(step.find("prev")->text);
    std::optional<std::uint32_t> day;
    if (const text::Value* given = step.find("day")) day = static_cast<std::uint32_t>(std::stoul(given->text));
    const bool is_changed = step.find("change")->text != "none";
    const auto zone = [&](const char* address) { return zone_of("a.test", {a_record("x.a.test", address)}); };
    RenderOptions options;
    options.day = day;
    options.previous["default/a.test.zone"] = render_zone_file(*zone("192.0.2.1"), previous);
    const auto rendered =
        render(one_view({zone(is_changed ? "192.0.2.2" : "192.0.2.1")}), RenderTarget::zonefile, options);
    ASSERT_TRUE(rendered);
    const std::string text = test::text_of(*rendered, "default/a.test.zone");
    const std::uint32_t serial = parse_zone_file("z", text).value().serial;
    if (!is_changed) {
      EXPECT_EQ(text, options.previous["default/a.test.zone"]);
    }
    if (expect == ">" || expect.starts_with("rfc1982")) {
      EXPECT_TRUE(is_greater_serial(serial, previous)) << serial;
      EXPECT_NE(serial, 0U);
    } else {
      EXPECT_EQ(serial, std::stoul(expect));
    }
  }
  std::uint32_t serial = 2026010100;
  for (int change = 0; change < 150; ++change) {
    const std::uint32_t next = next_serial(serial, 20260101);
    ASSERT_TRUE(is_greater_serial(next, serial));
    serial = next;
  }
  EXPECT_EQ(next_serial(0xffffffff), 1U) << "0 is left out";
}

TEST(ZoneCases, Zon11ForwardHasTheRightFormForEveryListOfUpstreams) {
  for (const text::Value& row : case_data("ZON-11.yaml").items) {
    Config config = one_view({});
    if (const text::Value* count = row.find("up_count")) {
      for (unsigned long i = 1; i <= std::stoul(count->text); ++i)
        config.forwarding.upstreams.push_back({Ipv4(198, 51, 100, static_cast<std::uint8_t>(i)), 53});
      const auto rendered = render(config, RenderTarget::coredns);
      ASSERT_TRUE(rendered);
      EXPECT_EQ(rendered->warnings.items().at(0).code, "too-many-upstreams");
      EXPECT_EQ(test::count(test::text_of(*rendered, "Corefile"), " 198.51.100."), kMaxCoreDnsUpstreams);
      continue;
    }
    for (const text::Value& upstream : row.find("up")->items) {
      const std::size_t port = upstream.text.find(" port ");
      config.forwarding.upstreams.push_back(
          {*parse_ip_address(upstream.text.substr(0, port)),
           port == std::string::npos ? std::uint16_t{53}
                                     : static_cast<std::uint16_t>(std::stoul(upstream.text.substr(port + 6)))});
    }
    const std::string text = corefile(config);
    if (const text::Value* line = row.find("line")) {
      EXPECT_NE(text.find("    " + line->text + '\n'), std::string::npos) << text;
    } else {
      EXPECT_EQ(text.find("forward"), std::string::npos);
      EXPECT_NE(text.find("template ANY ANY . {\n        rcode REFUSED\n"), std::string::npos) << "what no zone owns";
    }
  }
  Config config = one_view({});
  const Endpoint one{test::ipv4("198.51.100.1"), 53}, two{test::ipv4("198.51.100.2"), 5353};
  config.forwarding.upstreams = {two, one, two};
  EXPECT_NE(corefile(config).find("forward . 198.51.100.2:5353 198.51.100.1 {\n        policy sequential\n"),
            std::string::npos);
}

std::vector<std::string> warnings_of(const Rendered& rendered) {
  std::vector<std::string> all;
  for (const Diagnostic& d : rendered.warnings) all.push_back(d.message);
  return all;
}

TEST(RenderForwarding, EachProgramGetsZonesAndAccessInItsOwnWords) {
  const Config config = test::guarded_clusters();
  const auto text = [&](RenderTarget target, const char* file) {
    return test::text_of(render(config, target).value(), file);
  };
  const std::string coredns = text(RenderTarget::coredns, "Corefile");
  EXPECT_EQ(test::count(coredns,
                        "    forward a.corp.example. 192.0.2.55:5300 192.0.2.56 {\n        policy round_robin\n"
                        "    }\n    forward corp.example. 192.0.2.54\n    forward . 127.90.9.9:5300 192.0.2.53 "
                        "{\n        policy round_robin\n    }\n"),
            1u)
      << "not for pods";
  EXPECT_EQ(test::count(coredns, "    acl {\n        allow net 10.0.0.0/8 2001:db8::/32\n        block\n    }\n"), 1u);
  const std::string bind = text(RenderTarget::bind, "named.conf");
  EXPECT_EQ(test::count(bind, "    allow-query { 10.0.0.0/8; 2001:db8::/32; };\n    recursion no;\n"), 1u);
  EXPECT_EQ(test::count(bind, "    allow-recursion { 127.90.1.0/25; };\n"), 1u);
  EXPECT_EQ(test::count(bind,
                        "    zone \"a.corp.example\" { type forward; forward only; forwarders { 192.0.2.55 port "
                        "5300; 192.0.2.56; }; };\n"),
            1u);
  const std::string unbound = text(RenderTarget::unbound, "unbound.conf");
  for (const char* line : {"access-control: 0.0.0.0/0 refuse\n", "access-control: 10.0.0.0/8 refuse_non_local\n",
                           "access-control: 127.90.1.0/24 refuse_non_local\n", "access-control: 127.90.1.0/25 allow\n",
                           "forward-zone:\n    name: \"corp.example.\"\n    forward-addr: 192.0.2.54\n"})
    EXPECT_EQ(test::count(unbound, line), 1u) << line;
  const std::string dnsmasq = text(RenderTarget::dnsmasq, "dnsmasq-vlan.conf");
  EXPECT_EQ(test::count(dnsmasq, "server=/a.corp.example/192.0.2.55#5300\n"), 1u);
  EXPECT_EQ(test::count(text(RenderTarget::dnsmasq, "dnsmasq-pod.conf"), "server="), 0u);
}

TEST(RenderForwarding, WithZonesAloneNothingElseIsAsked) {
  const Config config = test::zones_only();
  const std::string coredns = test::text_of(render(config, RenderTarget::coredns).value(), "Corefile");
  EXPECT_EQ(test::count(coredns, "forward . "), 0u);
  EXPECT_EQ(test::count(coredns, " corp.example.:53 {"), 1u) << "CoreDNS refuses what no block is for";
  const std::string unbound = test::text_of(render(config, RenderTarget::unbound).value(), "unbound.conf");
  EXPECT_EQ(test::count(unbound, "    local-zone: \".\" refuse\n    local-zone: \"a.corp.example.\" transparent\n"),
            2u);
  EXPECT_THAT(warnings_of(render(config, RenderTarget::bind).value()), testing::Contains(testing::HasSubstr("zones")));
}

TEST(RenderForwarding, WhoIsNotAnsweredIsNotForwardedFor) {
  Config config = test::guarded_clusters();
  config.views[1].allowed = {cidr("127.90.1.0/26"), cidr("127.90.1.128/26")};
  config.views[1].forwarding_allowed = {cidr("127.90.1.0/25"), cidr("127.90.1.136/29"), cidr("10.0.0.0/8")};
  const std::string bind = test::text_of(render(config, RenderTarget::bind).value(), "named.conf");
  EXPECT_EQ(test::count(bind,
                        "    allow-query { 127.90.1.0/26; 127.90.1.128/26; };\n    recursion yes;\n"
                        "    allow-recursion { 127.90.1.0/26; 127.90.1.136/29; };\n"),
            1u)
      << bind;
  const std::string unbound = test::text_of(render(config, RenderTarget::unbound).value(), "unbound.conf");
  for (const char* line : {"127.90.1.0/24 refuse\n", "127.90.1.0/26 allow\n", "127.90.1.128/26 refuse_non_local\n",
                           "127.90.1.136/29 allow\n", "10.0.0.0/8 refuse_non_local\n"})
    EXPECT_EQ(test::count(unbound, std::string("    access-control: ") + line), 1u) << line << unbound;
  EXPECT_EQ(test::count(unbound, "127.90.1.0/25"), 0u) << unbound;
  config.views[1].forwarding_allowed.reset();
  config.views[1].allowed = {cidr("127.90.1.0/28")};
  EXPECT_EQ(test::count(test::text_of(render(config, RenderTarget::bind).value(), "named.conf"),
                        "    allow-recursion { 127.90.1.0/28; };\n"),
            1u);
  config.views[1].forwarding_allowed = {cidr("10.0.0.0/8")};
  EXPECT_EQ(test::count(test::text_of(render(config, RenderTarget::bind).value(), "named.conf"), "recursion yes"), 0u)
      << "nobody is in both";
}

TEST(RenderUnbound, AViewTakesNoClientsOfAnotherOne) {
  Config config = one_view({});
  config.views = {{"wide", {cidr("10.0.0.0/8"), cidr("10.1.2.0/24")}, {}},
                  {"inner", {cidr("10.1.0.0/16")}, {}},
                  {"all", {cidr("0.0.0.0/0")}, {}}};
  config.views[0].allowed = {cidr("10.0.0.0/9"), cidr("10.1.1.0/24"), cidr("10.1.2.0/25"), cidr("192.0.2.0/24")};
  const std::string text = test::text_of(render(config, RenderTarget::unbound).value(), "unbound.conf");
  std::vector<std::string> lines;
  const std::regex line("    access-control: (\\S+ \\S+)\n    access-control-view: (\\S+ \\S+)\n");
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at)
    lines.push_back((*at)[1].str() + ' ' + (*at)[2].str());
  EXPECT_THAT(lines,
              testing::ElementsAre(
                  "0.0.0.0/0 refuse_non_local 0.0.0.0/0 all", "10.0.0.0/8 refuse 10.0.0.0/8 wide",
                  "10.0.0.0/9 refuse_non_local 10.0.0.0/9 wide", "10.1.0.0/16 refuse_non_local 10.1.0.0/16 inner",
                  "10.1.2.0/24 refuse_non_local 10.1.2.0/24 wide", "10.1.2.0/25 refuse_non_local 10.1.2.0/25 wide",
                  "127.0.0.0/8 refuse_non_local 127.0.0.0/8 all"))
      << text;
}

TEST(RenderForwarding, WhatAZoneOwnsIsForwardedByNoProgram) {
  Config config = test::guarded_clusters();
  config.forwarding.zones.push_back({name("blue.hc.example.com"), {{test::ipv4("192.0.2.57"), 53}}});
  config.forwarding.zones.push_back({name("x.red.hc.example.com"), {{test::ipv4("192.0.2.57"), 53}}});
  for (const RenderTarget target : {RenderTarget::coredns, RenderTarget::bind, RenderTarget::dnsmasq})
    for (const RenderedFile& file : render(config, target).value().files)
      EXPECT_EQ(test::count(file.text, "192.0.2.57"), 0u) << file.text;
}

TEST(RenderForwarding, ResolvConfIsMissedOnlyWhereSomethingIsForwarded) {
  Config config = one_view({});
  config.forwarding.resolv_conf = true;
  for (const RenderTarget target : {RenderTarget::bind, RenderTarget::unbound}) {
    config.views[0].forwarding_allowed.reset();
    EXPECT_EQ(render(config, target).value().warnings.warning_count(), 1u);
    config.views[0].forwarding_allowed.emplace();
    EXPECT_EQ(render(config, target).value().warnings.warning_count(), 0u);
  }
}

TEST(RenderBind, ValidatesNothingAndAsksNoForwarderBelowAZoneCut) {
  Config config = one_view({zone_with_delegation(), zone_of("y.test", {a_record("www.y.test", "192.0.2.1")})});
  config.forwarding.upstreams = {{test::ipv4("198.51.100.53"), 53}};
  const std::string text = test::text_of(render(config, RenderTarget::bind).value(), "named.conf");
  EXPECT_EQ(test::count(text, "    dnssec-validation no;\n"), 1u);
  EXPECT_EQ(test::count(text, "zone \"z.test\" { type primary; check-names ignore; forwarders { }; file "), 1u) << text;
  EXPECT_EQ(test::count(text, "zone \"y.test\" { type primary; check-names ignore; file "), 1u) << text;
}

TEST(Render, AFilePrefixHasNothingThatAConfigurationTakesForItsOwn) {
  const Config config = one_view({zone_with_delegation()});
  RenderOptions options;
  for (const char* bad : {"a b/", "a\"/", "c\\/", "{$HOME}/", "'/", "a\n", "\t", "\177"}) {
    options.file_prefix = bad;
    for (const RenderTarget target : kRenderTargets)
      EXPECT_EQ(first_code(render(config, target, options)), "bad-option");
  }
  options.file_prefix = "/srv/\xc3\xa4-1.2_%41/";
  for (const RenderTarget target : kRenderTargets) EXPECT_EQ(first_code(render(config, target, options)), "none");
}

TEST(RenderHosts, LeavesOutNamesThatNoHostsFileHas) {
  const auto rendered =
      render(one_view({zone_of("z.test", {a_record("-a.z.test", "192.0.2.1"), a_record("a\\.b.z.test", "192.0.2.1"),
                                          a_record("_x.z.test", "192.0.2.1")}),
                       zone_of("2", {a_record("192.0.2.2", "192.0.2.1")})}),
             RenderTarget::hosts);
  ASSERT_TRUE(rendered);
  EXPECT_EQ(test::count(rendered->files.at(0).text, "192.0.2.1 _x.z.test\n"), 1u) << rendered->files.at(0).text;
  EXPECT_EQ(rendered->warnings.warning_count(), 3u);
}

TEST(RenderForwarding, WhatOnlyOurForwarderDoesIsSaid) {
  Config config = test::two_clusters();
  for (View& view : config.views) view.zones.clear();  // their own warnings are not the matter here
  config.forwarding = {{{test::ipv4("192.0.2.53"), 53}}};
  for (const RenderTarget target : {RenderTarget::coredns, RenderTarget::bind, RenderTarget::unbound})
    EXPECT_THAT(warnings_of(render(config, target).value()), testing::IsEmpty());
  config.forwarding.serve_stale = std::chrono::seconds(60);
  config.forwarding.prefetch = config.forwarding.mix_case = config.query_log = true;
  config.forwarding.min_ttl = config.forwarding.max_ttl = std::chrono::seconds(5);
  for (const RenderTarget target : {RenderTarget::coredns, RenderTarget::bind, RenderTarget::unbound})
    EXPECT_EQ(warnings_of(render(config, target).value()).size(), 6u);
}

}  // namespace
}  // namespace hcpnet::dns

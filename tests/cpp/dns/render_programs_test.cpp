// SPDX-License-Identifier: Apache-2.0
// What is rendered, given to the programs it is for. A program that is not installed is a failure that names it.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <hcpnet/dns/rdata.hpp>
#include <optional>
#include <set>

#include "dns/program_support.hpp"
#include "dns/render_support.hpp"
#include "dns/upstream_support.hpp"

namespace hcpnet::dns {
namespace {

namespace fs = std::filesystem;

/// Renders into a folder of its own, from where the programs run.
class RenderPrograms : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  void write(const Config& config, RenderTarget target) {
    RenderOptions options;
    options.file_prefix = folder.string() + '/';
    const auto rendered = render(config, target, options);
    ASSERT_TRUE(rendered) << rendered.error().to_string();
    test::write_files(folder, *rendered);
    files = rendered->files;
    warnings = rendered->warnings;
  }
  void expect_accepted(const std::string& command) const {
    const test::Finished done = test::run(command);
    EXPECT_EQ(done.status, 0) << command << '\n' << done.output;
  }
  static Config hard_zones() {
    Config config = test::hard_zones();
    config.views[1].zones.pop_back();  // only CoreDNS can say SERVFAIL for a zone
    config.forwarding.upstreams = {{test::ipv4("127.90.9.9"), 5300}, {*parse_ip_address("2001:db8::53"), 53}};
    return config;
  }

  fs::path folder = test::temporary_path("render");
  std::vector<RenderedFile> files;
  Diagnostics warnings;
};

TEST_F(RenderPrograms, ZoneFilesLoadInBindAndKnot) {
  if (test::is_missing("named-checkzone")) FAIL() << "named-checkzone is not installed (bind9-utils)";
  if (test::is_missing("kzonecheck")) FAIL() << "kzonecheck is not installed (knot-dnssecutils)";
  for (const Config& config : {test::two_clusters(), hard_zones()}) {
    write(config, RenderTarget::zonefile);
    for (const RenderedFile& file : files) {
      const std::string apex = fs::path(file.name).stem();
      expect_accepted("named-checkzone -i local " + apex + ' ' + (folder / file.name).string());
      expect_accepted("kzonecheck -o " + apex + ' ' + (folder / file.name).string());
    }
  }
}

TEST_F(RenderPrograms, OwnersOfEveryByteLoadInBindAndKnot) {
  if (test::is_missing("named-checkzone")) FAIL() << "named-checkzone is not installed (bind9-utils)";
  if (test::is_missing("kzonecheck")) FAIL() << "kzonecheck is not installed (knot-dnssecutils)";
  std::vector<RRset> records;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string wire{'\3', 'a', static_cast<char>(byte), 'b', '\1', 'a', '\4', 't', 'e', 's', 't', '\0'};
    records.push_back({make_name(wire).value(), Type::txt, 5, {std::string("\1x")}});
  }
  Config config = test::two_clusters();
  config.views = {test::view_of({test::zone_of("a.test", std::move(records))})};
  write(config, RenderTarget::zonefile);
  const std::string zone = (folder / files[0].name).string();
  expect_accepted("named-checkzone -k ignore -i local a.test " + zone);
  expect_accepted("kzonecheck -o a.test " + zone);
}

/// What has a name here has it in other programs too, which take its own form, or the generic one where there is none
/// here (RFC 3597 section 5).
TEST_F(RenderPrograms, RarerTypesLoadByName) {
  for (const char* program : {"named-checkzone", "kzonecheck", "unbound-checkconf"})
    if (test::is_missing(program)) FAIL() << program << " is not installed";
  const std::string ten(10, '\1'), digest(32, '\1'), key = "\1\1\3\x0d" + std::string(64, '\1');
  const std::string name("\1a\4test\0", 8), bits("\0\1\x40", 3), two("\0\1", 2);
  const std::pair<const char*, std::string> samples[] = {
      {"RP", name + name},
      {"AFSDB", two + name},
      {"LOC", std::string("\0\x12\x16\x13\x80\0\0\0\x80\0\0\0\0\x98\x96\x80", 16)},
      {"NAPTR", two + two + std::string("\1U\3SIP\0", 7) + name},
      {"KX", two + name},
      {"CERT", two + std::string("\0\2\5abc", 6)},
      {"APL", std::string("\0\1\x10\2\xc0\xa8", 6)},
      {"DS", "09\x0d\2" + digest},
      {"SSHFP", "\4\2" + digest},
      {"IPSECKEY", std::string("\1\0\2abc", 6)},
      {"RRSIG", two + "\x0d\2" + std::string(8, '\x70') + "\x6f\x70\x70\x70\1\2" + name + digest + digest},
      {"NSEC", name + bits},
      {"DNSKEY", key},
      {"DHCID", std::string("\0\2\1", 3) + digest},
      {"NSEC3", std::string("\1\0\0\0\0\x14", 6) + std::string(20, '\1') + bits},
      {"NSEC3PARAM", std::string("\1\0\0\0\0", 5)},
      {"TLSA", "\3\1\1" + digest},
      {"SMIMEA", "\3\1\1" + digest},
      {"CDS", "09\x0d\2" + digest},
      {"CDNSKEY", key},
      {"OPENPGPKEY", ten},
      {"CSYNC", std::string("\0\0\0\1\0\1", 6) + bits},
      {"ZONEMD", std::string("\0\0\0\1\1\1", 6) + std::string(48, '\1')},
      {"SPF", "\5v=spf"},
      {"NID", two + std::string(8, '\1')},
      {"L32", two + std::string(4, '\1')},
      {"L64", two + std::string(8, '\1')},
      {"LP", two + name},
      {"EUI48", std::string(6, '\1')},
      {"EUI64", std::string(8, '\1')},
      {"URI", two + std::string("\0\2http:x", 8)}};
  std::vector<RRset> records;
  for (const auto& [type, rdata] : samples)
    records.push_back({test::name(std::string("x-") + type + ".a.test"), parse_type(type).value(), 5, {rdata}});
  Config config = test::two_clusters();
  config.views = {test::view_of({test::zone_of("a.test", std::move(records))})};
  write(config, RenderTarget::zonefile);
  const std::string zone = (folder / files[0].name).string();
  for (const auto& [type, rdata] : samples)
    EXPECT_NE(files[0].text.find(' ' + std::string(type) + ' '), std::string::npos) << type;
  expect_accepted("named-checkzone -k ignore -i local a.test " + zone);
  expect_accepted("kzonecheck -o a.test " + zone);
  const auto again = parse_zone_file("again", files[0].text);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(render_zone_file(*make_zone(*again), again->serial), files[0].text);
  write(config, RenderTarget::unbound);
  expect_accepted("unbound-checkconf " + (folder / "unbound.conf").string());
}

/// named-compilezone writes what it understood, in its own form: an independent reading of the escapes (ZON-07).
TEST_F(RenderPrograms, BindReadsEveryStringAsItWasMeant) {
  if (test::is_missing("named-compilezone")) FAIL() << "named-compilezone is not installed (bind9-utils)";
  const std::string values[] = {"v=DKIM1; p=abc", "say \"hi\"", "C:\\x", "(a", "\xc3\xa9\x07", "tab\tx", "", "@", "$x"};
  std::vector<RRset> records;
  std::size_t i = 0;
  for (const std::string& value : values)
    records.push_back(
        {test::name("t" + std::to_string(i++) + ".a.test"), Type::txt, 5, {static_cast<char>(value.size()) + value}});
  records.push_back(make_a(make_name(std::string("\4@$;(\1a\4test\0", 13)).value(), test::ipv4("192.0.2.1"), 5));
  Config config = test::two_clusters();
  config.views = {test::view_of({test::zone_of("a.test", records)})};
  write(config, RenderTarget::zonefile);
  const std::string zone = (folder / files[0].name).string();
  expect_accepted("named-compilezone -k ignore -i local -o " + zone + ".out a.test " + zone);
  const auto understood = parse_zone_file("named", test::read_file(zone + ".out"));
  ASSERT_TRUE(understood) << understood.error().to_string();
  EXPECT_EQ(render_zone_file(*make_zone(*understood), understood->serial), files[0].text);
}

TEST_F(RenderPrograms, BindTakesItsConfigurationWithEveryZone) {
  if (test::is_missing("named-checkconf")) FAIL() << "named-checkconf is not installed (bind9-utils)";
  for (const Config& config : {test::two_clusters(), hard_zones(), test::guarded_clusters(), test::zones_only()}) {
    write(config, RenderTarget::bind);
    expect_accepted("named-checkconf -z " + (folder / "named.conf").string());
  }
}

TEST_F(RenderPrograms, UnboundTakesItsConfiguration) {
  if (test::is_missing("unbound-checkconf")) FAIL() << "unbound-checkconf is not installed (unbound)";
  for (const Config& config : {test::two_clusters(), hard_zones(), test::guarded_clusters(), test::zones_only()}) {
    write(config, RenderTarget::unbound);
    expect_accepted("unbound-checkconf " + (folder / "unbound.conf").string());
  }
}

TEST_F(RenderPrograms, DnsmasqTakesEachViewsConfiguration) {
  if (test::is_missing("dnsmasq")) FAIL() << "dnsmasq is not installed (dnsmasq-base)";
  for (const Config& config : {test::two_clusters(), hard_zones(), test::guarded_clusters(), test::zones_only()}) {
    write(config, RenderTarget::dnsmasq);
    EXPECT_EQ(files.size(), 2U);
    for (const RenderedFile& file : files) expect_accepted("dnsmasq --test -C " + (folder / file.name).string());
  }
}

TEST_F(RenderPrograms, DnsmasqGetsNoLineThatIsLongerThanItReads) {
  if (test::is_missing("dnsmasq")) FAIL() << "dnsmasq is not installed (dnsmasq-base)";
  Config config = test::two_clusters();
  for (const std::size_t strings : {1, 2}) {
    std::string rdata;
    for (std::size_t i = 0; i < strings; ++i) rdata += '\xff' + std::string(255, 'x');
    config.views = {test::view_of({test::zone_of("a.test", {{test::name("t.a.test"), Type::txt, 5, {rdata}}})})};
    write(config, RenderTarget::dnsmasq);
    expect_accepted("dnsmasq --test -C " + (folder / files[0].name).string());
    EXPECT_EQ(files[0].text.find("dns-rr=t.a.test") != std::string::npos, strings == 1);
  }
}

/// A program on a loopback port, with what is rendered for it.
class RenderedServers : public RenderPrograms {
 protected:
  /// Waits until it answers; what only tests need (where it writes, who it is) is put into its configuration here.
  void start(Config config, RenderTarget target) {
    config.listeners = {server};
    write(config, target);
    const std::string conf = (folder / files.at(0).name).string(), here = folder.string();
    std::vector<std::string> command;
    if (target == RenderTarget::bind) {
      put_into(conf, "options {\n", "directory \"" + here + "\"; pid-file none; session-keyfile none;\n");
      std::ofstream(conf, std::ios::app) << "controls { };\n";
      command = {"named", "-g", "-c", conf};
    } else if (target == RenderTarget::unbound) {
      put_into(conf, "server:\n",
               "    chroot: \"\"\n    username: \"\"\n    pidfile: \"\"\n    directory: \"" + here +
                   "\"\n    use-syslog: no\n    num-threads: 1\n");
      command = {"unbound", "-d", "-c", conf};
    } else {
      command = {"dnsmasq", "--keep-in-foreground", "--log-facility=-", "--pid-file=" + here + "/pid", "-C", conf};
    }
    if (test::is_missing(command[0])) FAIL() << command[0] << " is not installed";
    child.emplace(command, here + "/log");
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    // BIND answers SERVFAIL while it loads.
    const auto is_loading = [&] {
      return target == RenderTarget::bind &&
             test::read_file(folder / "log").find("all zones loaded") == std::string::npos;
    };
    while (!ask("127.90.1.5", "ready.test", 100) || is_loading())
      ASSERT_LT(std::chrono::steady_clock::now(), end) << test::read_file(folder / "log");
  }
  [[nodiscard]] std::optional<Message> ask(std::string_view client, std::string_view asked,
                                           int timeout_ms = 10'000) const {
    return test::UdpSocket(test::ipv4(client)).ask(server, test::make_query(asked, Type::a), timeout_ms);
  }
  [[nodiscard]] std::string answer(std::string_view client, std::string_view asked) const {
    const auto reply = ask(client, asked);
    if (!reply) return "nothing";
    const std::vector<std::string> found = test::addresses(*reply);
    return found.empty() ? to_string(reply->rcode()) : found.front();
  }

  const Endpoint server = test::free_endpoint();
  std::optional<test::Child> child;

 private:
  static void put_into(const std::string& file, const std::string& behind, const std::string& lines) {
    std::string text = test::read_file(file);
    text.insert(text.find(behind) + behind.size(), lines);
    std::ofstream(file, std::ios::binary) << text;
  }
};

TEST_F(RenderedServers, BindAndUnboundAnswerAndForwardForWhomWeDo) {
  const test::Upstream general("192.0.2.1"), special("192.0.2.2");
  Config config = test::two_clusters();
  config.forwarding.upstreams = {general.endpoint()};
  config.forwarding.zones = {{test::name("10.in-addr.arpa"), {special.endpoint()}},
                             {test::name("corp.test"), {special.endpoint()}},
                             {test::name("x.blue.hc.example.com"), {special.endpoint()}},
                             {test::name("red.hc.example.com"), {special.endpoint()}}};
  config.views[1].allowed = {test::cidr("127.90.1.0/28")};
  config.views[1].forwarding_allowed = {test::cidr("127.90.1.0/29"), test::cidr("127.90.1.96/28"),
                                        test::cidr("127.90.3.0/24")};
  for (const RenderTarget target : {RenderTarget::bind, RenderTarget::unbound}) {
    SCOPED_TRACE(to_string(target));
    start(config, target);
    if (HasFatalFailure()) return;
    const char* const of_general[] = {"www.example.net", "1.1.168.192.in-addr.arpa", "other.test", "x.home.arpa"};
    const char* const of_special[] = {"1.0.0.10.in-addr.arpa", "www.corp.test"};
    // The second is of the pod side, whose view has no lists; unbound thinks of all of 127.0.0.0/8 as its own.
    for (const char* client : {"127.90.1.5", "127.90.3.5"}) {
      for (const char* asked : of_general) EXPECT_EQ(answer(client, asked), "192.0.2.1") << client << ' ' << asked;
      for (const char* asked : of_special) EXPECT_EQ(answer(client, asked), "192.0.2.2") << client << ' ' << asked;
      EXPECT_EQ(answer(client, "x.blue.hc.example.com"), "NXDOMAIN") << "a zone owns it";
      EXPECT_EQ(answer(client, "none.red.hc.example.com"), "NXDOMAIN") << "a zone owns it";
    }
    EXPECT_EQ(answer("127.90.1.5", "api.blue.hc.example.com"), "192.0.2.4");
    EXPECT_EQ(answer("127.90.3.5", "api.blue.hc.example.com"), "172.30.9.4");
    EXPECT_EQ(answer("127.90.1.12", "api.blue.hc.example.com"), "192.0.2.4");
    EXPECT_EQ(answer("127.90.1.99", "api.blue.hc.example.com"), "REFUSED");
    // What others have asked for is in the cache by now.
    for (const char* client : {"127.90.1.12", "127.90.1.99"}) {
      for (const char* asked : of_general) EXPECT_EQ(answer(client, asked), "REFUSED") << client << ' ' << asked;
      for (const char* asked : of_special) EXPECT_EQ(answer(client, asked), "REFUSED") << client << ' ' << asked;
    }
    child.reset();
  }
}

TEST_F(RenderedServers, BindAsksNoForwarderForWhatIsDelegated) {
  const test::Upstream general("192.0.2.1");
  const auto zone = parse_zone_file("z",
                                    "$ORIGIN z.test.\n$TTL 60\n@ SOA ns h 1 3600 600 86400 30\n"
                                    "sub NS ns.sub\nns.sub A 127.90.8.8\n");  // where nobody answers
  ASSERT_TRUE(zone) << zone.error().to_string();
  Config config = test::two_clusters();
  config.forwarding.upstreams = {general.endpoint()};
  config.views[1].zones.push_back(make_zone(*zone));
  start(config, RenderTarget::bind);
  if (HasFatalFailure()) return;
  EXPECT_EQ(answer("127.90.1.5", "www.other.test"), "192.0.2.1");
  EXPECT_EQ(answer("127.90.1.5", "x.sub.z.test"), "SERVFAIL");
}

TEST_F(RenderedServers, BindLoadsAZoneWithManyRecordsOfOneName) {
  const test::Upstream general("192.0.2.1");
  std::vector<RRset> records{test::a_record("www.z.test", "192.0.2.80"), test::a_record("many.z.test", "192.0.2.81")};
  for (int i = 0; i < 100; ++i)  // one more than BIND takes unless told otherwise
    records.back().rdata.push_back(test::a_record("many.z.test", "192.0.3." + std::to_string(i)).rdata.front());
  Config config = test::two_clusters();
  config.forwarding.upstreams = {general.endpoint()};
  config.views[1].zones.push_back(test::zone_of("z.test", std::move(records)));
  start(config, RenderTarget::bind);
  if (HasFatalFailure()) return;
  EXPECT_EQ(answer("127.90.1.5", "www.z.test"), "192.0.2.80");
  EXPECT_EQ(test::count(files.at(0).text, "max-records-per-type"), 1U) << "where it is needed alone";
}

TEST_F(RenderedServers, DnsmasqGivesNoWildcardsAddressForWhatIsDelegated) {
  const test::Upstream general("192.0.2.1");
  const auto zone = parse_zone_file("z",
                                    "$ORIGIN z.test.\n$TTL 60\n@ SOA ns h 1 3600 600 86400 30\n"
                                    "* A 192.0.2.80\nsub NS ns.sub\nns.sub A 192.0.2.81\n");
  ASSERT_TRUE(zone) << zone.error().to_string();
  Config config = test::two_clusters();
  config.forwarding.upstreams = {general.endpoint()};
  config.views = {test::view_of({make_zone(*zone)})};
  start(config, RenderTarget::dnsmasq);
  if (HasFatalFailure()) return;
  EXPECT_EQ(answer("127.90.1.5", "www.z.test"), "192.0.2.80");
  for (const char* asked : {"sub.z.test", "x.sub.z.test", "ns.sub.z.test"})
    EXPECT_EQ(answer("127.90.1.5", asked), "NXDOMAIN") << asked;
}

TEST_F(RenderedServers, AnAliasIsFollowedOrWarnedOf) {
  const test::Upstream general("192.0.2.1");
  const auto zone = parse_zone_file("z",
                                    "$ORIGIN z.test.\n$TTL 60\n@ SOA ns h 1 3600 600 86400 30\n"
                                    "www A 192.0.2.80\n*.apps A 192.0.2.81\nin CNAME www\nagain CNAME in\n"
                                    "out CNAME www.elsewhere.example.\nwild CNAME x.apps\n");
  const auto wildcards = parse_zone_file("w",
                                         "$ORIGIN w.test.\n$TTL 60\n@ SOA ns h 1 3600 600 86400 30\n"
                                         "*.in CNAME www.z.test.\n*.out CNAME www.elsewhere.example.\n");
  ASSERT_TRUE(zone) << zone.error().to_string();
  ASSERT_TRUE(wildcards) << wildcards.error().to_string();
  struct Alias {
    std::string owner, asked, address;
  };
  const std::vector<Alias> aliases{{"in.z.test.", "in.z.test", "192.0.2.80"},
                                   {"again.z.test.", "again.z.test", "192.0.2.80"},
                                   {"out.z.test.", "out.z.test", "192.0.2.1"},
                                   {"wild.z.test.", "wild.z.test", "192.0.2.81"}};
  const std::vector<Alias> of_wildcards{{"*.in.w.test.", "x.in.w.test", "192.0.2.80"},
                                        {"*.out.w.test.", "x.out.w.test", "192.0.2.1"}};
  for (const RenderTarget target : {RenderTarget::bind, RenderTarget::unbound, RenderTarget::dnsmasq}) {
    SCOPED_TRACE(to_string(target));
    Config config = test::two_clusters();
    config.forwarding.upstreams = {general.endpoint()};
    config.views = {test::view_of({make_zone(*zone)})};
    std::vector<Alias> expected = aliases;
    if (target != RenderTarget::dnsmasq) {  // which leaves them out, and says so
      config.views[0].zones.push_back(make_zone(*wildcards));
      expected.insert(expected.end(), of_wildcards.begin(), of_wildcards.end());
    }
    start(config, target);
    if (HasFatalFailure()) return;
    std::set<std::string> warned;
    for (const Diagnostic& d : warnings)
      if (d.code == "alias") warned.insert(d.found);
    for (const Alias& alias : expected)
      EXPECT_EQ(answer("127.90.1.5", alias.asked) != alias.address, warned.contains(alias.owner)) << alias.owner;
    EXPECT_EQ(warned.size(), target == RenderTarget::bind ? 0U : target == RenderTarget::unbound ? 5U : 2U);
    child.reset();
  }
}

}  // namespace
}  // namespace hcpnet::dns

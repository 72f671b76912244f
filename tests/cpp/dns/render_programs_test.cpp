// SPDX-License-Identifier: Apache-2.0
// What is rendered, given to the programs it is for. A program that is not installed is skipped, and said so.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <hcpnet/dns/rdata.hpp>

#include "dns/program_support.hpp"
#include "dns/render_support.hpp"

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

}  // namespace
}  // namespace hcpnet::dns

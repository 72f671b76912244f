// SPDX-License-Identifier: Apache-2.0
// What is rendered, given to the programs it is for. A program that is not installed is skipped, and said so.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

// SPDX-License-Identifier: Apache-2.0
#include "stack/load_set.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "dns/snapshot.hpp"
#include "dns/transfer.hpp"

namespace hcpnet {
namespace {

/// A set with a zone file, in a folder that is gone at the end.
class LoadSet : public testing::Test {
 protected:
  LoadSet() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hcpnet-test-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    write("set.yaml", R"(apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DNSServer
metadata: {name: d, namespace: "n"}
spec:
  networkConfig: {serverIP: 192.0.2.3, proxyIP: 192.0.2.4, internalProxyIP: 172.30.0.4, secondaryNetworkCIDR: 192.0.2.0/24}
  hostedClusterDomain: blue.hc.example.com
  staticEntries: [{hostname: api.blue.hc.example.com, ip: 192.0.2.4}]
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: "n"}
spec:
  targetRef: {kind: DNSServer, name: d}
  zoneFiles: [{path: corp.zone, zone: corp.example.com}]
)");
    write("corp.zone", zone("192.0.2.80"));
  }
  ~LoadSet() override { std::filesystem::remove_all(folder); }

  static std::string zone(const std::string& address) {
    return "$TTL 9\n@ SOA ns h 1 1 1 1 1\nwww A " + address + '\n';
  }
  /// As of an hour ago: what was written a moment ago is waited for.
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
    std::filesystem::last_write_time(folder / name,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  [[nodiscard]] LoadOutcome load(const std::shared_ptr<const LoadedSet>& served) const {
    LoadRequest request;
    request.files = {(folder / "set.yaml").string()};
    request.served = served;
    return load_set(request);
  }
  std::filesystem::path folder;
};

TEST_F(LoadSet, ZonesToBeTransferredThatStayAreTheVerySame) {
  std::ifstream set(folder / "set.yaml", std::ios::binary);
  write("set.yaml",
        std::string(std::istreambuf_iterator<char>(set), {}) + "  transfer: {allowedClients: [192.0.2.0/24]}\n");
  LoadRequest request;
  request.files = {(folder / "set.yaml").string()};
  request.now = 1'700'000'009;
  const auto first = load_set(request);
  ASSERT_TRUE(first.set.has_value()) << first.set.error().to_string();
  const DnsServerConfig& server = (*first.set)->config.dns.at(0);
  dns::Config served = server.config;
  dns::set_serials(served, {}, 1'700'000'000);
  request.dns_served.emplace(server.owner, std::make_shared<const dns::Snapshot>(
                                               dns::Snapshot{served, dns::ViewSet::make(served.views).value()}));
  write("corp.zone", zone("192.0.2.81"));
  const auto second = load_set(request);
  ASSERT_TRUE(second.set.has_value()) << second.set.error().to_string();
  const std::vector<dns::View>& views = (*second.set)->config.dns.at(0).config.views;
  ASSERT_EQ(views.size(), served.views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (std::size_t j = 0; j < views[i].zones.size(); ++j) {
      const dns::Zone& now = *views[i].zones[j];
      const bool is_changed = now.apex() == dns::parse_name("corp.example.com").value();
      EXPECT_EQ(views[i].zones[j] == served.views[i].zones[j], !is_changed) << now.apex().to_string();
      EXPECT_EQ(dns::serial_of(now), is_changed ? 1'700'000'009U : 1'700'000'000U) << now.apex().to_string();
    }
  }
}

TEST_F(LoadSet, KnowsAFileOfRecordsAgainWithoutKeepingItsText) {
  const auto first = load(nullptr);
  ASSERT_TRUE(first.set.has_value()) << first.set.error().to_string();
  const std::shared_ptr<LoadedSet> served = *first.set;
  EXPECT_TRUE(served->files->records.empty());
  ASSERT_EQ(served->records.size(), 1U);
  EXPECT_EQ(served->records[0].path, (folder / "corp.zone").string());

  const auto same = load(served);
  ASSERT_TRUE(same.set.has_value()) << same.set.error().to_string();
  EXPECT_TRUE((*same.set)->is_served);
  EXPECT_EQ(same.record_files, first.record_files);

  write("corp.zone", zone("192.0.2.81"));
  const auto changed = load(served);
  ASSERT_TRUE(changed.set.has_value()) << changed.set.error().to_string();
  EXPECT_FALSE((*changed.set)->is_served);
  EXPECT_NE((*changed.set)->records, served->records);

  std::filesystem::remove(folder / "corp.zone");
  EXPECT_TRUE(load(served).set.has_error()) << "what can't be read is not what is served";
}

}  // namespace
}  // namespace hcpnet

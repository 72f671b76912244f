// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <hcpnet/stack/files.hpp>
#include <thread>

#include "support/files.hpp"

namespace hcpnet {
namespace {

constexpr std::size_t kMiB = 1024 * 1024;

/// A folder of its own, gone at the end.
class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hcpnet-test-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  ~FilesTest() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  }
  /// `text`, behind comments that make it `size` bytes long.
  static std::string padded(const std::string& text, std::size_t size) {
    std::string lines;
    while (lines.size() + 64 + text.size() < size) lines += '#' + std::string(62, '-') + '\n';
    return lines + '#' + std::string(size - lines.size() - text.size() - 2, '-') + '\n' + text;
  }
  static std::string only_code(const Diagnostics& problems) {
    EXPECT_EQ(problems.items().size(), 1U) << problems.to_string();
    return problems.items().empty() ? "" : problems.items().front().code;
  }

  std::filesystem::path folder;
};

const std::string kService =
    "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {clusterIP: "
    "172.30.0.7}}\n";

TEST_F(FilesTest, TakesObservedFilesBeyondTheLimitOfSpecs) {
  const std::string observed = write("observed.yaml", padded(kService, 4 * kMiB + 1));
  const std::string endpoints = write("endpoints.yaml", padded("b/a:80: [\"198.51.100.1:80\"]\n", 4 * kMiB + 1));
  Diagnostics problems;
  const SourceFiles files = read_source_files({}, {observed}, {endpoints}, problems);
  ASSERT_TRUE(problems.empty()) << problems.to_string();
  EXPECT_EQ(files.observed.at(0).text.size(), 4 * kMiB + 1);
  EXPECT_EQ(files.endpoints.at(0).text.size(), 4 * kMiB + 1);
  const auto checked = check_files(files);
  ASSERT_TRUE(checked.has_value()) << checked.error().to_string();
  EXPECT_EQ(checked->observed.service_addresses.at("b/a"), Ipv4(172, 30, 0, 7));
  EXPECT_EQ(checked->observed.endpoints.at("b/a:80").size(), 1U);
}

TEST_F(FilesTest, RefusesWhatIsLargerThanItsLimit) {
  const auto check = [](const std::vector<std::string>& specs, const std::vector<std::string>& observed) {
    Diagnostics problems;
    const auto checked = check_files(read_source_files(specs, observed, {}, problems));
    EXPECT_TRUE(problems.empty()) << problems.to_string();
    return checked.has_value() ? "good" : only_code(checked.error());
  };
  const std::string large = write("large.yaml", kService);
  std::filesystem::resize_file(large, 4 * kMiB + 1);
  EXPECT_EQ(check({large}, {}), "file-limit");
  std::filesystem::resize_file(large, spec::kObservedLimits.max_file_bytes + 1);
  EXPECT_EQ(check({}, {large}), "file-limit");
}

TEST_F(FilesTest, ReadsOnlyRegularFilesOfRecords) {
  const std::string fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, folder.string(), std::string("/dev/zero")})
    EXPECT_EQ(read_record_files({path}).at(0).trouble, "this is no regular file") << path;
  const auto gone = read_record_files({folder / "gone", write("hosts", "192.0.2.1 a\n")});
  EXPECT_EQ(gone.at(0).trouble, "No such file or directory");
  EXPECT_EQ(gone.at(1).text, "192.0.2.1 a\n");
}

TEST_F(FilesTest, WaitsForTheEndOfAFileOfRecordsThatIsBeingWritten) {
  const std::string path = write("hosts", "192.0.2.1 a\n");
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::ofstream(path, std::ios::binary | std::ios::app) << "192.0.2.2 b\n";
  });
  const auto records = read_record_files({path});
  writer.join();
  EXPECT_EQ(records.at(0).text, "192.0.2.1 a\n192.0.2.2 b\n") << records.at(0).trouble;
}

TEST_F(FilesTest, FilesOfRecordsHaveALimitTogether) {
  std::vector<std::string> paths;
  const std::size_t each = spec::kZoneFileLimits.max_file_bytes;
  for (std::size_t i = 0; i <= spec::kMaxRecordFilesBytes / each; ++i) {
    paths.push_back(write(std::to_string(i), ""));
    std::filesystem::resize_file(paths.back(), each);
    std::filesystem::last_write_time(paths.back(),
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  const auto records = read_record_files(paths);
  for (std::size_t i = 0; i + 1 < records.size(); ++i) EXPECT_EQ(records[i].trouble, "");
  EXPECT_NE(records.back().trouble.find("268435456"), std::string::npos) << records.back().trouble;
  EXPECT_TRUE(records.back().is_too_large);
  EXPECT_TRUE(records.back().text.empty());
}

TEST_F(FilesTest, DoesNotWaitForAFifo) {
  const std::string fifo = folder / "fifo.yaml";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, folder.string(), std::string("/dev/zero")}) {
    const auto read = read_sources({path});
    ASSERT_TRUE(read.has_error()) << path;
    EXPECT_EQ(only_code(read.error()), "unreadable-file");
    EXPECT_EQ(read.error().items().front().message, "can't be read: this is no regular file");
  }
}

TEST_F(FilesTest, ReadsADescriptorThatItWasGiven) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], kService.data(), kService.size()), static_cast<ssize_t>(kService.size()));
  ::close(ends[1]);
  const auto read = read_sources({"/dev/fd/" + std::to_string(ends[0])});
  ::close(ends[0]);
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(read->at(0).text, kService);
}

}  // namespace
}  // namespace hcpnet

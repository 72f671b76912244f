// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/clock.hpp>
#include <hcpnet/log.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hcpnet::dns {

/// The name servers of a resolv.conf, read again when the file has changed. One thread.
class ResolvConfFile {
 public:
  /// The file is looked at no more often than this.
  static constexpr std::chrono::seconds kCheckInterval{1};
  static constexpr std::size_t kMaxFileBytes = 64 * 1024;  ///< the rest is not read, which the log says

  /// `log` is told which name servers are left out, each time that the file is read.
  explicit ResolvConfFile(std::string path, Logger log = {}) : path_(std::move(path)), log_(std::move(log)) {}

  /// As the file says at `now` or up to kCheckInterval before. A file that can't be read, or is no regular
  /// one, keeps what was known.
  [[nodiscard]] const std::vector<Endpoint>& servers(Clock::SteadyTime now);

 private:
  using Signature = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;
  /// Nothing of what is no regular file.
  [[nodiscard]] std::optional<Signature> sign() const;
  /// False when that was not possible.
  bool read();

  std::string path_;
  Logger log_;
  std::vector<Endpoint> servers_;
  std::optional<Clock::SteadyTime> checked_;
  std::optional<Signature> signature_;  ///< of what was read: device, file, time, nanoseconds, size
};

}  // namespace hcpnet::dns

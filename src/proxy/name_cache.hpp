// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <hcpnet/clock.hpp>
#include <hcpnet/proxy/engine.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hcpnet::proxy {

/// The system's resolver as a Resolve. Its look-ups run on a thread of Asio's; answers arrive on the executor.
[[nodiscard]] Resolve make_system_resolve(const boost::asio::any_io_executor& executor);

/// Endpoints of backends that are given by host name. An answer is fresh for a time; callers who come while a look-up
/// runs share it; when one fails, the last good answer goes on being used. Bounded by the names of the route table (see
/// retain). One thread.
class NameCache : public std::enable_shared_from_this<NameCache> {
 public:
  /// After a failed look-up the old answer is used this long before the next try.
  static constexpr std::chrono::seconds kRetryAfterFailure{1};
  /// Callers of one look-up; further ones fail at once, and count as failures.
  static constexpr std::size_t kMaxWaiting = 10'000;

  NameCache(Resolve resolve, const Clock& clock, std::chrono::milliseconds fresh_for)
      : resolve_(std::move(resolve)), clock_(clock), fresh_for_(fresh_for) {}

  /// Calls `resolved` once; at once when the answer is known. Never with an empty list.
  void resolve(const std::string& host, std::uint16_t port, Resolved resolved);
  /// Forgets the names that no backend of `config` uses.
  void retain(const RouteConfig& config);
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

 private:
  using Key = std::pair<std::string, std::uint16_t>;
  struct Entry {
    std::vector<Endpoint> endpoints;
    Clock::SteadyTime fresh_until{};
    std::vector<Resolved> waiting;  ///< not empty while a look-up runs
  };
  void on_answer(const Key& key, Result<std::vector<Endpoint>> answer);

  Resolve resolve_;
  const Clock& clock_;
  std::chrono::milliseconds fresh_for_;
  std::map<Key, Entry> entries_;
  std::uint64_t failures_ = 0;
};

}  // namespace hcpnet::proxy

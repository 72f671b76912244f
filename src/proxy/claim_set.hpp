// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcpnet/proxy/route_table.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hcpnet::proxy {

/// A client as routes see it. Its cluster is looked up once, and only when a route asks.
class Client {
 public:
  Client(const IpAddress& source, const SourceClusters& clusters) noexcept : source_(source), clusters_(clusters) {}
  [[nodiscard]] const IpAddress& source() const noexcept { return source_; }
  /// Empty when it belongs to none.
  [[nodiscard]] std::string_view cluster() noexcept;

 private:
  const IpAddress& source_;
  const SourceClusters& clusters_;
  const std::string* cluster_ = nullptr;
  bool is_looked_up_ = false;
};

/// Two routes that claim the same connections. `scope` says which: "every client", "clients in 192.0.2.0/24", "clients
/// of cluster x".
struct Conflict {
  std::uint32_t first_route;
  std::uint32_t second_route;
  std::string scope;
};

/// All routes that claim one name (or one kind of nameless connection) on one port, and which of them is for which
/// client.
class ClaimSet {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  ClaimSet() = default;
  /// One route, for every client.
  explicit ClaimSet(std::uint32_t route) noexcept : everyone_(route) {}
  /// `claimants` are indices into `routes`, in order; one that is repeated counts once. Reports every conflict, the
  /// first claim staying.
  ClaimSet(std::span<const Route> routes, std::span<const std::uint32_t> claimants,
           const std::function<void(const Conflict&)>& report);

  [[nodiscard]] bool is_empty() const noexcept { return everyone_ == kNone && !scoped_; }
  /// The index of the route for this client, or kNone. `only_scoped`: routes for every client don't count.
  [[nodiscard]] std::uint32_t find(Client& client, bool only_scoped) const noexcept;

 private:
  struct Scoped {
    std::vector<std::pair<std::string_view, std::uint32_t>> clusters;  ///< sorted; names owned by the configuration
    std::vector<std::pair<Cidr, std::uint32_t>> prefixes;              ///< sorted and disjoint
    [[nodiscard]] std::uint32_t find(Client& client) const noexcept;
  };

  std::uint32_t everyone_ = kNone;
  std::unique_ptr<Scoped> scoped_;  ///< few names have one
};

}  // namespace hcpnet::proxy

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <boost/assert.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace hcpnet::dhcp {

/// The texts of a lease, in one piece of memory, and in none where all are empty: of most leases they are short, and
/// there are many leases. Views live until the next set().
class LeaseTexts {
 public:
  [[nodiscard]] std::string_view client_id() const noexcept { return get(0); }
  [[nodiscard]] std::string_view host_name() const noexcept { return get(1); }
  [[nodiscard]] std::string_view relay_information() const noexcept { return get(2); }

  /// The views may be of these texts themselves. Precondition: each has less than 64 KiB.
  void set(std::string_view client_id, std::string_view host_name, std::string_view relay_information) {
    const std::array texts = {client_id, host_name, relay_information};
    if (texts == std::array{get(0), get(1), get(2)}) return;
    std::size_t total = 0;
    for (const std::string_view text : texts) {
      BOOST_ASSERT(text.size() <= 0xFFFF);
      total += text.size();
    }
    std::unique_ptr<char[]> next;
    if (total > 0) {
      next.reset(new char[sizeof(Sizes) + total]);
      Sizes sizes{};
      char* place = next.get() + sizeof sizes;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        sizes[i] = static_cast<std::uint16_t>(texts[i].size());
        place += texts[i].copy(place, texts[i].size());
      }
      std::memcpy(next.get(), &sizes, sizeof sizes);
    }
    bytes_ = std::move(next);
  }

 private:
  using Sizes = std::array<std::uint16_t, 3>;
  [[nodiscard]] std::string_view get(std::size_t index) const noexcept {
    if (!bytes_) return {};
    Sizes sizes{};
    std::memcpy(&sizes, bytes_.get(), sizeof sizes);
    std::size_t offset = sizeof sizes;
    for (std::size_t i = 0; i < index; ++i) offset += sizes[i];
    return {bytes_.get() + offset, sizes[index]};
  }

  std::unique_ptr<char[]> bytes_;  // three sizes, then the texts
};

}  // namespace hcpnet::dhcp

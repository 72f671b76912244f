// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <hcpnet/net.hpp>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace hcpnet::dhcp {

/// Addresses held for clients that have not asked for them yet: one per client, one client per address. A client is
/// known by a key, which the owner makes.
class OfferTable {
 public:
  using Time = std::chrono::sys_seconds;
  struct Offer {
    Ipv4 address;
    std::string client;
    MacAddress mac;
    Time until;
  };

  explicit OfferTable(std::chrono::seconds hold) : hold_(hold) {}

  [[nodiscard]] const Offer* find(Ipv4 address) const { return find_in(by_address_, address); }
  [[nodiscard]] const Offer* find(const std::string& client) const { return find_in(by_client_, client); }
  [[nodiscard]] std::size_t size() const noexcept { return offers_.size(); }
  /// Offers to one hardware address, whatever keys its clients have.
  [[nodiscard]] std::size_t count(const MacAddress& mac) const {
    const auto found = by_mac_.find(mac);
    return found == by_mac_.end() ? 0 : found->second;
  }

  /// Adds, or holds for longer. Precondition: neither the address nor the client has another offer.
  void hold(std::string client, const MacAddress& mac, Ipv4 address, Time now) {
    if (const auto found = by_address_.find(address); found != by_address_.end()) {
      found->second->until = now + hold_;
      offers_.splice(offers_.end(), offers_, found->second);
      return;
    }
    const auto added = offers_.insert(offers_.end(), {address, std::move(client), mac, now + hold_});
    by_address_.emplace(address, added);
    by_client_.emplace(added->client, added);
    ++by_mac_[mac];
  }
  void erase(Ipv4 address) {
    const auto found = by_address_.find(address);
    if (found == by_address_.end()) return;
    const auto count = by_mac_.find(found->second->mac);
    if (--count->second == 0) by_mac_.erase(count);
    by_client_.erase(found->second->client);
    offers_.erase(found->second);
    by_address_.erase(found);
  }
  /// The offer that ends first: all are held for the same time, so the list is in order. nullptr: there is none.
  [[nodiscard]] const Offer* first() const noexcept { return offers_.empty() ? nullptr : &offers_.front(); }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Offer& offer : offers_) visit(offer);
  }

 private:
  using Place = std::list<Offer>::iterator;
  template <class Map, class Key>
  static const Offer* find_in(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &*found->second;
  }

  std::chrono::seconds hold_;
  std::list<Offer> offers_;  // ascending by `until`
  std::unordered_map<Ipv4, Place> by_address_;
  std::unordered_map<std::string, Place> by_client_;
  std::unordered_map<MacAddress, std::size_t> by_mac_;  // how many
};

}  // namespace hcpnet::dhcp

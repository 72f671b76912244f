// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <hcpnet/net.hpp>
#include <list>
#include <optional>
#include <unordered_map>

namespace hcpnet::dhcp {

/// Addresses held for clients that have not asked for them yet: one per client, one client per address.
class OfferTable {
 public:
  using Time = std::chrono::sys_seconds;
  struct Offer {
    Ipv4 address;
    MacAddress mac;
    Time until;
  };

  explicit OfferTable(std::chrono::seconds hold) : hold_(hold) {}

  [[nodiscard]] const Offer* find(Ipv4 address) const { return find_in(by_address_, address); }
  [[nodiscard]] const Offer* find(const MacAddress& mac) const { return find_in(by_mac_, mac); }
  [[nodiscard]] std::size_t size() const noexcept { return offers_.size(); }

  /// Adds, or holds for longer. Precondition: neither the address nor the client has another offer.
  void hold(const MacAddress& mac, Ipv4 address, Time now) {
    if (const auto found = by_address_.find(address); found != by_address_.end()) {
      found->second->until = now + hold_;
      offers_.splice(offers_.end(), offers_, found->second);
      return;
    }
    const auto added = offers_.insert(offers_.end(), {address, mac, now + hold_});
    by_address_.emplace(address, added);
    by_mac_.emplace(mac, added);
  }
  void erase(Ipv4 address) {
    const auto found = by_address_.find(address);
    if (found == by_address_.end()) return;
    by_mac_.erase(found->second->mac);
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
  std::unordered_map<MacAddress, Place> by_mac_;
};

}  // namespace hcpnet::dhcp

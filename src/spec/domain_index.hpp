// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

namespace hcpnet::spec {

/// Domains and who has them. Owners have to outlive it; domains are in lower case.
template <class Owner>
class DomainIndex {
 public:
  /// Who has this domain, one below it or one above it; nullptr when nobody has.
  [[nodiscard]] const Owner* find(const std::string& domain) const {
    const std::string key = backwards(domain);
    const auto below = owners_.lower_bound(key);
    if (below != owners_.end() && below->first.starts_with(key)) return below->second;
    for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
      if (const auto above = owners_.find(key.substr(0, dot + 1)); above != owners_.end()) return above->second;
    return nullptr;
  }
  /// Of two owners of one domain the first stays.
  void add(const std::string& domain, const Owner& owner) { owners_.emplace(backwards(domain), &owner); }

 private:
  /// Written backwards with a dot behind it, a domain is the beginning of every domain below it.
  static std::string backwards(const std::string& domain) { return std::string(domain.rbegin(), domain.rend()) + '.'; }

  std::map<std::string, const Owner*> owners_;
};

}  // namespace hcpnet::spec

// SPDX-License-Identifier: Apache-2.0
#include "spec/observed_networks.hpp"

#include <map>

#include "spec/claims.hpp"
#include "spec/format.hpp"

namespace hcpnet::spec {
namespace {

constexpr const char* kNoAppsAddress = "gets no apps address";

/// "com.example.hc." for hc.example.com: what is below a name begins with it.
std::string reversed(std::string_view domain) {
  std::string key;
  for (std::size_t end = domain.size();;) {
    const std::size_t dot = end == 0 ? std::string_view::npos : domain.rfind('.', end - 1);
    const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    key += domain.substr(begin, end - begin);
    key += '.';
    if (begin == 0) return key;
    end = dot;
  }
}

/// Neither a domain, nor anything above or below it, may be another's.
class DomainClaims : public Claims<std::string> {
 public:
  using Claims::Claims;
  bool claim_domain(const std::string& domain, const ObservedObject& object, std::string_view pointer) {
    const std::string owner = object.metadata.key();
    const std::string key = reversed(domain);
    const std::string* other = owner_below(key, owner);
    for (std::size_t dot = key.find('.'); other == nullptr && dot != std::string::npos; dot = key.find('.', dot + 1))
      if (const auto above = owners_.find(key.substr(0, dot + 1)); above != owners_.end() && above->second != owner)
        other = &above->second;
    if (other == nullptr) return claim(key, owner, domain, object, pointer);
    tell(*other, owner, domain, object, pointer);
    return false;
  }

 private:
  [[nodiscard]] const std::string* owner_below(const std::string& key, const std::string& owner) const {
    for (auto it = owners_.lower_bound(key); it != owners_.end() && it->first.starts_with(key); ++it)
      if (it->second != owner) return &it->second;
    return nullptr;
  }
};

/// Pools by the end of each, those of all Infras; they don't overlap, so the first that does not end before another one
/// begins is the one to look at.
class PoolClaims : public Claims<Ipv4> {
 public:
  using Claims::Claims;
  bool claim_pool(const Ipv4Range& pool, const ObservedObject& object, std::string_view pointer) {
    const auto next = owners_.lower_bound(pool.first);
    const std::string owner = object.metadata.key();
    if (next != owners_.end() && first_.at(next->first) <= pool.last) {
      if (next->second == owner) return true;
      tell(next->second, owner, pool.to_string(), object, pointer);
      return false;
    }
    first_.emplace(pool.last, pool.first);
    return claim(pool.last, owner, pool.to_string(), object, pointer);
  }

 private:
  std::map<Ipv4, Ipv4> first_;
};

bool is_disabled(const ObservedObject& object, const std::string& pointer) {
  const text::Value* enabled = object.find(pointer);
  return enabled != nullptr && enabled->type == text::ValueType::boolean && !enabled->flag;
}

void settle_infras(const std::vector<ObservedObject>& infras, Diagnostics& warnings) {
  Claims<Ipv4> addresses(warnings, "server address", "needs another");
  for (const ObservedObject& infra : infras)
    for (const char* component : {"dhcp", "dns", "proxy"}) {
      const std::string at = std::string("/spec/infraComponents/") + component;
      const auto address = parse_ipv4(infra.string_at(at + "/serverIP"));
      if (address && !is_disabled(infra, at + "/enabled"))
        addresses.claim(*address, infra.metadata.key(), address->to_string(), infra, at + "/serverIP");
    }
}

}  // namespace

std::set<std::string> settle_networks(const ObservedObjects& objects, Diagnostics& warnings) {
  settle_infras(objects.infras, warnings);
  DomainClaims domains(warnings, "domain", kNoAppsAddress);
  Claims<std::string> clusters(warnings, "hosted cluster", kNoAppsAddress);
  PoolClaims pools(warnings, "apps pool", kNoAppsAddress);
  std::set<std::string> losers;
  for (const ObservedObject& attachment : objects.attachments) {
    const std::string owner = attachment.metadata.key();
    const std::string name = attachment.string_at("/spec/dns/clusterName");
    const std::string base = attachment.string_at("/spec/dns/baseDomain");
    const std::string hosted = attachment.string_at("/spec/hostedClusterRef/name");
    const std::string space = attachment.string_at("/spec/hostedClusterRef/namespace");
    const std::string range_at = "/spec/appsIngress/metallb/ipAddressPoolRange";
    const auto pool = parse_pool(attachment.string_at(range_at));
    bool keeps_all = true;
    if (!hosted.empty())
      keeps_all &= clusters.claim((space.empty() ? "clusters" : space) + '/' + hosted, owner, hosted, attachment,
                                  "/spec/hostedClusterRef/name");
    if (!name.empty() && !base.empty())
      keeps_all &= domains.claim_domain(lower(name + '.' + base), attachment, "/spec/dns/clusterName");
    if (pool && pool->first <= pool->last && !is_disabled(attachment, "/spec/appsIngress/enabled"))
      keeps_all &= pools.claim_pool(*pool, attachment, range_at);
    if (!keeps_all) losers.insert(owner);
  }
  return losers;
}

}  // namespace hcpnet::spec

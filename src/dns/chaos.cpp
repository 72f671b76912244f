// SPDX-License-Identifier: Apache-2.0
#include "dns/chaos.hpp"

namespace hcpnet::dns {

std::string_view find_chaos_text(const Query& query, const Identity* identity) noexcept {
  if (identity == nullptr || query.qclass != kClassChaos || query.question.empty() || query.verdict != Rcode::refused)
    return {};
  if (query.type != Type::txt && query.type != Type::any) return {};
  const std::string_view name = as_text(query.name.wire());
  using namespace std::string_view_literals;
  if (name == "\7version\4bind\0"sv || name == "\7version\6server\0"sv) return identity->version;
  if (name == "\2id\6server\0"sv || name == "\x08hostname\4bind\0"sv) return identity->nsid;
  return {};
}

}  // namespace hcpnet::dns

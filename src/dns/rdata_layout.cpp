// SPDX-License-Identifier: Apache-2.0
#include "dns/rdata_layout.hpp"

#include <algorithm>
#include <iterator>

#include "dns/wire_name.hpp"

namespace hcpnet::dns {
namespace {

// RFC 1035 section 3.3, and the later types that receivers must expand (RFC 3597 section 4), by number.
constexpr RdataLayout kLayouts[] = {
    {Type::a, 4, 0, 0, 0, false},     {Type::ns, 0, 0, 1, 0, true},     {Type{3}, 0, 0, 1, 0, true},  // MD
    {Type{4}, 0, 0, 1, 0, true},                                                                      // MF
    {Type::cname, 0, 0, 1, 0, true},  {Type::soa, 0, 0, 2, 20, true},   {Type{7}, 0, 0, 1, 0, true},  // MB
    {Type{8}, 0, 0, 1, 0, true},                                                                      // MG
    {Type{9}, 0, 0, 1, 0, true},                                                                      // MR
    {Type::ptr, 0, 0, 1, 0, true},    {Type{14}, 0, 0, 2, 0, true},                                   // MINFO
    {Type::mx, 2, 0, 1, 0, true},     {Type::rp, 0, 0, 2, 0, false},    {Type::afsdb, 2, 0, 1, 0, false},
    {Type{21}, 2, 0, 1, 0, false},  // RT
    {Type{26}, 2, 0, 2, 0, false},  // PX
    {Type::aaaa, 16, 0, 0, 0, false}, {Type::srv, 6, 0, 1, 0, false},   {Type::naptr, 4, 3, 1, 0, false},
    {Type::kx, 2, 0, 1, 0, false},    {Type::dname, 0, 0, 1, 0, false},
};

void append(std::string& to, ByteView bytes) {
  to += as_text(bytes);
}

}  // namespace

const RdataLayout* find_rdata_layout(Type type) noexcept {
  const auto* found = std::ranges::lower_bound(kLayouts, type, {}, &RdataLayout::type);
  return found != std::end(kLayouts) && found->type == type ? found : nullptr;
}

std::optional<std::string> expand_rdata(ByteView message, ByteReader rdata, Type type) {
  const RdataLayout* layout = find_rdata_layout(type);
  if (layout == nullptr) return std::string(as_text(rdata.rest()));
  std::string expanded;
  append(expanded, rdata.bytes(layout->bytes_before));
  for (int i = 0; i < layout->strings; ++i) {
    const std::uint8_t length = rdata.u8();
    expanded += static_cast<char>(length);
    append(expanded, rdata.bytes(length));
  }
  for (int i = 0; i < layout->names; ++i)
    if (!rdata.ok() || !append_name(message, rdata, expanded)) return std::nullopt;
  append(expanded, rdata.bytes(layout->bytes_after));
  if (!rdata.at_end()) return std::nullopt;
  return expanded;
}

}  // namespace hcpnet::dns

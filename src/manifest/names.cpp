// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/manifest/names.hpp>

namespace hcpnet::manifest {
namespace {

std::string with_hash(std::string_view shown, std::string_view whole, std::string_view suffix, std::size_t limit) {
  const std::size_t tail = 1 + kNameHashDigits + suffix.size();
  BOOST_ASSERT(tail < limit);
  std::string name(shown.substr(0, limit - tail));
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  if (!name.empty()) name += '-';
  name += sha256_hex(whole).substr(0, kNameHashDigits);
  return name.append(suffix);
}

}  // namespace

std::string cut_name(std::string_view base, std::string_view suffix, std::size_t limit) {
  if (base.size() + suffix.size() <= limit) return std::string(base).append(suffix);
  return with_hash(base, base, suffix, limit);
}

std::string service_name(std::string_view base, std::string_view suffix) {
  const bool begins_well = !base.empty() && base.front() >= 'a' && base.front() <= 'z';
  if (begins_well && base.find('.') == std::string_view::npos) return cut_name(base, suffix);
  std::string shown = begins_well ? std::string(base) : "h-" + std::string(base);
  std::ranges::replace(shown, '.', '-');
  return with_hash(shown, base, suffix, kMaxLabelBytes);
}

}  // namespace hcpnet::manifest

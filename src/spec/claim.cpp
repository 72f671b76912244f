// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/spec/claim.hpp>
#include <tuple>

namespace hcpnet::spec {

bool has_precedence(const ObjectMeta& a, const ObjectMeta& b) noexcept {
  if (a.creation_timestamp.empty() != b.creation_timestamp.empty()) return b.creation_timestamp.empty();
  // The API server writes UTC with whole seconds, always of one length, which sorts as text.
  return std::tie(a.creation_timestamp, a.namespace_, a.name) < std::tie(b.creation_timestamp, b.namespace_, b.name);
}

}  // namespace hcpnet::spec

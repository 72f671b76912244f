// SPDX-License-Identifier: Apache-2.0
// One input as a name in text and as a name in wire form: what is read must be written so that it reads back the same.
#include <cstdlib>
#include <hcpnet/dns/name.hpp>

namespace {

using namespace hcpnet;
using dns::Name;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Name& name) {
  const auto again = dns::parse_name(name.to_string());
  require(again && as_text(again->wire()) == as_text(name.wire()));
  require(name == *again && (name <=> *again) == 0);
  require(std::hash<Name>{}(name) == std::hash<Name>{}(*again));
  require(name.label_count() <= 127 && name.wire().size() <= Name::kMaxBytes);
  if (name.is_root()) return;
  require(name.is_below_or_equal(name.parent()) && !name.parent().is_below_or_equal(name));
  require(name.parent() < name);
  if (const auto wildcard = name.wildcard_child()) require(wildcard->is_wildcard() && wildcard->parent() == name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = as_text({data, size});
  if (const auto name = dns::parse_name(input)) check(*name);
  if (const auto name = dns::make_name(std::string(input))) check(*name);
  return 0;
}

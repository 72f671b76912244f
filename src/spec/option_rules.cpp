// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/dhcp/options.hpp>
#include <map>

#include "dhcp/option_value.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

void check_option(Subject& subject, const std::string& pointer, const DhcpOption& option) {
  const std::string code_pointer = pointer + "/code", value_pointer = pointer + "/value";
  if (!subject.is_good(code_pointer)) return;
  const std::string number = std::to_string(option.code);
  if (dhcp::is_protocol_option(option.code))
    return subject.error(code::bad_option_value, code_pointer,
                         "option " + number + " belongs to the protocol and can't be configured");
  if (!subject.is_good(value_pointer)) return;
  if (const auto encoded = dhcp::encode_option_value(option.code, option.value); encoded.has_error())
    subject.error(code::bad_option_value, value_pointer, "option " + number + " does not take this value",
                  encoded.error());
}

}  // namespace

void check_options(Subject& subject, const std::string& list, const std::vector<DhcpOption>& options) {
  std::map<std::uint8_t, std::size_t> codes;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string pointer = list + '/' + std::to_string(i);
    check_option(subject, pointer, options[i]);
    if (!subject.is_good(pointer + "/code")) continue;
    const auto [first, is_new] = codes.emplace(options[i].code, i);
    if (!is_new)
      subject.error(code::duplicate_name, pointer + "/code",
                    "item " + std::to_string(first->second) + " sets this option already");
  }
}

}  // namespace hcpnet::spec

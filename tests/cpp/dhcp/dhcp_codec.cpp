// SPDX-License-Identifier: Apache-2.0
// What the codec makes of messages, for tests/integration/dhcp_codec_test.py.
//   dhcp_codec <lines "ROOM HEX"    ROOM: bytes that the message is encoded into again
// One line of JSON for each line: "error", or the fields, the options in order, and "encoded" with "omitted", which are
// absent where the message did not fit.
#include <charconv>
#include <hcpnet/dhcp/message.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace hcpnet;
using Bytes = std::vector<std::uint8_t>;

Bytes from_hex(std::string_view digits) {
  Bytes out;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    std::uint8_t byte = 0;
    std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    out.push_back(byte);
  }
  return out;
}

std::string to_hex(ByteView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : bytes) out.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return out;
}

nlohmann::json read_and_write(ByteView packet, std::size_t room) {
  const auto message = dhcp::parse_message(packet);
  if (!message) return {{"error", message.error().message()}};
  nlohmann::json options = nlohmann::json::array();
  for (std::size_t i = 0; i < message->options.size(); ++i)
    options.push_back({message->options[i].code, to_hex(message->options[i].data)});
  nlohmann::json out = {{"op", message->op},
                        {"htype", message->htype},
                        {"hlen", message->hlen},
                        {"hops", message->hops},
                        {"xid", message->xid},
                        {"secs", message->secs},
                        {"flags", message->flags},
                        {"ciaddr", message->ciaddr.to_string()},
                        {"yiaddr", message->yiaddr.to_string()},
                        {"siaddr", message->siaddr.to_string()},
                        {"giaddr", message->giaddr.to_string()},
                        {"chaddr", to_hex(message->chaddr)},
                        {"sname", to_hex(message->sname)},
                        {"file", to_hex(message->file)},
                        {"options", std::move(options)}};
  Bytes buffer(room);
  if (const auto encoded = dhcp::encode_message(*message, 0, buffer)) {
    out["encoded"] = to_hex(ByteView(buffer).first(encoded->size_bytes));
    out["omitted"] = encoded->omitted_options;
  }
  return out;
}

}  // namespace

int main() {
  std::size_t room = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string_view text = line;
    const std::size_t blank = text.find(' ');
    const auto number = std::from_chars(text.data(), text.data() + text.size(), room);
    if (blank == std::string_view::npos || number.ec != std::errc()) {
      std::cerr << "dhcp_codec: \"ROOM HEX\" is expected, not \"" << line << "\"\n";
      return 2;
    }
    std::cout << read_and_write(from_hex(text.substr(blank + 1)), room).dump() << '\n';
  }
}

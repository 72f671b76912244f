// SPDX-License-Identifier: Apache-2.0
// Text of RDATA to its wire form.
#include <algorithm>
#include <charconv>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/net.hpp>
#include <iterator>

#include "dns/rdata_layout.hpp"
#include "dns/rdata_text.hpp"
#include "dns/svcb_text.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::size_t kMaxRdataBytes = 65535;
constexpr std::size_t kMaxStringBytes = 255;

constexpr Type kOwnForms[] = {Type::a,     Type::ns,   Type::cname, Type::soa,   Type::ptr,  Type::hinfo,
                              Type::mx,    Type::txt,  Type::rp,    Type::afsdb, Type::aaaa, Type::srv,
                              Type::naptr, Type::kx,   Type::ds,    Type::sshfp, Type::tlsa, Type::smimea,
                              Type::cds,   Type::svcb, Type::https, Type::spf,   Type::uri,  Type::caa};

std::optional<std::uint8_t> hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (to_upper(c) >= 'A' && to_upper(c) <= 'F') return static_cast<std::uint8_t>(to_upper(c) - 'A' + 10);
  return std::nullopt;
}

/// Digits that may be cut into words anywhere.
std::optional<std::string> bytes_of_hex(std::span<const ZoneToken> tokens) {
  std::string digits;
  for (const ZoneToken& token : tokens) digits += token.text;
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto high = hex_digit(digits[i]);
    const auto low = hex_digit(digits[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(*high << 4 | *low);
  }
  return bytes;
}

/// Reads field after field; after the first mistake the rest changes nothing. A name that lacks its origin is reported
/// like a mistake, but the fields after it are read too.
class Fields {
 public:
  Fields(std::span<const ZoneToken> tokens, const Name* origin) noexcept : tokens_(tokens), origin_(origin) {}

  Fields& u8() { return number(1, "a number from 0 to 255"); }
  Fields& u16() { return number(2, "a number from 0 to 65535"); }
  Fields& u32() { return number(4, "a number of 32 bits"); }
  /// Refresh, retry, expire and minimum of a SOA may have units.
  Fields& duration() {
    const ZoneToken* token = next("a duration in seconds");
    if (!token) return *this;
    const auto value = parse_ttl(token->text);
    return value ? append(*value, 4) : fail("a duration in seconds");
  }
  Fields& name() {
    const ZoneToken* token = next("a domain name");
    if (!token) return *this;
    const auto name = parse_zone_name(*token, origin_);
    if (!name) return fail("a domain name");
    if (origin_ == nullptr && is_relative(*token)) problems_.push_back({at_ - 1, {}, true});
    return append(as_text(name->wire()));
  }
  Fields& string() {
    static constexpr const char* kExpected = "a character string of at most 255 bytes";
    const ZoneToken* token = next(kExpected);
    if (!token) return *this;
    const auto bytes = unescaped(token->text);
    if (!bytes || bytes->size() > kMaxStringBytes) return fail(kExpected);
    return append(static_cast<std::uint32_t>(bytes->size()), 1).append(*bytes);
  }
  Fields& strings() {
    do string();
    while (!has_failed_ && at_ < tokens_.size());
    return *this;
  }
  Fields& tag() {
    static constexpr const char* kExpected = "a tag of letters and digits";
    const ZoneToken* token = next(kExpected);
    if (!token) return *this;
    const auto is_letter = [](char c) { return (c >= '0' && c <= '9') || (to_upper(c) >= 'A' && to_upper(c) <= 'Z'); };
    if (token->text.empty() || token->text.size() > kMaxStringBytes || !std::ranges::all_of(token->text, is_letter))
      return fail(kExpected);
    return append(static_cast<std::uint32_t>(token->text.size()), 1).append(token->text);
  }
  Fields& svc_params() {
    if (has_failed_) return *this;
    const auto params = parse_svc_params(tokens_.subspan(at_));
    if (!params) return fail_at(at_, "parameters of a service (RFC 9460)");
    at_ = tokens_.size();
    return append(*params);
  }
  Fields& rest() {
    const ZoneToken* token = next("a value");
    if (!token) return *this;
    const auto bytes = unescaped(token->text);
    return bytes ? append(*bytes) : fail("a value");
  }
  Fields& some_rest() {
    static constexpr const char* kExpected = "a value that is not empty";
    const ZoneToken* token = next(kExpected);
    if (!token) return *this;
    const auto bytes = unescaped(token->text);
    return bytes && !bytes->empty() ? append(*bytes) : fail(kExpected);
  }
  /// All that is left, and not nothing.
  Fields& hex() {
    static constexpr const char* kExpected = "hexadecimal digits, two for each byte";
    if (next(kExpected) == nullptr) return *this;
    const auto bytes = bytes_of_hex(tokens_.subspan(at_ - 1));
    if (!bytes || bytes->empty()) return fail(kExpected);
    at_ = tokens_.size();
    return append(*bytes);
  }
  Fields& ipv4() {
    const ZoneToken* token = next("an IPv4 address");
    if (!token) return *this;
    const auto address = parse_ipv4(token->text);
    return address ? append(as_text(address->bytes())) : fail("an IPv4 address");
  }
  Fields& ipv6() {
    const ZoneToken* token = next("an IPv6 address");
    if (!token) return *this;
    const auto address = parse_ipv6(token->text);
    return address ? append(as_text(address->bytes())) : fail("an IPv6 address");
  }

  [[nodiscard]] ParsedRdata done() {
    if (!has_failed_ && at_ < tokens_.size()) fail_at(at_, "nothing more");
    if (!has_failed_ && wire_.size() > kMaxRdataBytes) fail_at(0, "at most 65535 bytes");
    if (!problems_.empty()) return std::move(problems_);
    return std::move(wire_);
  }

 private:
  const ZoneToken* next(const char* expected) {
    if (has_failed_) return nullptr;
    if (at_ < tokens_.size()) return &tokens_[at_++];
    fail_at(at_, expected);
    return nullptr;
  }
  Fields& number(int bytes, const char* expected) {
    const ZoneToken* token = next(expected);
    if (!token) return *this;
    const auto value = parse_number(token->text, bytes == 1 ? 0xff : bytes == 2 ? 0xffff : 0xffffffff);
    return value ? append(*value, bytes) : fail(expected);
  }
  Fields& append(std::uint32_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) wire_ += static_cast<char>(value >> shift);
    return *this;
  }
  Fields& append(std::string_view bytes) {
    wire_ += bytes;
    return *this;
  }
  Fields& fail(const char* expected) { return fail_at(at_ - 1, expected); }
  Fields& fail_at(std::size_t token, const char* expected) {
    problems_.push_back({token, expected, false});
    has_failed_ = true;
    return *this;
  }

  std::span<const ZoneToken> tokens_;
  const Name* origin_;
  std::size_t at_ = 0;
  std::string wire_;
  bool has_failed_ = false;
  std::vector<RdataProblem> problems_;
};

/// Ends in a dot that is not escaped: an odd number of backslashes would make it a character of the label.
bool is_absolute(std::string_view text) noexcept {
  if (!text.ends_with('.')) return false;
  text.remove_suffix(1);
  std::size_t backslashes = 0;
  for (; text.ends_with('\\'); text.remove_suffix(1)) ++backslashes;
  return backslashes % 2 == 0;
}

/// Of a type without a form of its own here whose fields are known: they fill the data, and names are not compressed.
bool fits_layout(Type type, const std::string& wire) {
  if (find_rdata_layout(type) == nullptr) return true;
  return expand_rdata(as_bytes(wire), ByteReader(as_bytes(wire)), type) == wire;
}

ParsedRdata wrong(std::size_t token, std::string expected) {
  return std::vector{RdataProblem{token, std::move(expected), false}};
}

/// RFC 3597 section 5: \# LENGTH HEX, where the digits may be cut into words anywhere.
ParsedRdata parse_generic(Type type, std::span<const ZoneToken> tokens) {
  const auto length = tokens.size() < 2 ? std::nullopt : parse_number(tokens[1].text, kMaxRdataBytes);
  if (!length) return wrong(1, "the length of the data");
  auto wire = bytes_of_hex(tokens.subspan(2));
  if (!wire || wire->size() != *length) return wrong(2, std::to_string(*length) + " bytes as hexadecimal digits");
  if (has_own_form(type) ? rdata_in_own_form(type, *wire).empty() : !fits_layout(type, *wire))
    return wrong(2, "data of type " + to_string(type));
  return std::move(*wire);
}

ParsedRdata parse_own_form(Type type, std::span<const ZoneToken> tokens, const Name* origin) {
  Fields fields(tokens, origin);
  switch (type) {
    case Type::a:
      return fields.ipv4().done();
    case Type::aaaa:
      return fields.ipv6().done();
    case Type::ns:
    case Type::cname:
    case Type::ptr:
      return fields.name().done();
    case Type::soa:
      return fields.name().name().u32().duration().duration().duration().duration().done();
    case Type::hinfo:
      return fields.string().string().done();
    case Type::mx:
    case Type::afsdb:
    case Type::kx:
      return fields.u16().name().done();
    case Type::rp:
      return fields.name().name().done();
    case Type::txt:
    case Type::spf:
      return fields.strings().done();
    case Type::srv:
      return fields.u16().u16().u16().name().done();
    case Type::naptr:
      return fields.u16().u16().string().string().string().name().done();
    case Type::uri:
      return fields.u16().u16().some_rest().done();
    case Type::caa:
      return fields.u8().tag().rest().done();
    case Type::svcb:
    case Type::https:
      return fields.u16().name().svc_params().done();
    case Type::ds:
    case Type::cds:
      return fields.u16().u8().u8().hex().done();
    case Type::sshfp:
      return fields.u8().u8().hex().done();
    case Type::tlsa:
    case Type::smimea:
      return fields.u8().u8().u8().hex().done();
    default:
      return wrong(0, "the generic form \\# LENGTH HEX, the only one known here for type " + to_string(type));
  }
}

}  // namespace

bool has_own_form(Type type) noexcept {
  return std::ranges::find(kOwnForms, type) != std::end(kOwnForms);
}

ParsedRdata parse_rdata_tokens(Type type, std::span<const ZoneToken> tokens, const Name* origin) {
  const bool is_generic = !tokens.empty() && !tokens.front().is_quoted && tokens.front().text == "\\#";
  auto parsed = is_generic ? parse_generic(type, tokens) : parse_own_form(type, tokens, origin);
  if (!parsed || has_all_fields(type, as_bytes(*parsed))) return parsed;
  if (is_generic) return wrong(2, "every field of type " + to_string(type));
  return wrong(tokens.size() - 1, "a digest as long as those of its kind are");
}

Result<std::string> parse_rdata(Type type, std::string_view text, const Name& origin) {
  ZoneLexer lexer(text, text.size());
  ZoneEntry entry;
  if (!lexer.next(entry) || entry.problem) return Errc::bad_rdata;
  auto parsed = parse_rdata_tokens(type, entry.tokens, &origin);
  if (!parsed || lexer.next(entry)) return Errc::bad_rdata;
  return std::move(*parsed);
}

bool is_relative(const ZoneToken& token) noexcept {
  return !is_absolute(token.text);
}

Result<Name> parse_zone_name(const ZoneToken& token, const Name* origin) {
  if (token.is_quoted) return Errc::bad_name;
  if (token.text == "@") return origin != nullptr ? *origin : Name();
  auto name = parse_name(token.text);
  if (!name || origin == nullptr || !is_relative(token)) return name;
  std::string wire(as_text(name->wire()));
  wire.pop_back();
  return make_name(wire.append(as_text(origin->wire())));
}

std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t max) {
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || stop != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> parse_ttl(std::string_view text) {
  static constexpr std::uint64_t kMax = 0x7fffffff;
  std::uint64_t sum = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = parse_number(text.substr(0, digits), kMax);
    if (!number) return std::nullopt;
    text.remove_prefix(digits);
    std::uint64_t unit = 1;
    if (text.empty()) {
      if (sum != 0) return std::nullopt;  // "1h30": thirty of what?
    } else {
      switch (to_upper(text.front())) {
        case 'S':
          break;
        case 'M':
          unit = 60;
          break;
        case 'H':
          unit = 3600;
          break;
        case 'D':
          unit = 86400;
          break;
        case 'W':
          unit = 604800;
          break;
        default:
          return std::nullopt;
      }
      text.remove_prefix(1);
    }
    sum += *number * unit;
    if (sum > kMax) return std::nullopt;
    if (text.empty()) return static_cast<std::uint32_t>(sum);
  }
  return std::nullopt;
}

bool is_data_type(Type type) noexcept {
  const auto number = static_cast<std::uint16_t>(type);
  return number != 0 && type != Type::opt && (number < 128 || number > 255);
}

}  // namespace hcpnet::dns

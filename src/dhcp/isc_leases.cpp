// SPDX-License-Identifier: Apache-2.0
// ISC dhcpd, dhcpd.leases(5): declarations in the language of dhcpd.conf(5). What changes is appended, so the last
// declaration of an address counts.
//   lease 192.0.2.5 { starts 4 2026/01/01 10:00:00; ends never; hardware ethernet 02:...; uid "\001..."; ... }
//   ia-na "IAID and DUID" { cltt ...; iaaddr 2001:db8::1 { binding state active; ends ...; } }
#include <algorithm>
#include <array>
#include <hcpnet/dhcp/options.hpp>
#include <map>
#include <utility>
#include <vector>

#include "dhcp/isc_lexer.hpp"
#include "dhcp/lease_file_reader.hpp"
#include "timestamp.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kMaxIdBytes = 512;  // of a "uid" or of an identity association
constexpr std::size_t kMaxHardwareBytes = 20;
constexpr std::size_t kIaidBytes = 4;

/// "binding state", and what older versions have instead.
enum class State : std::uint8_t { active, ended, released, abandoned };

std::optional<State> parse_state(std::string_view word) {
  if (word == "active" || word == "bootp") return State::active;
  if (word == "released") return State::released;
  if (word == "abandoned") return State::abandoned;
  for (const std::string_view ended : {"free", "expired", "reset", "backup"})
    if (word == ended) return State::ended;
  return std::nullopt;
}

LeaseState to_lease_state(State state) noexcept {
  switch (state) {
    case State::active:
      return LeaseState::bound;
    case State::released:
      return LeaseState::released;
    case State::abandoned:
      return LeaseState::declined;
    case State::ended:
      break;
  }
  return LeaseState::expired;
}

/// What the braces of a lease or of an iaaddr hold.
struct Body {
  std::optional<State> state;
  std::optional<std::chrono::sys_seconds> starts, ends;
  std::optional<MacAddress> mac;
  std::string client_id, host_name;
  std::optional<std::string> iaid_duid;
};

class Parser {
 public:
  Parser(std::string_view text, LeaseListBuilder& out) : lexer_(text), out_(out) { advance(); }

  void run() {
    while (token_.kind != IscToken::Kind::end && !out_.is_full()) {
      if (is_word("lease"))
        read_lease();
      else if (is_word("ia-na") || is_word("ia-ta") || is_word("ia-pd"))
        read_association();
      else if (is_word("authoring-byte-order"))
        read_byte_order();
      else if (is_mark('}'))
        pass_stray_brace();
      else
        skip_statement(token_.line);
    }
  }

 private:
  enum class Kind : std::uint8_t { address, temporary, prefix };

  void advance() {
    token_ = lexer_.next();
    if (token_.kind != IscToken::Kind::bad) return;
    error(token_.line, "lease-syntax", token_.text, {});
    is_broken_ = true;
    token_ = {};
    token_.line = lexer_.line();
  }
  void error(std::uint32_t line, const char* code, std::string message, std::string_view found) {
    if (!is_broken_) out_.error(line, code, std::move(message), found);
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return token_.kind == IscToken::Kind::word && token_.text == word;
  }
  [[nodiscard]] bool is_mark(char mark) const {
    return token_.kind == IscToken::Kind::mark && token_.text.front() == mark;
  }
  [[nodiscard]] bool is_end() const { return token_.kind == IscToken::Kind::end; }

  void pass_stray_brace() {
    error(token_.line, "lease-syntax", "a \"}\" closes nothing", {});
    advance();
  }
  /// To behind the ";" of a statement, or the "}" of its braces. Stops before a "}" that is somebody else's. `outer`:
  /// the line of a statement that stands in no braces; there nobody else tells that the file ends inside it, as one of
  /// another kind mostly does.
  void skip_statement(std::optional<std::uint32_t> outer = std::nullopt) {
    std::size_t depth = 0;
    while (!is_end()) {
      if (is_mark('}') && depth == 0 && is_inside_) return;
      const bool is_last = (is_mark(';') && depth == 0) || (is_mark('}') && depth <= 1);
      if (is_mark('{')) ++depth;
      if (is_mark('}') && depth > 0) --depth;
      advance();
      if (is_last) return;
    }
    if (depth > 0)
      error(token_.line, "lease-syntax", "the file ends inside braces", {});
    else if (outer)
      error(*outer, "lease-syntax", "the file ends inside this statement, without \";\"", {});
  }
  /// False, and an error at the statement's line: there is no "{".
  bool open_braces(std::uint32_t line, std::string_view what) {
    if (is_mark('{')) {
      advance();
      is_inside_ = true;
      return true;
    }
    error(line, "lease-syntax", std::string(what) + " has no \"{\"", token_.text);
    skip_statement();
    return false;
  }
  /// False, and an error: the file ends before the "}".
  bool close_braces(std::uint32_t line, std::string_view what, bool is_outermost) {
    if (is_outermost) is_inside_ = false;
    if (is_mark('}')) {
      advance();
      return true;
    }
    error(line, "lease-syntax", "the file ends inside this " + std::string(what), {});
    return false;
  }
  /// The ";" of a statement that was read.
  void end_statement(std::uint32_t line) {
    if (is_mark(';')) return advance();
    error(line, "lease-syntax", "the statement goes on where \";\" is expected", token_.text);
    skip_statement();
  }

  void read_byte_order() {
    const std::uint32_t line = token_.line;
    advance();
    is_little_endian_ = !is_word("big-endian");
    skip_statement(line);
  }

  void read_lease() {
    const std::uint32_t line = token_.line;
    advance();
    const std::string text = take_value();
    const auto address = parse_ipv4(text);
    if (!address) error(line, "lease-bad-value", "an IPv4 address is needed", text);
    if (!open_braces(line, "a lease")) return;
    Body body;
    while (!is_end() && !is_mark('}')) read_statement(body);
    if (close_braces(line, "lease", true) && address) put(*address, body, line);
  }

  /// One statement inside the braces of a lease or an iaaddr. What is not needed is passed over.
  void read_statement(Body& body) {
    const std::uint32_t line = token_.line;
    const std::string name = token_.kind == IscToken::Kind::word ? std::string(token_.text) : std::string();
    if (name == "starts" || name == "ends" || name == "cltt") {
      advance();
      const auto time = read_time(line);
      if (name != "cltt") (name == "ends" ? body.ends : body.starts) = time;
    } else if (name == "hardware") {
      advance();
      read_hardware(body, line);
    } else if (name == "uid") {
      advance();
      if (auto bytes = read_bytes(line, "a client identifier")) body.client_id = *std::move(bytes);
    } else if (name == "client-hostname") {
      advance();
      body.host_name = make_host_label(as_bytes(take_value()));
    } else if (name == "binding") {
      advance();
      read_state(body, line);
    } else if (name == "abandoned") {
      advance();
      body.state = State::abandoned;
    } else {
      return skip_statement();
    }
    end_statement(line);
  }

  void read_state(Body& body, std::uint32_t line) {
    if (is_word("state")) advance();
    const std::string word = take_value();
    body.state = parse_state(word);
    if (!body.state) error(line, "lease-bad-value", "no state of a lease that is known", word);
  }

  /// "never", "epoch SECONDS", or "WEEKDAY YYYY/MM/DD HH:MM:SS" in UTC.
  std::optional<std::chrono::sys_seconds> read_time(std::uint32_t line) {
    std::optional<std::chrono::sys_seconds> time;
    const std::string first = take_value();
    if (first == "never") return kNeverEnds;
    const std::string second = take_value();
    if (first == "epoch") {
      if (const auto seconds = parse_number(second)) time = lease_time(*seconds);
    } else {
      time = parse_date(second, take_value());
    }
    if (!time)
      error(line, "lease-bad-value", "a time is needed: WEEKDAY YYYY/MM/DD HH:MM:SS, epoch SECONDS or never", first);
    return time;
  }
  /// A word of a statement; nothing is taken, and it is empty, where the statement ends.
  std::string take_value() {
    if (is_end() || token_.kind == IscToken::Kind::mark) return {};
    std::string value = std::move(token_.text);
    advance();
    return value;
  }

  static std::optional<std::chrono::sys_seconds> parse_date(std::string_view date, std::string_view time) {
    const auto d = split_numbers(date, '/'), t = split_numbers(time, ':');
    if (!d || !t) return std::nullopt;
    const auto made = make_time(static_cast<int>((*d)[0]), (*d)[1], (*d)[2], (*t)[0], (*t)[1], (*t)[2]);
    if (!made) return std::nullopt;
    return std::clamp(*made, std::chrono::sys_seconds(), kNeverEnds);
  }
  static std::optional<std::array<unsigned, 3>> split_numbers(std::string_view text, char between) {
    std::array<unsigned, 3> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool is_last = i + 1 == out.size();
      const std::size_t end = is_last ? text.size() : text.find(between);
      if (end == std::string_view::npos) return std::nullopt;
      const auto number = parse_number(text.substr(0, end), 9999);
      if (!number) return std::nullopt;
      out[i] = static_cast<unsigned>(*number);
      text.remove_prefix(std::min(text.size(), end + 1));
    }
    return out;
  }

  void read_hardware(Body& body, std::uint32_t line) {
    const bool is_ethernet = take_value() == "ethernet";
    const std::string address = take_value();
    const auto bytes = parse_hex_bytes(address, kMaxHardwareBytes);
    if (!bytes) error(line, "lease-bad-value", "a hardware address is needed", address);
    if (bytes && is_ethernet && bytes->size() == 6) {
      std::array<std::uint8_t, 6> mac{};
      std::ranges::copy(as_bytes(*bytes), mac.begin());
      body.mac = MacAddress(mac);
    }
  }

  /// A string, or hexadecimal bytes between colons.
  std::optional<std::string> read_bytes(std::uint32_t line, const char* what) {
    const bool is_string = token_.kind == IscToken::Kind::string;
    const std::string value = take_value();
    std::optional<std::string> bytes = is_string ? std::optional(value) : parse_hex_bytes(value, kMaxIdBytes);
    if (bytes && bytes->size() <= kMaxIdBytes) return bytes;
    error(line, "lease-bad-value", std::string(what) + " is needed: a string, or hexadecimal bytes between colons",
          value);
    return std::nullopt;
  }

  /// Whether it can be an end of this state; false, and an error, where an end is lacking.
  template <class AnyLease>
  bool take_times(AnyLease& lease, const Body& body, std::uint32_t line) {
    lease.state = to_lease_state(body.state.value_or(State::active));
    lease.started = body.starts.value_or(std::chrono::sys_seconds());
    const bool is_running = lease.state == LeaseState::bound || lease.state == LeaseState::declined;
    if (!body.ends && is_running) {
      error(line, "lease-syntax", "a lease in use has no end: \"ends\" is missing", {});
      return false;
    }
    lease.expires = body.ends.value_or(lease.started);
    lease.host_name = body.host_name;
    return true;
  }

  void put(Ipv4 address, const Body& body, std::uint32_t line) {
    Lease lease;
    lease.address = address;
    lease.client_id = body.client_id;
    if (!take_times(lease, body, line)) return;
    if (body.mac && is_client_mac(*body.mac)) {
      lease.mac = *body.mac;
    } else {
      if (lease.state == LeaseState::bound)
        out_.warn(line, "lease-no-client",
                  "no client with an Ethernet address: the address rests until the lease ends");
      if (!make_rest(lease)) return out_.erase(address);
    }
    out_.put(std::move(lease), line);
  }

  /// IAIDs of different kinds have nothing to do with each other.
  using Key = std::pair<Kind, std::string>;
  struct Association {
    Key key;
    std::optional<dhcp6::Client> client;  ///< none: it can't be read, which was told
    std::optional<std::chrono::sys_seconds> last_heard;
  };

  void read_association() {
    const std::uint32_t line = token_.line;
    Association association;
    association.key.first = is_word("ia-na") ? Kind::address : is_word("ia-ta") ? Kind::temporary : Kind::prefix;
    advance();
    if (auto bytes = read_bytes(line, "an identity association")) {
      association.client = parse_client(*bytes);
      if (!association.client) error(line, "lease-bad-value", "four bytes of IAID and a DUID are needed", *bytes);
      association.key.second = *std::move(bytes);
    }
    if (!open_braces(line, "an identity association")) return;
    if (association.client) forget(association);
    while (!is_end() && !is_mark('}')) {
      if (is_word("iaaddr") || is_word("iaprefix")) {
        read_address(association);
      } else if (is_word("cltt")) {
        advance();
        association.last_heard = read_time(line);
        end_statement(line);
      } else {
        skip_statement();
      }
    }
    close_braces(line, "identity association", true);
  }

  /// An identity association is written as a whole: what it had before is no longer its.
  void forget(const Association& association) {
    std::vector<Ipv6>& addresses = associations_[association.key];
    for (const Ipv6& address : addresses) {
      const dhcp6::Lease* lease = out_.find(address);
      if (lease != nullptr && (lease->client == association.client || lease->client.duid == no_duid()))
        out_.erase(address);
    }
    addresses.clear();
  }

  void read_address(const Association& association) {
    const std::uint32_t line = token_.line;
    const bool is_prefix = association.key.first == Kind::prefix || is_word("iaprefix");
    advance();
    const std::string text = take_value();
    const auto address = parse_ipv6(text);
    if (!address && !is_prefix) error(line, "lease-bad-value", "an IPv6 address is needed", text);
    if (!open_braces(line, "an iaaddr")) return;
    Body body;
    body.starts = association.last_heard;
    while (!is_end() && !is_mark('}')) read_statement(body);
    if (!close_braces(line, "iaaddr", false) || !association.client) return;
    if (is_prefix) return out_.warn(line, "lease-not-served", "a delegated prefix is not served: left out", text);
    if (address) put(*address, association, body, line);
  }

  void put(const Ipv6& address, const Association& association, const Body& body, std::uint32_t line) {
    dhcp6::Lease lease;
    lease.address = address;
    lease.client = *association.client;
    if (!take_times(lease, body, line)) return;
    const bool is_temporary = association.key.first == Kind::temporary;
    if (is_temporary || lease.state == LeaseState::declined) {
      if (is_temporary) out_.warn(line, "lease-no-client", "a temporary address: it rests until the lease ends");
      if (!make_rest(lease)) return out_.erase(address);
    }
    out_.put(std::move(lease), line);
    associations_[association.key].push_back(address);
  }

  /// The IAID is in the byte order of the machine that wrote the file.
  [[nodiscard]] std::optional<dhcp6::Client> parse_client(std::string_view key) const {
    if (key.size() < kIaidBytes) return std::nullopt;
    const auto duid = dhcp6::make_duid(as_bytes(key.substr(kIaidBytes)));
    if (!duid) return std::nullopt;
    std::uint32_t iaid = 0;
    for (std::size_t i = 0; i < kIaidBytes; ++i) {
      const std::size_t at = is_little_endian_ ? kIaidBytes - 1 - i : i;
      iaid = iaid << 8 | static_cast<std::uint8_t>(key[at]);
    }
    return make_client(*duid, iaid);
  }

  IscLexer lexer_;
  LeaseListBuilder& out_;
  IscToken token_;
  bool is_inside_ = false;  ///< the braces of a lease or an identity association
  bool is_broken_ = false;  ///< by a word that is none: what follows from it is not told as well
  bool is_little_endian_ = true;
  std::map<Key, std::vector<Ipv6>> associations_;
};

}  // namespace

void read_isc_leases(std::string_view text, LeaseListBuilder& out) {
  Parser(text, out).run();
}

}  // namespace hcpnet::dhcp

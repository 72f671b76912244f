// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <boost/assert.hpp>
#include <cstring>
#include <hcpnet/dns/name.hpp>
#include <string>

#include "dns/folded_name.hpp"

namespace hcpnet::dns {
namespace {

/// What stands for itself in the files of every name server; some take nothing else unescaped.
constexpr std::string_view kPlain = "-_*/";
/// What a backslash alone makes plain.
constexpr std::string_view kSpecial = ".\\\"();@$";

std::size_t first_label_bytes(ByteView wire) noexcept {
  return 1 + std::size_t{wire.front()};
}

void append_escaped(std::string& text, std::uint8_t byte) {
  const auto character = static_cast<char>(byte);
  const bool is_special = kSpecial.find(character) != std::string_view::npos;
  const bool is_alphanumeric = (fold(byte) >= 'a' && fold(byte) <= 'z') || (byte >= '0' && byte <= '9');
  if (!is_special && !is_alphanumeric && kPlain.find(character) == std::string_view::npos) {
    text += '\\';
    for (const int unit : {100, 10, 1}) text += static_cast<char>('0' + byte / unit % 10);
    return;
  }
  if (is_special) text += '\\';
  text += character;
}

/// One character of a label, after its escape is resolved; takes it from the front of `text`.
std::optional<char> take_character(std::string_view& text) {
  const auto plain = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (plain != '\\') return plain > 0x20 && plain < 0x7f ? std::optional(static_cast<char>(plain)) : std::nullopt;
  if (text.empty()) return std::nullopt;
  if (text.front() < '0' || text.front() > '9') {
    const char escaped = text.front();
    if (escaped < 0x20 || escaped == 0x7f) return std::nullopt;  // char may be signed: this refuses non-ASCII too
    text.remove_prefix(1);
    return escaped;
  }
  int value = 0;
  if (text.size() < 3) return std::nullopt;
  for (const char digit : text.substr(0, 3)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + (digit - '0');
  }
  if (value > 255) return std::nullopt;
  text.remove_prefix(3);
  return static_cast<char>(value);
}

/// Appends the label at the front of `text` in wire form; false when it is none.
bool take_label(std::string_view& text, std::string& wire) {
  const std::size_t length_at = wire.size();
  wire += '\0';
  while (!text.empty() && text.front() != '.') {
    const auto character = take_character(text);
    if (!character) return false;
    wire += *character;
  }
  const std::size_t length = wire.size() - length_at - 1;
  if (length == 0 || length > Name::kMaxLabelBytes) return false;
  wire[length_at] = static_cast<char>(length);
  return true;
}

bool equals_in_any_case(ByteView a, ByteView b) noexcept {
  if (a.size() != b.size()) return false;
  return std::memcmp(a.data(), b.data(), a.size()) == 0 || std::ranges::equal(a, b, {}, fold, fold);
}

/// Where the labels of a sound name begin.
struct LabelStarts {
  explicit LabelStarts(ByteView name) noexcept : wire(name) {
    for (std::size_t at = 0; wire[at] != 0; at += 1 + std::size_t{wire[at]})
      starts[count++] = static_cast<std::uint8_t>(at);
  }
  /// The bytes of a label: the first from the end is the one before the root.
  [[nodiscard]] ByteView label_from_end(std::size_t i) const noexcept {
    const std::size_t at = starts[count - i];
    return wire.subspan(at + 1, wire[at]);
  }

  ByteView wire;
  std::size_t count = 0;
  std::array<std::uint8_t, FoldedName::kMaxLabels> starts;
};

std::strong_ordering compare_labels(ByteView a, ByteView b) noexcept {
  const std::size_t common = std::min(a.size(), b.size());
  if (std::memcmp(a.data(), b.data(), common) != 0) {  // mostly equal, and then this is enough
    for (std::size_t i = 0; i < common; ++i)
      if (const auto order = fold(a[i]) <=> fold(b[i]); order != 0) return order;
  }
  return a.size() <=> b.size();
}

}  // namespace

Name::Name() : wire_(1, '\0') {}

std::size_t Name::label_count() const noexcept {
  std::size_t count = 0;
  for (ByteView rest = wire(); rest.size() > 1; ++count) rest = rest.subspan(first_label_bytes(rest));
  return count;
}

bool Name::is_below_or_equal(const Name& ancestor) const noexcept {
  ByteView rest = wire();
  while (rest.size() > ancestor.wire_.size()) rest = rest.subspan(first_label_bytes(rest));
  return equals_in_any_case(rest, ancestor.wire());
}

Name Name::parent() const {
  BOOST_ASSERT(!is_root());
  Name above;
  above.wire_ = wire_.substr(first_label_bytes(wire()));
  return above;
}

std::optional<Name> Name::wildcard_child() const {
  if (wire_.size() + 2 > kMaxBytes) return std::nullopt;
  Name child;
  child.wire_ = "\1*" + wire_;
  return child;
}

bool Name::is_wildcard() const noexcept {
  return wire_.size() > 2 && wire_[0] == 1 && wire_[1] == '*';
}

std::string Name::to_string() const {
  if (is_root()) return ".";
  std::string text;
  for (ByteView rest = wire(); rest.size() > 1; rest = rest.subspan(first_label_bytes(rest))) {
    for (const std::uint8_t byte : rest.subspan(1, rest.front())) append_escaped(text, byte);
    text += '.';
  }
  return text;
}

bool operator==(const Name& a, const Name& b) noexcept {
  return equals_in_any_case(a.wire(), b.wire());
}

std::strong_ordering operator<=>(const Name& a, const Name& b) noexcept {
  const LabelStarts left(a.wire());
  const LabelStarts right(b.wire());
  for (std::size_t i = 1; i <= std::min(left.count, right.count); ++i)
    if (const auto order = compare_labels(left.label_from_end(i), right.label_from_end(i)); order != 0) return order;
  return left.count <=> right.count;
}

Result<Name> make_name(std::string wire) {
  FoldedName checked;
  if (wire.empty() || checked.read(as_bytes(wire)) != wire.size()) return Errc::bad_name;
  Name name;
  name.wire_ = std::move(wire);
  return name;
}

Result<Name> parse_name(std::string_view text) {
  if (text == ".") return Name();
  std::string wire;
  wire.reserve(std::min(text.size(), Name::kMaxBytes) + 2);
  while (!text.empty()) {
    if (!take_label(text, wire)) return Errc::bad_name;
    if (wire.size() >= Name::kMaxBytes) return Errc::bad_name;
    if (!text.empty()) text.remove_prefix(1);  // the dot
  }
  if (wire.empty()) return Errc::bad_name;
  wire += '\0';
  return make_name(std::move(wire));
}

}  // namespace hcpnet::dns

std::size_t std::hash<hcpnet::dns::Name>::operator()(const hcpnet::dns::Name& name) const noexcept {
  const hcpnet::dns::FoldedName folded(name);
  return folded.hash(folded.label_count());
}

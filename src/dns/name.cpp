// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/dns/name.hpp>
#include <string>

#include "dns/folded_name.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::string_view kSpecial = ".\\\"();@$";

std::size_t first_label_bytes(ByteView wire) noexcept {
  return 1 + std::size_t{wire.front()};
}

void append_escaped(std::string& text, std::uint8_t byte) {
  if (byte <= 0x20 || byte >= 0x7f) {
    text += '\\';
    for (const int unit : {100, 10, 1}) text += static_cast<char>('0' + byte / unit % 10);
    return;
  }
  if (kSpecial.find(static_cast<char>(byte)) != std::string_view::npos) text += '\\';
  text += static_cast<char>(byte);
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

std::optional<std::string> take_label(std::string_view& text) {
  std::string label;
  while (!text.empty() && text.front() != '.') {
    const auto character = take_character(text);
    if (!character) return std::nullopt;
    label += *character;
  }
  if (label.empty() || label.size() > Name::kMaxLabelBytes) return std::nullopt;
  return label;
}

}  // namespace

Name::Name() : wire_(1, '\0') {}

std::size_t Name::label_count() const noexcept {
  std::size_t count = 0;
  for (ByteView rest = wire(); rest.size() > 1; ++count) rest = rest.subspan(first_label_bytes(rest));
  return count;
}

bool Name::is_below_or_equal(const Name& ancestor) const noexcept {
  const FoldedName folded(ancestor);
  ByteView rest = wire();
  while (rest.size() > folded.wire().size()) rest = rest.subspan(first_label_bytes(rest));
  return rest.size() == folded.wire().size() && equals_folded(rest.data(), folded.wire());
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
  return a.wire_.size() == b.wire_.size() &&
         std::ranges::equal(a.wire(), b.wire(), [](std::uint8_t x, std::uint8_t y) { return fold(x) == fold(y); });
}

std::strong_ordering operator<=>(const Name& a, const Name& b) noexcept {
  const FoldedName left(a);
  const FoldedName right(b);
  const std::size_t common = std::min(left.label_count(), right.label_count());
  for (std::size_t labels = 1; labels <= common; ++labels) {
    const ByteView x = left.suffix(labels);
    const ByteView y = right.suffix(labels);
    const auto order = as_text(x.subspan(1, x.front())).compare(as_text(y.subspan(1, y.front())));
    if (order != 0) return order <=> 0;
  }
  return left.label_count() <=> right.label_count();
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
  while (!text.empty()) {
    const auto label = take_label(text);
    if (!label) return Errc::bad_name;
    wire += static_cast<char>(label->size());
    wire += *label;
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

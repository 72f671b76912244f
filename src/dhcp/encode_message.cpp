// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bitset>
#include <hcpnet/dhcp/error.hpp>
#include <hcpnet/dhcp/message.hpp>

namespace hcpnet::dhcp {
namespace {

constexpr std::uint32_t kMagicCookie = 0x63825363;
constexpr std::size_t kOverloadBytes = 3;
constexpr std::size_t kEndBytes = 1;
constexpr std::size_t kMaxPieceBytes = 255;

void write_header(ByteWriter& out, const Message& m) noexcept {
  out.u8(m.op);
  out.u8(m.htype);
  out.u8(m.hlen);
  out.u8(m.hops);
  out.u32(m.xid);
  out.u16(m.secs);
  out.u16(m.flags);
  out.u32(m.ciaddr.value());
  out.u32(m.yiaddr.value());
  out.u32(m.siaddr.value());
  out.u32(m.giaddr.value());
  out.bytes(m.chaddr);
  out.bytes(m.sname);
  out.bytes(m.file);
}

/// Bytes on the wire, split headers included.
std::size_t encoded_size(ByteView data) noexcept {
  const std::size_t pieces = data.empty() ? 1 : (data.size() + kMaxPieceBytes - 1) / kMaxPieceBytes;
  return data.size() + 2 * pieces;
}

/// RFC 3396 section 6: an option of more than 255 bytes is written as several of the same code, one after the other.
void write_option(ByteWriter& out, std::uint8_t code, ByteView data) noexcept {
  do {
    const ByteView piece = data.first(std::min(data.size(), kMaxPieceBytes));
    out.u8(code);
    out.u8(static_cast<std::uint8_t>(piece.size()));
    out.bytes(piece);
    data = data.subspan(piece.size());
  } while (!data.empty());
}

/// Which option goes where. Decided before anything is written, because option 52 comes before what it announces.
class Layout {
 public:
  Layout(const Message& message, std::size_t mandatory, std::size_t room) : options_(message.options) {
    const ByteView relay = options_.find(option::relay_information).value_or(ByteView{});
    relay_bytes_ = options_.contains(option::relay_information) ? encoded_size(relay) : 0;
    const std::size_t fixed = relay_bytes_ + kEndBytes;
    fits_ = room >= fixed;
    if (!fits_ || place(room - fixed, mandatory, 0, 0)) return;
    const auto is_free = [](const auto& field) {
      return std::ranges::all_of(field, [](auto byte) { return byte == 0; });
    };
    const std::size_t in_file = is_free(message.file) ? message.file.size() - kEndBytes : 0;
    const std::size_t in_sname = is_free(message.sname) ? message.sname.size() - kEndBytes : 0;
    if (in_file + in_sname == 0 || room < fixed + kOverloadBytes) return;
    const std::size_t omitted = omitted_;
    const bool fits = fits_;
    const auto where = where_;
    place(room - fixed - kOverloadBytes, mandatory, in_file, in_sname);
    if (fits && (!fits_ || omitted_ > omitted)) {  // the three bytes of option 52 cost more than they won
      fits_ = fits;
      omitted_ = omitted;
      where_ = where;
    }
  }

  [[nodiscard]] bool fits() const noexcept { return fits_; }
  [[nodiscard]] std::size_t omitted() const noexcept { return omitted_; }
  [[nodiscard]] std::uint8_t overload() const noexcept {
    return static_cast<std::uint8_t>((where_[1].any() ? 1 : 0) | (where_[2].any() ? 2 : 0));
  }
  void write(ByteWriter& out, std::size_t field) const noexcept {
    for (std::size_t i = 0; i < options_.size(); ++i) {
      if (where_[field][options_[i].code]) write_option(out, options_[i].code, options_[i].data);
    }
  }

 private:
  /// Greedy, in order: the options field, else file, else sname. True when every option found its place.
  bool place(std::size_t in_options, std::size_t mandatory, std::size_t in_file, std::size_t in_sname) {
    std::array<std::size_t, 3> left = {in_options, in_file, in_sname};
    where_ = {};
    omitted_ = 0;
    fits_ = true;
    for (std::size_t i = 0; i < options_.size(); ++i) {
      const auto [code, data] = options_[i];
      if (code == option::relay_information || code == option::overload) continue;
      const std::size_t size = encoded_size(data);
      const auto field = std::ranges::find_if(left, [size](std::size_t bytes) { return bytes >= size; });
      if (field == left.end()) {
        ++omitted_;
        if (i < mandatory) fits_ = false;
        continue;
      }
      *field -= size;
      where_[static_cast<std::size_t>(field - left.begin())].set(code);
    }
    return omitted_ == 0;
  }

  const OptionSet& options_;
  std::array<std::bitset<256>, 3> where_;  // options field, file, sname
  std::size_t relay_bytes_ = 0;
  std::size_t omitted_ = 0;
  bool fits_ = false;
};

template <std::size_t size>
void write_field(const Layout& layout, std::size_t field, std::array<std::uint8_t, size>& out) noexcept {
  ByteWriter writer(out);
  layout.write(writer, field);
  writer.u8(option::end);
}

}  // namespace

Result<EncodedMessage> encode_message(const Message& message, std::size_t mandatory, std::span<std::uint8_t> buffer) {
  constexpr std::size_t kFixedBytes = 240;
  if (buffer.size() < kMinMessageBytes) return Errc::no_room;
  const Layout layout(message, mandatory, buffer.size() - kFixedBytes);
  if (!layout.fits()) return Errc::no_room;

  ByteWriter out(buffer);
  const std::uint8_t overload = layout.overload();
  if (overload == 0) {
    write_header(out, message);
  } else {
    Message overloaded = message;
    if ((overload & 1) != 0) write_field(layout, 1, overloaded.file);
    if ((overload & 2) != 0) write_field(layout, 2, overloaded.sname);
    write_header(out, overloaded);
  }
  out.u32(kMagicCookie);
  layout.write(out, 0);
  if (overload != 0) write_option(out, option::overload, std::array{overload});
  if (const auto relay = message.options.find(option::relay_information))
    write_option(out, option::relay_information, *relay);
  out.u8(option::end);
  if (out.size() < kMinMessageBytes) out.zeros(kMinMessageBytes - out.size());
  if (!out.ok()) return Errc::no_room;
  return EncodedMessage{out.size(), layout.omitted()};
}

}  // namespace hcpnet::dhcp

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hcpnet {

using ByteView = std::span<const std::uint8_t>;

/// The characters of `text` as bytes. The view is valid as long as the text is.
[[nodiscard]] inline ByteView as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
/// The bytes as characters, unchanged. The view is valid as long as the bytes are.
[[nodiscard]] inline std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads a wire message from the front, in network byte order.
///
/// A read past the end returns zero or an empty span and the reader stays failed, with nothing left: code is a straight
/// line with one check at its end. Never throws, never allocates. The bytes must outlive the reader.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) noexcept : rest_(bytes) {}

  std::uint8_t u8() noexcept {
    if (rest_.empty()) return fail();
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u24() noexcept { return static_cast<std::uint32_t>(number(3)); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() noexcept { return number(8); }

  /// The next `count` bytes, in place.
  ByteView bytes(std::size_t count) noexcept {
    if (count > rest_.size()) {
      fail();
      return {};
    }
    const ByteView taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  /// A reader of the next `count` bytes; failed from the start when there are fewer.
  ByteReader sub(std::size_t count) noexcept {
    ByteReader inner(bytes(count));
    inner.failed_ = failed_;
    return inner;
  }
  void skip(std::size_t count) noexcept { static_cast<void>(bytes(count)); }

  [[nodiscard]] ByteView rest() const noexcept { return rest_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return rest_.size(); }
  [[nodiscard]] bool ok() const noexcept { return !failed_; }
  /// True when everything was read and nothing beyond it.
  [[nodiscard]] bool at_end() const noexcept { return !failed_ && rest_.empty(); }

 private:
  std::uint64_t number(std::size_t width) noexcept {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : bytes(width)) value = value << 8 | byte;
    return value;
  }
  std::uint8_t fail() noexcept {
    failed_ = true;
    rest_ = {};
    return 0;
  }

  ByteView rest_;
  bool failed_ = false;
};

/// Writes a wire message into a buffer of fixed size, in network byte order.
///
/// A write that does not fit changes nothing and the writer stays failed; `ok()` is checked once, at the end. Never
/// throws, never allocates. The buffer must outlive the writer.
class ByteWriter {
 public:
  explicit ByteWriter(std::span<std::uint8_t> buffer) noexcept : buffer_(buffer) {}

  void u8(std::uint8_t value) noexcept { number(value, 1); }
  void u16(std::uint16_t value) noexcept { number(value, 2); }
  void u32(std::uint32_t value) noexcept { number(value, 4); }
  void u64(std::uint64_t value) noexcept { number(value, 8); }
  void bytes(ByteView value) noexcept;
  void zeros(std::size_t count) noexcept;

  /// Overwrites two bytes written earlier at `offset`: for lengths known only afterwards.
  void put_u16(std::size_t offset, std::uint16_t value) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return buffer_.size(); }
  [[nodiscard]] bool ok() const noexcept { return !failed_; }
  /// What has been written so far.
  [[nodiscard]] std::span<std::uint8_t> written() const noexcept { return buffer_.first(size_); }
  /// Goes back to an earlier size and forgets a failure since: for a part that is written wholly or not at all.
  void rewind(std::size_t size) noexcept;

 private:
  std::span<std::uint8_t> reserve(std::size_t count) noexcept;
  void number(std::uint64_t value, std::size_t width) noexcept;

  std::span<std::uint8_t> buffer_;
  std::size_t size_ = 0;
  bool failed_ = false;
};

}  // namespace hcpnet

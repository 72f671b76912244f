// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace hcpnet::proxy {

/// Relay buffers of one worker. One is borrowed only while bytes are in it, so that idle tunnels cost none. One thread.
class BufferPool {
 public:
  /// Not 64 KiB: on loopback, whose largest segment is 65,483 bytes, every full write would leave a small packet behind
  /// it.
  static constexpr std::size_t kBufferBytes = 62 * 1024;
  static constexpr std::size_t kMaxSpareBuffers = 16;

  /// Gives its buffer back on destruction; empty after being moved from. The pool must outlive it.
  class Buffer {
   public:
    Buffer() noexcept = default;
    Buffer(Buffer&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), bytes_(std::move(other.bytes_)) {}
    Buffer& operator=(Buffer&& other) noexcept {
      release();
      pool_ = std::exchange(other.pool_, nullptr);
      bytes_ = std::move(other.bytes_);
      return *this;
    }
    ~Buffer() { release(); }
    void release() noexcept {
      if (pool_ != nullptr) std::exchange(pool_, nullptr)->take_back(std::move(bytes_));
    }
    [[nodiscard]] std::span<std::uint8_t> bytes() const noexcept { return {bytes_.get(), bytes_ ? kBufferBytes : 0}; }

   private:
    friend class BufferPool;
    Buffer(BufferPool& pool, std::unique_ptr<std::uint8_t[]> bytes) noexcept : pool_(&pool), bytes_(std::move(bytes)) {}
    BufferPool* pool_ = nullptr;
    std::unique_ptr<std::uint8_t[]> bytes_;
  };

  BufferPool() { spare_.reserve(kMaxSpareBuffers); }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  [[nodiscard]] Buffer borrow() {
    std::unique_ptr<std::uint8_t[]> bytes;
    if (spare_.empty()) {
      bytes = std::make_unique_for_overwrite<std::uint8_t[]>(kBufferBytes);
    } else {
      bytes = std::move(spare_.back());
      spare_.pop_back();
    }
    ++lent_;
    return {*this, std::move(bytes)};
  }
  [[nodiscard]] std::size_t lent() const noexcept { return lent_; }

 private:
  void take_back(std::unique_ptr<std::uint8_t[]> bytes) noexcept {
    --lent_;
    if (spare_.size() < kMaxSpareBuffers) spare_.push_back(std::move(bytes));
  }

  std::vector<std::unique_ptr<std::uint8_t[]>> spare_;
  std::size_t lent_ = 0;
};

}  // namespace hcpnet::proxy

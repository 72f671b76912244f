// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace hcpnet::proxy {

/// Kernel pipes of one worker, through which bytes pass from socket to socket without being copied (splice(2)). One is
/// borrowed only while bytes are in it. One thread.
class PipePool {
 public:
  /// What is asked of the kernel; it may give less (pipe-user-pages-soft).
  static constexpr int kPipeBytes = 1024 * 1024;
  /// All together: what they may hold is bounded. Whoever gets none copies.
  static constexpr std::size_t kMaxPipes = 128;
  static constexpr std::size_t kMaxSparePipes = 16;

  struct Ends {
    int read = -1;
    int write = -1;
  };

  /// Gives its pipe back on destruction, or closes it where bytes are left in it; empty after being moved from. The
  /// pool must outlive it.
  class Pipe {
   public:
    Pipe() noexcept = default;
    Pipe(Pipe&& other) noexcept
        : held(std::exchange(other.held, 0)),
          pool_(std::exchange(other.pool_, nullptr)),
          ends_(std::exchange(other.ends_, {})) {}
    Pipe& operator=(Pipe&& other) noexcept {
      release();
      held = std::exchange(other.held, 0);
      pool_ = std::exchange(other.pool_, nullptr);
      ends_ = std::exchange(other.ends_, {});
      return *this;
    }
    ~Pipe() { release(); }
    void release() noexcept;
    [[nodiscard]] explicit operator bool() const noexcept { return pool_ != nullptr; }
    [[nodiscard]] const Ends& ends() const noexcept { return ends_; }

    std::size_t held = 0;  ///< bytes in it, as its user counts them

   private:
    friend class PipePool;
    Pipe(PipePool& pool, Ends ends) noexcept : pool_(&pool), ends_(ends) {}
    PipePool* pool_ = nullptr;
    Ends ends_;
  };

  /// A pipe whose descriptors would be numbered `first_reserved`, which may change, or above is none to be had.
  explicit PipePool(const int& first_reserved) : first_reserved_(first_reserved) { spare_.reserve(kMaxSparePipes); }
  ~PipePool();
  PipePool(const PipePool&) = delete;
  PipePool& operator=(const PipePool&) = delete;

  /// Empty when there is none to be had.
  [[nodiscard]] Pipe borrow();
  /// Closes the spare ones, and those that come back before the next is borrowed: there are no connections.
  void rest() noexcept;
  [[nodiscard]] std::size_t lent() const noexcept { return lent_; }

 private:
  void take_back(Ends ends, bool is_empty) noexcept;

  const int& first_reserved_;
  std::vector<Ends> spare_;
  std::size_t lent_ = 0;
  bool is_resting_ = false;
};

}  // namespace hcpnet::proxy

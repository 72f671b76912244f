// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Writing one object to an API server that others write to as well.
namespace hcpnet::reconcile {

enum class Verb : std::uint8_t { get, create, update };
/// "get", "create", "update"
[[nodiscard]] std::string_view to_string(Verb verb) noexcept;

/// What an API server says to a request.
struct Answer {
  unsigned status = 0;                                   ///< of HTTP; 0: none came
  std::string reason = {};                               ///< of the Status object: "Conflict", "AlreadyExists"
  std::optional<std::chrono::seconds> retry_after = {};  ///< header Retry-After
};

struct WriteLimits {
  std::size_t max_conflicts = 10;  ///< of one attempt; then the object goes to the back of the queue
  std::chrono::milliseconds first_delay{200};
  std::chrono::milliseconds max_delay{60'000};  ///< Retry-After may ask for more
};

/// What comes next.
struct WriteStep {
  enum class Kind : std::uint8_t {
    done,
    send,     ///< `verb`, after `delay`
    requeue,  ///< the attempt is over: begin again with `verb`, after `delay`; other objects come first
    refused,  ///< the API server will never take this object: nothing is sent until it is another one
  };
  Kind kind = Kind::done;
  Verb verb = Verb::update;
  std::chrono::milliseconds delay{0};
};

/// One object on its way: is told every answer, and says what follows. Holds no object: whoever gets one puts what is
/// wanted over it again (overlay()), so that nothing of somebody else is lost. Pure. Not thread-safe.
///
///   update --409 Conflict--> get --> update       create --409 AlreadyExists--> get --> update
///   update --404--> create                        get --404--> create
///   any --429--> the same after Retry-After       any --5xx, no answer--> requeue       any other 4xx --> refused
///
/// Delays double with each conflict or failure in a row, up to a limit, and vary by half, so that writers who failed
/// together don't come back together.
class ObjectWrite {
 public:
  explicit ObjectWrite(Verb first, const WriteLimits& limits = {}) : limits_(limits), verb_(first) {}

  /// What is to be sent, or was sent last.
  [[nodiscard]] Verb verb() const noexcept { return verb_; }
  /// `chance`: from 0 to 1, another one each time.
  [[nodiscard]] WriteStep on_answer(const Answer& answer, double chance);

 private:
  WriteStep send(Verb verb, std::chrono::milliseconds delay = {});
  WriteStep on_conflict(bool already_exists, double chance);
  WriteStep requeue(double chance);
  [[nodiscard]] std::chrono::milliseconds delay(std::size_t times, double chance) const;

  WriteLimits limits_;
  Verb verb_;
  std::size_t conflicts_ = 0;  ///< of this attempt
  std::size_t failures_ = 0;   ///< in a row
};

}  // namespace hcpnet::reconcile

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/reconcile/object_write.hpp>

namespace hcpnet::reconcile {

using std::chrono::milliseconds;

std::string_view to_string(Verb verb) noexcept {
  switch (verb) {
    case Verb::get:
      return "get";
    case Verb::create:
      return "create";
    case Verb::update:
      break;
  }
  return "update";
}

WriteStep ObjectWrite::on_answer(const Answer& answer, double chance) {
  constexpr unsigned kNotFound = 404, kConflict = 409, kTooManyRequests = 429;
  if (answer.status >= 200 && answer.status < 300) {
    failures_ = 0;
    if (verb_ == Verb::get) return send(Verb::update);
    conflicts_ = 0;
    return {};
  }
  if (answer.status == kConflict) return on_conflict(answer.reason == "AlreadyExists", chance);
  if (answer.status == kTooManyRequests) {
    const milliseconds own = delay(failures_++, chance);
    return send(verb_, std::max<milliseconds>(own, answer.retry_after.value_or(std::chrono::seconds{0})));
  }
  // A create that finds nothing misses its namespace, which may come yet.
  if (answer.status == kNotFound) return verb_ == Verb::create ? requeue(chance) : send(Verb::create);
  if (answer.status >= 400 && answer.status < 500) return {WriteStep::Kind::refused, verb_, {}};
  return requeue(chance);
}

WriteStep ObjectWrite::send(Verb verb, milliseconds delay) {
  verb_ = verb;
  return {WriteStep::Kind::send, verb, delay};
}

WriteStep ObjectWrite::on_conflict(bool already_exists, double chance) {
  if (conflicts_ >= limits_.max_conflicts) {
    verb_ = Verb::get;
    return requeue(chance);
  }
  // Who finds the object there has not been overtaken yet, and needn't wait.
  const milliseconds wait = already_exists ? milliseconds{0} : delay(conflicts_, chance);
  ++conflicts_;
  return send(Verb::get, wait);
}

WriteStep ObjectWrite::requeue(double chance) {
  conflicts_ = 0;
  return {WriteStep::Kind::requeue, verb_, delay(failures_++, chance)};
}

milliseconds ObjectWrite::delay(std::size_t times, double chance) const {
  milliseconds wait = limits_.first_delay;
  for (std::size_t i = 0; i < times && wait < limits_.max_delay; ++i) wait *= 2;
  wait = std::min(wait, limits_.max_delay);
  return milliseconds(static_cast<milliseconds::rep>(static_cast<double>(wait.count()) * (0.5 + chance / 2)));
}

}  // namespace hcpnet::reconcile

// SPDX-License-Identifier: Apache-2.0
#include "stack_owner.hpp"

#include <string>
#include <utility>

namespace hcpnet::python {

StackOwner::StackOwner(StackOptions options, Functions functions) : OwnerOf<Stack>("stack") {
  options.on_event = sink_of<StackEvent>(make_callback(std::move(functions.on_event)));
  options.log = sink_of<LogRecord>(make_callback(std::move(functions.log)));
  options.access_log = sink_of<std::string>(make_callback(std::move(functions.access_log)));
  options.resolve = resolver_of(make_callback(std::move(functions.resolve)));
  serve(std::make_unique<Stack>(std::move(options)));
}

void StackOwner::start() {
  begin([this] { served_->start(); });
}

Result<void, Diagnostics> StackOwner::reload() {
  require_usable();
  const WithoutGil no_gil;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::started) return served_->reload();
  }
  return served_->reload();
}

void StackOwner::stop() {
  end([this] {
    const std::lock_guard lock(mutex_);
    if (std::exchange(state_, State::stopped) == State::started) served_->stop();
  });
}

}  // namespace hcpnet::python

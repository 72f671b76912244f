// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/stack.hpp>

#include <future>
#include <utility>

#include "runtime/loop_thread.hpp"
#include "stack/stack_impl.hpp"

namespace hcpnet {

/// The thread of a stack that has one of its own. Destroyed after the implementation it runs.
struct Stack::Thread : runtime::LoopThread {};

Stack::Stack(StackOptions options)
    : thread_(std::make_unique<Thread>()), impl_(std::make_shared<Impl>(thread_->io(), std::move(options))) {}

Stack::Stack(boost::asio::io_context& io, StackOptions options)
    : impl_(std::make_shared<Impl>(io, std::move(options))) {}

Stack::~Stack() {
  if (thread_) thread_->abandon();
  impl_->close();
}

/// Runs `work` where the state lives and brings its result, or its exception, back.
template <class Work>
auto Stack::call(Work work) const {
  Impl& impl = *impl_;
  if (!thread_) return work(impl);
  return thread_->call([&] { return work(impl); });
}

void Stack::start() {
  impl_->start();
  if (thread_) thread_->start();
}

Result<void, Diagnostics> Stack::reload() {
  Impl& impl = *impl_;
  if (!thread_ || thread_->is_here()) return impl.reload_now();
  std::promise<Result<void, Diagnostics>> outcome;
  auto result = outcome.get_future();
  const auto ask = [&] { impl.reload([&outcome](const Result<void, Diagnostics>& r) { outcome.set_value(r); }); };
  if (!thread_->post(ask)) return impl.reload_now();
  return result.get();
}

void Stack::reload(std::function<void(const Result<void, Diagnostics>&)> done) {
  start_call([weak = std::weak_ptr(impl_), done = std::move(done)] {
    if (const auto impl = weak.lock()) impl->reload(done);
  });
}

void Stack::import_leases(dhcp::LeaseList list, std::function<void(Result<dhcp::LeaseImport, Diagnostics>)> done) {
  start_call(
      [weak = std::weak_ptr(impl_), list = std::make_shared<dhcp::LeaseList>(std::move(list)), done = std::move(done)] {
        if (const auto impl = weak.lock()) impl->import_leases(*list, done);
      });
}

void Stack::release_lease(const IpAddress& address, std::function<void(Result<dhcp::EndedLease, Diagnostics>)> done) {
  start_call([weak = std::weak_ptr(impl_), address, done = std::move(done)] {
    if (const auto impl = weak.lock()) impl->release_lease(address, done);
  });
}

void Stack::reserve_address(dhcp::KeptAddress wanted,
                            std::function<void(Result<dhcp::KeptAddress, Diagnostics>)> done) {
  start_call([weak = std::weak_ptr(impl_), wanted = std::move(wanted), done = std::move(done)] {
    if (const auto impl = weak.lock()) impl->reserve_address(wanted, done);
  });
}

void Stack::unreserve_address(const IpAddress& address,
                              std::function<void(Result<dhcp::KeptAddress, Diagnostics>)> done) {
  start_call([weak = std::weak_ptr(impl_), address, done = std::move(done)] {
    if (const auto impl = weak.lock()) impl->unreserve_address(address, done);
  });
}

std::vector<dhcp::KeptAddress> Stack::reservations() const {
  return call([](Impl& impl) { return impl.dhcp ? impl.dhcp->reservations() : std::vector<dhcp::KeptAddress>{}; });
}

/// Begins `work` where the state lives, without waiting.
void Stack::start_call(std::function<void()> work) {
  if (!thread_ || thread_->is_here() || !thread_->post(work)) work();
}

Result<void, Diagnostics> Stack::set_endpoints(spec::EndpointMap endpoints) {
  return call([&](Impl& impl) { return impl.set_endpoints(std::move(endpoints)); });
}

void Stack::stop(std::function<void()> stopped) {
  if (!thread_) return impl_->stop(std::move(stopped));
  std::promise<void> finished;
  if (thread_->post([&] { impl_->stop([&] { finished.set_value(); }); })) {
    finished.get_future().wait();
    thread_->end();
  }
  if (stopped) stopped();
}

void Stack::drain() {
  call([](Impl& impl) { impl.drain(); });
}

bool Stack::is_draining() const {
  return call([](Impl& impl) { return impl.is_draining; });
}

bool Stack::is_running() const {
  return call([](Impl& impl) { return impl.state == Impl::State::running; });
}
std::vector<std::string> Stack::troubles() const {
  return call([](Impl& impl) { return impl.troubles(); });
}
std::vector<StackListener> Stack::listeners() const {
  return call([](Impl& impl) { return impl.listeners(); });
}
std::vector<dhcp::Lease> Stack::leases() const {
  return call([](Impl& impl) { return impl.dhcp ? impl.dhcp->leases() : std::vector<dhcp::Lease>{}; });
}
std::vector<dhcp6::Lease> Stack::leases6() const {
  return call([](Impl& impl) { return impl.dhcp ? impl.dhcp->leases6() : std::vector<dhcp6::Lease>{}; });
}
std::vector<StackZone> Stack::zones() const {
  return call([](Impl& impl) { return impl.zones(); });
}
std::map<std::string, dns::Explanation> Stack::explain(const dns::Name& name, dns::Type type,
                                                       const IpAddress& client) const {
  return call([&](Impl& impl) { return impl.explain(name, type, client); });
}
StackStats Stack::stats() const {
  return call([](Impl& impl) { return impl.stats(); });
}
std::vector<RouteExplanation> Stack::route(const std::string& server_name, std::uint16_t port,
                                           const IpAddress& source) const {
  return call([&](Impl& impl) { return impl.route(server_name, port, source); });
}
std::optional<StackReload> Stack::last_reload() const {
  return call([](Impl& impl) { return impl.last_reload; });
}
Diagnostics Stack::warnings() const {
  return call([](Impl& impl) { return impl.warnings; });
}
std::string Stack::metrics() const {
  return call([](Impl& impl) { return render_metrics(impl); });
}

}  // namespace hcpnet

// SPDX-License-Identifier: Apache-2.0
#include "proxy/health_monitor.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "proxy/health_probe.hpp"

namespace hcpnet::proxy {
namespace {

/// Our own addresses towards backends. By which listener a client would come is not known here.
std::vector<IpAddress> dial_from(const RouteTable& table) {
  for (const Listener& listener : table.config().listeners)
    if (!listener.dial_from.empty()) return listener.dial_from;
  return {};
}

}  // namespace

void HealthMonitor::set_table(const std::shared_ptr<const RouteTable>& table) {
  std::map<std::string, Watch> before = std::exchange(watches_, {});
  std::vector<std::pair<std::string, std::uint64_t>> begun;
  for (const Backend& backend : table->config().backends) {
    if (!backend.health_check || backend.is_unserved) continue;
    Watch& watch = watches_[backend.name];
    const auto known = before.find(backend.name);
    const bool goes_on = known != before.end() && known->second.backend->health_check == backend.health_check;
    if (goes_on) watch = std::move(known->second);
    watch.table = table;
    watch.backend = &backend;
    watch.state = worker_->shared->backend(backend.name);
    if (goes_on) {
      before.erase(known);
      continue;
    }
    watch.number = ++last_number_;
    begun.emplace_back(backend.name, watch.number);
  }
  for (auto& [name, watch] : before) {
    worker_->timers.cancel(watch.timer);
    watch.state->forget_health();  // nobody would ever say that it is well again
  }
  for (const auto& [name, number] : begun) check(name, number);  // only now: what waits belongs to all of them
}

void HealthMonitor::stop() {
  for (auto& [name, watch] : watches_) worker_->timers.cancel(watch.timer);
  watches_.clear();
  waiting_.clear();
  for (const auto& weak : std::exchange(probes_, {}))
    if (const auto probe = weak.lock()) probe->cancel();
  under_way_ = 0;
}

HealthMonitor::Watch* HealthMonitor::find(const std::string& name, std::uint64_t number) {
  const auto found = watches_.find(name);
  return found == watches_.end() || found->second.number != number ? nullptr : &found->second;
}

void HealthMonitor::check(const std::string& name, std::uint64_t number) {
  Watch* const watch = find(name, number);
  if (watch == nullptr) return;
  watch->timer = worker_->timers.after(watch->backend->health_check->interval, [weak = weak_from_this(), name, number] {
    if (const auto self = weak.lock()) self->check(name, number);
  });
  if (!watch->backend->endpoints.empty()) return check_endpoints(*watch, watch->backend->endpoints);
  // Later, as whoever sets a table may not be ready for what a resolver does.
  asio::post(worker_->executor, [weak = weak_from_this(), name, number] {
    if (const auto self = weak.lock()) self->resolve(name, number);
  });
}

void HealthMonitor::resolve(const std::string& name, std::uint64_t number) {
  const Watch* const watch = find(name, number);
  if (watch == nullptr) return;
  worker_->names->resolve(watch->backend->host, watch->backend->port,
                          [weak = weak_from_this(), name, number](const Result<Resolution>& answer) {
                            const auto self = weak.lock();
                            if (!self || !answer) return;
                            if (Watch* const again = self->find(name, number))
                              self->check_endpoints(*again, answer->endpoints);
                          });
}

void HealthMonitor::check_endpoints(Watch& watch, const std::vector<Endpoint>& endpoints) {
  watch.state->retain(endpoints);  // a name may have other addresses now
  if (watch.waiting > 0) {
    watch.state->health_checks_left_out += endpoints.size();
    return;
  }
  for (const Endpoint& address : endpoints) waiting_.push_back({watch.backend->name, watch.number, address});
  watch.waiting = endpoints.size();
  start_waiting();
}

void HealthMonitor::start_waiting() {
  std::erase_if(probes_, [](const auto& probe) { return probe.expired(); });
  while (!waiting_.empty() && under_way_ < kMaxProbes) {
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    Watch* const watch = find(next.name, next.number);
    if (watch == nullptr) continue;  // of a table that is gone
    --watch->waiting;
    start_probe(next, *watch);
  }
}

void HealthMonitor::start_probe(const Waiting& next, const Watch& watch) {
  const auto probe =
      std::make_shared<HealthProbe>(worker_, *watch.backend, dial_from(*watch.table),
                                    [weak = weak_from_this(), name = next.name, number = next.number,
                                     endpoint = watch.state->endpoint(next.address)](std::optional<bool> is_good) {
                                      if (const auto self = weak.lock())
                                        self->on_result(name, number, *endpoint, is_good);
                                    });
  probes_.push_back(probe);
  ++under_way_;
  probe->start(next.address);
}

void HealthMonitor::on_result(const std::string& name, std::uint64_t number, EndpointState& endpoint,
                              std::optional<bool> is_good) {
  --under_way_;
  start_waiting();
  const Watch* const watch = find(name, number);
  if (watch == nullptr) return;  // it is not checked any more: nobody would ever say that it is well again
  BackendState& state = *watch->state;
  if (!is_good) {
    ++state.health_checks_left_out;
    return;
  }
  ++state.health_checks;
  if (!*is_good) ++state.health_check_failures;
  if (!endpoint.on_check(*watch->backend->health_check, *is_good)) return;
  const Logger::Fields fields{{"backend", name}, {"endpoint", endpoint.address.to_string()}};
  if (*is_good)
    worker_->options.log.info("endpoint is healthy again", fields);
  else
    worker_->options.log.warning("endpoint is unhealthy", fields);
}

}  // namespace hcpnet::proxy

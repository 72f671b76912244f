// SPDX-License-Identifier: Apache-2.0
#include "proxy/health_monitor.hpp"

#include <algorithm>

#include "proxy/health_probe.hpp"

namespace hcpnet::proxy {

void HealthMonitor::set_table(const std::shared_ptr<const RouteTable>& table) {
  std::map<std::string, Watch> before = std::exchange(watches_, {});
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
    check(backend.name, watch.number);
  }
  for (auto& [name, watch] : before) {
    worker_->timers.cancel(watch.timer);
    watch.state->forget_health();  // nobody would ever say that it is well again
  }
}

void HealthMonitor::stop() {
  for (auto& [name, watch] : watches_) worker_->timers.cancel(watch.timer);
  watches_.clear();
  for (const auto& weak : std::exchange(probes_, {}))
    if (const auto probe = weak.lock()) probe->cancel();
}

void HealthMonitor::check(const std::string& name, std::uint64_t number) {
  const auto found = watches_.find(name);
  if (found == watches_.end() || found->second.number != number) return;
  Watch& watch = found->second;
  watch.timer = worker_->timers.after(watch.backend->health_check->interval, [weak = weak_from_this(), name, number] {
    if (const auto self = weak.lock()) self->check(name, number);
  });
  if (!watch.backend->endpoints.empty()) return check_endpoints(watch, watch.backend->endpoints);
  worker_->names->resolve(watch.backend->host, watch.backend->port,
                          [weak = weak_from_this(), name, number](const Result<Resolution>& answer) {
                            const auto self = weak.lock();
                            if (!self || !answer) return;
                            const auto again = self->watches_.find(name);
                            if (again != self->watches_.end() && again->second.number == number)
                              self->check_endpoints(again->second, answer->endpoints);
                          });
}

void HealthMonitor::check_endpoints(const Watch& watch, const std::vector<Endpoint>& endpoints) {
  std::erase_if(probes_, [](const auto& probe) { return probe.expired(); });
  for (const Endpoint& address : endpoints) {
    if (probes_.size() >= kMaxProbes) return;
    const auto endpoint = watch.state->endpoint(address);
    const auto probe =
        std::make_shared<HealthProbe>(worker_, *watch.backend->health_check,
                                      [weak = weak_from_this(), name = watch.backend->name, state = watch.state,
                                       check = *watch.backend->health_check, endpoint](bool is_good) {
                                        if (const auto self = weak.lock())
                                          self->on_result(name, state, check, *endpoint, is_good);
                                      });
    probes_.push_back(probe);
    probe->start(address);
  }
}

void HealthMonitor::on_result(const std::string& backend, const std::shared_ptr<BackendState>& state,
                              const HealthCheck& check, EndpointState& endpoint, bool is_good) {
  ++state->health_checks;
  if (!is_good) ++state->health_check_failures;
  if (!endpoint.on_check(check, is_good)) return;
  const Logger::Fields fields{{"backend", backend}, {"endpoint", endpoint.address.to_string()}};
  if (is_good)
    worker_->options.log.info("endpoint is healthy again", fields);
  else
    worker_->options.log.warning("endpoint is unhealthy", fields);
}

}  // namespace hcpnet::proxy

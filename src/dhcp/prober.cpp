// SPDX-License-Identifier: Apache-2.0
#include "dhcp/prober.hpp"

#include <utility>
#include <vector>

namespace hcpnet::dhcp {

using Kind = ProbeSocket::Kind;

void Prober::open(std::size_t link, const Interface& interface) {
  sockets_.insert_or_assign(link, std::make_shared<ProbeSocket>(host_.executor, interface));
  wait(link, Kind::arp);
  wait(link, Kind::echo);
}

void Prober::wait(std::size_t link, Kind kind) {
  const auto socket = sockets_.at(link);
  socket->async_wait_readable(kind,
                              [this, owner = host_.owner, of = std::weak_ptr(socket), link, kind](error_code error) {
                                const auto held = owner.lock();
                                if (!held || error) return;
                                const auto is_current = [&] {
                                  const auto found = sockets_.find(link);
                                  return found != sockets_.end() && found->second == of.lock();
                                };
                                if (is_current()) hear(link, kind);
                                if (is_current()) wait(link, kind);
                              });
}

void Prober::hear(std::size_t link, Kind kind) {
  const auto socket = sockets_.at(link);
  socket->receive(kind, [&](const ProbeAnswer& answer) {
    auto offer = table_.take_answered(link, answer);
    if (!offer) return;
    ++results_["answered"];
    host_.on_conflict(*std::move(offer), answer.by);
  });
}

std::string_view Prober::ask(ProbedOffer offer) {
  const auto found = sockets_.find(offer.link);
  if (found == sockets_.end()) return "probe_failed";
  const std::size_t link = offer.link;
  const AddressProbe probe = offer.probe;
  const auto [verdict, sequence] = table_.add(std::move(offer), host_.timers.now());
  if (verdict == ProbeTable::Verdict::full) return "probe_limit";
  if (verdict == ProbeTable::Verdict::waiting) return {};
  if (found->second->ask(probe, sequence)) {
    table_.forget(link, probe.address);
    return "probe_failed";
  }
  arm();
  return {};
}

void Prober::stop() {
  if (armed_) host_.timers.cancel(*std::exchange(armed_, std::nullopt));
  table_.clear();
  sockets_.clear();
}

/// Sees to it that end_due() runs when something is due.
void Prober::arm() {
  const auto due = table_.next_due();
  if (!due || (armed_ && armed_->first <= *due)) return;
  if (armed_) host_.timers.cancel(*armed_);
  armed_ = host_.timers.at(*due, [this, owner = host_.owner] {
    const auto held = owner.lock();
    if (!held) return;
    armed_.reset();
    end_due();
  });
}

/// What has come in counts, although nobody has looked at it yet: a server with much to do must not be deaf.
void Prober::end_due() {
  std::vector<std::size_t> links;
  for (const auto& [link, socket] : sockets_) links.push_back(link);
  for (const std::size_t link : links)
    for (const Kind kind : {Kind::arp, Kind::echo})
      if (is_open(link)) hear(link, kind);
  while (const auto offer = table_.take_due(host_.timers.now())) {
    ++results_["unanswered"];
    host_.on_silence(*offer);
  }
  arm();
}

}  // namespace hcpnet::dhcp

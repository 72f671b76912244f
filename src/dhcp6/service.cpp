// SPDX-License-Identifier: Apache-2.0
#include "dhcp6/service.hpp"

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <filesystem>
#include <hcpnet/dhcp/lease_file.hpp>
#include <set>
#include <utility>

#include "dhcp/event_log.hpp"
#include "dhcp6/server_id.hpp"
#include "runtime/error_text.hpp"

namespace hcpnet::dhcp6 {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxExpiredPerTurn = 1'000;  // so that a fleet that ends at once does not stop the others
constexpr std::chrono::seconds kRetry = 1s;        // when the disk's queue is full

[[noreturn]] void refuse_config(const std::string& why) {
  throw boost::system::system_error(boost::system::errc::make_error_code(boost::system::errc::invalid_argument),
                                    "dhcpv6: " + why);
}

ResponderConfig responder_config(const dhcp::Config& config, Duid server_id) {
  return {config.subnets6, config.host_names, std::move(server_id)};
}

ResponderLimits responder_limits() {
  ResponderLimits out;
  out.allocator.reuse_delay = dhcp::LeaseClock::kRounding;
  return out;
}

Logger::Fields fields_of(const Lease& lease) {
  return {{"subnet", lease.subnet},
          {"address", lease.address.to_string()},
          {"duid", lease.client.duid.to_string()},
          {"mac", lease.client.mac ? lease.client.mac->to_string() : ""}};
}

std::string server_id_path(const std::string& database) {
  return (std::filesystem::path(database).parent_path() / "server-duid").string();
}

}  // namespace

void check(std::span<const Subnet> subnets) {
  for (std::size_t i = 0; i < subnets.size(); ++i) {
    const Subnet& subnet = subnets[i];
    const bool is_inside = subnet.cidr.contains(subnet.pool.first) && subnet.cidr.contains(subnet.pool.last);
    const bool is_one_64 =
        std::ranges::equal(ByteView(subnet.pool.first.bytes()).first(8), ByteView(subnet.pool.last.bytes()).first(8));
    if (!is_inside || !is_one_64 || subnet.pool.last < subnet.pool.first)
      refuse_config("the pool of " + subnet.name + " does not lie in one /64 of its network");
    if (subnet.lease_time < 1s) refuse_config("the lease time of " + subnet.name + " is less than a second");
    for (const Subnet& other : subnets.first(i)) {
      if (subnet.cidr.overlaps(other.cidr)) refuse_config("two subnets have the network " + subnet.cidr.to_string());
    }
  }
}

Service::Service(ServiceHost host, ResponderConfig config)
    : host_(std::move(host)), responder_(std::move(config), responder_limits()) {}

std::unique_ptr<Service> Service::open(ServiceHost host, const dhcp::Config& config) {
  if (config.subnets6.empty()) return nullptr;
  Duid server_id = load_server_id(server_id_path(host.options.database));
  std::unique_ptr<Service> out(new Service(std::move(host), responder_config(config, std::move(server_id))));
  out->open_links();
  return out;
}

void Service::open_links() {
  const auto mapped = host_.options.port_map.find(kServerPort);
  const std::uint16_t port = mapped == host_.options.port_map.end() ? kServerPort : mapped->second;
  for (const Subnet& subnet : responder_.config().subnets) {
    auto interface = dhcp::look_for_interface(subnet.interface_address);
    const bool is_lost = !interface;  // check_interface() finds it when it comes
    auto socket = is_lost ? std::make_unique<Socket>(host_.executor)
                          : std::make_unique<Socket>(host_.executor, *std::move(interface), port);
    links_.push_back({std::move(socket), port, is_lost});
  }
}

bool Service::can_replace(const Service* service, const dhcp::Config& config) {
  const std::span<const Subnet> served =
      service == nullptr ? std::span<const Subnet>() : std::span(service->responder_.config().subnets);
  return std::ranges::is_permutation(served, config.subnets6, [](const Subnet& a, const Subnet& b) {
    return a.cidr == b.cidr && a.interface_address == b.interface_address;
  });
}

void Service::replace(const dhcp::Config& config) {
  ResponderConfig next = responder_config(config, responder_.config().server_id);
  std::vector<Subnet> ordered;
  for (const Subnet& served : responder_.config().subnets) {
    ordered.push_back(*std::ranges::find(next.subnets, served.cidr, &Subnet::cidr));
  }
  next.subnets = std::move(ordered);
  responder_.replace(std::move(next));
  arm();
}

/// An address whose row can't be read rests for one lease time, because somebody may use it.
void Service::restore(std::vector<Lease> leases, std::span<const Ipv6> unreadable) {
  const auto now = host_.time.now();
  for (const Ipv6& address : unreadable) {
    const auto subnet = std::ranges::find_if(responder_.config().subnets,
                                             [&](const Subnet& s) { return s.cidr.contains(IpAddress(address)); });
    if (subnet == responder_.config().subnets.end()) continue;
    Lease resting;
    resting.address = address;
    resting.client.duid = dhcp::no_duid();  // without any it could be neither stored nor read from a lease file
    resting.state = LeaseState::declined;
    resting.started = now;
    resting.expires = now + subnet->lease_time;
    leases.push_back(std::move(resting));
  }
  responder_.restore(std::move(leases), now);
}

void Service::start() {
  is_running_ = true;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    if (links_[link].is_lost) continue;
    host_.options.log.info("IPv6 subnet served", {{"subnet", responder_.config().subnets[link].name},
                                                  {"interface", links_[link].socket->interface().name},
                                                  {"network", responder_.config().subnets[link].cidr.to_string()},
                                                  {"duid", responder_.config().server_id.to_string()}});
    wait(link);
  }
  expire();
}

void Service::stop_reading() {
  is_running_ = false;
  for (Link& link : links_) link.socket->stop_reading();
  if (armed_) host_.timers.cancel(armed_->second);
}

void Service::close() {
  is_running_ = false;
  is_closed_ = true;
  for (Link& link : links_) link.socket->close();
}

void Service::check_interfaces() {
  for (std::size_t link = 0; link < links_.size(); ++link) check_interface(link);
}

void Service::check_interface(std::size_t index) {
  Link& link = links_[index];
  if (link.socket->interface().is_loopback) return;
  const Subnet& subnet = responder_.config().subnets[index];
  const bool was_lost = link.is_lost;
  try {
    dhcp::Interface interface = dhcp::find_interface(subnet.interface_address);
    if (!link.is_lost && interface.index == link.socket->interface().index) return;
    link.socket->close();
    link.is_lost = true;
    link.socket = std::make_unique<Socket>(host_.executor, std::move(interface), link.port);
    link.is_lost = false;
    host_.options.log.info("interface is back for DHCPv6", {{"subnet", subnet.name}});
    wait(index);
  } catch (const boost::system::system_error& error) {
    // That no list is to be had (for want of descriptors) says nothing of an interface whose socket works.
    if (!link.is_lost && error.code() != boost::system::errc::address_not_available) return;
    if (!was_lost)
      host_.options.log.error("interface lost for DHCPv6",
                              {{"subnet", subnet.name}, {"reason", runtime::error_text(error)}});
    link.is_lost = true;
  }
}

void Service::wait(std::size_t link) {
  links_[link].socket->async_wait_readable([this, owner = host_.owner, link](error_code error) {
    const auto alive = owner.lock();
    if (!alive || error || !is_running_) return;
    links_[link].socket->receive([this, link](ByteView payload, const Path& path) { on_message(link, payload, path); });
    arm();
    if (is_running_ && !links_[link].is_lost) wait(link);
  });
}

void Service::on_message(std::size_t link, ByteView payload, const Path& path) {
  if (is_paused_) return drop("importing", path);
  if (!host_.store.has_room()) return drop("store_full", path);
  const bool is_multicast = path.is_multicast() || links_[link].socket->interface().is_loopback;
  Pending pending{responder_.handle(payload, {link, path.source, is_multicast}, host_.time.now()), link, path};
  const Outcome& outcome = pending.outcome;
  if (outcome.type) ++stats_.received[std::string(to_string(*outcome.type))];
  if (!outcome.dropped.empty()) drop(outcome.dropped, path);
  if (!outcome.changes.empty()) return commit(std::move(pending));
  if (outcome.reply) send(*outcome.reply, link, path);
}

void Service::commit(Pending pending) {
  std::vector<LeaseChange> changes = pending.outcome.changes;
  host_.store.put(std::move(changes),
                  [this, owner = host_.owner, held = std::make_shared<Pending>(std::move(pending))](error_code result) {
                    if (const auto alive = owner.lock()) on_committed(*held, result);
                  });
}

// The reply of a change that did not reach the disk is never sent: the client would count on what a restart does not
// know. A renewal hears what is there instead, unless its file is gone.
void Service::on_committed(const Pending& pending, error_code result) {
  host_.on_commit(result);
  responder_.settle(pending.outcome.changes, !result, host_.time.now());
  if (result) {
    const bool is_file_gone = result == boost::system::errc::no_such_file_or_directory;
    const auto stored =
        is_file_gone ? std::optional<Reply>() : responder_.acknowledge_stored(pending.outcome, host_.time.now());
    if (stored) {
      send(*stored, pending.link, pending.path);
    } else if (pending.outcome.reply) {
      ++stats_.dropped["not_stored"];
    }
  } else {
    if (pending.outcome.reply) send(*pending.outcome.reply, pending.link, pending.path);
    publish(pending.outcome.changes);
  }
  if (is_running_) arm();
}

void Service::publish(const std::vector<LeaseChange>& changes) {
  for (const LeaseChange& change : changes) {
    const Logger& log = host_.options.log;
    if (log.is_enabled()) dhcp::log_event(log, change.event.kind, fields_of(change.event.lease));
    tell(change.event);
  }
}

void Service::tell(const LeaseEvent& event) {
  ++stats_.events[std::string(dhcp::to_string(event.kind))];
  if (host_.options.on_event6 && !is_closed_) host_.options.on_event6(event);
}

void Service::send(const Reply& reply, std::size_t link, const Path& path) {
  const error_code error = links_[link].socket->send(reply.packet, path, reply.port);
  ++(error ? stats_.dropped["send_failed"] : stats_.sent[std::string(to_string(reply.type))]);
}

void Service::drop(std::string_view reason, const Path& path) {
  ++stats_.dropped[std::string(reason)];
  host_.log_drop(reason, {path.source, path.source_port});
}

/// Sees to it that expire() runs when something is due.
void Service::arm() {
  if (!is_running_) return;
  const auto due = responder_.next_due();
  if (!due || (armed_ && armed_->first <= *due)) return;
  if (armed_) host_.timers.cancel(armed_->second);
  const auto delay = std::max(*due - host_.time.now(), 0s);
  armed_.emplace(*due, host_.timers.after(delay, [this, owner = host_.owner] {
    const auto alive = owner.lock();
    if (!alive || !is_running_) return;
    armed_.reset();
    expire();
  }));
}

void Service::resume() {
  is_paused_ = false;
  arm();
}

void Service::expire() {
  if (is_paused_) return;
  if (!host_.store.has_room()) {
    armed_.emplace(host_.time.now() + kRetry, host_.timers.after(kRetry, [this, owner = host_.owner] {
      const auto alive = owner.lock();
      if (!alive || !is_running_) return;
      armed_.reset();
      expire();
    }));
    return;
  }
  Pending pending;
  pending.outcome.changes = responder_.expire(host_.time.now(), kMaxExpiredPerTurn);
  if (!pending.outcome.changes.empty()) commit(std::move(pending));
  arm();
}

std::vector<dhcp::BoundSubnet6> Service::bound() const {
  std::vector<dhcp::BoundSubnet6> out;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    out.push_back({responder_.config().subnets[i].name, links_[i].socket->interface().name, links_[i].socket->bound()});
  }
  return out;
}

dhcp::ServerStats::V6 Service::stats() const {
  dhcp::ServerStats::V6 out = stats_;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Allocator::Usage usage = responder_.usage(i);
    out.subnets[responder_.config().subnets[i].name] = {usage.pool_size, usage.bound, usage.offered, usage.declined};
  }
  return out;
}

std::vector<std::string> Service::troubles() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i].is_lost)
      out.push_back("the interface of " + responder_.config().subnets[i].name + " is lost (DHCPv6)");
  return out;
}

}  // namespace hcpnet::dhcp6

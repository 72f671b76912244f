// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/dhcp/stopped_server.hpp>
#include <hcpnet/dhcp6/responder.hpp>
#include <optional>
#include <utility>

#include "dhcp/kept_addresses.hpp"
#include "dhcp/lease_database.hpp"
#include "dhcp/lease_import.hpp"

namespace hcpnet::dhcp {
namespace {

Diagnostics not_stored(const std::exception& why) {
  return one_problem("lease-not-stored", std::string("the lease database can't be written: ") + why.what());
}

}  // namespace

struct StoppedServer::Impl {
  Impl(const std::string& path, Clock& c) : clock(c), database(path) {
    Config config;
    config.subnets = database.networks();
    start(std::move(config));
  }
  Impl(const std::string& path, Config config, Clock& c) : clock(c), database(path, config.subnets, now()) {
    start(std::move(config));
  }

  void start(Config config);
  void read_leases6();
  void use_reservations();
  [[nodiscard]] std::chrono::sys_seconds now() const {
    return std::chrono::floor<std::chrono::seconds>(clock.system_now());
  }
  void write(const std::vector<LeaseChange>& changes, const std::vector<dhcp6::Lease>& leases6);

  Clock& clock;
  LeaseDatabase database;
  std::optional<Responder> responder;
  std::optional<dhcp6::Responder> responder6;  ///< none where no IPv6 network is known
  std::vector<dhcp6::Lease> leases6;
  std::vector<std::string> problems;
  Config files;
  std::vector<KeptAddress> by_hand;
};

void StoppedServer::Impl::start(Config config) {
  StoredLeases stored = database.load(config.subnets, now());
  problems = std::move(stored.problems);
  if (!config.subnets6.empty()) {
    responder6.emplace(dhcp6::ResponderConfig{config.subnets6, {}, no_duid()});
    std::vector<dhcp6::Lease> known = stored.leases6;
    // Somebody may use an address whose row can't be read: here, too, nobody else gets it.
    for (const Ipv6& address : stored.unreadable6) {
      dhcp6::Lease resting;
      resting.address = address;
      resting.client.duid = no_duid();
      resting.state = LeaseState::declined;
      resting.expires = kNeverEnds;
      known.push_back(std::move(resting));
    }
    responder6->restore(std::move(known), now());
  }
  leases6 = std::move(stored.leases6);
  by_hand = std::move(stored.reservations);
  files = std::move(config);
  responder.emplace(with_kept(files, by_hand));
  // Of two leases of one client the older ends: a server that starts says so to the database again.
  static_cast<void>(responder->restore(std::move(stored.by_subnet), now()));
}

void StoppedServer::Impl::read_leases6() {
  leases6 = database.load(responder->config().subnets, now()).leases6;
}

void StoppedServer::Impl::use_reservations() {
  Config merged = with_kept(files, by_hand);
  if (responder6) responder6->replace({merged.subnets6, {}, no_duid()});
  responder->replace(std::move(merged));
}

void StoppedServer::Impl::write(const std::vector<LeaseChange>& changes, const std::vector<dhcp6::Lease>& changed6) {
  LeaseDatabase::Transaction transaction(database);
  for (const LeaseChange& change : changes) transaction.put(change);
  for (const dhcp6::Lease& lease : changed6) transaction.put(lease);
  transaction.commit();
}

StoppedServer::StoppedServer(const std::string& database, Clock& clock)
    : impl_(std::make_unique<Impl>(database, clock)) {}
StoppedServer::StoppedServer(const std::string& database, Config config, Clock& clock)
    : impl_(std::make_unique<Impl>(database, std::move(config), clock)) {}
StoppedServer::~StoppedServer() = default;

std::vector<Lease> StoppedServer::leases() const {
  return impl_->responder->leases();
}
const std::vector<dhcp6::Lease>& StoppedServer::leases6() const {
  return impl_->leases6;
}
const std::vector<std::string>& StoppedServer::problems() const {
  return impl_->problems;
}

Result<LeaseImport, Diagnostics> StoppedServer::import_leases(const LeaseList& list) {
  Diagnostics problems;
  impl_->responder->check_import(list, impl_->now(), problems);
  if (impl_->responder6) {
    impl_->responder6->check_import(list, impl_->now(), problems);
  } else {
    for (const ListedLease6& listed : list.leases6)
      problems.add(foreign_network(list.file, listed.line, listed.lease.address.to_string(), {}));
  }
  if (problems.has_errors()) return problems;
  LeaseImport outcome;
  const auto changes = impl_->responder->import_leases(list, impl_->now(), outcome);
  std::vector<dhcp6::LeaseChange> changes6;
  if (impl_->responder6) changes6 = impl_->responder6->import_leases(list, impl_->now(), outcome);
  const auto settle = [&](bool is_durable) {
    impl_->responder->settle_import(changes, is_durable);
    if (impl_->responder6) impl_->responder6->settle_import(changes6, is_durable);
  };
  std::vector<dhcp6::Lease> changed6;
  for (const dhcp6::LeaseChange& change : changes6) changed6.push_back(change.event.lease);
  try {
    impl_->write(changes, changed6);
  } catch (const sqlite::Error& error) {
    settle(false);
    return not_stored(error);
  }
  settle(true);
  impl_->read_leases6();
  return outcome;
}

Result<EndedLease, Diagnostics> StoppedServer::release(const IpAddress& address) {
  EndedLease ended;
  std::vector<LeaseChange> changes;
  std::vector<dhcp6::Lease> changed6;
  if (address.is_v4()) {
    if (auto change = impl_->responder->end(address.v4(), impl_->now())) {
      ended.lease = change->event.lease;
      changes.push_back(*std::move(change));
    }
  } else {
    // The database has leases of networks that nobody named here.
    const auto found = std::ranges::find(impl_->leases6, address.v6(), &dhcp6::Lease::address);
    const bool is_running =
        found != impl_->leases6.end() && (found->state == LeaseState::bound || found->state == LeaseState::declined);
    if (is_running) {
      ended.lease6 = *found;
      ended.lease6->state = LeaseState::released;
      ended.lease6->expires = std::min(found->expires, impl_->now());
      changed6.push_back(*ended.lease6);
    }
  }
  if (changes.empty() && changed6.empty())
    return one_problem("lease-not-found", "no lease in use, and no rest, on " + address.to_string());
  try {
    impl_->write(changes, changed6);
  } catch (const sqlite::Error& error) {
    return not_stored(error);
  }
  if (impl_->responder6 && address.is_v6()) static_cast<void>(impl_->responder6->end(address.v6(), impl_->now()));
  impl_->read_leases6();
  return ended;
}

Result<KeptAddress, Diagnostics> StoppedServer::reserve(const KeptAddress& wanted) {
  auto kept = check_kept(impl_->files, impl_->by_hand, wanted);
  if (!kept) return kept;
  try {
    LeaseDatabase::Transaction transaction(impl_->database);
    transaction.put(*kept);
    transaction.commit();
  } catch (const sqlite::Error& error) {
    return not_stored(error);
  }
  impl_->by_hand.push_back(*kept);
  impl_->use_reservations();
  return kept;
}

Result<KeptAddress, Diagnostics> StoppedServer::unreserve(const IpAddress& address) {
  auto kept = find_kept(impl_->files, impl_->by_hand, address);
  if (!kept) return kept;
  try {
    LeaseDatabase::Transaction transaction(impl_->database);
    transaction.erase_reservation(address);
    transaction.commit();
  } catch (const sqlite::Error& error) {
    return not_stored(error);
  }
  std::erase_if(impl_->by_hand, [&](const KeptAddress& other) { return other.address == address; });
  impl_->use_reservations();
  return kept;
}

std::vector<KeptAddress> StoppedServer::reservations() const {
  return all_kept(impl_->files, impl_->by_hand);
}

}  // namespace hcpnet::dhcp

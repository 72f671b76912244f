// SPDX-License-Identifier: Apache-2.0
// Leases and reservations as people handle them.
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <utility>

#include "stack/stack_impl.hpp"

namespace hcpnet {
namespace {

Diagnostics no_dhcp() {
  Diagnostic d;
  d.code = "no-dhcp";
  d.message = "this process serves no DHCP, or another one is taking over";
  Diagnostics out;
  out.add(std::move(d));
  return out;
}

}  // namespace

void Stack::Impl::import_leases(const dhcp::LeaseList& list, const LeasesImported& done) {
  if (!dhcp) return done(no_dhcp());
  dhcp->import_leases(list, done);
}

void Stack::Impl::import_leases(std::string file, std::string text, LeasesImported done) {
  if (!dhcp || state != State::running) return done(no_dhcp());
  if (!loader_) loader_.emplace(1);
  // The embedder's context has something to wait for as long as this lasts.
  const auto home = boost::asio::prefer(io.get_executor(), boost::asio::execution::outstanding_work.tracked);
  boost::asio::post(*loader_, [weak = weak_from_this(), home, file = std::move(file), text = std::move(text),
                               done = std::move(done)]() mutable {
    auto parsed = dhcp::parse_lease_file(dhcp::LeaseFileFormat::hcpnet, file, text);
    text = {};  // a large text ends here, not on the thread that serves
    boost::asio::post(home, [weak = std::move(weak), parsed = std::move(parsed), done = std::move(done)] {
      const auto self = weak.lock();
      if (!self) return;
      if (!parsed) return done(parsed.error());
      self->import_leases(*parsed, done);
    });
  });
}

void Stack::Impl::release_lease(const IpAddress& address,
                                const std::function<void(Result<dhcp::EndedLease, Diagnostics>)>& done) {
  if (!dhcp) return done(no_dhcp());
  dhcp->release(address, done);
}

void Stack::Impl::reserve_address(const dhcp::KeptAddress& wanted, const AddressKept& done) {
  if (!dhcp) return done(no_dhcp());
  dhcp->reserve(wanted, done);
}

void Stack::Impl::unreserve_address(const IpAddress& address, const AddressKept& done) {
  if (!dhcp) return done(no_dhcp());
  dhcp->unreserve(address, done);
}

}  // namespace hcpnet

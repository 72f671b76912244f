// SPDX-License-Identifier: Apache-2.0
#include "dns/notifier.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/udp.hpp>
#include <hcpnet/dns/message.hpp>
#include <vector>

#include "dns/endpoints.hpp"

namespace hcpnet::dns {

namespace asio = boost::asio;
using asio::ip::udp;

namespace {

constexpr std::uint16_t kOpcodeNotify = 4 << 11;

/// RFC 1996 section 3.7: the question is the SOA, which is in the answer as a hint.
std::vector<std::uint8_t> notification(std::uint16_t id, const Zone& zone) {
  Message message;
  message.id = id;
  message.flags = kOpcodeNotify | flag::kAuthoritative;
  message.questions = {{zone.apex(), Type::soa, kClassIn}};
  message.answers = {{zone.apex(), Type::soa, kClassIn, zone.soa().ttl, zone.soa().rdata.front()}};
  return encode_message(message).value();
}

}  // namespace

struct Notifier::Pending {
  Pending(const asio::any_io_executor& executor, Key of, Notice told)
      : key(std::move(of)), notice(std::move(told)), socket(executor) {}

  Key key;
  Notice notice;
  udp::socket socket;
  std::array<std::uint8_t, 512> reply{};
  runtime::TimerQueue::Id timer{};
  int attempt = 0;
};

void Notifier::notify(const Endpoint& secondary, const std::optional<IpAddress>& from, const Zone& zone) {
  const Key key{secondary, zone.apex()};
  if (const auto known = pending_.find(key); known != pending_.end()) finish(PendingPtr(known->second));
  if (waiting_.size() >= kMaxWaiting && !waiting_.contains(key)) {
    ++counters_.limited;
    return;
  }
  const std::uint16_t id = random_.u16();
  waiting_.insert_or_assign(key, Notice{from, id, notification(id, zone)});
  go_on();
}

void Notifier::go_on() {
  while (pending_.size() < kMaxPending && !waiting_.empty()) {
    auto next = waiting_.extract(waiting_.begin());
    start(next.key(), std::move(next.mapped()));
  }
}

void Notifier::start(const Key& key, Notice notice) {
  const auto pending = std::make_shared<Pending>(executor_, key, std::move(notice));
  const std::optional<IpAddress>& from = pending->notice.from;
  error_code ec;
  const udp::endpoint to(to_asio(key.first.address), key.first.port);
  pending->socket.open(to.protocol(), ec);
  if (!ec && from) pending->socket.bind({to_asio(*from), 0}, ec);
  if (!ec) pending->socket.connect(to, ec);  // only its replies are then received
  if (ec) {
    ++counters_.failed;
    return;
  }
  pending_.emplace(key, pending);
  receive(pending);
  send(pending);
}

void Notifier::send(const PendingPtr& pending) {
  if (pending->attempt == kAttempts) {
    ++counters_.failed;
    return finish(pending);
  }
  ++counters_.sent;
  error_code ignored;  // a refusal may be of the moment: the next attempt tells
  pending->socket.send(asio::buffer(pending->notice.message), 0, ignored);
  pending->timer = timers_->after(kFirstWait * (1 << pending->attempt++),
                                  [weak = weak_from_this(), watched = std::weak_ptr(pending)] {
                                    const auto self = weak.lock();
                                    const auto waiting = watched.lock();
                                    if (self && waiting && waiting->socket.is_open()) self->send(waiting);
                                  });
}

void Notifier::receive(const PendingPtr& pending) {
  pending->socket.async_receive(asio::buffer(pending->reply),
                                [weak = weak_from_this(), pending](error_code ec, std::size_t bytes) {
                                  const auto self = weak.lock();
                                  if (!self || !pending->socket.is_open() || ec == asio::error::operation_aborted)
                                    return;
                                  if (ec) return self->receive(pending);  // an ICMP error of what was sent
                                  self->on_reply(pending, ByteView(pending->reply).first(bytes));
                                });
}

void Notifier::on_reply(const PendingPtr& pending, ByteView bytes) {
  ByteReader reader(bytes);
  const std::uint16_t id = reader.u16();
  const std::uint16_t flags = reader.u16();
  const bool is_ours = reader.ok() && id == pending->notice.id && (flags & flag::kResponse) != 0 &&
                       (flags & flag::kOpcode) == kOpcodeNotify;
  if (!is_ours) return receive(pending);
  ++((flags & flag::kRcode) == 0 ? counters_.acknowledged : counters_.failed);
  finish(pending);
}

void Notifier::finish(const PendingPtr& pending) {
  timers_->cancel(pending->timer);
  error_code ignored;
  pending->socket.close(ignored);
  const auto known = pending_.find(pending->key);
  if (known != pending_.end() && known->second == pending) pending_.erase(known);
  go_on();
}

void Notifier::stop() {
  waiting_.clear();
  while (!pending_.empty()) finish(PendingPtr(pending_.begin()->second));
}

}  // namespace hcpnet::dns

// SPDX-License-Identifier: Apache-2.0
#include "dns/upstream_exchange.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <hcpnet/dns/error.hpp>
#include <utility>

#include "dns/endpoints.hpp"

namespace hcpnet::dns {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;

UpstreamExchange::UpstreamExchange(std::shared_ptr<ExchangeContext> context, Endpoint upstream,
                                   UpstreamQuestion question, Done done)
    : context_(std::move(context)),
      upstream_(upstream),
      question_(std::move(question)),
      done_(std::move(done)),
      udp_(context_->executor),
      tcp_(context_->executor) {}

void UpstreamExchange::start(std::chrono::milliseconds timeout, runtime::TimerQueue::Time deadline) {
  timeout_ = timeout;
  deadline_ = deadline;
  arm_timer();
  ask_udp();
}

void UpstreamExchange::cancel() noexcept {
  done_ = nullptr;
  finish(error_code(asio::error::operation_aborted));
}

void UpstreamExchange::finish(Result<Message> result) {
  if (is_done_) return;
  is_done_ = true;
  context_->timers->cancel(timer_);
  error_code ignored;
  udp_.close(ignored);
  tcp_.close(ignored);
  if (const Done done = std::exchange(done_, nullptr)) done(std::move(result));
}

void UpstreamExchange::arm_timer() {
  timer_ = context_->timers->at(std::min(context_->timers->now() + timeout_, deadline_), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->fail(asio::error::timed_out);
  });
}

/// The kernel chooses the source port at connect(), at random for each socket, and lets in only what comes from the
/// upstream (RFC 5452 section 9.2).
void UpstreamExchange::ask_udp() {
  error_code ec;
  udp_.open(upstream_.address.is_v4() ? udp::v4() : udp::v6(), ec);
  if (!ec) udp_.connect({to_asio(upstream_.address), upstream_.port}, ec);
  if (!ec) udp_.non_blocking(true, ec);
  if (!ec) udp_.send(asio::buffer(encode_query(question_)), 0, ec);
  if (ec) {
    // Told from the event loop, as every other end: start() never calls back.
    asio::post(context_->executor, [self = shared_from_this(), ec] { self->fail(ec); });
    return;
  }
  wait_udp();
}

void UpstreamExchange::wait_udp() {
  udp_.async_wait(udp::socket::wait_read, [self = shared_from_this()](error_code ec) {
    if (self->is_done_) return;
    if (ec) return self->fail(ec);
    self->on_datagram();
  });
}

void UpstreamExchange::on_datagram() {
  std::vector<std::uint8_t>& buffer = context_->buffer;
  error_code ec;
  const std::size_t size = udp_.receive(asio::buffer(buffer), 0, ec);
  if (ec == asio::error::would_block) return wait_udp();
  if (ec) return fail(ec);  // such as "port unreachable": no need to wait
  JudgedReply reply = judge_reply(ByteView(buffer).first(size), question_);
  switch (reply.verdict) {
    case JudgedReply::Verdict::accepted:
      return finish(std::move(reply.message));
    case JudgedReply::Verdict::case_changed:
      has_changed_case_ = true;
      context_->on_foreign_reply();
      return ask_tcp();
    case JudgedReply::Verdict::truncated:
      return ask_tcp();
    case JudgedReply::Verdict::foreign:
      context_->on_foreign_reply();
      return wait_udp();
  }
}

void UpstreamExchange::ask_tcp() {
  error_code ignored;
  udp_.close(ignored);
  context_->timers->cancel(timer_);
  arm_timer();
  tcp_.async_connect({to_asio(upstream_.address), upstream_.port}, [self = shared_from_this()](error_code ec) {
    if (self->is_done_) return;
    if (ec) return self->fail(ec);
    self->write_tcp();
  });
}

void UpstreamExchange::write_tcp() {
  stream_ = encode_query(question_);
  const auto size = static_cast<std::uint16_t>(stream_.size());
  stream_.insert(stream_.begin(), {static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size)});
  asio::async_write(tcp_, asio::buffer(stream_), [self = shared_from_this()](error_code ec, std::size_t) {
    if (self->is_done_) return;
    if (ec) return self->fail(ec);
    self->read_length();
  });
}

void UpstreamExchange::read_length() {
  asio::async_read(tcp_, asio::buffer(length_), [self = shared_from_this()](error_code ec, std::size_t) {
    if (self->is_done_) return;
    if (ec) return self->fail(ec);
    self->read_message();
  });
}

void UpstreamExchange::read_message() {
  stream_.resize(ByteReader(length_).u16());
  asio::async_read(tcp_, asio::buffer(stream_), [self = shared_from_this()](error_code ec, std::size_t) {
    if (self->is_done_) return;
    if (ec) return self->fail(ec);
    self->on_message();
  });
}

void UpstreamExchange::on_message() {
  JudgedReply reply = judge_reply(stream_, question_);
  if (reply.verdict == JudgedReply::Verdict::case_changed && !reply.message.questions.empty() &&
      (reply.message.flags & flag::kTruncated) == 0)
    return finish(std::move(reply.message));
  if (reply.verdict == JudgedReply::Verdict::accepted) has_changed_case_ = false;  // over UDP it was a forgery
  if (reply.verdict != JudgedReply::Verdict::accepted) return fail(Errc::malformed);
  finish(std::move(reply.message));
}

}  // namespace hcpnet::dns

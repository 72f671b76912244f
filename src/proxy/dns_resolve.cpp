// SPDX-License-Identifier: Apache-2.0
#include "proxy/dns_resolve.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "dns/random_source.hpp"
#include "dns/resolv_conf_file.hpp"
#include "dns/upstream_exchange.hpp"

namespace hcpnet::proxy {
namespace {

constexpr std::chrono::milliseconds kServerTimeout{2'000};
constexpr std::chrono::milliseconds kDeadline{10'000};
constexpr int kRounds = 2;
/// How long IPv4 addresses wait for the answer about IPv6 (RFC 8305 section 3), which some networks never give; and for
/// how long they then hold, so that the whole answer is asked for soon. So do those of one family where nobody could
/// tell about the other.
constexpr std::chrono::milliseconds kResolutionDelay{50};
constexpr std::uint32_t kPartSeconds = 1;

struct Context {
  std::shared_ptr<dns::ExchangeContext> exchange;
  NameServers servers;
  dns::RandomSource random;
};

/// Addresses of one family, and for how long they hold.
struct Found {
  std::vector<IpAddress> addresses;
  std::uint32_t ttl = 0xFFFFFFFF;
};

std::optional<IpAddress> address_of(const dns::Record& record) {
  ByteReader in(as_bytes(record.rdata));
  if (record.type == dns::Type::a && in.remaining() == 4) return Ipv4(in.u32());
  if (record.type != dns::Type::aaaa || in.remaining() != 16) return std::nullopt;
  std::array<std::uint8_t, 16> bytes;
  std::ranges::copy(in.bytes(16), bytes.begin());
  return Ipv6(bytes);
}

/// The resolver has followed aliases: every address in the answer is the name's.
Found read_answer(const dns::Message& message) {
  Found found;
  for (const dns::Record& record : message.answers) {
    found.ttl = std::min(found.ttl, record.ttl);
    if (const auto address = address_of(record)) found.addresses.push_back(*address);
  }
  return found;
}

/// One question to one server after the other, twice round, until one answers.
class Lookup : public std::enable_shared_from_this<Lookup> {
 public:
  using Done = std::function<void(std::optional<Found>)>;  ///< absent: nobody answered
  Lookup(std::shared_ptr<Context> context, const dns::Name& name, dns::Type type, Done done)
      : context_(std::move(context)), done_(std::move(done)) {
    question_.question.assign(name.wire().begin(), name.wire().end());
    const auto number = static_cast<std::uint16_t>(type);
    question_.question.insert(question_.question.end(), {static_cast<std::uint8_t>(number >> 8),
                                                         static_cast<std::uint8_t>(number & 0xFF), 0, dns::kClassIn});
  }
  void start() {
    runtime::TimerQueue& timers = *context_->exchange->timers;
    deadline_ = timers.now() + kDeadline;
    servers_ = context_->servers(timers.now());
    ask_next();
  }

 private:
  void ask_next() {
    if (next_ >= servers_.size() * kRounds) return std::exchange(done_, nullptr)(std::nullopt);
    const Endpoint server = servers_[next_++ % servers_.size()];
    question_.id = context_->random.u16();
    // Its handlers keep it, and this, until it is done.
    const auto exchange = std::make_shared<dns::UpstreamExchange>(
        context_->exchange, server, question_,
        [self = shared_from_this()](const Result<dns::Message>& answer) { self->on_answer(answer); });
    exchange->start(kServerTimeout, deadline_);
  }

  void on_answer(const Result<dns::Message>& answer) {
    if (answer && (answer->rcode() == dns::Rcode::noerror || answer->rcode() == dns::Rcode::nxdomain))
      return std::exchange(done_, nullptr)(read_answer(*answer));
    if (context_->exchange->timers->now() >= deadline_) return std::exchange(done_, nullptr)(std::nullopt);
    ask_next();
  }

  std::shared_ptr<Context> context_;
  Done done_;
  dns::UpstreamQuestion question_;
  std::vector<Endpoint> servers_;
  std::size_t next_ = 0;
  runtime::TimerQueue::Time deadline_;
};

/// Both families of one name.
struct Pair : std::enable_shared_from_this<Pair> {
  Pair(std::shared_ptr<runtime::TimerQueue> with, std::string name, std::uint16_t at, Resolved done, Resolve instead)
      : timers(std::move(with)),
        host(std::move(name)),
        port(at),
        resolved(std::move(done)),
        otherwise(std::move(instead)) {}

  std::shared_ptr<runtime::TimerQueue> timers;
  std::string host;
  std::uint16_t port;
  Resolved resolved;  ///< null: told
  Resolve otherwise;
  Found all = {};
  int open = 2;
  bool is_whole = true;  ///< nobody failed to answer
  runtime::TimerQueue::Id delay{};

  void add(const std::optional<Found>& found) {
    if (found && !found->addresses.empty()) {
      all.addresses.insert(all.addresses.end(), found->addresses.begin(), found->addresses.end());
      all.ttl = std::min(all.ttl, found->ttl);
    }
    if (!found) is_whole = false;
    --open;
    if (!resolved) return;
    if (open == 0) return tell();
    if (all.addresses.empty() || all.addresses.front().is_v6()) return;
    delay = timers->after(kResolutionDelay, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self || !self->resolved) return;
      self->is_whole = false;
      self->tell();
    });
  }

  void tell() {
    timers->cancel(delay);
    const Resolved done = std::exchange(resolved, nullptr);
    if (all.addresses.empty()) return ask_otherwise(done);
    if (!is_whole) all.ttl = std::min(all.ttl, kPartSeconds);
    std::vector<Endpoint> endpoints;
    for (const IpAddress& address : all.addresses) endpoints.push_back({address, port});
    done(Resolution(std::move(endpoints), std::chrono::seconds(all.ttl)));
  }

  /// Where DNS has said that there is nothing, that holds unless a hosts file, say, has the name: whoever else is asked
  /// in vain, such as the name servers of a search list, knows less.
  void ask_otherwise(const Resolved& done) const {
    if (!is_whole) return otherwise(host, port, done);
    otherwise(host, port, [done](Result<Resolution> answer) {
      if (answer) return done(std::move(answer));
      done(error_code(boost::asio::error::host_not_found));
    });
  }
};

}  // namespace

NameServers servers_of_resolv_conf(const std::string& path) {
  const auto file = std::make_shared<dns::ResolvConfFile>(path);
  return [file](Clock::SteadyTime now) { return file->servers(now); };
}

Resolve make_dns_resolve(const boost::asio::any_io_executor& executor, Clock& clock, NameServers servers,
                         Resolve otherwise) {
  const auto context = std::make_shared<Context>();
  context->servers = std::move(servers);
  context->exchange = std::make_shared<dns::ExchangeContext>();
  context->exchange->executor = executor;
  context->exchange->timers = std::make_shared<runtime::TimerQueue>(executor, clock);
  context->exchange->on_foreign_reply = [] {};
  return [context, otherwise = std::move(otherwise)](const std::string& host, std::uint16_t port, Resolved resolved) {
    const auto name = dns::parse_name(host);
    if (!name || name->label_count() < 2) return otherwise(host, port, std::move(resolved));
    const auto pair = std::make_shared<Pair>(context->exchange->timers, host, port, std::move(resolved), otherwise);
    for (const dns::Type type : {dns::Type::aaaa, dns::Type::a}) {
      std::make_shared<Lookup>(context, *name, type, [pair](const std::optional<Found>& found) {
        pair->add(found);
      })->start();
    }
  };
}

}  // namespace hcpnet::proxy

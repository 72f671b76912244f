// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/server.hpp>
#include <hcpnet/log.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dns/query.hpp"
#include "dns/query_handler.hpp"
#include "dns/random_source.hpp"
#include "dns/reply_cache.hpp"
#include "dns/resolv_conf_file.hpp"
#include "dns/upstream_exchange.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dns {

struct ForwarderOptions {
  std::size_t max_pending = 4096;  ///< clients' queries that wait; each question in flight also holds a socket
  std::chrono::milliseconds upstream_timeout{2'000};
  std::chrono::milliseconds deadline{4'500};  ///< for all upstreams together: before a stub resolver's 5 s
  std::size_t max_cache_bytes = 8 * 1024 * 1024;
  std::string resolv_conf_path;
  std::function<bool(const Endpoint&)> is_own_listener;
  Logger log;
};

/// Says once that an upstream does not answer, and once that it answers again.
class UpstreamWatch {
 public:
  static constexpr unsigned kFailures = 2;           ///< in succession: one datagram may get lost
  static constexpr std::chrono::seconds kQuiet{60};  ///< after it came back; an upstream that flaps would fill the log
  static constexpr std::size_t kMaxUpstreams = 64;   ///< beyond which nothing is said of others

  void on_failure(const Endpoint& upstream, const error_code& reason, runtime::TimerQueue::Time now, const Logger& log);
  void on_answer(const Endpoint& upstream, runtime::TimerQueue::Time now, const Logger& log);
  /// Makes room: these are asked no more.
  void forget(const std::function<bool(const Endpoint&)>& is_gone);

 private:
  struct State {
    unsigned failures = 0;
    bool is_told = false;
    std::optional<runtime::TimerQueue::Time> quiet_until = {};
  };
  std::map<Endpoint, State> states_;
};

/// Shared by all forwarders of a server, old and new.
struct ForwarderCounters {
  std::uint64_t forwarded = 0;  ///< questions sent to an upstream
  std::uint64_t failures = 0;   ///< questions that no upstream answered
  std::uint64_t cache_hits = 0;
  std::uint64_t coalesced = 0;        ///< queries that joined a question in flight
  std::uint64_t foreign_replies = 0;  ///< datagrams that were not the reply
  std::uint64_t refused_limit = 0;    ///< queries beyond max_pending
  std::uint64_t own_upstreams = 0;    ///< upstreams left out because they are this server
  std::uint64_t pending = 0;          ///< now
  std::uint64_t stale = 0;            ///< answers given after their time
  std::uint64_t prefetches = 0;       ///< questions asked anew before the end of the answer's time
  std::uint64_t probes = 0;           ///< questions to suspected upstreams, to see whether they answer again
  std::uint64_t case_changed = 0;     ///< upstreams found not to keep the case of names
  std::uint64_t cache_misses = 0;
  std::map<Endpoint, std::map<std::string, std::uint64_t>> replies;  ///< by upstream and RCODE, or "timeout", "error"
  std::map<Endpoint, std::map<std::string, ServerStats::Durations>> times;  ///< of replies, by upstream and RCODE
  UpstreamWatch upstreams;
};

/// Asks the upstreams, as the policy says, for what no zone owns, and remembers what they say.
///
/// An upstream that let a question time out is asked last until a probe, sent every kSuspicion, is answered. A question
/// that two clients ask at once goes out once; a loop of forwarders that leads back here thus ends in waiting for
/// itself, and in SERVFAIL at the deadline. One thread.
class Forwarder : public std::enable_shared_from_this<Forwarder> {
 public:
  /// RFC 9520 section 3.2: at least one second, at most five.
  static constexpr std::chrono::seconds kFailureLifetime{2};
  static constexpr std::chrono::seconds kSuspicion{10};
  /// RFC 8767 section 5: after this a client gets the stale answer, and after a failure no new attempt for 30 s.
  static constexpr std::chrono::milliseconds kStaleAfter{1'800};
  static constexpr std::chrono::seconds kStaleRetry{30};
  /// What has been asked for this often is fetched anew in the last tenth of its time.
  static constexpr std::uint32_t kPopularUses = 2;
  static constexpr int kPrefetchPart = 10;
  /// Upstreams with counters of their own; those of resolv.conf come and go.
  static constexpr std::size_t kMaxCounted = 64;
  /// For how long an upstream that does not keep case is asked in plain case.
  static constexpr std::chrono::hours kPlainCase{1};

  Forwarder(boost::asio::any_io_executor executor, std::shared_ptr<runtime::TimerQueue> timers, Forwarding forwarding,
            ForwarderOptions options, std::shared_ptr<ForwarderCounters> counters);

  /// From the cache; 0 when it is not there. Here and below the reply has Query::reply_options.
  [[nodiscard]] std::size_t answer_from_cache(const Query& query, Transport transport, std::span<std::uint8_t> out);
  /// Asks. `later` is called exactly once, never from here; or the result is a reply in `out` and `later` is dropped.
  [[nodiscard]] std::size_t ask(ByteView bytes, const Query& query, Transport transport, std::span<std::uint8_t> out,
                                ReplyLater later);
  /// Drops everyone who waits.
  void stop();

  [[nodiscard]] const Forwarding& forwarding() const noexcept { return forwarding_; }
  [[nodiscard]] const ReplyCache& cache() const noexcept { return cache_; }

 private:
  struct Waiter {
    std::vector<std::uint8_t> query;
    std::vector<std::uint8_t> options;  ///< of the reply
    Transport transport;
    ReplyLater later;
  };
  struct Pending {
    std::string key;
    UpstreamQuestion question;
    std::vector<Waiter> waiters;
    std::vector<Endpoint> upstreams;  ///< to be asked, in this order
    std::size_t next = 0;
    std::size_t first_round = 0;  ///< those after it are second attempts
    runtime::TimerQueue::Id stale_timer;
    runtime::TimerQueue::Time deadline;
    runtime::TimerQueue::Time asked;  ///< when the upstream was
    std::shared_ptr<UpstreamExchange> exchange;
  };
  using PendingPtr = std::shared_ptr<Pending>;

  struct Suspect {
    runtime::TimerQueue::Id next_probe;
    std::shared_ptr<UpstreamExchange> probe;
  };

  /// Of some name.
  bool is_upstream(const Endpoint& endpoint) const noexcept;
  void forget_others();
  void look_at_resolv_conf();
  std::vector<Endpoint> general_upstreams();
  std::vector<Endpoint> upstreams_for(const FoldedName& name);
  void order(std::vector<Endpoint>& upstreams);
  void suspect(const Endpoint& upstream);
  void trust(const Endpoint& upstream);
  void probe(const Endpoint& upstream);
  void on_probed(const Endpoint& upstream, const Result<Message>& result);
  PendingPtr begin(const Query& query, std::string key);
  void add_waiter(const PendingPtr& pending, Waiter waiter);
  void prefetch_if_popular(const Query& query, const std::string& key, ReplyCache::Entry& entry);
  void mix_case(UpstreamQuestion& question, const Endpoint& upstream);
  void on_stale_timer(const PendingPtr& pending);
  void note_reply(const Endpoint& upstream, const Result<Message>& result, std::chrono::nanoseconds time);
  void ask_next(const PendingPtr& pending);
  void ask_upstream(const PendingPtr& pending, const Endpoint& upstream);
  void on_result(const PendingPtr& pending, const Endpoint& upstream, Result<Message> result);
  void accept(const PendingPtr& pending, Message reply);
  void give_up(const PendingPtr& pending);
  enum class Age : std::uint8_t { fresh, stale };
  void tell(Pending& pending, const StoredReply* reply, Age age = Age::fresh);
  std::size_t render(const StoredReply* reply, const Query& query, Transport transport, std::uint32_t age_seconds,
                     std::span<std::uint8_t> out) const;

  std::shared_ptr<runtime::TimerQueue> timers_;
  Forwarding forwarding_;
  ForwarderOptions options_;
  std::shared_ptr<ForwarderCounters> counters_;
  std::shared_ptr<ExchangeContext> context_;
  RandomSource random_;
  ReplyCache cache_;
  ResolvConfFile resolv_conf_;
  std::optional<runtime::TimerQueue::Time> looked_at_;  ///< resolv.conf
  std::vector<Endpoint> name_servers_;                  ///< of resolv.conf, without our own listeners
  std::uint64_t own_name_servers_ = 0;                  ///< how many those are
  std::map<Endpoint, Suspect> suspects_;
  std::map<Endpoint, runtime::TimerQueue::Time> plain_case_until_;
  std::size_t next_turn_ = 0;  ///< of round robin
  bool is_stopped_ = false;
  std::unordered_map<std::string, PendingPtr> pending_;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace hcpnet::dns

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/log.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dhcp/etcd_wire.hpp"
#include "dhcp/shared_lease.hpp"
#include "runtime/http_connection.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dhcp {

struct SharedLeasesLimits {
  std::size_t max_waiting = 4'096;    ///< claims at a time; beyond it has_room() is false, and none is taken
  std::size_t max_batch = 48;         ///< claims in one transaction; etcd takes 128 operations unless told otherwise
  std::size_t max_known = 4'194'304;  ///< addresses below the prefix; of more nothing is known
  std::int64_t page = 2'000;          ///< keys in one answer while the store is read
  int max_tries = 3;                  ///< of one claim, where somebody else writes at the same time
  std::chrono::seconds ask_again{1};  ///< after all endpoints have failed; and how often a quiet store is asked
  runtime::HttpConnectionLimits http = {};
};

struct SharedLeasesHost {
  boost::asio::any_io_executor executor;
  runtime::TimerQueue& timers;
  /// What others have written; times by the calendar, `subnet` empty.
  std::function<void(const std::vector<Lease>&)> on_taken;
  /// Everything that the store holds has been told. Called again after it had to be read anew, or when a claim that
  /// nobody waits for was not written.
  std::function<void()> on_loaded;
  Logger log;
};

/// The leases of one link in a store that several servers share. The store decides: an address is a client's once its
/// record is written there, over the one that was known, and not before.
///
///     away --connected--> (authenticated) --> reading all keys --> watching --the watch stands--> ready
///     ready --an answer is missing, the watch ends--> away, on to the next endpoint
///
/// All calls on the executor's thread. Claims that wait together are one transaction.
class SharedLeases {
 public:
  enum class Result : std::uint8_t {
    owned,        ///< it is written
    lost,         ///< somebody else has the address; on_taken() has told who
    unreachable,  ///< it may be written or not; who has the address is not known. Or too many wait
  };
  using Done = std::function<void(Result)>;

  /// `server`: our address, for people who read the records.
  SharedLeases(SharedLeasesHost host, SharedStore store, std::string server, Identity identity,
               const SharedLeasesLimits& limits = {});
  ~SharedLeases();
  SharedLeases(const SharedLeases&) = delete;
  SharedLeases& operator=(const SharedLeases&) = delete;

  void start();
  /// Every claim ends as unreachable; then as close().
  void stop();
  /// Nobody is called back any more.
  void close();
  void set_identity(Identity identity) noexcept { rules_.identity = identity; }

  [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
  /// Why it is not.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] bool has_room() const noexcept { return waiting_.size() < limits_.max_waiting; }
  [[nodiscard]] bool is_known(Ipv4 address) const { return known_.contains(address); }
  /// Its record is damaged, or of a later version: nobody writes over it.
  [[nodiscard]] bool is_unreadable(Ipv4 address) const {
    const auto found = known_.find(address);
    return found != known_.end() && !found->second.lease;
  }

  /// Writes all of `leases` or none; times by the calendar. Of one that is not bound somebody else's record is left
  /// alone, and the others are written. `done` may be empty, then no limit counts.
  void claim(std::vector<Lease> leases, Done done);
  /// Looks at what the store has of an address now. Result::owned: nothing new.
  void look_at(Ipv4 address, Done done);

  struct Stats {
    std::map<std::string, std::uint64_t> claims;  ///< by result: "owned", "lost", "unreachable"
    std::uint64_t taken = 0;                      ///< records of other servers
    std::uint64_t unreadable = 0;                 ///< records of a later version, or damaged
    std::uint64_t losses = 0;                     ///< of the connection
  };
  [[nodiscard]] const Stats& stats() const noexcept { return stats_; }

 private:
  struct Known {
    std::int64_t revision = 0;
    std::optional<Lease> lease;  ///< nullopt: unreadable
  };
  struct Claim {
    std::vector<Lease> leases;  ///< none: something is only looked at
    Done done;
    etcd::Step step = {};
    int tries = 0;
  };

  void connect();
  void authenticate(std::function<void()> then);
  void read_all();
  void read_page(std::string first, std::int64_t revision);
  void watch();
  void on_changes(std::string_view line);
  void become_ready();
  void go_away(const std::string& why);
  void end_claims();
  void ask_again();
  void pump();
  void send();
  void on_written(const runtime::HttpReply& reply);
  [[nodiscard]] std::optional<Result> settle(Claim& claim, const etcd::StepOutcome& outcome, std::int64_t revision);
  [[nodiscard]] std::optional<Result> prepare(Claim& claim);
  void end(Claim& claim, Result result);
  void learn(const etcd::KeyValue& one, std::vector<Lease>& told);
  void tell(const std::vector<Lease>& told);
  [[nodiscard]] bool is_being_written(const etcd::KeyValue& one) const;
  [[nodiscard]] Lease resting(Ipv4 address) const;
  [[nodiscard]] std::chrono::sys_seconds now() const;
  [[nodiscard]] std::string keys() const { return store_.prefix + '/'; }

  SharedLeasesHost host_;
  SharedStore store_;
  std::string server_;
  SharedRules rules_;
  SharedLeasesLimits limits_;
  bool is_ready_ = false, is_closed_ = false;
  bool is_loaded_ = false;  ///< known_ is what the store had at revision_
  bool is_told_ = false;    ///< on_loaded() has been called since
  bool is_pumping_ = false;
  bool has_new_login_ = false;  ///< since the last answer
  std::string problem_ = "it has not answered yet";
  std::size_t endpoint_ = 0, failures_ = 0;
  std::string token_;
  std::int64_t revision_ = 0;
  std::unordered_map<Ipv4, Known> known_;
  std::deque<Claim> waiting_;
  std::vector<Claim> sent_;
  std::shared_ptr<runtime::HttpConnection> requests_, changes_;
  std::optional<runtime::TimerQueue::Id> next_;
  Stats stats_;
};

}  // namespace hcpnet::dhcp

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/net.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace hcpnet::dhcp {

struct ProbeLimits {
  std::size_t max_waiting = 4'096;  ///< offers that wait for their probe; beyond it a DISCOVER is dropped
  std::size_t max_conflicts = 4;    ///< addresses in use that one DISCOVER may meet; then its client has to ask again
};

/// An offer that waits for its probe.
struct ProbedOffer {
  AddressProbe probe;
  Reply reply;
  std::vector<std::uint8_t> message;  ///< the DISCOVER
  std::size_t subnet = 0;             ///< that dealt with it, index in Config::subnets
  std::size_t link = 0;               ///< that it came in on, and that the probe goes out on
  Endpoint source;                    ///< where it came from
  std::size_t conflicts = 0;          ///< addresses in use that it has met before
};

/// What came back from the network.
struct ProbeAnswer {
  Ipv4 address;
  std::optional<MacAddress> by;  ///< of an ARP reply
  std::uint16_t sequence = 0;    ///< of an echo reply
};

/// Which offers wait for which probes. Pure: the time comes as an argument and must not go back. One thread.
///
///   add() --> waiting --take_answered()--> somebody uses the address
///               |  ^--add() by the same client: the later message is the one that is answered
///               +------take_due()--------> nobody has said so in time
class ProbeTable {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Verdict : std::uint8_t {
    ask,      ///< the question has to be sent now
    waiting,  ///< it was sent before
    full,     ///< ProbeLimits::max_waiting; the offer is not kept
  };
  struct Added {
    Verdict verdict = Verdict::full;
    std::uint16_t sequence = 0;  ///< for an echo request
  };

  explicit ProbeTable(const ProbeLimits& limits = {}) : limits_(limits) {}

  [[nodiscard]] const ProbeLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
  /// One offer waits per link and address. Another client's gives way: an address that is offered anew has no other
  /// offer any more.
  Added add(ProbedOffer offer, Time now);
  /// The offer of an address that is in use. nullopt: nobody waits for that answer. The client's own answer is none,
  /// nor is an echo reply to an ARP probe, an ARP reply to an echo request, or a reply to an earlier request.
  [[nodiscard]] std::optional<ProbedOffer> take_answered(std::size_t link, const ProbeAnswer& answer);
  /// An offer whose time has come.
  [[nodiscard]] std::optional<ProbedOffer> take_due(Time now);
  /// When take_due() next has one. nullopt: nothing waits.
  [[nodiscard]] std::optional<Time> next_due() const;
  /// The question could not be sent.
  void forget(std::size_t link, Ipv4 address);
  void clear();

 private:
  using Place = std::pair<std::size_t, Ipv4>;  // link and address
  struct Entry {
    ProbedOffer offer;
    Time due;
    std::uint16_t sequence = 0;
  };
  using Entries = std::map<Place, Entry>;
  ProbedOffer take(Entries::iterator entry);

  ProbeLimits limits_;
  Entries waiting_;
  std::set<std::pair<Time, Place>> due_;  // of every entry
  std::uint16_t next_sequence_ = 1;
};

}  // namespace hcpnet::dhcp

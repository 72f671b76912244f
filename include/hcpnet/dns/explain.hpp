// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::dns {

/// Why a name is answered as it is.
enum class AnswerRule : std::uint8_t {
  exact,        ///< the name has records of the type
  wildcard,     ///< the closest encloser's wildcard has them
  alias,        ///< a CNAME; what it points to is the next step
  nodata,       ///< the name, or the wildcard that stands for it, has no records of the type
  nxdomain,     ///< the zone has no such name
  referral,     ///< the name is at or below a zone cut: other name servers have its records
  unavailable,  ///< the zone's data is not known now: SERVFAIL
  forwarded,    ///< no zone of the view owns the name, or what an alias points to: an upstream is asked
  refused,      ///< no zone owns it and nothing is forwarded
  no_view,      ///< the client belongs to no view: REFUSED
  not_allowed,  ///< the view is not for this client: REFUSED
};
[[nodiscard]] std::string_view to_string(AnswerRule rule) noexcept;

/// "OWNER TTL IN TYPE RDATA", as a line of a zone file.
[[nodiscard]] std::string to_line(const Record& record);

struct ExplainStep {
  std::string name;  ///< what was looked up
  std::string zone;  ///< the apex that owns it; empty: none
  AnswerRule rule = AnswerRule::no_view;
  std::string matched;               ///< the owner of the records, or of the wildcard without them; empty: none
  std::vector<std::string> records;  ///< "OWNER TTL IN TYPE RDATA"
};

struct Explanation {
  std::string view;                ///< empty: none
  std::optional<Cidr> prefix;      ///< the client prefix that chose the view
  std::vector<ExplainStep> steps;  ///< more than one after an alias; as many as a reply would follow
  std::vector<std::string>
      upstreams;  ///< who is asked, when the last step is `forwarded`; with "resolv.conf" for that file
};

/// What a client at `client` gets for a name, and which view, zone and rule decide it. `type` is one that records have
/// (is_data_type). Pure. Errors: as check_config().
[[nodiscard]] Result<Explanation> explain(const Config& config, const Name& name, Type type, const IpAddress& client);

/// What the server would do with a query.
struct SimulatedReply {
  std::string view;                    ///< empty: the client belongs to none
  bool is_forwarded = false;           ///< an upstream decides; `reply` has nothing but our aliases that lead there
  std::vector<std::string> upstreams;  ///< as in Explanation
  std::optional<Message> reply;        ///< as over TCP, so nothing is cut off; nullopt also for a query that is dropped
};
/// Answers `query` as the server would for a client at `client`. Pure. Errors: as check_config(); Errc::too_large.
[[nodiscard]] Result<SimulatedReply> simulate_query(const Config& config, const Message& query,
                                                    const IpAddress& client);
/// The same for each view, in their order, as for a client of it that may have whatever any of its clients may.
[[nodiscard]] Result<std::vector<SimulatedReply>> simulate_query_of_each_view(const Config& config,
                                                                              const Message& query);

}  // namespace hcpnet::dns

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What is said to etcd, and what it answers: the JSON form of its API v3, each call a POST (etcd's documentation,
/// "gRPC gateway"). Numbers of 64 bits are texts there, keys and values base64, and what is zero or false is left out.
namespace hcpnet::dhcp::etcd {

inline constexpr const char* kRange = "/v3/kv/range";
inline constexpr const char* kTxn = "/v3/kv/txn";
inline constexpr const char* kWatch = "/v3/watch";
inline constexpr const char* kAuthenticate = "/v3/auth/authenticate";

/// RFC 4648 section 4, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);
/// nullopt: it is none.
[[nodiscard]] std::optional<std::string> parse_base64(std::string_view text);

struct KeyValue {
  std::string key, value;
  std::int64_t revision = 0;  ///< of its last change; 0: it is not there
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

/// The first key behind all those that begin with `prefix`. Precondition: it is not empty, and not all of 0xFF.
[[nodiscard]] std::string end_of(std::string_view prefix);

/// Of [first, end) at most `limit` keys; `revision` 0: as it is now, else as it was then.
[[nodiscard]] std::string range_body(std::string_view first, std::string_view end, std::int64_t limit,
                                     std::int64_t revision);
struct Range {
  std::int64_t revision = 0;  ///< of the store
  std::vector<KeyValue> found;
  bool has_more = false;
};
/// nullopt: that is no such answer; so for all that follow.
[[nodiscard]] std::optional<Range> parse_range(std::string_view text);

/// A write that holds only where its key's last change has the revision `over`; 0: where it is not there.
struct Put {
  std::string key, value;
  std::int64_t over = 0;
};
/// Either all of `puts` are written or, if one does not hold, none. `reads`: keys to look at, where there are no puts.
struct Step {
  std::vector<Put> puts;
  std::vector<std::string> reads;
};
struct StepOutcome {
  bool is_written = false;      ///< or read
  std::vector<KeyValue> found;  ///< of the keys read, or that could not be written, those which are there
};
/// Several steps in one transaction, each holds or fails by itself. No key is put twice.
[[nodiscard]] std::string txn_body(std::span<const Step> steps);
struct Txn {
  std::int64_t revision = 0;  ///< of what was written
  std::vector<StepOutcome> steps;
};
[[nodiscard]] std::optional<Txn> parse_txn(std::string_view text);

/// Every change of a key that begins with `prefix`, from `first_revision` on.
[[nodiscard]] std::string watch_body(std::string_view prefix, std::int64_t first_revision);
/// One line of the answer.
struct Changes {
  std::int64_t revision = 0;  ///< of the store
  bool is_created = false;    ///< the first line
  bool has_more = false;      ///< of the same revision, in the next line
  bool is_over = false;       ///< etcd has ended it: what it was asked for is no longer known, or it failed
  std::vector<KeyValue> puts;
  std::vector<KeyValue> deletions;  ///< keys and revisions
  std::string reason;               ///< why it is over; may be empty
};
[[nodiscard]] std::optional<Changes> parse_changes(std::string_view line);

[[nodiscard]] std::string authenticate_body(std::string_view name, std::string_view password);
[[nodiscard]] std::optional<std::string> parse_token(std::string_view text);

/// What an answer that is no success says; empty: nothing that can be understood.
[[nodiscard]] std::string parse_message(std::string_view text);

}  // namespace hcpnet::dhcp::etcd

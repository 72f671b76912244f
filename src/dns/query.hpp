// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/responder.hpp>
#include <optional>

#include "dns/folded_name.hpp"

namespace hcpnet::dns {

/// A query as the responder and the forwarder need it. Refers to the bytes it was read from.
struct Query {
  std::uint16_t id = 0;
  std::uint16_t flags = 0;
  Type type{};  ///< 0 like the class when `question` is empty
  std::uint16_t qclass = 0;
  ByteView question;  ///< name, type and class as sent; empty when it could not be read, or a cookie alone is asked for
  FoldedName name;    ///< set when `question` is not empty
  bool has_edns = false;
  bool dnssec_ok = false;
  bool asks_nsid = false;
  ByteView cookie;                         ///< data of the first COOKIE option
  ByteView reply_options;                  ///< what the OPT record of the reply is to hold
  std::uint16_t udp_bytes = kMinUdpBytes;  ///< what the client takes over UDP, 512 or more
  FormatError format_error = FormatError::none;
  Rcode verdict = Rcode::noerror;  ///< an error that the message alone decides, whoever asks and whatever is known

  [[nodiscard]] bool recursion_desired() const noexcept { return (flags & flag::kRecursionDesired) != 0; }
  /// How long the reply may be.
  [[nodiscard]] std::size_t max_reply_bytes(Transport transport) const noexcept {
    return transport == Transport::tcp ? kMaxMessageBytes : std::min(udp_bytes, kMaxUdpBytes);
  }
};

/// Whether there is an additional record, where options would be: only then they are of interest.
[[nodiscard]] inline bool may_have_options(ByteView bytes) noexcept {
  return bytes.size() >= kHeaderBytes && (bytes[10] | bytes[11]) != 0;
}

/// Fills `query`; a reason when there is nothing that could be answered.
[[nodiscard]] std::optional<DropReason> read_query(ByteView bytes, Query& query) noexcept;

}  // namespace hcpnet::dns

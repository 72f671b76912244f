// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/view.hpp>
#include <optional>
#include <vector>

namespace hcpnet::dns {

/// One question as it goes to an upstream.
struct UpstreamQuestion {
  std::uint16_t id = 0;
  std::vector<std::uint8_t> question;  ///< name, type, class
  bool checking_disabled = false;
  bool dnssec_ok = false;
  bool has_edns = true;
  bool is_mixed_case = false;  ///< the reply must have the name exactly as sent
};
[[nodiscard]] std::vector<std::uint8_t> encode_query(const UpstreamQuestion& question);

struct JudgedReply {
  enum class Verdict : std::uint8_t {
    foreign,    ///< not the reply to our question: forged, late or junk; keep waiting
    truncated,  ///< ours, but cut, damaged or of more than 64 aliases: to be asked again over TCP
    accepted,
    case_changed,  ///< would be accepted or cut, but the name's case is not as sent: forged, or the upstream folds it
  };
  Verdict verdict = Verdict::foreign;
  Message message;  ///< with Verdict::accepted, and case_changed when it could be read
};
/// RFC 5452 section 9: identifier and question must be ours; the address is seen to by the socket, which is connected.
[[nodiscard]] JudgedReply judge_reply(ByteView bytes, const UpstreamQuestion& asked);

/// Takes out what the question did not ask for: answers of another type, or not about its name or what that is an alias
/// of, records of authority over other names, other classes, and everything additional (RFC 2181 section 5.4.1); and
/// every alias of a name but the first. False where this leaves nothing of the answer, nor a SOA to say that there is
/// none: it was to another question; also where the reply has data of the very name that it says not to exist.
/// Precondition: accepted by judge_reply(), with a question, of class IN.
[[nodiscard]] bool keep_what_was_asked(Message& reply);
/// Neither an answer nor its absence: it names other servers to ask, which a resolver would have done itself (RFC 2308
/// section 2.2).
[[nodiscard]] bool is_referral(const Message& reply) noexcept;

/// A reply up to an alias that leads to a name of which others have to say the rest. That alias is its last answer.
struct BegunReply {
  std::vector<std::uint8_t> bytes;
  bool is_ours = false;  ///< the zones say the rest, and else the upstreams for the name
};
/// nullopt where a reply is whole, or the alias itself is asked for (RFC 1034 section 3.6.2). Whoever answers for a
/// foreign name has no say in those of `zones`, nor in those of a zone of `forwarding` that has other upstreams; and
/// where the upstreams of a zone tell an alias out of it and nothing of its target, those for everything are to be
/// asked. Precondition: one alias at most for each name (keep_what_was_asked).
[[nodiscard]] std::optional<BegunReply> up_to_others_name(ByteView reply, const ViewZones& zones,
                                                          const Forwarding& forwarding);

}  // namespace hcpnet::dns

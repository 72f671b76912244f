// SPDX-License-Identifier: Apache-2.0
// One input as a message, as a query to the responder, and as an upstream's reply to the question it holds, up to what
// the client gets of it.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/responder.hpp>
#include <memory>
#include <span>
#include <utility>

#include "dns/alias_query.hpp"
#include "dns/query.hpp"
#include "dns/stored_reply.hpp"
#include "dns/upstream_reply.hpp"

namespace {

using namespace hcpnet;
using namespace hcpnet::dns;

void require(bool holds) {
  if (!holds) std::abort();
}

Name name(const char* text) {
  return parse_name(text).value();
}
RRset cname(const char* owner, const char* target) {
  return {name(owner), Type::cname, 300, {std::string(as_text(name(target).wire()))}};
}

ViewSet make_views() {
  std::vector<RRset> rrsets{make_a(name("api.hcp1.example.com"), Ipv4(192, 168, 100, 4), 300),
                            make_a(name("*.apps.hcp1.example.com"), Ipv4(192, 168, 100, 4), 300),
                            make_a(name("a.b.c.hcp1.example.com"), Ipv4(192, 168, 100, 9), 300),
                            cname("in.hcp1.example.com", "api.hcp1.example.com"),
                            cname("ext.hcp1.example.com", "target.example.net"),
                            cname("loop1.hcp1.example.com", "loop2.hcp1.example.com"),
                            cname("loop2.hcp1.example.com", "loop1.hcp1.example.com")};
  for (std::uint32_t i = 0; i < 40; ++i) rrsets.push_back(make_a(name("many.hcp1.example.com"), Ipv4(i), 300));
  View view;
  view.clients = {Cidr(Ipv4(), 0)};
  view.zones = {std::make_shared<const Zone>(name("hcp1.example.com"), std::move(rrsets))};
  return ViewSet::make({view}).value();
}

void read_as_message(ByteView input) {
  const auto message = parse_message(input);
  if (!message) return;
  const auto bytes = encode_message(*message);
  if (!bytes) return;  // names that were compressed in RDATA may need more room now
  const auto again = parse_message(*bytes);
  require(again && *again == *message);
}

/// What a server gives respond() to know, with and without all that may be off.
std::array<QueryContext, 3> contexts(const ViewSet& views, Transport transport) {
  static const CookieSecrets secrets{{1, 2, 3}, {4, 5, 6}};
  static const Identity identity{"dns-1", "hcpnet"};
  QueryContext least{&views[0], transport, false};
  QueryContext most{&views[0], transport, true};
  most.client = Ipv4(192, 0, 2, 9);
  most.now = 1'700'000'000;
  most.cookies = &secrets;
  most.identity = &identity;
  QueryContext stranger = most;
  stranger.view = nullptr;
  return {least, most, stranger};
}

void complete(const AliasQuery& alias, ByteView rest, Transport transport) {
  static std::array<std::uint8_t, kMaxMessageBytes> buffer;
  const std::size_t room = transport == Transport::udp ? kMaxUdpBytes : kMaxMessageBytes;
  const std::size_t size = alias.complete(rest, std::span(buffer).first(room));
  require(size <= room && parse_message(ByteView(buffer).first(size)).has_value());
}

void ask(ByteView input, const ViewSet& views, Transport transport) {
  static std::array<std::uint8_t, kMaxMessageBytes> buffer;
  const std::size_t room = transport == Transport::udp ? kMaxUdpBytes : kMaxMessageBytes;
  for (const QueryContext& context : contexts(views, transport)) {
    const Response response = respond(input, context, std::span(buffer).first(room));
    if (response.verdict == Response::Verdict::drop) continue;
    if (response.verdict == Response::Verdict::reply) {
      const auto reply = parse_message(ByteView(buffer).first(response.bytes));
      require(reply && reply->rcode() == response.rcode && (reply->flags & flag::kResponse) != 0);
    } else if (response.bytes > 0) {
      complete(AliasQuery(input, ByteView(buffer).first(response.bytes), transport), input, transport);
    }
    const std::size_t less = respond_with_less(input, context, std::span(buffer).first(room));
    require(parse_message(ByteView(buffer).first(less)).has_value());
  }
}

const Forwarding& forwarding() {
  static const Endpoint general{Ipv4(192, 0, 2, 1), 53}, special{Ipv4(192, 0, 2, 2), 53};
  static const Forwarding forwarding = {.upstreams = {general}, .zones = {{name("example.net"), {special}}}};
  return forwarding;
}

/// What the server makes of an upstream's reply that leads into its zones, or to names of other upstreams.
void go_on(ByteView asked, ByteView reply, const ViewSet& views, Transport transport) {
  const auto begun = up_to_others_name(reply, views[0], forwarding());
  if (!begun) return;
  const AliasQuery alias(asked, begun->bytes, transport);
  if (!begun->is_ours) return;
  static std::array<std::uint8_t, kMaxMessageBytes> rest;
  const Response response = respond(alias.bytes(), contexts(views, Transport::tcp)[1], rest);
  complete(alias, ByteView(rest).first(response.bytes), transport);
}

void read_as_upstream_reply(ByteView input, const ViewSet& views) {
  const auto message = parse_message(input);
  if (!message || message->questions.size() != 1) return;
  Message query;
  query.id = message->id;
  query.questions = message->questions;
  query.edns = message->edns;
  const auto asked = encode_message(query).value();
  Query read;
  if (read_query(asked, read) || read.question.empty()) return;
  const UpstreamQuestion question{query.id, {read.question.begin(), read.question.end()}, false, false, true};
  JudgedReply judged = judge_reply(input, question);
  if (judged.verdict != JudgedReply::Verdict::accepted || static_cast<int>(judged.message.rcode()) > 15 ||
      judged.message.questions.empty())
    return;
  if (is_referral(judged.message)) return;
  if (!keep_what_was_asked(judged.message)) return;
  require(judged.message.additional.empty());
  const auto stored = StoredReply::make(std::move(judged.message));
  if (!stored) return;
  static std::array<std::uint8_t, kMaxMessageBytes> buffer;
  for (const Transport transport : {Transport::udp, Transport::tcp}) {
    const std::size_t room = transport == Transport::udp ? kMaxUdpBytes : kMaxMessageBytes;
    const std::size_t size = stored->render(read, transport, 1, std::span(buffer).first(room));
    require(size <= room && parse_message(ByteView(buffer).first(size)).has_value());
    go_on(asked, ByteView(buffer).first(size), views, transport);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ViewSet views = make_views();
  const ByteView input(data, size);
  read_as_message(input);
  ask(input, views, Transport::udp);
  ask(input, views, Transport::tcp);
  read_as_upstream_reply(input, views);
  if (const auto begun = up_to_others_name(input, views[0], forwarding()))
    require(parse_message(begun->bytes).value().answers.size() > 0);
  return 0;
}

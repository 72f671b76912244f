// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/explain.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/dns/view.hpp>

#include "dns/folded_name.hpp"
#include "dns/render_common.hpp"
#include "dns/snapshot.hpp"

namespace hcpnet::dns {
namespace {

/// The view that a client belongs to, allowed or not, and the prefix that says so.
void find_view(const std::vector<View>& views, const IpAddress& client, Explanation& answer) {
  for (const View& view : views) {
    for (const Cidr& prefix : view.clients) {
      if (!prefix.contains(client)) continue;
      if (answer.prefix && prefix.prefix_length() <= answer.prefix->prefix_length()) continue;
      answer.prefix = prefix;
      answer.view = view.name;
    }
  }
}

/// The wildcard that stands for `name`: the closest encloser's, which exists in the zone.
std::string wildcard_for(const Zone& zone, Name name) {
  while (name != zone.apex()) {
    name = name.parent();
    const auto child = name.wildcard_child();
    if (!child) continue;
    const Zone::Found found = zone.find(*child, Type::any);
    if (found.outcome != Zone::Outcome::nxdomain && !found.from_wildcard) return child->to_string();
  }
  return {};
}

ExplainStep look_up(const Zone& zone, const Name& name, Type type) {
  ExplainStep step{name.to_string(), zone.apex().to_string(), AnswerRule::unavailable, {}, {}};
  if (!zone.is_available()) return step;
  const Zone::Found found = zone.find(name, type);
  if (found.outcome == Zone::Outcome::nxdomain) {
    step.rule = AnswerRule::nxdomain;
    return step;
  }
  if (found.outcome == Zone::Outcome::referral) {
    step.rule = AnswerRule::referral;
    step.matched = found.rrset->owner.to_string();
    step.records = rendering::record_lines(step.matched, *found.rrset, found.rrset->ttl);
    return step;
  }
  step.matched = found.from_wildcard ? wildcard_for(zone, name) : name.to_string();
  if (found.outcome == Zone::Outcome::nodata) {
    step.rule = AnswerRule::nodata;
    return step;
  }
  const bool is_alias = found.rrset->type == Type::cname && type != Type::cname && type != Type::any;
  step.rule = is_alias ? AnswerRule::alias : found.from_wildcard ? AnswerRule::wildcard : AnswerRule::exact;
  step.records = rendering::record_lines(step.name, *found.rrset, found.rrset->ttl);
  return step;
}

/// Follows aliases as the responder does; returns the name where that ends because no zone owns it.
std::optional<Name> walk(const ViewZones& zones, Name name, Type type, std::vector<ExplainStep>& steps) {
  while (steps.size() <= kMaxCnameHops) {
    const Zone* zone = zones.find_for(FoldedName(name), type);
    if (zone == nullptr) return name;
    steps.push_back(look_up(*zone, name, type));
    if (steps.back().rule != AnswerRule::alias) return std::nullopt;
    const auto target = make_name(zone->find(name, type).rrset->rdata.front());
    const bool is_loop =
        !target || std::ranges::any_of(steps, [&](const ExplainStep& s) { return s.name == target->to_string(); });
    if (is_loop) return std::nullopt;
    name = *target;
  }
  return std::nullopt;
}

/// Who is asked for a name of no zone; empty: nobody.
std::vector<std::string> upstreams_for(const Forwarding& forwarding, const Name& name) {
  const ZoneForwarding* zone = forwarding.zone_of(FoldedName(name));
  std::vector<std::string> texts;
  for (const Endpoint& upstream : zone != nullptr ? zone->upstreams : forwarding.upstreams)
    texts.push_back(upstream.to_string());
  if (zone == nullptr && forwarding.resolv_conf) texts.emplace_back("resolv.conf");
  return texts;
}

/// The view, with everybody for a client whom it allows what it allows anybody.
View for_everyone(View view) {
  view.clients = {Cidr(Ipv4{}, 0)};
  for (auto* const list : {&view.allowed, &view.forwarding_allowed})
    if (*list && !(*list)->empty()) list->reset();
  return view;
}

}  // namespace

std::string_view to_string(AnswerRule rule) noexcept {
  switch (rule) {
    case AnswerRule::exact:
      return "exact";
    case AnswerRule::wildcard:
      return "wildcard";
    case AnswerRule::alias:
      return "alias";
    case AnswerRule::nodata:
      return "nodata";
    case AnswerRule::nxdomain:
      return "nxdomain";
    case AnswerRule::referral:
      return "referral";
    case AnswerRule::unavailable:
      return "unavailable";
    case AnswerRule::forwarded:
      return "forwarded";
    case AnswerRule::refused:
      return "refused";
    case AnswerRule::no_view:
      return "no-view";
    case AnswerRule::not_allowed:
      return "not-allowed";
  }
  return "unknown";
}

std::string to_line(const Record& record) {
  return rendering::record_lines(record.owner.to_string(), {record.owner, record.type, record.ttl, {record.rdata}},
                                 record.ttl)
      .front();
}

Result<Explanation> explain(const Config& config, const Name& name, Type type, const IpAddress& from) {
  const IpAddress client = from.unmapped();
  const auto views = ViewSet::make(config.views);
  if (!views) return views.error();
  Explanation answer;
  find_view(config.views, client, answer);
  const auto position = views->find(client);
  if (!position) {
    const AnswerRule rule = answer.prefix ? AnswerRule::not_allowed : AnswerRule::no_view;
    answer.steps.push_back({name.to_string(), {}, rule, {}, {}});
    return answer;
  }
  const std::optional<Name> unknown = walk((*views)[*position], name, type, answer.steps);
  if (!unknown) return answer;
  if ((*views)[*position].may_forward(client)) answer.upstreams = upstreams_for(config.forwarding, *unknown);
  if (!answer.upstreams.empty())
    answer.steps.push_back({unknown->to_string(), {}, AnswerRule::forwarded, {}, {}});
  else if (answer.steps.empty())
    answer.steps.push_back({unknown->to_string(), {}, AnswerRule::refused, {}, {}});
  return answer;
}

Result<SimulatedReply> simulate_query(const Config& config, const Message& query, const IpAddress& from) {
  const IpAddress client = from.unmapped();
  const auto views = ViewSet::make(config.views);
  if (!views) return views.error();
  const auto bytes = encode_message(query);
  if (!bytes) return bytes.error();
  SimulatedReply simulated;
  const Snapshot snapshot{config, *views};
  const QueryContext context = snapshot.context(views->find(client), Transport::tcp, client);
  if (context.view != nullptr) simulated.view = context.view->name();
  std::vector<std::uint8_t> out(kMaxMessageBytes);
  Response response = respond(*bytes, context, out);
  if (response.verdict == Response::Verdict::drop) return simulated;
  if (response.bytes > 0) simulated.reply = parse_message(ByteView(out).first(response.bytes)).value();
  if (response.verdict == Response::Verdict::reply) return simulated;
  const Name asked =
      simulated.reply ? make_name(simulated.reply->answers.back().rdata).value() : query.questions.at(0).name;
  simulated.upstreams = upstreams_for(config.forwarding, asked);
  simulated.is_forwarded = !simulated.upstreams.empty();
  if (simulated.is_forwarded || simulated.reply) return simulated;
  response.bytes = respond_with_error(*bytes, Rcode::refused, context, out);
  simulated.reply = parse_message(ByteView(out).first(response.bytes)).value();
  return simulated;
}

Result<std::vector<SimulatedReply>> simulate_query_of_each_view(const Config& config, const Message& query) {
  std::vector<SimulatedReply> all;
  Config alone = config;
  for (const View& view : config.views) {
    alone.views = {for_everyone(view)};
    auto simulated = simulate_query(alone, query, Ipv4{});
    if (!simulated) return simulated.error();
    all.push_back(std::move(*simulated));
  }
  return all;
}

}  // namespace hcpnet::dns

// SPDX-License-Identifier: Apache-2.0
// What one query costs without any socket: respond() on zones of 20 and of 100,000 names, and a reply from the cache.
#include <benchmark/benchmark.h>

#include <array>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/responder.hpp>
#include <memory>
#include <random>

#include "dns/query.hpp"
#include "dns/reply_cache.hpp"

namespace {

using namespace hcpnet;
using namespace hcpnet::dns;

Name name(const std::string& text) {
  return parse_name(text).value();
}
std::string host(std::size_t i) {
  return "host" + std::to_string(i) + ".blue.hc.example.com";
}

std::shared_ptr<const Zone> make_zone(std::size_t names) {
  std::vector<RRset> rrsets{make_a(name("*.apps.blue.hc.example.com"), Ipv4(192, 0, 2, 200), 30)};
  for (std::size_t i = 0; i < names; ++i)
    rrsets.push_back(make_a(name(host(i)), Ipv4(static_cast<std::uint32_t>(0x0A000000 + i)), 30));
  return std::make_shared<const Zone>(name("blue.hc.example.com"), std::move(rrsets));
}

ViewSet make_views(std::size_t names) {
  View view;
  view.clients = {Cidr(Ipv4(), 0)};
  view.zones = {make_zone(names)};
  return ViewSet::make({view}).value();
}

std::vector<std::uint8_t> make_query(const std::string& text, Type type) {
  Message query;
  query.flags = flag::kRecursionDesired;
  query.questions = {{name(text), type, kClassIn}};
  query.edns = Edns{};
  return encode_message(query).value();
}

void answer(benchmark::State& state, const ViewSet& views, const std::vector<std::vector<std::uint8_t>>& queries) {
  std::array<std::uint8_t, kMaxUdpBytes> out;
  std::size_t next = 0;
  for (auto _ : state) {
    const auto client = views.find(Ipv4(192, 0, 2, 101));
    benchmark::DoNotOptimize(respond(queries[next], {&views[*client], Transport::udp, true}, out));
    if (++next == queries.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

void exact(benchmark::State& state) {
  const auto names = static_cast<std::size_t>(state.range(0));
  const ViewSet views = make_views(names);
  std::mt19937 random(1);
  std::vector<std::vector<std::uint8_t>> queries;
  for (std::size_t i = 0; i < std::max<std::size_t>(names, 20); ++i)
    queries.push_back(make_query(host(random() % names), Type::a));
  answer(state, views, queries);
}
BENCHMARK(exact)->Arg(20)->Arg(100'000);

void one_kind(benchmark::State& state, const std::string& text, Type type) {
  answer(state, make_views(20), {make_query(text, type)});
}
BENCHMARK_CAPTURE(one_kind, wildcard, "console.apps.blue.hc.example.com", Type::a);
BENCHMARK_CAPTURE(one_kind, nodata, "host3.blue.hc.example.com", Type::aaaa);
BENCHMARK_CAPTURE(one_kind, nxdomain, "nope.blue.hc.example.com", Type::a);
BENCHMARK_CAPTURE(one_kind, to_forward, "www.example.net", Type::a);

void cached(benchmark::State& state) {
  const auto bytes = make_query("www.example.net", Type::a);
  Message reply = parse_message(bytes).value();
  reply.flags |= flag::kResponse;
  reply.answers = {{name("www.example.net"), Type::a, kClassIn, 60, {'\1', '\2', '\3', '\4'}}};
  ReplyCache cache(1 << 20, 1);
  Query query;
  if (read_query(bytes, query)) return;
  const ReplyCache::Time now{};
  cache.put(make_cache_key(query),
            {std::make_shared<const StoredReply>(StoredReply::make(reply).value()), now, now + std::chrono::hours(1)});
  std::array<std::uint8_t, kMaxUdpBytes> out;
  for (auto _ : state) {
    benchmark::DoNotOptimize(read_query(bytes, query));
    const auto* entry = cache.find(make_cache_key(query), now);
    benchmark::DoNotOptimize(entry->reply->render(query, Transport::udp, 1, out));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(cached);

void build_zone(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(make_zone(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(build_zone)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace

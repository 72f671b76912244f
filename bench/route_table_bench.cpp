// SPDX-License-Identifier: Apache-2.0
// Tables of many hosted clusters: how long they take to build, and single look-ups with their 99th percentile.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <hcpnet/proxy/route_table.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace hcpnet;
using namespace hcpnet::proxy;

constexpr const char* kServices[] = {"api", "oauth", "ignition", "konnectivity", "*.apps"};

std::string pattern(std::size_t i) {
  return std::string(kServices[i % 5]) + ".cluster" + std::to_string(i / 5) + ".hc.example.com";
}

RouteConfig make_config(std::size_t names) {
  RouteConfig config;
  config.listeners = {{{Ipv4(192, 0, 2, 4), 443}, {}}};
  for (std::size_t i = 0; i < names; ++i) {
    Backend& backend = config.backends.emplace_back();
    backend.name = "backend" + std::to_string(i);
    backend.endpoints = {{Ipv4(10, 0, 0, 1), 443}};
    Route& route = config.routes.emplace_back();
    route.port = 443;
    route.names = {pattern(i)};
    route.backend = backend.name;
  }
  return config;
}

void build_table(benchmark::State& state) {
  const RouteConfig config = make_config(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    RouteConfig copy = config;
    state.ResumeTiming();
    auto table = RouteTable::build(std::move(copy)).value();
    benchmark::DoNotOptimize(table);
    state.PauseTiming();
    table.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(build_table)->Arg(10)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void find_name(benchmark::State& state) {
  const auto names = static_cast<std::size_t>(state.range(0));
  const auto table = RouteTable::build(make_config(names)).value();
  std::vector<std::string> queries;
  std::mt19937 random(1);
  for (int i = 0; i < 65'536; ++i) {
    std::string name = pattern(random() % (names + names / 10));  // a tenth of them unknown
    if (name.front() == '*') name.replace(0, 1, "console-openshift-console");
    queries.push_back(std::move(name));
  }
  const Endpoint listener{Ipv4(192, 0, 2, 4), 443};
  const SourceClusters clusters;
  std::vector<double> nanoseconds;
  nanoseconds.reserve(1 << 20);
  std::size_t next = 0;
  std::string query;
  for (auto _ : state) {
    query = queries[next++ % queries.size()];  // a name that was just read off its connection is in the cache
    const auto begin = std::chrono::steady_clock::now();
    const Decision decision = table->find(listener, Greeting::name, query, Ipv4(192, 0, 2, 101), clusters);
    const auto end = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(decision);
    if (nanoseconds.size() < nanoseconds.capacity())
      nanoseconds.push_back(std::chrono::duration<double, std::nano>(end - begin).count());
  }
  std::ranges::sort(nanoseconds);
  state.counters["p50_ns"] = nanoseconds[nanoseconds.size() / 2];
  state.counters["p99_ns"] = nanoseconds[nanoseconds.size() * 99 / 100];
}
BENCHMARK(find_name)->Arg(10)->Arg(1'000)->Arg(100'000);

}  // namespace

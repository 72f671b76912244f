// SPDX-License-Identifier: Apache-2.0
// One ClientHello: as curl sends it, with a post-quantum key share, and byte by byte.
#include <benchmark/benchmark.h>

#include <hcpnet/tls/client_hello.hpp>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

void append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}
Bytes sized(const Bytes& content) {
  Bytes bytes = {static_cast<std::uint8_t>(content.size() >> 8), static_cast<std::uint8_t>(content.size())};
  append(bytes, content);
  return bytes;
}
Bytes extension(std::uint8_t type, const Bytes& data) {
  Bytes bytes = {0, type};
  append(bytes, sized(data));
  return bytes;
}

/// A hello whose key share has `share_bytes`, the server name behind it.
Bytes make_hello(std::size_t share_bytes) {
  const std::string_view name = "console-openshift-console.apps.blue.hc.example.com";
  Bytes host = {0};
  append(host, sized(Bytes(name.begin(), name.end())));
  Bytes extensions;
  append(extensions, extension(51, Bytes(share_bytes)));
  for (std::uint8_t type = 40; type < 48; ++type) append(extensions, extension(type, Bytes(6)));
  append(extensions, extension(0, sized(host)));
  append(extensions, extension(16, sized({2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'})));
  Bytes body(35);
  append(body, sized(Bytes(32)));
  append(body, {1, 0});
  append(body, sized(extensions));
  Bytes message = {1, 0, static_cast<std::uint8_t>(body.size() >> 8), static_cast<std::uint8_t>(body.size())};
  append(message, body);
  Bytes record = {22, 3, 1};
  append(record, sized(message));
  return record;
}

void parse_hello(benchmark::State& state) {
  const Bytes hello = make_hello(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(hcpnet::tls::parse_client_hello(hello));
  state.SetBytesProcessed(static_cast<std::int64_t>(hello.size()) * state.iterations());
}
BENCHMARK(parse_hello)->Arg(36)->Arg(1256);

void read_hello_byte_by_byte(benchmark::State& state) {
  const Bytes hello = make_hello(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    hcpnet::tls::ClientHelloReader reader;
    for (std::size_t n = 1; n <= hello.size(); ++n)
      benchmark::DoNotOptimize(reader.read(hcpnet::ByteView(hello).first(n)));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(hello.size()) * state.iterations());
}
BENCHMARK(read_hello_byte_by_byte)->Arg(36)->Arg(1256);

}  // namespace

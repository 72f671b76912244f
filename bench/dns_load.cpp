// SPDX-License-Identifier: Apache-2.0
// Asks a DNS server for hostNNNNNN.bench.example as fast as it answers, or at a given rate, and checks the replies.
// One line of JSON on standard output: what was asked, answered and wrong, and with --rate the latencies.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTrain = 32;  // queries that one sendmsg hands to the kernel (UDP_SEGMENT cuts them apart)
constexpr std::size_t kDigits = 6;
constexpr std::size_t kDigitsAt = 12 + 1 + 4;  // header, label length, "host"
constexpr std::string_view kQuestion{"\12host000000\5bench\7example\0\0\1\0\1", 30};
constexpr std::size_t kQueryBytes = 12 + kQuestion.size();
constexpr std::uint32_t kFirstAddress = 0x0A000000;    // hostN has 10.0.0.0 + N
constexpr auto kLost = std::chrono::milliseconds(20);  // silence after which what is outstanding counts as lost

struct Options {
  std::uint16_t port = 53;
  std::uint32_t names = 20;
  double seconds = 1;
  std::size_t window = 192;  // fewer datagrams than the smallest receive buffer holds
  std::size_t sockets = 4;   // sources, so that a server with several sockets uses them all
  double rate = 0;           // queries per second; 0: as many as are answered
};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// One source port. Its queries carry ids 0, 1, 2 ... and remember which name each asked for.
class Source {
 public:
  Source(std::uint16_t port, std::uint32_t names, std::uint32_t seed) : names_(names), random_(seed * 2654435761U | 1) {
    socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (socket_ < 0) fail("socket");
    const int buffer = 4 << 20;
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) fail("connect");
    for (std::size_t i = 0; i < kTrain; ++i) {
      std::uint8_t* query = train_.data() + i * kQueryBytes;
      query[2] = 1;  // RD
      query[5] = 1;  // one question
      std::memcpy(query + 12, kQuestion.data(), kQuestion.size());
    }
    for (std::size_t i = 0; i < kTrain; ++i) {
      places_[i] = {replies_[i].data(), replies_[i].size()};
      received_[i] = {};
      received_[i].msg_hdr.msg_iov = &places_[i];
      received_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  ~Source() { close(socket_); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  void send(std::size_t count, Clock::time_point now) {
    for (std::size_t i = 0; i < count; ++i) fill(train_.data() + i * kQueryBytes, now);
    iovec data{train_.data(), count * kQueryBytes};
    alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(std::uint16_t))> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* segment = CMSG_FIRSTHDR(&message);
    segment->cmsg_level = SOL_UDP;
    segment->cmsg_type = UDP_SEGMENT;
    segment->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto bytes = static_cast<std::uint16_t>(kQueryBytes);
    std::memcpy(CMSG_DATA(segment), &bytes, sizeof bytes);
    // A refused datagram tells of an earlier one (ICMP): the server is not there yet or gone, and nothing is answered.
    if (sendmsg(socket_, &message, 0) < 0 && errno != ECONNREFUSED) fail("sendmsg");
    outstanding += count;
    asked += count;
  }

  /// Takes what has arrived; latencies of checked replies go to `latencies` when it is not null.
  bool receive(std::vector<float>* latencies) {
    const int count = recvmmsg(socket_, received_.data(), kTrain, 0, nullptr);
    if (count <= 0) return false;
    const auto now = latencies ? Clock::now() : Clock::time_point{};
    for (int i = 0; i < count; ++i)
      check(replies_[static_cast<std::size_t>(i)], received_[static_cast<std::size_t>(i)].msg_len, now, latencies);
    outstanding -= std::min(outstanding, static_cast<std::size_t>(count));
    return true;
  }

  std::size_t outstanding = 0;
  std::uint64_t asked = 0, answered = 0, wrong = 0;

 private:
  using Reply = std::array<std::uint8_t, 1500>;

  void fill(std::uint8_t* query, Clock::time_point now) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    std::uint32_t index = static_cast<std::uint32_t>(std::uint64_t{random_} * names_ >> 32);
    const std::uint16_t id = next_id_++;
    query[0] = static_cast<std::uint8_t>(id >> 8);
    query[1] = static_cast<std::uint8_t>(id);
    asked_for_[id] = index;
    sent_[id] = now;
    for (std::size_t i = kDigits; i-- > 0; index /= 10)
      query[kDigitsAt + i] = static_cast<std::uint8_t>('0' + index % 10);
  }

  void check(const Reply& reply, std::size_t size, Clock::time_point now, std::vector<float>* latencies) {
    const auto id = static_cast<std::uint16_t>(reply[0] << 8 | reply[1]);
    // NOERROR, one answer at least, and the address in it: compressed or not, the owner is skipped label by label.
    std::size_t at = kQueryBytes;
    while (at < size && reply[at] != 0 && reply[at] < 0xc0) at += 1 + std::size_t{reply[at]};
    if (at < size) at += reply[at] >= 0xc0 ? 2 : 1;
    at += 10;
    std::uint32_t address = 0;
    if (at + 4 <= size) std::memcpy(&address, reply.data() + at, 4);
    const bool is_right = size > kQueryBytes && (reply[2] & 0x80) != 0 && (reply[3] & 0x0f) == 0 && reply[7] >= 1 &&
                          ntohl(address) == kFirstAddress + asked_for_[id];
    ++(is_right ? answered : wrong);
    if (is_right && latencies) latencies->push_back(std::chrono::duration<float, std::micro>(now - sent_[id]).count());
  }

  int socket_;
  std::uint32_t names_;
  std::uint32_t random_;
  std::uint16_t next_id_ = 0;
  std::array<std::uint8_t, kTrain * kQueryBytes> train_{};
  std::array<Reply, kTrain> replies_;
  std::array<iovec, kTrain> places_;
  std::array<mmsghdr, kTrain> received_;
  std::array<std::uint32_t, 65536> asked_for_{};
  std::array<Clock::time_point, 65536> sent_;
};

using Sources = std::vector<std::unique_ptr<Source>>;

/// Every source keeps its share of the window outstanding.
void saturate(Sources& sources, const Options& options, Clock::time_point end) {
  const std::size_t share = std::max<std::size_t>(1, options.window / sources.size());
  const std::size_t train = std::min(kTrain, std::max<std::size_t>(1, share / 2));
  auto last_reply = Clock::now();
  for (auto now = last_reply; now < end; now = Clock::now()) {
    bool is_quiet = true;
    for (const auto& source : sources) {
      if (source->outstanding + train <= share) source->send(train, now);
      if (source->receive(nullptr)) is_quiet = false;
    }
    if (!is_quiet) last_reply = now;
    if (now - last_reply < kLost) continue;
    for (const auto& source : sources) source->outstanding = 0;
    last_reply = now;
  }
}

/// One query every 1/rate seconds, whatever becomes of those before.
void pace(Sources& sources, const Options& options, Clock::time_point begin, Clock::time_point end,
          std::vector<float>& latencies) {
  const std::chrono::duration<double> gap(1 / options.rate);
  std::uint64_t due = 0;
  std::size_t next = 0;
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    for (; begin + gap * static_cast<double>(due) <= now; ++due) {
      sources[next]->send(1, now);
      next = (next + 1) % sources.size();
    }
    for (const auto& source : sources) source->receive(&latencies);
  }
}

double percentile(std::vector<float>& values, double part) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return static_cast<double>(*at);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const double value = std::strtod(argv[i + 1], nullptr);
    if (name == "--port")
      options.port = static_cast<std::uint16_t>(value);
    else if (name == "--names")
      options.names = static_cast<std::uint32_t>(value);
    else if (name == "--seconds")
      options.seconds = value;
    else if (name == "--window")
      options.window = static_cast<std::size_t>(value);
    else if (name == "--sockets")
      options.sockets = static_cast<std::size_t>(value);
    else if (name == "--rate")
      options.rate = value;
    else
      throw std::invalid_argument("unknown option " + std::string(name));
  }
  return options;
}

int run(const Options& options) {
  Sources sources;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, options.sockets); ++i)
    sources.push_back(std::make_unique<Source>(options.port, options.names, static_cast<std::uint32_t>(i + 1)));
  std::vector<float> latencies;
  latencies.reserve(static_cast<std::size_t>(options.rate * options.seconds));
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  if (options.rate > 0)
    pace(sources, options, begin, end, latencies);
  else
    saturate(sources, options, end);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::uint64_t asked = 0, answered = 0, wrong = 0;
  for (const auto& source : sources) {
    asked += source->asked;
    answered += source->answered;
    wrong += source->wrong;
  }
  std::printf(
      "{\"seconds\": %.4f, \"asked\": %llu, \"answered\": %llu, \"wrong\": %llu, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
      seconds, static_cast<unsigned long long>(asked), static_cast<unsigned long long>(answered),
      static_cast<unsigned long long>(wrong), percentile(latencies, 0.5), percentile(latencies, 0.99));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "dns_load: %s\n", e.what());
    return 1;
  }
}

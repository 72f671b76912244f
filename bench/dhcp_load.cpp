// SPDX-License-Identifier: Apache-2.0
// Clients of a DHCPv4 server on the same link, many at once: DISCOVER and REQUEST by broadcast, in frames of their own
// hardware addresses, replies to them taken off the wire. Checks what comes back, the checksums and that no address has
// two owners. One line of JSON on standard output. Needs CAP_NET_RAW.
//   dhcp_load --interface NAME [--clients N] [--seconds S | --once 1] [--window W | --rate R] [--broadcast 1]
//             [--patience MILLISECONDS]
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
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
#include <deque>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/message.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "dhcp/checksum.hpp"
#include "dhcp/frame.hpp"

namespace {

using namespace hcpnet;
using Clock = std::chrono::steady_clock;
using dhcp::MessageType;

constexpr std::size_t kBatch = 64;               // frames that one system call takes or gives
constexpr std::uint32_t kMaxClients = 1U << 20;  // an xid holds the client, and above it how often it has begun
constexpr std::size_t kEthernetBytes = 14;

struct Options {
  std::string interface;
  std::uint32_t clients = 1000;
  double seconds = 1;
  bool is_once = false;     ///< every client once, instead of `seconds`
  std::size_t window = 32;  ///< exchanges that are under way at once
  double rate = 0;  ///< exchanges that begin per second, whatever becomes of earlier ones; 0: as the window says
  bool wants_broadcast = false;
  std::chrono::milliseconds patience{1000};  ///< after which an exchange that has not ended counts as lost
};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

MacAddress mac_of(std::uint32_t client) {
  return MacAddress({2, 0xD0, static_cast<std::uint8_t>(client >> 24), static_cast<std::uint8_t>(client >> 16),
                     static_cast<std::uint8_t>(client >> 8), static_cast<std::uint8_t>(client)});
}

using Frame = std::vector<std::uint8_t>;

/// The interface: whole frames out, and those in that hold a datagram to port 68, whoever's hardware address they have.
class Wire {
 public:
  explicit Wire(const std::string& interface) : socket_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    if (socket_ < 0) fail("socket");
    std::array<sock_filter, 9> code = {
        {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETHERTYPE_IP, 0, 6),
         BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 4),
         BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 14), BPF_STMT(BPF_LD | BPF_H | BPF_IND, 16),
         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, dhcp::kClientPort, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0xFFFF),
         BPF_STMT(BPF_RET | BPF_K, 0)}};
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    const int on = 1, buffer = 64 << 20;
    if (setsockopt(socket_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) fail("SO_ATTACH_FILTER");
    if (setsockopt(socket_, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on) != 0) fail("PACKET_AUXDATA");
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_IP);
    address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    if (address.sll_ifindex == 0) fail(interface.c_str());
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
    for (std::size_t i = 0; i < kBatch; ++i) {
      places_[i] = {buffers_[i].data(), buffers_[i].size()};
      received_[i] = {};
    }
  }
  ~Wire() { close(socket_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void add(Frame frame) {
    waiting_.push_back(std::move(frame));
    if (waiting_.size() == kBatch) flush();
  }
  void flush() {
    std::array<iovec, kBatch> data{};
    std::array<mmsghdr, kBatch> messages{};
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      data[i] = {waiting_[i].data(), waiting_[i].size()};
      messages[i].msg_hdr.msg_iov = &data[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (std::size_t sent = 0; sent < waiting_.size();) {
      const int count = sendmmsg(socket_, &messages[sent], static_cast<unsigned>(waiting_.size() - sent), 0);
      if (count < 0 && errno != EAGAIN && errno != ENOBUFS) fail("sendmmsg");
      sent += static_cast<std::size_t>(std::max(count, 0));
    }
    waiting_.clear();
  }

  /// Calls visit(packet, is_checksum_there) with every IP packet that has arrived; a checksum may be left to hardware.
  template <class Visit>
  bool receive(Visit visit) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      msghdr& header = received_[i].msg_hdr;
      header = {};
      header.msg_name = &from_[i];
      header.msg_namelen = sizeof from_[i];
      header.msg_iov = &places_[i];
      header.msg_iovlen = 1;
      header.msg_control = controls_[i].data();
      header.msg_controllen = controls_[i].size();
    }
    const int count = recvmmsg(socket_, received_.data(), kBatch, 0, nullptr);
    if (count < 0 && errno != EAGAIN) fail("recvmmsg");
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
      const std::size_t size = std::min<std::size_t>(received_[i].msg_len, buffers_[i].size());
      if (from_[i].sll_pkttype == PACKET_OUTGOING || size < kEthernetBytes) continue;
      visit(ByteView(buffers_[i]).first(size).subspan(kEthernetBytes), is_checksum_there(received_[i].msg_hdr));
    }
    return count > 0;
  }
  void wait(std::chrono::nanoseconds time) const {
    pollfd ready{socket_, POLLIN, 0};
    const timespec limit{0, std::clamp<long>(time.count(), 0, 1'000'000)};
    ppoll(&ready, 1, &limit, nullptr);
  }

 private:
  static bool is_checksum_there(msghdr& header) {
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA) continue;
      tpacket_auxdata data{};
      std::memcpy(&data, CMSG_DATA(c), sizeof data);
      return (data.tp_status & TP_STATUS_CSUMNOTREADY) == 0;
    }
    return true;
  }

  struct alignas(cmsghdr) Control : std::array<std::uint8_t, CMSG_SPACE(sizeof(tpacket_auxdata))> {};
  int socket_;
  std::vector<Frame> waiting_;
  std::array<std::array<std::uint8_t, 2048>, kBatch> buffers_;
  std::array<iovec, kBatch> places_;
  std::array<mmsghdr, kBatch> received_;
  std::array<sockaddr_ll, kBatch> from_;
  std::array<Control, kBatch> controls_;
};

struct Datagram {
  Ipv4 source;
  ByteView payload;
  bool is_sound = true;  ///< checksums, where they are there
};

/// nullopt: no whole UDP datagram.
std::optional<Datagram> read_datagram(ByteView packet, bool is_checksum_there) {
  ByteReader ip(packet);
  const std::size_t header_bytes = std::size_t{ip.u8()} % 16 * 4;
  ip.skip(1);
  const std::size_t total = ip.u16();
  ip.skip(8);
  const Ipv4 source(ip.u32());
  if (!ip.ok() || total > packet.size() || header_bytes < 20 || total < header_bytes + 8) return std::nullopt;
  const ByteView udp = packet.subspan(header_bytes, total - header_bytes);
  ByteReader reader(udp);
  reader.skip(4);
  const std::size_t length = reader.u16();
  const std::uint16_t checksum = reader.u16();
  if (length < 8 || length > udp.size()) return std::nullopt;
  Datagram out{source, udp.subspan(8, length - 8)};
  const auto pseudo_header = dhcp::add_words(IPPROTO_UDP + static_cast<std::uint32_t>(length), packet.subspan(12, 8));
  const bool is_ip_sound = dhcp::to_checksum(dhcp::add_words(0, packet.first(header_bytes))) == 0;
  const bool is_udp_sound =
      !is_checksum_there || checksum == 0 || dhcp::to_checksum(dhcp::add_words(pseudo_header, udp.first(length))) == 0;
  out.is_sound = is_ip_sound && is_udp_sound;
  return out;
}

/// One machine.
struct Client {
  enum class State : std::uint8_t { idle, discovering, requesting } state = State::idle;
  std::uint32_t turn = 0;  ///< how often it has begun
  Ipv4 address;            ///< what it has; 0.0.0.0: nothing yet
  Clock::time_point began, asked;
};

struct Totals {
  std::uint64_t begun = 0, finished = 0, finished_in_time = 0, lost = 0, refused = 0, duplicates = 0, moved = 0,
                unsound = 0, strange = 0, busy = 0;
  std::vector<float> exchange_us, ack_us;
};

class Fleet {
 public:
  explicit Fleet(const Options& options) : options_(options), wire_(options.interface), clients_(options.clients) {
    if (options.clients == 0 || options.clients > kMaxClients) throw std::invalid_argument("--clients");
    options_.window = std::min<std::size_t>(options.window, options.clients);
  }

  Totals run() {
    const auto begin = Clock::now();
    const auto length = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    end_ = options_.is_once ? Clock::time_point::max() : begin + length;
    const std::chrono::duration<double> gap(options_.rate > 0 ? 1 / options_.rate : 0);
    const auto due = [&] {
      const auto turns = static_cast<double>(totals_.begun + totals_.busy);
      return begin + std::chrono::duration_cast<Clock::duration>(gap * turns);
    };
    for (auto now = begin; now < end_ && !is_done(); now = Clock::now()) {
      while (may_begin() && (options_.rate > 0 ? due() <= now : under_way_ < options_.window)) begin_next(now);
      step(now, options_.rate > 0 ? due() - now : Clock::duration(std::chrono::milliseconds(1)));
    }
    for (auto now = Clock::now(); under_way_ > 0; now = Clock::now()) step(now, std::chrono::milliseconds(1));
    return std::move(totals_);
  }

 private:
  [[nodiscard]] bool may_begin() const { return !options_.is_once || totals_.begun + totals_.busy < clients_.size(); }
  [[nodiscard]] bool is_done() const { return !may_begin() && under_way_ == 0; }

  void step(Clock::time_point now, Clock::duration until_next) {
    wire_.flush();
    const bool has_read = wire_.receive([&](ByteView packet, bool is_checksum_there) {
      const auto datagram = read_datagram(packet, is_checksum_there);
      if (datagram) on_reply(*datagram, Clock::now());
    });
    while (!deadlines_.empty() && deadlines_.front().at <= now) {
      give_up(deadlines_.front());
      deadlines_.pop_front();
    }
    if (!has_read) wire_.wait(until_next);
  }

  void begin_next(Clock::time_point now) {
    const std::uint32_t index = next_;
    next_ = (next_ + 1) % static_cast<std::uint32_t>(clients_.size());
    Client& client = clients_[index];
    if (client.state != Client::State::idle) {  // more begin than are answered
      ++totals_.busy;
      return;
    }
    ++client.turn;
    client.state = Client::State::discovering;
    client.began = now;
    ++totals_.begun;
    ++under_way_;
    deadlines_.push_back({now + options_.patience, index, client.turn});
    send(index, MessageType::discover, {}, {});
  }

  struct Deadline {
    Clock::time_point at;
    std::uint32_t client, turn;
  };
  void give_up(const Deadline& deadline) {
    Client& client = clients_[deadline.client];
    if (client.turn != deadline.turn || client.state == Client::State::idle) return;
    ++totals_.lost;
    end(client);
  }
  void end(Client& client) {
    client.state = Client::State::idle;
    --under_way_;
  }

  [[nodiscard]] std::uint32_t xid_of(std::uint32_t index) const { return clients_[index].turn << 20 | index; }

  void send(std::uint32_t index, MessageType type, Ipv4 requested, Ipv4 server) {
    const MacAddress mac = mac_of(index);
    dhcp::Message message;
    message.xid = xid_of(index);
    message.flags = options_.wants_broadcast ? dhcp::kBroadcastFlag : std::uint16_t{0};
    std::ranges::copy(mac.bytes(), message.chaddr.begin());
    message.options.add_u8(dhcp::option::message_type, static_cast<std::uint8_t>(type));
    if (type == MessageType::request) {
      message.options.add_address(dhcp::option::requested_address, requested);
      message.options.add_address(dhcp::option::server_id, server);
    }
    message.options.add(dhcp::option::parameter_list, std::array<std::uint8_t, 6>{1, 3, 6, 15, 51, 54});
    std::array<std::uint8_t, 576> payload{};
    const auto encoded = dhcp::encode_message(message, message.options.size(), payload).value();
    const auto packet =
        dhcp::encode_udp_packet({Ipv4(), dhcp::kClientPort}, {Ipv4(255, 255, 255, 255), dhcp::kServerPort},
                                ByteView(payload).first(encoded.size_bytes));
    Frame frame(6, 0xFF);
    frame.reserve(kEthernetBytes + packet.size());
    frame.insert(frame.end(), mac.bytes().begin(), mac.bytes().end());
    frame.insert(frame.end(), {ETHERTYPE_IP >> 8, ETHERTYPE_IP & 0xFF});
    frame.insert(frame.end(), packet.begin(), packet.end());
    wire_.add(std::move(frame));
  }

  void on_reply(const Datagram& datagram, Clock::time_point now) {
    if (!datagram.is_sound) ++totals_.unsound;
    const auto message = dhcp::parse_message(datagram.payload);
    const auto type = message ? message->type() : std::nullopt;
    const std::uint32_t index = message ? message->xid % kMaxClients : 0;
    const bool is_ours = type && index < clients_.size() && message->mac() == mac_of(index) &&
                         message->xid == xid_of(index) && clients_[index].state != Client::State::idle;
    if (!is_ours) {
      ++totals_.strange;  // late, or for nobody
      return;
    }
    Client& client = clients_[index];
    const auto server = message->options.find_address(dhcp::option::server_id);
    if (*type == MessageType::offer && client.state == Client::State::discovering && server) {
      client.state = Client::State::requesting;
      client.asked = now;
      return send(index, MessageType::request, message->yiaddr, *server);
    }
    if (*type == MessageType::nak && client.state == Client::State::requesting) {
      ++totals_.refused;
      return end(client);
    }
    if (*type != MessageType::ack || client.state != Client::State::requesting) return;
    own(index, message->yiaddr);
    const auto us_since = [&](Clock::time_point then) {
      return std::chrono::duration<float, std::micro>(now - then).count();
    };
    totals_.exchange_us.push_back(us_since(client.began));
    totals_.ack_us.push_back(us_since(client.asked));
    ++totals_.finished;
    if (now < end_) ++totals_.finished_in_time;
    end(client);
  }

  /// Leases last longer than a run, and nobody gives one back: who has an address has it still.
  void own(std::uint32_t index, Ipv4 address) {
    Client& client = clients_[index];
    if (client.address != address) {
      if (!client.address.is_unspecified()) {
        ++totals_.moved;
        owners_.erase(client.address);
      }
      if (!owners_.emplace(address, index).second) ++totals_.duplicates;
    }
    client.address = address;
  }

  Options options_;
  Wire wire_;
  std::vector<Client> clients_;
  std::unordered_map<Ipv4, std::uint32_t> owners_;
  std::deque<Deadline> deadlines_;
  std::uint32_t next_ = 0;
  std::size_t under_way_ = 0;
  Clock::time_point end_;
  Totals totals_;
};

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
    if (name == "--interface")
      options.interface = argv[i + 1];
    else if (name == "--clients")
      options.clients = static_cast<std::uint32_t>(value);
    else if (name == "--seconds")
      options.seconds = value;
    else if (name == "--once")
      options.is_once = value != 0;
    else if (name == "--window")
      options.window = static_cast<std::size_t>(value);
    else if (name == "--rate")
      options.rate = value;
    else if (name == "--broadcast")
      options.wants_broadcast = value != 0;
    else if (name == "--patience")
      options.patience = std::chrono::milliseconds(static_cast<long>(value));
    else
      throw std::invalid_argument("unknown option " + std::string(name));
  }
  return options;
}

void print(Totals totals, double seconds) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "{\"seconds\": %.4f, \"begun\": %llu, \"exchanges\": %llu, \"in_time\": %llu, \"lost\": %llu, \"refused\": %llu, "
      "\"duplicates\": %llu, \"moved\": %llu, \"unsound\": %llu, \"strange\": %llu, \"busy\": %llu, \"p50_us\": %.1f, "
      "\"p99_us\": %.1f, \"ack_p50_us\": %.1f, \"ack_p99_us\": %.1f}\n",
      seconds, number(totals.begun), number(totals.finished), number(totals.finished_in_time), number(totals.lost),
      number(totals.refused), number(totals.duplicates), number(totals.moved), number(totals.unsound),
      number(totals.strange), number(totals.busy), percentile(totals.exchange_us, 0.5),
      percentile(totals.exchange_us, 0.99), percentile(totals.ack_us, 0.5), percentile(totals.ack_us, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    Fleet fleet(options);
    const auto begin = Clock::now();
    Totals totals = fleet.run();
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    print(std::move(totals), options.is_once ? passed : options.seconds);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "dhcp_load: %s\n", e.what());
    return 1;
  }
}

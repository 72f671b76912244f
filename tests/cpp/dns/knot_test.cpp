// SPDX-License-Identifier: Apache-2.0
// A real Knot with a zone file of ours answers 10,000 generated queries; our replies agree, except where docs/dns.md
// ("Beside Knot") says why.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "dns/dns_support.hpp"
#include "dns/peer_support.hpp"
#include "dns/rdata_layout.hpp"

namespace hcpnet::dns {
namespace {

constexpr int kQueries = 10'000;

/// Every kind of thing that a name can be.
constexpr const char* kZoneText = R"($ORIGIN diff.test.
$TTL 300
@ IN SOA ns1 hostmaster 7 3600 600 86400 60
@ NS ns1
@ NS ns2
@ MX 10 mail
@ TXT "apex" "two strings"
@ CAA 0 issue "ca.example"
ns1 A 192.0.2.1
ns1 AAAA 2001:db8::1
ns2 120 A 192.0.2.2
mail A 192.0.2.3
api 30 A 192.0.2.4
api 30 AAAA 2001:db8::4
V4only 60 A 192.0.2.5
_etcd._tcp SRV 0 10 2380 api
_etcd._tcp SRV 0 10 2380 v4only
*.apps 30 A 192.0.2.6
console.apps A 192.0.2.7
a.b.ent.apps TXT "deep"
*.mixed TXT "wild"
*.mixed MX 5 mail
host.mixed A 192.0.2.8
*.alias CNAME api
in CNAME api
chain1 CNAME chain2
chain2 CNAME chain3
chain3 60 CNAME chain4
chain4 CNAME api
dangling CNAME gone
towild CNAME x.apps
tosub CNAME host.sub
out CNAME www.elsewhere.example.
loop1 CNAME loop2
loop2 CNAME loop1
self CNAME self
ptr PTR api
hinfo HINFO "cpu" "os"
svc HTTPS \# 11 0001000001000403026833
unknown TYPE65280 \# 4 deadbeef
unknown TYPE65280 \# 0
sub NS ns.sub
sub NS ns1
sub NS ns.elsewhere.example.
ns.sub A 192.0.2.50
ns.sub AAAA 2001:db8::50
hidden.sub TXT "occluded"
*.sub A 192.0.2.51
deep.sub NS ns.deep.sub
ns.deep.sub A 192.0.2.52
secure NS ns2
secure DS \# 24 0001050100112233445566778899aabbccddeeff00112233
side NS ns.sub
under.ent2 NS ns1
lone NS lone
lone A 192.0.2.53
)";

std::shared_ptr<const Zone> make_zone() {
  std::string text = kZoneText;
  for (int i = 1; i <= 60; ++i) text += "many A 10.1.0." + std::to_string(i) + "\n";
  for (int i = 1; i <= 9; ++i) text += "nine AAAA 2001:db8:9::" + std::to_string(i) + "\n";
  for (int i = 1; i <= 40; ++i) text += "bigtxt TXT \"" + std::string(100, 'x') + std::to_string(i) + "\"\n";
  for (int i = 1; i <= 20; ++i) text += "names PTR h" + std::to_string(i) + ".place-of-hosts\n";
  for (int i = 1; i <= 14; ++i) {
    const std::string server = "ns" + std::to_string(i) + ".wide";
    text += "wide NS " + server + "\n" + server + " A 192.0.2." + std::to_string(100 + i) + "\n" + server +
            " AAAA 2001:db8:77::" + std::to_string(i) + "\n";
  }
  auto file = parse_zone_file("diff.test.zone", text);
  if (!file) throw std::runtime_error(file.error().to_string());
  return std::make_shared<const Zone>(file->apex, std::move(file->rrsets), file->serial);
}

/// Queries from a fixed seed.
class Generator {
 public:
  explicit Generator(const Zone& zone) {
    for (const RRset& set : zone.rrsets()) owners_.push_back(set.owner.to_string());
    owners_.emplace_back("elsewhere.test.");
    owners_.emplace_back("ent.apps.diff.test.");
    owners_.emplace_back("x.apps.diff.test.");
    owners_.emplace_back("_tcp.diff.test.");
    owners_.emplace_back("ent2.diff.test.");
  }
  struct Case {
    Message query;
    Transport transport = Transport::udp;
  };
  Case next() {
    static constexpr std::uint16_t kTypes[] = {1,  1,  1,  28, 28, 2,   5,   6,  12, 13,    15,
                                               16, 33, 43, 64, 65, 255, 257, 46, 48, 65280, 4711};
    static constexpr std::uint16_t kSizes[] = {0, 100, 512, 513, 700, 1231, 1232, 4096, 65535};
    Case made;
    made.query.id = static_cast<std::uint16_t>(random_());
    made.query.questions = {{parse_name(some_name()).value(), Type{pick(kTypes)}, kClassIn}};
    if (one_in(2)) made.query.flags |= flag::kRecursionDesired;
    if (one_in(8)) made.query.flags |= flag::kCheckingDisabled;
    if (one_in(5)) made.transport = Transport::tcp;
    if (one_in(3)) return made;
    Edns edns;
    edns.udp_bytes = pick(kSizes);
    edns.dnssec_ok = one_in(3);
    if (one_in(25)) edns.version = 1;
    if (one_in(10)) edns.options = std::string("\xfd\xe9\0\3abc", 7);
    made.query.edns = edns;
    return made;
  }

 private:
  template <class T, std::size_t N>
  T pick(const T (&from)[N]) {
    return from[random_() % N];
  }
  bool one_in(unsigned n) { return random_() % n == 0; }
  std::string some_name() {
    std::string name = owners_[random_() % owners_.size()];
    static constexpr const char* kLabels[] = {"x.", "zz.", "*.", "a-b.", "ns.", "\\000."};
    for (int labels = one_in(3) ? 1 + static_cast<int>(random_() % 3) : 0; labels > 0; --labels)
      name = pick(kLabels) + name;
    if (one_in(20)) name = name.substr(name.find('.') + 1);
    if (name.empty()) name = ".";
    if (one_in(3))
      for (char& c : name)
        if (c >= 'a' && c <= 'z' && one_in(2)) c = static_cast<char>(c - 0x20);
    return name;
  }

  std::mt19937 random_{20260107};
  std::vector<std::string> owners_;
};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 0x20);
  return text;
}

/// A compressed name in RDATA takes the case of the one it points to.
std::string with_lower_names(Type type, const std::string& rdata) {
  const RdataLayout* layout = find_rdata_layout(type);
  if (layout == nullptr || layout->names == 0) return rdata;
  const std::size_t names = rdata.size() - layout->bytes_before - layout->bytes_after;
  return rdata.substr(0, layout->bytes_before) + lower(rdata.substr(layout->bytes_before, names)) +
         rdata.substr(layout->bytes_before + names);
}

std::string to_text(const Record& record) {
  const std::string rdata = with_lower_names(record.type, record.rdata);
  return lower(record.owner.to_string()) + ' ' + std::to_string(record.ttl) + ' ' + std::to_string(record.rclass) +
         ' ' + rdata_to_string(record.type, rdata) + " (" + to_string(record.type) + ')';
}

std::string to_text(const std::vector<Record>& section) {
  std::vector<std::string> lines;
  for (const Record& record : section) lines.push_back("  " + to_text(record) + '\n');
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string header_of(const Message& message) {
  std::string text = "flags " + std::to_string(message.flags & ~flag::kRcode) + ' ' + to_string(message.rcode());
  for (const Question& question : message.questions)
    text += "\n  " + question.name.to_string() + ' ' + to_string(question.type);
  if (message.edns)
    text += "\n  EDNS " + std::to_string(message.edns->version) + ' ' + std::to_string(message.edns->udp_bytes) +
            (message.edns->dnssec_ok ? " DO" : "") + (message.edns->options.empty() ? "" : " options");
  return text + '\n';
}

std::size_t size_without_compression(const Message& message) {
  std::size_t size = kHeaderBytes + (message.edns ? 11 : 0);
  for (const Question& question : message.questions) size += question.name.wire().size() + 4;
  for (const auto* section : {&message.answers, &message.authority, &message.additional})
    for (const Record& record : *section) size += 12 + record.rdata.size();  // owners are pointers in ours
  return size;
}

std::size_t limit_of(const Message& query) {
  return query.edns ? std::clamp<std::size_t>(query.edns->udp_bytes, kMinUdpBytes, kMaxUdpBytes) : kMinUdpBytes;
}

bool is_referral(const Message& reply) {
  return reply.rcode() == Rcode::noerror &&
         std::ranges::any_of(reply.authority, [](const Record& record) { return record.type == Type::ns; });
}

/// The differences that docs/dns.md explains, each with the word it is counted by. Makes the two alike where one
/// applies.
std::string explain_difference(const Message& query, Message& ours, Message& knots) {
  constexpr auto kCut = flag::kTruncated;
  const auto without_records = [&] {
    for (Message* message : {&ours, &knots}) {
      message->answers.clear();
      message->authority.clear();
      message->additional.clear();
    }
  };
  std::string why;
  if ((ours.flags & ~knots.flags & flag::kCheckingDisabled) != 0) {
    knots.flags |= flag::kCheckingDisabled;
    why = "cd";
  }
  if (ours.rcode() == Rcode::refused && knots.edns) {
    knots.edns->options.clear();
    why = "extended error";
  }
  constexpr Type kRrsig{46};
  if (query.questions[0].type == kRrsig && !ours.answers.empty()) {
    knots = ours;
    return "beside an alias";
  }
  if (query.questions[0].type == Type::any && !ours.answers.empty()) {
    // RFC 8482: one record instead of all.
    knots.flags &= static_cast<std::uint16_t>(~kCut);
    ours.flags &= static_cast<std::uint16_t>(~kCut);
    without_records();
    return "any";
  }
  if ((ours.flags & kCut) != 0 && (knots.flags & kCut) == 0 && size_without_compression(knots) > limit_of(query)) {
    ours.flags &= static_cast<std::uint16_t>(~kCut);
    without_records();
    return "uncompressed";
  }
  if ((ours.flags & kCut) != 0 && (knots.flags & kCut) != 0) {
    without_records();
    return "cut";
  }
  if (!is_referral(ours) && ours.additional.empty() && !knots.additional.empty()) {
    knots.additional.clear();
    return "additional";
  }
  return why;
}

/// Whether every record of a reply that was cut is one of the whole reply. What Knot adds to an answer is no part of
/// it.
bool is_part_of(const Message& cut, const Message& whole) {
  const auto has_all = [](const std::vector<Record>& some, const std::vector<Record>& all) {
    std::set<std::string> lines;
    for (const Record& record : all) lines.insert(to_text(record));
    return std::ranges::all_of(some, [&](const Record& record) { return lines.contains(to_text(record)); });
  };
  return has_all(cut.answers, whole.answers) && has_all(cut.authority, whole.authority) &&
         (!is_referral(whole) || has_all(cut.additional, whole.additional));
}

TEST(Knot, AnswersAsWeDo) {
  if (test::is_missing("knotd")) FAIL() << "knotd is not installed";
  const auto zone = make_zone();
  const auto views = ViewSet::make({test::view_of({zone})}).value();
  test::Folder folder("knot");
  folder.write("diff.test.zone", render_zone_file(*zone, 7));
  const Endpoint at = test::free_endpoint();
  folder.write("knot.conf",
               "server:\n  rundir: " + folder.path() + "\n  listen: 127.0.0.1@" + std::to_string(at.port) +
                   "\n  udp-workers: 1\n  tcp-workers: 1\n  background-workers: 1\n  edns-client-subnet: off\n"
                   "database:\n  storage: " +
                   folder.path() +
                   "\nlog:\n  - target: stderr\n    any: warning\n"
                   "zone:\n  - domain: diff.test\n    storage: " +
                   folder.path() + "\n    file: diff.test.zone\n    semantic-checks: off\n");
  test::Child knot({"knotd", "-c", folder.path() + "/knot.conf"}, folder.path() + "/log");
  test::PlainClient client(at);
  ASSERT_TRUE(client.wait_until_answers(test::make_query("diff.test", Type::soa))) << folder.read("log");

  Generator generator(*zone);
  std::map<std::string, int> explained;
  int different = 0;
  for (int i = 0; i < kQueries && different < 10; ++i) {
    const Generator::Case made = generator.next();
    const auto bytes = encode_message(made.query).value();
    const QueryContext context{&views[0], made.transport, false};
    Message ours = test::answer(bytes, context).message;
    auto theirs = client.ask(bytes, made.transport);
    ASSERT_TRUE(theirs) << "no reply to query " << i << '\n' << header_of(made.query) << folder.read("log");
    Message knots = std::move(*theirs);
    const std::string original =
        header_of(ours) + to_text(ours.answers) + "--\n" + to_text(ours.authority) + "--\n" + to_text(ours.additional);
    const std::string their_original = header_of(knots) + to_text(knots.answers) + "--\n" + to_text(knots.authority) +
                                       "--\n" + to_text(knots.additional);
    if (original == their_original) continue;
    const Message our_cut = ours, knots_cut = knots;
    const std::string why = explain_difference(made.query, ours, knots);
    ++explained[why];
    if (why == "cut" || why == "uncompressed") {
      const Message whole = test::answer(bytes, {&views[0], Transport::tcp, false}).message;
      EXPECT_TRUE(is_part_of(our_cut, whole)) << header_of(made.query) << original;
      EXPECT_TRUE(is_part_of(knots_cut, whole)) << header_of(made.query) << their_original;
    }
    const bool is_same = header_of(ours) == header_of(knots) && to_text(ours.answers) == to_text(knots.answers) &&
                         to_text(ours.authority) == to_text(knots.authority) &&
                         to_text(ours.additional) == to_text(knots.additional);
    if (is_same) continue;
    ++different;
    ADD_FAILURE() << (made.transport == Transport::tcp ? "TCP " : "UDP ") << header_of(made.query)
                  << "ours: " << original << "Knot's: " << their_original;
  }
  for (const auto& [why, count] : explained) RecordProperty(why.empty() ? "unexplained" : why, count);
  for (const char* why : {"cd", "any", "extended error", "beside an alias", "cut", "uncompressed", "additional"})
    EXPECT_GT(explained[why], 0) << "no longer seen: " << why;
}

}  // namespace
}  // namespace hcpnet::dns

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dhcp/lease_file.hpp>
#include <string>
#include <vector>

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;

std::chrono::sys_seconds at(std::int64_t seconds) {
  return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

Result<LeaseList, Diagnostics> parse(LeaseFileFormat format, std::string_view text, LeaseFileLimits limits = {}) {
  return parse_lease_file(format, "f", text, limits);
}

std::string lines_of(const Diagnostics& problems) {
  std::string all;
  for (const Diagnostic& d : problems) all += (all.empty() ? "" : " ") + std::to_string(d.line) + ':' + d.code;
  return all;
}

std::string problems_of(LeaseFileFormat format, std::string_view text, LeaseFileLimits limits = {}) {
  const auto parsed = parse(format, text, limits);
  if (parsed) return "none";
  Diagnostics errors;
  for (const Diagnostic& d : parsed.error())
    if (d.severity == Severity::error) errors.add(d);
  return lines_of(errors);
}

/// "192.0.2.5 02:00:00:00:00:01 web bound 1 2 line 3"
std::string describe(const ListedLease& l) {
  return l.lease.address.to_string() + ' ' + l.lease.mac.to_string() + ' ' + l.lease.host_name + ' ' +
         std::string(to_string(l.lease.state)) + ' ' + std::to_string(l.lease.started.time_since_epoch().count()) +
         ' ' + std::to_string(l.lease.expires.time_since_epoch().count()) + " line " + std::to_string(l.line);
}
std::string describe(const ListedLease6& l) {
  return l.lease.address.to_string() + ' ' + l.lease.client.duid.to_string() + ' ' +
         std::to_string(l.lease.client.iaid) + ' ' +
         (l.lease.client.mac ? l.lease.client.mac->to_string() : std::string("-")) + ' ' + l.lease.host_name + ' ' +
         std::string(to_string(l.lease.state)) + ' ' + std::to_string(l.lease.started.time_since_epoch().count()) +
         ' ' + std::to_string(l.lease.expires.time_since_epoch().count()) + " line " + std::to_string(l.line);
}
template <class List>
std::vector<std::string> describe_all(const List& list) {
  std::vector<std::string> out;
  for (const auto& listed : list) out.push_back(describe(listed));
  return out;
}
using Lines = std::vector<std::string>;

// --- dnsmasq

constexpr const char* kDnsmasq =
    "1700003600 02:00:00:00:00:01 192.0.2.5 Web.example.com 01:02:00:00:00:00:01\n"
    "0 02:00:00:00:00:02 192.0.2.6 * *\r\n"
    "\n"
    "duid 00:01:00:01:2b:00:00:00:02:00:00:00:00:ff\n"
    "1700003600 7 2001:db8::5 vm 00:03:00:01:02:00:00:00:00:03\n"
    "1700003600 T8 2001:db8::6 * 00:03:00:01:02:00:00:00:00:03\n";

TEST(DnsmasqLeases, BothFamiliesAreRead) {
  const auto list = parse(LeaseFileFormat::dnsmasq, kDnsmasq);
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(describe_all(list->leases), (Lines{"192.0.2.5 02:00:00:00:00:01 web bound 0 1700003600 line 1",
                                               "192.0.2.6 02:00:00:00:00:02  bound 0 4294967295 line 2"}));
  EXPECT_EQ(list->leases[0].lease.client_id, std::string("\x01\x02\x00\x00\x00\x00\x01", 7));
  EXPECT_EQ(describe_all(list->leases6),
            (Lines{"2001:db8::5 00:03:00:01:02:00:00:00:00:03 7 02:00:00:00:00:03 vm bound 0 1700003600 line 5",
                   "2001:db8::6 00:00:00 0 -  declined 0 1700003600 line 6"}));
  EXPECT_EQ(lines_of(list->warnings), "6:lease-no-client");
}

TEST(DnsmasqLeases, AClientWithoutAnEthernetAddressLeavesItsAddressToRest) {
  const auto list = parse(LeaseFileFormat::dnsmasq,
                          "1700003600 06-02:00:00:00:00:01 192.0.2.5 * *\n"
                          "1700003600 02:00:00:00 192.0.2.6 * *\n"
                          "1700003600 01:00:5e:00:00:01 192.0.2.7 * *\n"
                          "1700003600 1- 192.0.2.8 * *\n");
  EXPECT_EQ(problems_of(LeaseFileFormat::dnsmasq, "1700003600 1- 192.0.2.8 * *\n"), "1:lease-bad-value");
  ASSERT_FALSE(list);
  const auto good = parse(LeaseFileFormat::dnsmasq,
                          "1700003600 06-02:00:00:00:00:01 192.0.2.5 * *\n"
                          "1700003600 02:00:00:00 192.0.2.6 * *\n"
                          "1700003600 01:00:5e:00:00:01 192.0.2.7 h 01\n"
                          "1700003600 01- 192.0.2.8 * *\n");
  ASSERT_TRUE(good) << good.error().to_string();
  EXPECT_EQ(describe_all(good->leases), (Lines{"192.0.2.5 00:00:00:00:00:00  declined 0 1700003600 line 1",
                                               "192.0.2.6 00:00:00:00:00:00  declined 0 1700003600 line 2",
                                               "192.0.2.7 00:00:00:00:00:00  declined 0 1700003600 line 3",
                                               "192.0.2.8 00:00:00:00:00:00  declined 0 1700003600 line 4"}));
  EXPECT_EQ(lines_of(good->warnings), "1:lease-no-client 2:lease-no-client 3:lease-no-client 4:lease-no-client");
}

TEST(DnsmasqLeases, EveryErrorIsReportedWithItsLine) {
  EXPECT_EQ(problems_of(LeaseFileFormat::dnsmasq,
                        "soon 02:00:00:00:00:01 192.0.2.5 * *\n"
                        "-1 02:00:00:00:00:01 192.0.2.5 * *\n"
                        "1 02:00:00:00:00:0g 192.0.2.5 * *\n"
                        "1 02:00:00:00:00:01 192.0.2.300 * *\n"
                        "1 02:00:00:00:00:01 192.0.2.5 *\n"
                        "1 02:00:00:00:00:01 192.0.2.5 * * *\n"
                        "1 02:00:00:00:00:01 192.0.2.5 * xx\n"
                        "1 4294967296 2001:db8::5 * 00:03:00:01\n"
                        "1 T 2001:db8::5 * 00:03:00:01\n"
                        "1 1 2001:db8::5 * 00:03\n"
                        "duid none\n"
                        "1 02:00:00:00:00:01 192.0.2.5 * *\n"
                        "1 02:00:00:00:00:02 192.0.2.5 * *\n"),
            "1:lease-bad-value 2:lease-bad-value 3:lease-bad-value 4:lease-bad-value 5:lease-syntax 6:lease-syntax "
            "7:lease-bad-value 8:lease-bad-value 9:lease-bad-value 10:lease-bad-value 11:lease-bad-value "
            "13:lease-twice");
}

// --- Kea

constexpr const char* kKea4 =
    "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n"
    "192.0.2.5,02:00:00:00:00:01,01:02:00:00:00:00:01,3600,1700003600,1,0,0,web.example.com,0,\n"
    "192.0.2.6,02:00:00:00:00:02,,3600,1700003600,1,0,0,,0,{ \"a\": 1 }\n"
    "192.0.2.7,,,86400,1700086400,1,0,0,,1,\n"
    "192.0.2.8,02:00:00:00:00:04,,3600,1700000000,1,0,0,,2,\n"
    "192.0.2.9,02:00:00:00:00:05,,4294967295,5994967295,1,0,0,,0,\n"
    "192.0.2.5,02:00:00:00:00:01,01:02:00:00:00:00:01,3600,1700007200,1,0,0,web.example.com,0,\n"
    "192.0.2.6,02:00:00:00:00:02,,0,1700003600,1,0,0,,0,\n";

TEST(KeaLeases, TheLastLineOfAnAddressCounts) {
  const auto list = parse(LeaseFileFormat::kea, kKea4);
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(describe_all(list->leases), (Lines{"192.0.2.7 00:00:00:00:00:00  declined 1700000000 1700086400 line 4",
                                               "192.0.2.8 02:00:00:00:00:04  expired 1699996400 1700000000 line 5",
                                               "192.0.2.9 02:00:00:00:00:05  bound 1700000000 4294967295 line 6",
                                               "192.0.2.5 02:00:00:00:00:01 web bound 1700003600 1700007200 line 7"}));
  EXPECT_TRUE(list->warnings.empty()) << list->warnings.to_string();
}

TEST(KeaLeases, TheHeaderTellsTheFamilyAndTheOrder) {
  const auto list = parse(LeaseFileFormat::kea,
                          "duid,address,valid_lifetime,expire,lease_type,iaid,hwaddr,state,hostname\n"
                          "00:04:aa:bb,2001:db8::5,60,1700000060,0,7,02:00:00:00:00:01,0,a&#x2cb\n"
                          "00:04:aa:bb,2001:db8::6,60,1700000060,1,8,,0,\n"
                          "00:04:aa:bb,2001:db8:1::,60,1700000060,2,9,,0,\n"
                          "00:00:00,2001:db8::7,60,1700000060,0,0,,1,\n"
                          "00:00:00,2001:db8::8,60,1700000060,0,0,,2,\n");
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(describe_all(list->leases6),
            (Lines{"2001:db8::5 00:04:aa:bb 7 02:00:00:00:00:01 a-b bound 1700000000 1700000060 line 2",
                   "2001:db8::6 00:00:00 0 -  declined 1700000000 1700000060 line 3",
                   "2001:db8::7 00:00:00 0 -  declined 1700000000 1700000060 line 5"}));
  EXPECT_EQ(lines_of(list->warnings), "3:lease-no-client 4:lease-not-served");
}

TEST(KeaLeases, EveryErrorIsReportedWithItsLine) {
  EXPECT_EQ(problems_of(LeaseFileFormat::kea, ""), "1:lease-syntax");
  EXPECT_EQ(problems_of(LeaseFileFormat::kea, "address,hwaddr,expire\n"), "1:lease-syntax");
  EXPECT_EQ(problems_of(LeaseFileFormat::kea, "address,hwaddr,valid_lifetime,expire,address\n"), "1:lease-syntax");
  EXPECT_EQ(problems_of(LeaseFileFormat::kea,
                        "address,hwaddr,valid_lifetime,expire,client_id,state\n"
                        "192.0.2.5,02:00:00:00:00:01,60\n"
                        "192.0.2,02:00:00:00:00:01,60,60,,0\n"
                        "192.0.2.5,nobody,60,60,,0\n"
                        "192.0.2.5,02:00:00:00:00:01,4294967296,60,,0\n"
                        "192.0.2.5,02:00:00:00:00:01,60,-1,,0\n"
                        "192.0.2.5,02:00:00:00:00:01,60,60,xx,0\n"
                        "192.0.2.5,02:00:00:00:00:01,60,60,,9\n"),
            "2:lease-syntax 3:lease-bad-value 4:lease-bad-value 5:lease-bad-value 6:lease-bad-value 7:lease-bad-value "
            "8:lease-bad-value");
  EXPECT_EQ(problems_of(LeaseFileFormat::kea,
                        "address,duid,valid_lifetime,expire,lease_type,iaid\n"
                        "2001:db8::5,00:03,60,60,0,1\n"
                        "2001:db8::5,00:03:01,60,60,3,1\n"
                        "192.0.2.5,00:03:01,60,60,0,1\n"
                        "2001:db8::5,00:03:01,60,60,0,x\n"),
            "2:lease-bad-value 3:lease-bad-value 4:lease-bad-value 5:lease-bad-value");
}

// --- ISC dhcpd

constexpr const char* kIsc =
    "# The format of this file is documented in the dhcpd.leases(5) manual page.\n"
    "authoring-byte-order little-endian;\n"
    "server-duid \"\\000\\001\\000\\001+Q\\344T\\002\\000'1\\001\\240\";\n"
    "lease 192.0.2.5 {\n"
    "  starts 2 2023/11/14 22:13:20;\n"
    "  ends 2 2023/11/14 23:13:20;\n"
    "  tstp 2 2023/11/14 23:13:20;\n"
    "  cltt 2 2023/11/14 22:13:20;\n"
    "  binding state active;\n"
    "  next binding state free;\n"
    "  rewind binding state free;\n"
    "  hardware ethernet 02:00:00:00:00:01;\n"
    "  uid \"\\001\\002\\000\\000\\000\\000\\001\";\n"
    "  set vendor-class-identifier = \"a { b; }\";\n"
    "  client-hostname \"Web\";\n"
    "  on expiry or release { set x = pick(1, 2); }\n"
    "}\n"
    "lease 192.0.2.6 { starts epoch 1700000000; # Tue Nov 14\n"
    "  ends never; binding state active; hardware ethernet 2:0:0:0:0:2; uid 1:ab; }\n"
    "lease 192.0.2.7 { starts 2 2023/11/14 22:13:20; ends 2 2023/11/14 22:14:20; binding state abandoned; }\n"
    "lease 192.0.2.8 { starts 2 2023/11/14 22:13:20; ends 2 2023/11/14 22:14:20; binding state free;\n"
    "  hardware ethernet 02:00:00:00:00:04; }\n"
    "lease 192.0.2.9 { ends epoch 1700003600; hardware ethernet 02:00:00:00:00:05; }\n"
    "lease 192.0.2.10 { starts epoch 1700000000; ends epoch 1700003600; binding state active; uid \"x\"; }\n"
    "lease 192.0.2.11 { ends epoch 1700003600; binding state expired; }\n"
    "failover peer \"dhcp\" state { my state normal at epoch 5; }\n"
    "host vm { dynamic; hardware ethernet 02:00:00:00:00:06; fixed-address 192.0.2.12; }\n"
    "lease 192.0.2.9 { ends epoch 1700009999; hardware ethernet 02:00:00:00:00:05; }\n";

TEST(IscLeases, TheLastDeclarationOfAnAddressCounts) {
  const auto list = parse(LeaseFileFormat::isc, kIsc);
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(describe_all(list->leases), (Lines{"192.0.2.5 02:00:00:00:00:01 web bound 1700000000 1700003600 line 4",
                                               "192.0.2.6 02:00:00:00:00:02  bound 1700000000 4294967295 line 18",
                                               "192.0.2.7 00:00:00:00:00:00  declined 1700000000 1700000060 line 20",
                                               "192.0.2.8 02:00:00:00:00:04  expired 1700000000 1700000060 line 21",
                                               "192.0.2.10 00:00:00:00:00:00  declined 1700000000 1700003600 line 24",
                                               "192.0.2.9 02:00:00:00:00:05  bound 0 1700009999 line 28"}));
  EXPECT_EQ(list->leases[0].lease.client_id, std::string("\x01\x02\x00\x00\x00\x00\x01", 7));
  EXPECT_EQ(list->leases[1].lease.client_id, "\x01\xab");
  EXPECT_EQ(lines_of(list->warnings), "24:lease-no-client");
}

TEST(IscLeases, AnIdentityAssociationIsWrittenAsAWhole) {
  const auto list =
      parse(LeaseFileFormat::isc,
            "ia-na \"\\007\\000\\000\\000\\000\\003\\000\\001\\002\\000\\000\\000\\000\\003\" {\n"
            "  cltt 2 2023/11/14 22:13:20;\n"
            "  iaaddr 2001:db8::4 { binding state active; preferred-life 60; max-life 60; ends epoch 1700000060; }\n"
            "}\n"
            "ia-na 7:0:0:0:0:3:0:1:2:0:0:0:0:3 {\n"
            "  cltt epoch 1700000030;\n"
            "  iaaddr 2001:db8::5 {\n"
            "    binding state active; ends epoch 1700000090; set a = \"b\";\n"
            "  }\n"
            "  iaaddr 2001:db8::6 { binding state released; ends epoch 1700000030; }\n"
            "}\n"
            "ia-ta \"\\007\\000\\000\\000\\000\\003\\000\\001a\" { iaaddr 2001:db8::7 { ends never; } }\n"
            "ia-pd \"\\007\\000\\000\\000\\000\\003\\000\\001a\" { iaprefix 2001:db8:1::/64 { ends never; } }\n"
            "authoring-byte-order big-endian;\n"
            "ia-na \"\\000\\000\\000\\010\\000\\003\\000\\001a\" { iaaddr 2001:db8::8 { ends never; } }\n");
  ASSERT_TRUE(list) << list.error().to_string();
  EXPECT_EQ(
      describe_all(list->leases6),
      (Lines{"2001:db8::5 00:03:00:01:02:00:00:00:00:03 7 02:00:00:00:00:03  bound 1700000030 1700000090 line 7",
             "2001:db8::6 00:03:00:01:02:00:00:00:00:03 7 02:00:00:00:00:03  released 1700000030 1700000030 line 10",
             "2001:db8::7 00:00:00 0 -  declined 0 4294967295 line 12",
             "2001:db8::8 00:03:00:01:61 8 -  bound 0 4294967295 line 15"}));
  EXPECT_EQ(lines_of(list->warnings), "12:lease-no-client 13:lease-not-served");
}

TEST(IscLeases, EveryErrorIsReportedWithItsLine) {
  EXPECT_EQ(problems_of(LeaseFileFormat::isc,
                        "lease 192.0.2 { ends never; hardware ethernet 02:00:00:00:00:01; }\n"
                        "lease 192.0.2.5 { hardware ethernet 02:00:00:00:00:01; }\n"
                        "lease 192.0.2.5 { ends 2 2023/13/14 22:13:20; hardware ethernet 02:00:00:00:00:01; }\n"
                        "lease 192.0.2.5 { ends soon; hardware ethernet 02:00:00:00:00:01; }\n"
                        "lease 192.0.2.5 { ends never; hardware ethernet nobody; }\n"
                        "lease 192.0.2.5 { ends never; uid one; hardware ethernet 02:00:00:00:00:01; }\n"
                        "lease 192.0.2.5 { ends never; binding state odd; hardware ethernet 02:00:00:00:00:01; }\n"
                        "lease 192.0.2.5 { ends never now; hardware ethernet 02:00:00:00:00:01; }\n"
                        "lease 192.0.2.5 ;\n"
                        "}\n"
                        "ia-na \"abc\" { iaaddr 2001:db8::5 { ends never; } }\n"
                        "ia-na \"\\007\\000\\000\\000\\000\\003\\000\\001a\" { iaaddr nowhere { ends never; } }\n"
                        "lease 192.0.2.6 { ends never; hardware ethernet 02:00:00:00:00:01;\n"),
            "1:lease-bad-value 2:lease-syntax 3:lease-bad-value 3:lease-syntax 4:lease-bad-value 4:lease-syntax "
            "5:lease-bad-value 6:lease-bad-value 7:lease-bad-value 8:lease-syntax 9:lease-syntax 10:lease-syntax "
            "11:lease-bad-value 12:lease-bad-value 13:lease-syntax");
  EXPECT_EQ(problems_of(LeaseFileFormat::isc, "lease 192.0.2.5 { ends never;\n uid \"\\400\"; }"), "2:lease-syntax");
  EXPECT_EQ(problems_of(LeaseFileFormat::isc, "\n\nserver-duid \"abc\n"), "3:lease-syntax");
  EXPECT_EQ(problems_of(LeaseFileFormat::isc, "failover peer { a; "), "1:lease-syntax");
  EXPECT_EQ(problems_of(LeaseFileFormat::isc, "\nauthoring-byte-order little-endian\n"), "2:lease-syntax");
  EXPECT_EQ(problems_of(LeaseFileFormat::isc, "1700000090 02:00:00:00:00:01 192.0.2.5 web *\n"), "1:lease-syntax")
      << "that of dnsmasq";
}

// --- ours

TEST(HcpnetLeases, EveryErrorIsReportedWithItsLine) {
  const std::string header = "address,mac,client_id,duid,iaid,host_name,state,started,expires,subnet,line\n";
  EXPECT_EQ(problems_of(LeaseFileFormat::hcpnet, "address,mac\n"), "1:lease-syntax");
  EXPECT_EQ(
      problems_of(LeaseFileFormat::hcpnet, header +
                                               "nowhere,02:00:00:00:00:01,,,,,bound,,2026-01-31T23:59:59Z,,\n"
                                               "192.0.2.5,,,,,,bound,,2026-01-31T23:59:59Z,,\n"
                                               "192.0.2.5,03:00:00:00:00:01,,,,,bound,,2026-01-31T23:59:59Z,,\n"
                                               "192.0.2.5,02:00:00:00:00:01,,,,,owned,,2026-01-31T23:59:59Z,,\n"
                                               "192.0.2.5,02:00:00:00:00:01,,,,,bound,,2026-02-31T23:59:59Z,,\n"
                                               "192.0.2.5,02:00:00:00:00:01,,,,,bound,now,2026-01-31T23:59:59Z,,\n"
                                               "192.0.2.5,02:00:00:00:00:01,x,,,,bound,,2026-01-31T23:59:59Z,,\n"
                                               "192.0.2.5,02:00:00:00:00:01,,,,,bound,,2026-01-31T23:59:59Z,,x\n"
                                               "2001:db8::5,,,00,1,,bound,,2026-01-31T23:59:59Z,,\n"
                                               "2001:db8::5,,,00:01:02,,,bound,,2026-01-31T23:59:59Z,,\n"
                                               "2001:db8::5,x,,00:01:02,1,,bound,,2026-01-31T23:59:59Z,,\n"
                                               "192.0.2.5,02:00:00:00:00:01,,,," +
                                               std::string(256, 'a') + ",bound,,2026-01-31T23:59:59Z,,\n"),
      "2:lease-bad-value 3:lease-bad-value 4:lease-bad-value 5:lease-bad-value 6:lease-bad-value "
      "7:lease-bad-value 8:lease-bad-value 9:lease-bad-value 10:lease-bad-value 11:lease-bad-value "
      "12:lease-bad-value 13:lease-bad-value");
}

std::vector<Lease> some_leases() {
  Lease bound;
  bound.address = Ipv4(192, 0, 2, 5);
  bound.mac = *parse_mac_address("02:00:00:00:00:01");
  bound.client_id = std::string("\x01,\n\x00", 4);
  bound.host_name = "web";
  bound.subnet = "hcp/vlan";
  bound.started = at(1'700'000'000);
  bound.expires = at(1'700'003'600);
  Lease endless = bound;
  endless.address = Ipv4(192, 0, 2, 6);
  endless.mac = *parse_mac_address("02:00:00:00:00:02");
  endless.client_id.clear();
  endless.expires = kNeverEnds;
  Lease ended = endless;
  ended.address = Ipv4(192, 0, 2, 7);
  ended.state = LeaseState::expired;
  ended.expires = at(1'700'000'100);
  ended.host_name.clear();
  Lease declined;
  declined.address = Ipv4(192, 0, 2, 8);
  declined.subnet = "hcp/vlan";
  declined.state = LeaseState::declined;
  declined.started = at(1'700'000'000);
  declined.expires = at(1'700'003'600);
  return {bound, endless, ended, declined};
}

std::vector<dhcp6::Lease> some_leases6() {
  dhcp6::Lease bound;
  bound.address = *parse_ipv6("2001:db8::5");
  bound.client.duid = *dhcp6::parse_duid("00:03:00:01:02:00:00:00:00:03");
  bound.client.iaid = 0xFFFFFFFF;
  bound.client.mac = *parse_mac_address("02:00:00:00:00:04");
  bound.host_name = "vm";
  bound.subnet = "hcp/vlan";
  bound.started = at(1'700'000'000);
  bound.expires = at(1'700'003'600);
  dhcp6::Lease declined = bound;
  declined.address = *parse_ipv6("2001:db8::6");
  declined.client = {no_duid(), 0, {}, {}};
  declined.host_name.clear();
  declined.state = LeaseState::declined;
  return {bound, declined};
}

TEST(HcpnetLeases, WhatIsWrittenIsReadBackUnchanged) {
  auto leases = some_leases();
  leases[0].host_name = "a, b&#x2c\xff\n";
  leases[1].subnet = "odd, name";
  const auto leases6 = some_leases6();
  const std::uint32_t lines[] = {7, 0, 9, 4, 5, 4'294'967'295};
  const auto list = parse(LeaseFileFormat::hcpnet, render_lease_file(leases, leases6, lines));
  ASSERT_TRUE(list) << list.error().to_string();
  ASSERT_EQ(list->size(), 6U);
  for (const ListedLease& listed : list->leases) {
    const auto i = static_cast<std::size_t>(listed.lease.address.value() & 15) - 5;
    EXPECT_EQ(listed.lease, leases[i]) << i;
    EXPECT_EQ(listed.line, lines[i]);
  }
  for (std::size_t i = 0; i < leases6.size(); ++i) {
    EXPECT_EQ(list->leases6[i].lease, leases6[i]);
    EXPECT_EQ(list->leases6[i].line, lines[4 + i]);
  }
}

TEST(LeaseFile, WhatIsWrittenForOthersIsReadBack) {
  const auto leases = some_leases();
  for (const auto format : {LeaseFileFormat::isc, LeaseFileFormat::dnsmasq, LeaseFileFormat::kea}) {
    SCOPED_TRACE(to_string(format));
    const auto list = parse(format, render_lease_file(format, leases));
    ASSERT_TRUE(list) << list.error().to_string();
    ASSERT_EQ(list->leases.size(), format == LeaseFileFormat::dnsmasq ? 2U : 4U);
    for (std::size_t i = 0; i < list->leases.size(); ++i) {
      const Lease& read = list->leases[i].lease;
      EXPECT_EQ(read.address, leases[i].address);
      EXPECT_EQ(read.mac, leases[i].mac);
      EXPECT_EQ(read.client_id, leases[i].client_id);
      EXPECT_EQ(read.host_name, leases[i].host_name);
      EXPECT_EQ(read.state, leases[i].state);
      EXPECT_EQ(read.expires, leases[i].expires);
    }
  }
  const auto leases6 = some_leases6();
  const auto list = parse(LeaseFileFormat::kea, render_kea_leases6(leases6));
  ASSERT_TRUE(list) << list.error().to_string();
  ASSERT_EQ(list->leases6.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    dhcp6::Lease expected = leases6[i];
    expected.subnet.clear();
    EXPECT_EQ(list->leases6[i].lease, expected);
  }
}

// --- all

TEST(LeaseFile, LimitsEndTheReading) {
  LeaseFileLimits limits;
  limits.max_leases = 1;
  EXPECT_EQ(problems_of(LeaseFileFormat::dnsmasq, kDnsmasq, limits), "2:lease-file-too-large");
  EXPECT_EQ(problems_of(LeaseFileFormat::kea, kKea4, limits), "3:lease-file-too-large");
  EXPECT_EQ(problems_of(LeaseFileFormat::isc, kIsc, limits), "18:lease-file-too-large");
  limits.max_file_bytes = 10;
  EXPECT_EQ(problems_of(LeaseFileFormat::isc, kIsc, limits), "0:lease-file-too-large");
}

/// Cut or changed anywhere: it is read or refused, and what is refused names a line of the file.
TEST(LeaseFile, DamagedFilesAreReadOrRefused) {
  const std::pair<LeaseFileFormat, std::string> files[] = {
      {LeaseFileFormat::dnsmasq, kDnsmasq},
      {LeaseFileFormat::kea, kKea4},
      {LeaseFileFormat::kea, render_kea_leases6(some_leases6())},
      {LeaseFileFormat::isc, kIsc},
      {LeaseFileFormat::hcpnet, render_lease_file(some_leases(), some_leases6())}};
  for (const auto& [format, text] : files) {
    SCOPED_TRACE(to_string(format));
    const auto lines = static_cast<std::uint32_t>(std::ranges::count(text, '\n')) + 1;
    const auto check = [&](std::string_view changed) {
      const auto parsed = parse(format, changed);
      if (parsed) return;
      ASSERT_TRUE(parsed.error().has_errors());
      for (const Diagnostic& d : parsed.error()) {
        ASSERT_GE(d.line, 1U);
        ASSERT_LE(d.line, lines + 1);
      }
    };
    for (std::size_t n = 0; n < text.size(); ++n) check(std::string_view(text).substr(0, n));
    for (std::size_t n = 0; n < text.size(); ++n) {
      for (const char c : {'\0', '\n', '"', '}', '{', ',', '9', '\xff'}) {
        std::string changed = text;
        changed[n] = c;
        check(changed);
      }
    }
  }
}

TEST(LeaseFile, LeasesOfOtherNetworksCanBeLeftOut) {
  auto list = parse(LeaseFileFormat::dnsmasq, kDnsmasq).value();
  const Cidr networks[] = {*parse_cidr("192.0.2.6/32"), *parse_cidr("2001:db8::/126")};
  EXPECT_EQ(list.keep_only(networks), 3U);
  EXPECT_EQ(describe_all(list.leases), (Lines{"192.0.2.6 02:00:00:00:00:02  bound 0 4294967295 line 2"}));
  EXPECT_TRUE(list.leases6.empty());
}

TEST(LeaseFile, FormatsHaveNames) {
  for (const auto format :
       {LeaseFileFormat::hcpnet, LeaseFileFormat::isc, LeaseFileFormat::dnsmasq, LeaseFileFormat::kea})
    EXPECT_EQ(parse_lease_file_format(to_string(format)), format);
  EXPECT_EQ(parse_lease_file_format("udhcpd"), std::nullopt);
}

}  // namespace
}  // namespace hcpnet::dhcp

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/spec/hosted_cluster.hpp>
#include <hcpnet/spec/model.hpp>
#include <hcpnet/spec/primary_udn.hpp>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/format.hpp"

namespace hcpnet::spec {

enum class Need : std::uint8_t { optional, required };

struct Interval {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
inline constexpr Interval kPort{1, 65535};

struct ListRule {
  Need need = Need::optional;
  std::size_t min_items = 0;
  std::size_t max_items = std::numeric_limits<std::size_t>::max();
};

/// What a mapping of texts is for. Kubernetes takes no other keys and values of labels, and no other keys of
/// annotations.
enum class MapUse : std::uint8_t { any, labels, annotations };

/// Visits every field of an object, each described once (spec/describe.cpp): its name, whether it is needed, what it
/// has to be. A visitor that reads fills the model; one that checks looks at what is there; one that lists only takes
/// down the descriptions.
class Fields {
 public:
  Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  virtual ~Fields() = default;

  virtual void text(std::string_view name, Need need, Format format, std::optional<std::string>& value) = 0;
  virtual void flag(std::string_view name, bool& value) = 0;
  virtual void number(std::string_view name, Need need, Interval interval, std::optional<std::int64_t>& value) = 0;
  /// `value` is an index into `names`.
  virtual void choice(std::string_view name, Need need, std::span<const std::string_view> names,
                      std::optional<std::size_t>& value) = 0;
  virtual void texts(std::string_view name, ListRule rule, Format format, std::vector<std::string>& values) = 0;
  virtual void numbers(std::string_view name, ListRule rule, Interval interval, std::vector<std::int64_t>& values) = 0;
  virtual void string_map(std::string_view name, MapUse use, StringMap& values) = 0;
  /// A field that may hold anything and means nothing here.
  virtual void ignored(std::string_view name) = 0;
  /// A field that some release between the two had; `successor` says where it went.
  virtual void removed(std::string_view name, std::string_view successor) = 0;
  /// The mapping is somebody else's: it may have fields beyond those that are described.
  virtual void others_ignored() = 0;

  // What differs between types of one kind is settled here, so that a visitor has one function for each kind.
  void text(std::string_view name, Format format, std::optional<std::string>& value) {
    text(name, Need::optional, format, value);
  }
  void text(std::string_view name, Need need, Format format, std::string& value);
  template <class T>
  void integer(std::string_view name, Need need, Interval interval, T& value) {
    std::optional<std::int64_t> slot = static_cast<std::int64_t>(value);
    number(name, need, interval, slot);
    value = static_cast<T>(*slot);
  }
  void seconds(std::string_view name, Interval interval, std::chrono::seconds& value);
  void seconds(std::string_view name, Interval interval, std::optional<std::chrono::seconds>& value);
  template <class Enum>
  void choice(std::string_view name, Need need, std::span<const std::string_view> names, std::optional<Enum>& value) {
    std::optional<std::size_t> slot;
    if (value) slot = static_cast<std::size_t>(*value);
    choice(name, need, names, slot);
    if (slot) value = static_cast<Enum>(*slot);
  }
  template <class Enum>
  void choice(std::string_view name, Need need, std::span<const std::string_view> names, Enum& value) {
    std::optional<Enum> slot = value;
    choice(name, need, names, slot);
    value = *slot;
  }
  /// A mapping whose fields `describe(fields)` visits.
  template <class Describe>
  void group(std::string_view name, Need need, Describe describe) {
    if (!enter(name, need, true)) return;
    describe(*this);
    leave();
  }
  template <class T, class Describe>
  void object(std::string_view name, Need need, std::optional<T>& value, Describe describe) {
    if (!enter(name, need, value.has_value())) return;
    if (!value) value.emplace();
    describe(*this, *value);
    leave();
  }
  template <class T, class Describe>
  void objects(std::string_view name, ListRule rule, std::vector<T>& values, Describe describe) {
    const std::size_t count = enter_list(name, rule, values.size());
    values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!enter_item(i)) continue;
      describe(*this, values[i]);
      leave();
    }
    leave_list();
  }

 protected:
  /// True when the mapping is to be visited; leave() follows.
  virtual bool enter(std::string_view name, Need need, bool is_present) = 0;
  virtual void leave() = 0;
  /// How many items are to be visited, 0 also when there is no list; leave_list() always follows.
  virtual std::size_t enter_list(std::string_view name, ListRule rule, std::size_t size) = 0;
  virtual bool enter_item(std::size_t index) = 0;
  virtual void leave_list() = 0;
};

// The whole object: apiVersion, kind, metadata, spec, status.
void describe(Fields& fields, Infra& object);
void describe(Fields& fields, InfraClusterAttachment& object);
void describe(Fields& fields, DHCPServer& object);
void describe(Fields& fields, DNSServer& object);
void describe(Fields& fields, ProxyServer& object);
void describe(Fields& fields, DHCPPolicy& object);
void describe(Fields& fields, DNSPolicy& object);
void describe(Fields& fields, ProxyPolicy& object);
void describe(Fields& fields, AppsPolicy& object);
void describe(Fields& fields, BootstrapCluster& object);
void describe(Fields& fields, HostedCluster& object);
void describe(Fields& fields, PrimaryUDN& object);

inline constexpr Interval kRecordTtlSeconds{1, 86400};
inline constexpr Interval kMinTtlSeconds{0, 3600};
inline constexpr Interval kServeStaleSeconds{0, 604800};
inline constexpr Interval kTimeoutSeconds{1, 2'147'483'647};
inline constexpr Interval kMaxConnections{1, 1'000'000};
inline constexpr Interval kResponsesPerSecond{1, 1'000'000};
inline constexpr Interval kSlip{0, 10};
inline constexpr Interval kRouterLifetimeSeconds{0, 9000};
inline constexpr Interval kMtu{1280, 65535};
inline constexpr Interval kNoneOrConnections{0, 1'000'000};
inline constexpr Interval kHelloBytes{1024, 32 * 1024};  ///< to tls::kLargestHelloBytes
inline constexpr Interval kConnectAttempts{1, 100};
inline constexpr Interval kNoneOrTimeoutSeconds{0, 2'147'483'647};
inline constexpr Interval kKeepaliveSeconds{1, 32'767};  ///< what Linux takes, like the next
inline constexpr Interval kKeepaliveProbes{1, 127};
inline constexpr Interval kNoneOrBufferBytes{0, 1024 * 1024 * 1024};
inline constexpr Interval kRepetitions{1, 1000};
inline constexpr Interval kNoneOrRepetitions{0, 1000};
inline constexpr Interval kWorkers{1, 64};
inline constexpr Interval kOptionCode{1, 254};
inline constexpr Interval kClientArchitecture{0, 65535};
inline constexpr Interval kClientMessages{1, 1000};
inline constexpr Interval kProbeMilliseconds{50,
                                             3000};  ///< clients ask again after four seconds (RFC 2131 section 4.1)
inline constexpr Interval kMaxSkewSeconds{1, 300};
inline constexpr std::size_t kMaxStoreEndpoints = 16;
inline constexpr std::size_t kMaxDhcpPools = 256;   ///< of one subnet
inline constexpr std::size_t kMaxDhcpSubnets = 16;  ///< beside the target's own; with their pools below dhcp::kMaxPools
inline constexpr std::size_t kMaxDhcpExclusions = 1024;
inline constexpr Interval kNodePort{std::numeric_limits<std::int32_t>::min(), 65535};  ///< 0 and less: any
inline constexpr std::size_t kMaxSourceRanges = 256;
inline constexpr Interval kHostPrefix{1, 30};
inline constexpr Interval kRenewBeforeDays{1, 365};
inline constexpr Interval kMemoryMib{1024, 16 * 1024 * 1024};
inline constexpr Interval kCpus{1, 4096};
inline constexpr Interval kDiskGib{10, 1024 * 1024};
inline constexpr Interval kVirtualRouterId{1, 255};  ///< RFC 5798 section 5.2.3
inline constexpr std::size_t kMaxNodes = 500;        ///< more than a self-managed cluster has
inline constexpr Interval kUdnMtu{576, 65536};
inline constexpr Interval kHostSubnet{1, 127};
inline constexpr Interval kVni{1, 16'777'215};
inline constexpr std::size_t kMaxLayer3Subnets = 400;
inline constexpr std::size_t kMaxUdnNetworks = 32;
inline constexpr std::size_t kMaxUdnNamespaces = 64;
inline constexpr std::size_t kMaxUdnMachines = 1000;
inline constexpr std::size_t kMaxUdnServices = 100;
inline constexpr std::size_t kMaxUdnServicePorts = 64;
inline constexpr std::size_t kMaxNodePools = 100;
inline constexpr std::size_t kMaxVmNetworks = 20;  ///< as HyperShift takes them

}  // namespace hcpnet::spec

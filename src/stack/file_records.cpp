// SPDX-License-Identifier: Apache-2.0
// Records of zone files and hosts files beside what the spec publishes. Nothing gives way silently: which of two
// sources is right, only their owner knows.
#include "stack/file_records.hpp"

#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <map>
#include <set>
#include <utility>

#include "dns/folded_name.hpp"
#include "dns/zone_store.hpp"
#include "stack/lease_names.hpp"

namespace hcpnet::derive {
namespace {

/// "set.yaml:12", or the pointer of an object that was built in memory.
std::string place_text(const spec::Origin& origin, const std::string& pointer) {
  const text::Position position = origin.position(pointer);
  return position.line == 0 ? pointer : origin.file + ':' + std::to_string(position.line);
}

class FileRecords {
 public:
  FileRecords(ZoneSet& zones, const spec::ValidDnsPolicy& policy, const std::string& view,
              const std::optional<LeaseZone>& leases, const spec::ObjectMeta& owner, Diagnostics& problems)
      : zones_(zones), policy_(policy), view_(view), leases_(leases), owner_(owner), problems_(problems) {}

  void add() {
    for (const auto& hosts : policy_.hosts_files)
      if (hosts.view == view_) add_hosts(*hosts.file);
    const std::vector<ZoneSet::Published> published = zones_.published();
    for (const auto& zone : policy_.zone_files)
      if (zone.view == view_) add_zone(zone, published);
    // Once all are there, so that their order in the policy means nothing.
    for (Added& outer : added_) {
      for (const Added& inner : added_)
        if (&inner != &outer && inner.apex().is_below_or_equal(outer.apex())) check_nested(outer, inner);
      warn_of_hidden(outer);
    }
  }

 private:
  using Key = std::pair<dns::Name, dns::Type>;
  /// A zone file that became a zone.
  struct Added {
    const spec::ValidDnsPolicy::FileRecords* item;
    std::set<dns::Name> reported;  ///< apexes of others about which, and about those above, an error is enough
    [[nodiscard]] const dns::Zone& zone() const { return *item->file->zone(); }
    [[nodiscard]] const dns::Name& apex() const { return zone().apex(); }
  };

  void add_hosts(const spec::RecordFile& file) {
    for (const dns::RRset& rrset : file.rrsets()) {
      if (!zones_.has_record(rrset.owner, rrset.type)) {
        static_cast<void>(zones_.add_record(rrset));  // no alias is there, and it is none
        from_hosts_.try_emplace({rrset.owner, rrset.type}, file.path() + ':' + line_of(file, rrset.owner, rrset.type));
        continue;
      }
      clash(file, rrset.owner, rrset.type,
            named(rrset.owner, rrset.type) + " is published already by " + source_of(rrset.owner, rrset.type));
    }
  }

  void add_zone(const spec::ValidDnsPolicy::FileRecords& item, const std::vector<ZoneSet::Published>& published) {
    const spec::RecordFile& file = *item.file;
    const dns::Zone& zone = *file.zone();
    const dns::Name& apex = zone.apex();
    if (zones_.has_zone(apex))
      return clash(file, apex, dns::Type::soa,
                   "the zone " + apex.to_string() + " is there already, by " + source_of_zone(apex));
    std::set<dns::Name> reported;
    for (const ZoneSet::Published& other : published)
      if (!is_apart(file, zone, other)) reported.insert(other.apex);
    warn_of_hidden_leases(item, apex);
    zone_files_.emplace(apex, file.path());
    zones_.add_complete_zone(file.zone());
    added_.push_back({&item, std::move(reported)});
  }

  /// What both files have is an error, as it is of a file and what is published. The rest that `outer` has down there
  /// is a warning later.
  void check_nested(Added& outer, const Added& inner) {
    if (!has_hidden(outer.zone(), inner.apex())) return;
    for (const dns::RRset& rrset : outer.zone().rrsets()) {
      if (!rrset.owner.is_below_or_equal(inner.apex())) continue;
      const dns::FoldedName name(rrset.owner);
      const dns::ZoneMatch match = inner.zone().find(name, rrset.type);
      if (match.outcome != dns::Zone::Outcome::answer || match.from_wildcard ||
          outer.zone().find_delegation(name, rrset.type) != nullptr ||
          inner.zone().find_delegation(name, rrset.type) != nullptr)
        continue;
      const spec::RecordFile& other = *inner.item->file;
      clash(*outer.item->file, rrset.owner, rrset.type,
            named(rrset.owner, rrset.type) + " is published already by " + other.path() + ':' +
                line_of(other, rrset.owner, match.rrset.type));
      outer.reported.insert(inner.apex());
    }
  }

  /// False after having said why.
  bool is_apart(const spec::RecordFile& file, const dns::Zone& zone, const ZoneSet::Published& other) {
    const dns::Name& apex = zone.apex();
    if (!other.owner.is_below_or_equal(apex)) return true;
    if (!other.apex.is_below_or_equal(apex)) {  // the longest apex owns a name
      clash(file, apex, dns::Type::soa,
            "the zone " + apex.to_string() + " would hide " + named(other.owner, other.type) + ", published by " +
                source_of(other.owner, other.type));
      return false;
    }
    const dns::FoldedName name(other.owner);
    const dns::ZoneMatch match = zone.find(name, other.type);
    // A wildcard of the file gives way to the name, as it does inside one zone; and below a cut there is only glue.
    if (match.outcome != dns::Zone::Outcome::answer || match.from_wildcard ||
        zone.find_delegation(name, other.type) != nullptr)
      return true;
    clash(file, other.owner, other.type,
          named(other.owner, other.type) + " is published already by " + source_of(other.owner, other.type));
    return false;
  }

  /// A delegation, and the addresses below it, are what a parent zone has of a child.
  static bool has_hidden(const dns::Zone& zone, const dns::Name& inner) {
    const dns::FoldedName name(inner);
    const dns::ZoneMatch match = zone.find(name, dns::Type::ns);
    return match.outcome != dns::Zone::Outcome::nxdomain && !match.from_wildcard &&
           zone.find_delegation(name, dns::Type::ns) == nullptr;
  }

  static bool has_reported(const Added& outer, const dns::Name& inner) {
    return std::ranges::any_of(outer.reported, [&](const dns::Name& apex) { return apex.is_below_or_equal(inner); });
  }

  void warn_of_hidden(const Added& outer) {
    const spec::ValidDnsPolicy::FileRecords& item = *outer.item;
    std::vector<dns::Name> hidden = zones_.apexes();
    for (const Added& other : added_)
      if (&other != &outer) hidden.push_back(other.apex());
    std::erase_if(hidden, [&](const dns::Name& inner) {
      return has_reported(outer, inner) || !inner.is_below_or_equal(outer.apex()) || !has_hidden(outer.zone(), inner);
    });
    if (hidden.empty()) return;
    const std::string more = hidden.size() == 1 ? "" : ", and " + std::to_string(hidden.size() - 1) + " more like it";
    problems_.add(problem(Severity::warning, policy_.origin, item.pointer + "/path", owner_, "records-hidden",
                          "records of " + item.file->path() + " at or below " + hidden.front().to_string() +
                              " are not seen: that is a zone of its own, by " + source_of_zone(hidden.front()) + more));
  }

  /// The longest apex owns a name, so that a lease would get one that nobody can look up. A lease's name is one label
  /// below leaseDomain; its PTR record may be anywhere below its network's zone.
  void warn_of_hidden_leases(const spec::ValidDnsPolicy::FileRecords& item, const dns::Name& apex) {
    if (!leases_) return;
    const auto is_below = [&](const dns::Name& zone) { return apex != zone && apex.is_below_or_equal(zone); };
    const bool is_name = is_below(leases_->domain) && apex.label_count() == leases_->domain.label_count() + 1 &&
                         !lease_label(apex.to_string()).empty();
    if (!is_name && std::ranges::none_of(leases_->reverse, is_below)) return;
    problems_.add(problem(Severity::warning, policy_.origin, item.pointer + "/path", owner_, "lease-names-hidden",
                          "the zone " + apex.to_string() + " of " + item.file->path() + " would hide " +
                              (is_name ? "the name of a lease" : "PTR records of leases") + "; leaseDomain is " +
                              leases_->domain.to_string()));
  }

  void clash(const spec::RecordFile& file, const dns::Name& owner, dns::Type type, const std::string& message) {
    text::Position position = file.position(owner, type);
    if (position.line == 0) position = file.position(owner, dns::Type::cname);  // which stands there instead
    Diagnostic d;
    d.file = file.path();
    d.line = position.line;
    d.column = position.column;
    d.code = "record-clash";
    d.message = owner_.key() + ": " + message + " (view " + view_ + ')';
    problems_.add(std::move(d));
  }

  static std::string named(const dns::Name& owner, dns::Type type) {
    return owner.to_string() + ' ' + dns::to_string(type);
  }

  static std::string line_of(const spec::RecordFile& file, const dns::Name& owner, dns::Type type) {
    return std::to_string(file.position(owner, type).line);
  }

  /// Of what is published: a line of a file, an item of the policy, or else the object that the policy refines.
  std::string source_of(const dns::Name& owner, dns::Type type) const {
    if (const auto hosts = from_hosts_.find({owner, type}); hosts != from_hosts_.end()) return hosts->second;
    if (view_ == "vlan") {
      for (std::size_t i = 0; i < policy_.entries.size(); ++i)
        if (type == dns::Type::a && dns::parse_name(policy_.entries[i].hostname).value() == owner)
          return place_text(policy_.origin, "/spec/entries/" + std::to_string(i));
      if (auto place = place_among(policy_.records, "/spec/records/", owner, type)) return *place;
    }
    for (std::size_t i = 0; i < policy_.views.size(); ++i) {
      if (policy_.views[i].name != view_) continue;
      const std::string list = "/spec/views/" + std::to_string(i) + "/records/";
      if (auto place = place_among(policy_.views[i].records, list, owner, type)) return *place;
    }
    return owner_.key();
  }

  std::optional<std::string> place_among(const std::vector<dns::RRset>& records, const std::string& list,
                                         const dns::Name& owner, dns::Type type) const {
    for (std::size_t i = 0; i < records.size(); ++i)
      if (records[i].owner == owner && (records[i].type == type || records[i].type == dns::Type::cname))
        return place_text(policy_.origin, list + std::to_string(i));
    return {};
  }

  std::string source_of_zone(const dns::Name& apex) const {
    if (const auto file = zone_files_.find(apex); file != zone_files_.end()) return file->second;
    for (const ZoneSet::Published& other : zones_.published())
      if (other.apex == apex) return source_of(other.owner, other.type);
    return owner_.key();
  }

  ZoneSet& zones_;
  const spec::ValidDnsPolicy& policy_;
  const std::string& view_;
  const std::optional<LeaseZone>& leases_;
  const spec::ObjectMeta& owner_;
  Diagnostics& problems_;
  std::vector<Added> added_;
  std::map<Key, std::string> from_hosts_;        ///< "path:line"
  std::map<dns::Name, std::string> zone_files_;  ///< path by apex
};

}  // namespace

std::vector<std::shared_ptr<const dns::Zone>> build_with_files(ZoneSet& zones, const spec::ValidDnsPolicy& policy,
                                                               const std::string& view,
                                                               const std::optional<LeaseZone>& leases,
                                                               const spec::ObjectMeta& owner, Diagnostics& problems) {
  FileRecords(zones, policy, view, leases, owner, problems).add();
  return zones.build();
}

namespace {

/// The zone of a view that has a name, the one with the longest apex; null when none has.
const dns::Zone* zone_of(const dns::View& view, const dns::Name& name) {
  const dns::Zone* best = nullptr;
  for (const auto& zone : view.zones)
    if (name.is_below_or_equal(zone->apex()) &&
        (best == nullptr || zone->apex().label_count() > best->apex().label_count()))
      best = zone.get();
  return best;
}

/// The file that makes a name a zone of the view; empty when none does.
std::string file_of(const spec::ValidDnsPolicy& policy, const std::string& view, const dns::Name& apex) {
  for (const auto& item : policy.zone_files)
    if (item.view == view && item.file->zone()->apex() == apex) return item.file->path();
  for (const auto& item : policy.hosts_files)
    for (const dns::Type type : {dns::Type::a, dns::Type::aaaa})
      if (item.view == view && item.file->position(apex, type).line != 0) return item.file->path();
  return {};
}

/// Where the policy says that the name is a zone of the view; "/spec" where no single item does.
std::string pointer_to(const spec::ValidDnsPolicy& policy, const std::string& view, const dns::Name& apex) {
  if (view == "vlan" && policy.lease_domain == apex) return "/spec/leaseDomain";
  for (const auto& item : policy.zone_files)
    if (item.view == view && item.file->zone()->apex() == apex) return item.pointer + "/path";
  return "/spec";
}

/// Under these everybody has names, and who makes one of them a zone takes all of them.
bool holds_names_of_everybody(const dns::Name& apex) {
  if (apex.is_root()) return true;
  constexpr const char* kTrees[] = {"arpa", "in-addr.arpa", "ip6.arpa"};
  return std::ranges::any_of(kTrees, [&](const char* tree) { return apex == dns::parse_name(tree).value(); });
}

}  // namespace

void warn_of_unseen_files(const dns::Config& config, const spec::ValidDnsPolicy& policy, const spec::ObjectMeta& owner,
                          Diagnostics& problems) {
  for (const auto* files : {&policy.zone_files, &policy.hosts_files})
    for (const auto& item : *files)
      if (std::ranges::find(config.views, item.view, &dns::View::name) == config.views.end())
        problems.add(problem(
            Severity::warning, policy.origin, item.pointer + "/view", owner, "view-without-clients",
            "nobody sees the records of " + item.file->path() + ": no client is left for the view " + item.view));
}

void warn_of_dead_forwarding(const dns::Config& config, const spec::ValidDnsPolicy& policy,
                             const spec::ObjectMeta& owner, Diagnostics& problems) {
  if (!config.forwarding.is_enabled()) return;
  for (const dns::View& view : config.views)
    for (const auto& zone : view.zones)
      if (holds_names_of_everybody(zone->apex()))
        problems.add(problem(Severity::warning, policy.origin, pointer_to(policy, view.name, zone->apex()), owner,
                             "zone-not-forwarded",
                             "no name below " + zone->apex().to_string() + " is forwarded in view " + view.name +
                                 ": that is a zone of our own"));
  if (!policy.forwarding) return;
  for (std::size_t i = 0; i < policy.forwarding->zones.size(); ++i) {
    const dns::Name& zone = policy.forwarding->zones[i].first;
    std::map<std::pair<dns::Name, std::string>, std::string> views;  // by what takes the place, and the file it is of
    for (const dns::View& view : config.views)
      if (const dns::Zone* own = zone_of(view, zone)) {
        std::string& names = views[{own->apex(), file_of(policy, view.name, own->apex())}];
        (names += names.empty() ? "" : ", ") += view.name;
      }
    for (const auto& [place, names] : views) {
      const auto& [apex, file] = place;
      problems.add(problem(Severity::warning, policy.origin, "/spec/forwarding/zones/" + std::to_string(i) + "/zone",
                           owner, "zone-not-forwarded",
                           "nothing of the zone " + zone.to_string() + " is forwarded in view " + names + ": " +
                               apex.to_string() + " is a zone of our own" + (file.empty() ? "" : ", by " + file)));
    }
  }
}

}  // namespace hcpnet::derive

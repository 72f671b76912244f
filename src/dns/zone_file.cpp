// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <limits>
#include <unordered_map>

#include "dns/found_word.hpp"
#include "dns/given_rdata.hpp"
#include "dns/rdata_text.hpp"
#include "dns/soa.hpp"
#include "dns/zone_lexer.hpp"
#include "text/byte_order_mark.hpp"

namespace hcpnet::dns {
namespace {

bool is_word(const ZoneToken& token, std::string_view word) {
  return !token.is_quoted && equals_ignoring_case(token.text, word);
}

/// By name, or by number (RFC 3597 section 5).
bool is_class_in(const ZoneToken& token) {
  return is_word(token, "IN") || is_word(token, "CLASS1");
}

bool is_class(const ZoneToken& token) {
  return is_class_in(token) || is_word(token, "CH") || is_word(token, "HS") || is_word(token, "CS");
}

/// Finds the RRset of an owner and type among those of a file. As long as they come in canonical order, as a renderer
/// writes them, the last one tells; after that there are numbers in a table at most half full.
class RRsetIndex {
 public:
  /// Where in `rrsets` it is; rrsets.size(), which the caller has to add, when it is not there.
  std::size_t find_or_add(const std::vector<RRset>& rrsets, const Name& owner, Type type) {
    if (is_ordered_) {
      if (rrsets.empty()) return 0;
      const RRset& last = rrsets.back();
      const auto order = last.owner <=> owner;
      if (order < 0 || (order == 0 && rank_at_owner(last.type) < rank_at_owner(type))) return rrsets.size();
      if (order == 0 && last.type == type) return rrsets.size() - 1;
      is_ordered_ = false;
    }
    if (2 * (rrsets.size() + 1) > slots_.size()) grow(rrsets);
    std::uint32_t& slot = find(rrsets, owner, type);
    if (slot == kNone) slot = static_cast<std::uint32_t>(rrsets.size());
    return slot;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t& find(const std::vector<RRset>& rrsets, const Name& owner, Type type) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = std::hash<Name>{}(owner) + 31 * static_cast<std::size_t>(type);; ++at) {
      std::uint32_t& slot = slots_[at & mask];
      if (slot == kNone || (rrsets[slot].type == type && rrsets[slot].owner == owner)) return slot;
    }
  }
  void grow(const std::vector<RRset>& rrsets) {
    slots_.assign(4 * (rrsets.size() + 4), kNone);
    slots_.resize(std::bit_ceil(slots_.size()), kNone);
    for (std::size_t i = 0; i < rrsets.size(); ++i)
      find(rrsets, rrsets[i].owner, rrsets[i].type) = static_cast<std::uint32_t>(i);
  }

  bool is_ordered_ = true;
  std::vector<std::uint32_t> slots_;
};

class Parser {
 public:
  Parser(const std::string& file, std::string_view text, const std::optional<Name>& origin,
         const ZoneFileLimits& limits)
      : file_(file),
        lexer_(text::without_byte_order_mark(text), limits.max_entry_bytes),
        origin_(origin),
        limits_(limits) {}

  Result<ZoneRecords, Diagnostics> run() {
    ZoneEntry entry;
    while (!is_full_ && lexer_.next(entry)) read(entry);
    check_zone();
    problems_.sort();
    if (problems_.has_errors()) return std::move(problems_);
    zone_.warnings = std::move(problems_);
    return std::move(zone_);
  }

 private:
  void problem(Severity severity, text::Position where, const char* code, std::string message,
               std::string_view found = {}, std::string expected = {}) {
    problems_.add({severity,
                   file_,
                   where.line,
                   where.column,
                   {},
                   code,
                   std::move(message),
                   found_word(found),
                   std::move(expected)});
  }
  void error(const ZoneToken& token, const char* code, std::string message, std::string expected = {}) {
    problem(Severity::error, {token.line, token.column}, code, std::move(message), token.text, std::move(expected));
  }

  void read(const ZoneEntry& entry) {
    if (entry.problem) {
      if (!entry.begins_blank) forget_owner();
      is_ttl_unknown_ = true;
      return problem(Severity::error, {entry.problem->line, entry.problem->column}, "zone-syntax",
                     entry.problem->message);
    }
    const ZoneToken& first = entry.tokens.front();
    if (!entry.begins_blank && !first.is_quoted && first.text.starts_with('$')) return read_directive(entry);
    read_record(entry);
  }

  void read_directive(const ZoneEntry& entry) {
    const ZoneToken& word = entry.tokens.front();
    if (is_word(word, "$INCLUDE"))
      return error(word, "zone-include", "other files are not read from here; put the records into this one");
    const bool is_origin = is_word(word, "$ORIGIN");
    if (!is_origin && !is_word(word, "$TTL"))
      return error(word, "zone-directive", "there is no such directive", "$ORIGIN or $TTL");
    if (entry.tokens.size() != 2) return error(word, "zone-directive", "the directive takes one value");
    const ZoneToken& value = entry.tokens[1];
    if (is_origin) {
      if (auto name = parse_name_at(value))
        origin_ = std::move(*name);
      else
        is_origin_unknown_ = true;
    } else if (const auto ttl = parse_ttl_at(value)) {
      default_ttl_ = ttl;
    }
  }

  /// nullopt after having said why.
  std::optional<Name> parse_name_at(const ZoneToken& token) {
    auto name = parse_zone_name(token, known_origin());
    if (!name) {
      error(token, "zone-name", "not a domain name");
      return std::nullopt;
    }
    if (!origin_ && is_relative(token)) {
      lacks_origin(token);
      return std::nullopt;
    }
    return std::move(*name);
  }

  [[nodiscard]] const Name* known_origin() const noexcept { return origin_ ? &*origin_ : nullptr; }

  void lacks_origin(const ZoneToken& token) {
    if (!is_origin_unknown_)
      error(token, "zone-origin", "a relative name without a $ORIGIN before it", "a name with a dot at its end");
  }

  /// nullopt after having said why.
  std::optional<std::uint32_t> parse_ttl_at(const ZoneToken& token) {
    const auto ttl = parse_ttl(token.text);
    if (!ttl) {
      is_ttl_unknown_ = true;
      error(token, "zone-ttl", "not a TTL", "seconds, or numbers with s, m, h, d or w");
    }
    return ttl;
  }

  /// One that could not be read must not pass its records to the owner before it.
  void forget_owner() {
    owner_.reset();
    is_owner_unknown_ = true;
  }

  // record = [owner] ( [ttl] [class] | [class] [ttl] ) type rdata
  void read_record(const ZoneEntry& entry) {
    std::span<const ZoneToken> rest = entry.tokens;
    if (!entry.begins_blank) {
      owner_ = parse_name_at(rest.front());
      is_owner_unknown_ = !owner_;
      rest = rest.subspan(1);
    }
    std::optional<std::uint32_t> ttl;
    bool has_class = false;
    for (; !rest.empty(); rest = rest.subspan(1)) {
      const ZoneToken& token = rest.front();
      if (!has_class && is_class(token)) {
        if (!is_class_in(token)) return error(token, "zone-class", "only class IN is served", "IN");
        has_class = true;
      } else if (!ttl && !token.is_quoted && !token.text.empty() && token.text.front() >= '0' &&
                 token.text.front() <= '9') {
        if (!(ttl = parse_ttl_at(token))) return;
      } else {
        break;
      }
    }
    if (ttl) last_ttl_ = ttl;
    if (rest.empty()) return error(entry.tokens.back(), "zone-record", "the record ends before its type");
    const auto type = rest.front().is_quoted ? std::nullopt : parse_type(rest.front().text);
    if (!type || !is_data_type(*type))
      return error(rest.front(), "zone-type", "not a type of record",
                   "a type such as A or CNAME, or TYPE and its number");
    if (*type == Type::dname)
      return error(rest.front(), "zone-type", "answers for the names below a DNAME are not made up here (RFC 6672)");
    read_rdata(*type, rest.front(), rest.subspan(1), ttl);
  }

  void read_rdata(Type type, const ZoneToken& type_token, std::span<const ZoneToken> words,
                  std::optional<std::uint32_t> ttl) {
    auto rdata = parse_rdata_tokens(type, words, known_origin());
    if (!rdata) {
      if (type == Type::soa) is_ttl_unknown_ = true;  // it might have been the SOA's
      for (const RdataProblem& wrong : rdata.error()) report(wrong, type, type_token, words);
      return;
    }
    if (!owner_) {
      if (!is_owner_unknown_) error(type_token, "zone-owner", "the first record has no owner");
      return;
    }
    // RFC 2308 section 4: $TTL from where it stands; without it the TTL of the record before (RFC 1035 section 5.1).
    if (!ttl) ttl = default_ttl_ ? default_ttl_ : last_ttl_;
    if (!ttl && type == Type::soa) ttl = ByteReader(as_bytes(*rdata).last(4)).u32() & 0x7fffffff;
    if (!ttl) {
      if (!is_ttl_unknown_) error(type_token, "zone-ttl", "no TTL here, and no $TTL before");
      return;
    }
    last_ttl_ = ttl;
    add(type, type_token, *ttl, std::move(*rdata));
  }

  void report(const RdataProblem& wrong, Type type, const ZoneToken& type_token, std::span<const ZoneToken> words) {
    const ZoneToken& where = wrong.token < words.size() ? words[wrong.token]
                             : words.empty()            ? type_token
                                                        : words.back();
    if (wrong.lacks_origin) return lacks_origin(where);
    error(where, "zone-rdata", "not data of type " + to_string(type), wrong.expected);
  }

  void add(Type type, const ZoneToken& where, std::uint32_t ttl, std::string rdata) {
    if (++record_count_ > limits_.max_records) {
      is_full_ = true;
      return error(where, "zone-too-large", "more than " + std::to_string(limits_.max_records) + " records");
    }
    const text::Position place{where.line, where.column};
    const std::size_t position = index_.find_or_add(zone_.rrsets, *owner_, type);
    if (position == zone_.rrsets.size()) {
      zone_.rrsets.push_back({*owner_, type, ttl, {}});
      zone_.places.push_back(place);
    }
    RRset& set = zone_.rrsets[position];
    if (given_.was_given(set, position, rdata))
      return problem(Severity::warning, place, "zone-duplicate", "the record was given before");
    if (type == Type::soa && !set.rdata.empty()) return error(where, "zone-soa", "a second SOA");
    if (type == Type::cname && !set.rdata.empty()) return error(where, "zone-cname", "a second CNAME at one owner");
    if (set.ttl != ttl) {
      problem(Severity::warning, place, "zone-ttl-differs",
              "records of one owner and type have one TTL (RFC 2181 section 5.2); the smallest is taken");
      set.ttl = std::min(set.ttl, ttl);
    }
    set.rdata.push_back(std::move(rdata));
  }

  void check_zone() {
    const RRset* soa = nullptr;
    for (std::size_t i = 0; i < zone_.rrsets.size(); ++i) {
      const RRset& set = zone_.rrsets[i];
      if (set.type != Type::soa) continue;
      if (soa != nullptr)
        problem(Severity::error, zone_.places[i], "zone-soa", "a second SOA, with another owner",
                set.owner.to_string());
      if (soa == nullptr) soa = &set;
    }
    if (soa == nullptr) {
      // Records that could not be read may have held it.
      if (!problems_.has_errors()) problem(Severity::error, {}, "zone-soa", "the zone has no SOA");
      return;
    }
    zone_.apex = soa->owner;
    zone_.serial = serial_in(as_bytes(soa->rdata.front()));
    std::unordered_map<Name, std::size_t> types_at_alias;
    for (const RRset& set : zone_.rrsets)
      if (set.type == Type::cname) types_at_alias[set.owner] = 0;
    if (!types_at_alias.empty()) {
      for (const RRset& set : zone_.rrsets)
        if (const auto alias = types_at_alias.find(set.owner); alias != types_at_alias.end()) ++alias->second;
    }
    for (std::size_t i = 0; i < zone_.rrsets.size(); ++i) check_rrset(zone_.rrsets[i], zone_.places[i], types_at_alias);
  }

  void check_rrset(const RRset& set, text::Position place,
                   const std::unordered_map<Name, std::size_t>& types_at_alias) {
    if (!set.owner.is_below_or_equal(zone_.apex))
      problem(Severity::error, place, "zone-outside", "the owner is not in the zone " + zone_.apex.to_string(),
              set.owner.to_string());
    if (!fits_message(set))
      problem(Severity::error, place, "zone-rrset", "what this owner has of this type fits into no message",
              set.owner.to_string() + ' ' + to_string(set.type),
              std::to_string(kMaxRRsetBytes) + " bytes at most, with 12 for each record");
    if (set.type == Type::ns && set.owner.is_wildcard())
      problem(Severity::error, place, "zone-name-server",
              "a wildcard has no name servers: what they would mean is undefined (RFC 4592 section 4.2)",
              set.owner.to_string());
    if (set.type != Type::cname) return;
    if (set.owner == zone_.apex)
      problem(Severity::error, place, "zone-cname", "the apex can't be an alias (RFC 1912 section 2.4)",
              set.owner.to_string());
    else if (types_at_alias.at(set.owner) > 1)
      problem(Severity::error, place, "zone-cname", "an alias has no other records (RFC 1034 section 3.6.2)",
              set.owner.to_string());
  }

  const std::string& file_;
  ZoneLexer lexer_;
  std::optional<Name> origin_;
  const ZoneFileLimits& limits_;
  std::optional<Name> owner_;
  std::optional<std::uint32_t> default_ttl_, last_ttl_;
  // What could not be read has been reported; that it is missing elsewhere is no error of its own.
  bool is_origin_unknown_ = false, is_owner_unknown_ = false, is_ttl_unknown_ = false;
  std::size_t record_count_ = 0;
  bool is_full_ = false;
  RRsetIndex index_;
  GivenRdata given_;
  ZoneRecords zone_;
  Diagnostics problems_;
};

}  // namespace

Result<ZoneRecords, Diagnostics> parse_zone_file(const std::string& file, std::string_view text,
                                                 const std::optional<Name>& origin, const ZoneFileLimits& limits) {
  if (text.size() > limits.max_file_bytes) {
    Diagnostics problems;
    problems.add({Severity::error,
                  file,
                  0,
                  0,
                  {},
                  "zone-too-large",
                  "the file has more than " + std::to_string(limits.max_file_bytes) + " bytes",
                  {},
                  {}});
    return problems;
  }
  return Parser(file, text, origin, limits).run();
}

std::shared_ptr<const Zone> make_zone(ZoneRecords records) {
  return std::make_shared<const Zone>(std::move(records.apex), std::move(records.rrsets), records.serial);
}

}  // namespace hcpnet::dns

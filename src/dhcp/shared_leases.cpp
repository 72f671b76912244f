// SPDX-License-Identifier: Apache-2.0
#include "dhcp/shared_leases.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

namespace hcpnet::dhcp {
namespace {

constexpr unsigned kSuccess = 200, kUnauthorized = 401;
constexpr std::chrono::hours kUnreadableRests{1};

std::string describe(const runtime::HttpReply& reply) {
  if (!reply.problem.empty()) return reply.problem;
  const std::string message = etcd::parse_message(reply.body);
  return "status " + std::to_string(reply.status) + (message.empty() ? "" : ": " + message);
}

/// Its first line; nullopt: it can't be read.
std::optional<std::string> read_password(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) && line.empty()) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace

SharedLeases::SharedLeases(SharedLeasesHost host, SharedStore store, std::string server, Identity identity,
                           const SharedLeasesLimits& limits)
    : host_(std::move(host)),
      store_(std::move(store)),
      server_(std::move(server)),
      rules_{identity, store_.max_skew},
      limits_(limits) {}

SharedLeases::~SharedLeases() {
  close();
}

void SharedLeases::start() {
  connect();
}

void SharedLeases::stop() {
  is_ready_ = false;
  end_claims();
  close();
}

void SharedLeases::close() {
  is_closed_ = true;
  is_ready_ = false;
  if (next_) host_.timers.cancel(*std::exchange(next_, {}));
  if (requests_) requests_->close();
  if (changes_) changes_->close();
  waiting_.clear();
  sent_.clear();
}

std::chrono::sys_seconds SharedLeases::now() const {
  return std::chrono::floor<std::chrono::seconds>(host_.timers.clock().system_now());
}

// --- the connection

void SharedLeases::connect() {
  const std::string& text = store_.endpoints[endpoint_ % store_.endpoints.size()];
  const auto endpoint = parse_store_endpoint(text);
  if (!endpoint) return go_away("no endpoint: " + text);
  const runtime::HttpPeer peer{endpoint->is_encrypted,  endpoint->host,  endpoint->port,    store_.ca_file,
                               store_.certificate_file, store_.key_file, store_.server_name};
  for (auto* connection : {&requests_, &changes_}) {
    if (*connection) (*connection)->close();
    *connection = std::make_shared<runtime::HttpConnection>(host_.executor, host_.timers, peer, limits_.http);
  }
  authenticate([this] {
    if (is_loaded_) return watch();
    read_all();
  });
}

void SharedLeases::authenticate(std::function<void()> then) {
  token_.clear();
  if (store_.username.empty()) return then();
  const auto password = read_password(store_.password_file);
  if (!password) return go_away("the password file " + store_.password_file + " can't be read");
  requests_->post(etcd::kAuthenticate, {}, etcd::authenticate_body(store_.username, *password),
                  [this, then = std::move(then)](const runtime::HttpReply& reply) {
                    const auto token = reply.status == kSuccess ? etcd::parse_token(reply.body) : std::nullopt;
                    if (!token) return go_away("the login failed: " + describe(reply));
                    token_ = *token;
                    then();
                  });
}

void SharedLeases::read_all() {
  known_.clear();
  is_told_ = false;
  read_page(keys(), 0);
}

/// All pages are of the revision of the first one.
void SharedLeases::read_page(std::string first, std::int64_t revision) {
  requests_->post(etcd::kRange, token_, etcd::range_body(first, etcd::end_of(keys()), limits_.page, revision),
                  [this, revision](const runtime::HttpReply& reply) {
                    const auto page = reply.status == kSuccess ? etcd::parse_range(reply.body) : std::nullopt;
                    if (!page) return go_away("the leases can't be read: " + describe(reply));
                    std::vector<Lease> told;
                    for (const etcd::KeyValue& one : page->found) learn(one, told);
                    tell(told);
                    const std::int64_t of_all = revision == 0 ? page->revision : revision;
                    if (page->has_more && !page->found.empty()) return read_page(page->found.back().key + '\0', of_all);
                    revision_ = of_all;
                    is_loaded_ = true;
                    watch();
                  });
}

void SharedLeases::watch() {
  changes_->stream(
      etcd::kWatch, token_, etcd::watch_body(keys(), revision_ + 1),
      [this](std::string_view line) { on_changes(line); },
      [this](const std::string& why) { go_away("changes are not told any more: " + why); });
}

void SharedLeases::on_changes(std::string_view line) {
  const auto changes = etcd::parse_changes(line);
  if (!changes) return go_away("what was told of changes can't be understood");
  // Changes since then are no longer known, or it is not the store that it was: all of it is read again.
  const bool is_another = changes->is_over || (changes->is_created && changes->revision < revision_);
  if (is_another) {
    is_loaded_ = false;
    return go_away("the leases have to be read again" + (changes->reason.empty() ? "" : ": " + changes->reason));
  }
  std::vector<Lease> told;
  std::int64_t last = revision_;
  for (const auto* list : {&changes->puts, &changes->deletions})
    for (const etcd::KeyValue& one : *list) last = std::max(last, one.revision);
  for (const etcd::KeyValue& one : changes->puts) learn(one, told);
  for (const etcd::KeyValue& one : changes->deletions) {
    const auto address = parse_shared_lease_key(store_.prefix, one.key);
    const auto known = address ? known_.find(*address) : known_.end();
    if (known != known_.end() && known->second.revision < one.revision) known_.erase(known);
  }
  // The store may be further than what it has told; and a revision that goes on in the next line is not told yet.
  revision_ = changes->has_more ? std::max(revision_, last - 1) : last;
  tell(told);
  if (changes->is_created) become_ready();
}

void SharedLeases::become_ready() {
  is_ready_ = true;
  problem_.clear();
  host_.log.info("shared store reached", {{"endpoint", store_.endpoints[endpoint_ % store_.endpoints.size()]},
                                          {"prefix", store_.prefix},
                                          {"addresses", std::to_string(known_.size())}});
  if (!std::exchange(is_told_, true)) host_.on_loaded();
  ask_again();
}

void SharedLeases::go_away(const std::string& why) {
  if (is_closed_) return;
  const bool was_ready = std::exchange(is_ready_, false);
  if (was_ready) ++stats_.losses;
  problem_ = printable(store_.endpoints[endpoint_ % store_.endpoints.size()] + ": " + why);
  // Once per endpoint, not as often as it is tried.
  if (was_ready || failures_ < store_.endpoints.size()) host_.log.error("shared store lost", {{"reason", problem_}});
  has_new_login_ = false;
  for (const auto* connection : {&requests_, &changes_})
    if (*connection) (*connection)->close();
  if (next_) host_.timers.cancel(*std::exchange(next_, {}));
  ++endpoint_;
  const bool is_round_over = ++failures_ % store_.endpoints.size() == 0;
  const std::chrono::nanoseconds pause = is_round_over ? limits_.ask_again : std::chrono::seconds(0);
  next_ = host_.timers.after(pause, [this] {
    next_.reset();
    connect();
  });
  end_claims();
}

/// What was sent may have been written or not.
void SharedLeases::end_claims() {
  std::vector<Claim> failed = std::exchange(sent_, {});
  for (Claim& claim : std::exchange(waiting_, {})) failed.push_back(std::move(claim));
  for (Claim& claim : failed) {
    if (!claim.done && !claim.leases.empty()) is_told_ = false;  // nobody else asks for it again
    end(claim, Result::unreachable);
  }
}

/// That it is still there is found out when nobody has a question.
void SharedLeases::ask_again() {
  next_ = host_.timers.after(limits_.ask_again, [this] {
    next_.reset();
    if (sent_.empty() && waiting_.empty()) {
      Claim nothing;
      nothing.step.reads.push_back(keys());
      waiting_.push_back(std::move(nothing));
      pump();
    }
    if (is_ready_) ask_again();
  });
}

// --- claims

void SharedLeases::claim(std::vector<Lease> leases, Done done) {
  Claim claim{std::move(leases), std::move(done)};
  if (!is_ready_ || (claim.done && !has_room())) return end(claim, Result::unreachable);
  waiting_.push_back(std::move(claim));
  pump();
}

void SharedLeases::look_at(Ipv4 address, Done done) {
  Claim claim{{}, std::move(done)};
  if (!is_ready_ || !has_room()) return end(claim, Result::unreachable);
  claim.step.reads.push_back(shared_lease_key(store_.prefix, address));
  waiting_.push_back(std::move(claim));
  pump();
}

void SharedLeases::end(Claim& claim, Result result) {
  static constexpr const char* kNames[] = {"owned", "lost", "unreachable"};
  if (!claim.leases.empty()) ++stats_.claims[kNames[static_cast<std::size_t>(result)]];
  if (const Done done = std::exchange(claim.done, nullptr)) done(result);
}

/// Makes the step that writes the claim. What is decided without one is returned.
std::optional<SharedLeases::Result> SharedLeases::prepare(Claim& claim) {
  if (claim.leases.empty()) return std::nullopt;
  claim.step.puts.clear();
  std::vector<Lease> told;
  for (const Lease& wanted : claim.leases) {
    const auto found = known_.find(wanted.address);
    const Known* known = found == known_.end() ? nullptr : &found->second;
    const bool is_free = known == nullptr || (known->lease && may_replace(*known->lease, wanted, rules_, now()));
    if (!is_free && wanted.state != LeaseState::bound) continue;
    if (!is_free) {
      told.push_back(known->lease.value_or(resting(wanted.address)));
      continue;
    }
    SharedLease written{wanted, server_};
    written.lease.subnet.clear();
    // What its client was promised before, perhaps by another server, stands.
    if (known != nullptr && known->lease->state == LeaseState::bound && wanted.state == LeaseState::bound &&
        is_same_client(*known->lease, wanted, rules_.identity))
      written.lease.expires = std::max(written.lease.expires, known->lease->expires);
    claim.step.puts.push_back({shared_lease_key(store_.prefix, wanted.address), render_shared_lease(written),
                               known == nullptr ? 0 : known->revision});
  }
  if (!told.empty()) {
    tell(told);
    return Result::lost;
  }
  if (claim.step.puts.empty()) return Result::owned;  // there is nothing to write
  return std::nullopt;
}

/// Who is told of an end may claim again at once: that waits until the batch is made.
void SharedLeases::pump() {
  if (is_pumping_ || !is_ready_ || !sent_.empty()) return;
  is_pumping_ = true;
  std::vector<Claim> batch;
  std::set<std::string> written;
  while (is_ready_ && !waiting_.empty() && batch.size() < limits_.max_batch) {
    Claim claim = std::move(waiting_.front());
    waiting_.pop_front();
    if (const auto result = prepare(claim)) {
      end(claim, *result);
      continue;
    }
    const bool is_apart =
        std::ranges::none_of(claim.step.puts, [&](const etcd::Put& put) { return written.contains(put.key); });
    if (!is_apart) {  // the next transaction has it, and knows what this one did
      waiting_.push_front(std::move(claim));
      break;
    }
    for (const etcd::Put& put : claim.step.puts) written.insert(put.key);
    batch.push_back(std::move(claim));
  }
  is_pumping_ = false;
  if (!is_ready_ || batch.empty()) return;
  sent_ = std::move(batch);
  send();
}

void SharedLeases::send() {
  std::vector<etcd::Step> steps;
  for (const Claim& claim : sent_) steps.push_back(claim.step);
  requests_->post(etcd::kTxn, token_, etcd::txn_body(steps),
                  [this](const runtime::HttpReply& reply) { on_written(reply); });
}

void SharedLeases::on_written(const runtime::HttpReply& reply) {
  if (reply.status == kUnauthorized && !store_.username.empty() && !std::exchange(has_new_login_, true))
    return authenticate([this] { send(); });  // a login ends after a while
  has_new_login_ = false;
  const auto txn = reply.status == kSuccess ? etcd::parse_txn(reply.body) : std::nullopt;
  if (!txn || txn->steps.size() != sent_.size()) return go_away("a lease was not written: " + describe(reply));
  failures_ = 0;  // and not before: one that can be read but not written is no better than one that is not there
  std::vector<Claim> sent = std::exchange(sent_, {});
  std::vector<Claim> again;
  std::vector<std::pair<Claim*, Result>> ended;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (const auto result = settle(sent[i], txn->steps[i], txn->revision))
      ended.emplace_back(&sent[i], *result);
    else
      again.push_back(std::move(sent[i]));
  }
  for (auto claim = again.rbegin(); claim != again.rend(); ++claim) waiting_.push_front(std::move(*claim));
  for (const auto& [claim, result] : ended) {
    end(*claim, result);
    if (is_closed_) return;
  }
  pump();
}

/// nullopt: it is worth another try.
std::optional<SharedLeases::Result> SharedLeases::settle(Claim& claim, const etcd::StepOutcome& outcome,
                                                         std::int64_t revision) {
  std::vector<Lease> told;
  if (claim.leases.empty()) {
    for (const etcd::KeyValue& one : outcome.found) learn(one, told);
    tell(told);
    return told.empty() ? Result::owned : Result::lost;
  }
  // It may be there already, written before an answer was lost.
  const bool is_there = std::ranges::all_of(claim.step.puts, [&](const etcd::Put& put) {
    return std::ranges::any_of(outcome.found,
                               [&](const etcd::KeyValue& one) { return one.key == put.key && one.value == put.value; });
  });
  bool is_latest = true;
  for (const etcd::Put& put : claim.step.puts) {
    const auto address = parse_shared_lease_key(store_.prefix, put.key);
    const auto found = std::ranges::find(outcome.found, put.key, &etcd::KeyValue::key);
    if (outcome.is_written || is_there) {
      Known& known = known_[*address];
      const std::int64_t written = outcome.is_written ? revision : found->revision;
      is_latest = is_latest && known.revision <= written;
      if (known.revision > written) continue;  // its watch has told of a later one
      const auto parsed = parse_shared_lease(*address, put.value);
      known = {written, parsed ? std::optional(parsed->lease) : std::nullopt};
    } else if (found == outcome.found.end()) {
      known_.erase(*address);
    } else {
      learn(*found, told);
    }
  }
  if (outcome.is_written || is_there) return is_latest ? Result::owned : Result::lost;
  tell(told);
  // What gives an address back was said before somebody else wrote: perhaps its client has got it again since.
  const bool is_return =
      std::ranges::all_of(claim.leases, [](const Lease& l) { return l.state == LeaseState::released; });
  if (!is_return && ++claim.tries < limits_.max_tries) return std::nullopt;
  return Result::lost;
}

// --- what others write

bool SharedLeases::is_being_written(const etcd::KeyValue& one) const {
  return std::ranges::any_of(sent_, [&](const Claim& claim) {
    return std::ranges::any_of(claim.step.puts,
                               [&](const etcd::Put& put) { return put.key == one.key && put.value == one.value; });
  });
}

Lease SharedLeases::resting(Ipv4 address) const {
  Lease lease;
  lease.address = address;
  lease.state = LeaseState::declined;
  lease.started = now();
  lease.expires = now() + kUnreadableRests;
  return lease;
}

void SharedLeases::learn(const etcd::KeyValue& one, std::vector<Lease>& told) {
  const auto address = parse_shared_lease_key(store_.prefix, one.key);
  if (!address) return;
  const auto found = known_.find(*address);
  if (found == known_.end() && known_.size() >= limits_.max_known) return;
  if (found != known_.end() && found->second.revision >= one.revision) return;
  const auto parsed = parse_shared_lease(*address, one.value);
  known_.insert_or_assign(*address, Known{one.revision, parsed ? std::optional(parsed->lease) : std::nullopt});
  if (is_being_written(one)) return;
  if (!parsed) ++stats_.unreadable;
  ++stats_.taken;
  told.push_back(parsed ? parsed->lease : resting(*address));
}

void SharedLeases::tell(const std::vector<Lease>& told) {
  if (!told.empty()) host_.on_taken(told);
}

}  // namespace hcpnet::dhcp

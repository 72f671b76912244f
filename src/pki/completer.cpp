// SPDX-License-Identifier: Apache-2.0
#include "pki/completer.hpp"
#include <algorithm>
#include <utility>

#include "pki/openssl.hpp"

namespace hcpnet::pki {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string describe(const DistinguishedName& name) {
  return "CN=" + name.common_name + (name.organizations.empty() ? "" : ", O=" + joined(name.organizations));
}

/// What of the profile is another, in a few words; the first difference is enough to see why.
std::string profile_fault(const CertificateProfile& wanted, const CertificateInfo& info) {
  const CertificateProfile& is = info.profile;
  if (is.subject != wanted.subject)
    return "its subject is " + describe(is.subject) + ", not " + describe(wanted.subject);
  if (is.is_authority != wanted.is_authority) return "it is an authority";
  if (is.server_auth != wanted.server_auth)
    return wanted.server_auth ? "it lacks the usage serverAuth" : "it has the usage serverAuth";
  if (is.client_auth != wanted.client_auth)
    return wanted.client_auth ? "it lacks the usage clientAuth" : "it has the usage clientAuth";
  if (is.dns_names != wanted.dns_names || is.addresses != wanted.addresses) return "its alternative names are others";
  return info.is_plain ? "" : "it holds names, usages or attributes that do not belong there";
}

/// OpenSSL's own is a macro, of which no deleter can be made.
void free_stack(STACK_OF(X509) * certificates) {
  sk_X509_free(certificates);
}

/// Why no chain of `leaf` through the authorities above it is good for a purpose of OpenSSL's, in its words; empty when
/// one is. Their ends are looked at elsewhere. Specification: RFC 5280 section 6.
std::string chain_fault(const Certificate& leaf, const std::vector<Certificate>& above, int purpose) {
  const Owned<X509_STORE, X509_STORE_free> trusted(require(X509_STORE_new()));
  const Owned<STACK_OF(X509), free_stack> between(require(sk_X509_new_null()));
  const bool has_root = std::ranges::any_of(above, &Certificate::is_self_signed);
  for (const Certificate& authority : above) {
    // The root of an authority that was imported may not be here.
    if (!has_root || authority.is_self_signed())
      require(X509_STORE_add_cert(trusted.get(), authority.handle()) == 1);
    else
      require(sk_X509_push(between.get(), authority.handle()) > 0);
  }
  const Owned<X509_STORE_CTX, X509_STORE_CTX_free> context(require(X509_STORE_CTX_new()));
  require(X509_STORE_CTX_init(context.get(), trusted.get(), leaf.handle(), between.get()) == 1);
  X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(context.get());
  require(X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME) == 1);
  // Like Go, which is what checks these clients: a common name is no host name.
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  require(X509_VERIFY_PARAM_set_purpose(rules, purpose) == 1);
  const bool is_good = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  return is_good ? "" : X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()));
}

}  // namespace

Result<StoredPki, Diagnostics> Completer::run() {
  for (const auto& [name, imported] : options_.imports) {
    const PlannedCertificate* planned = plan_.find(name);
    if (planned == nullptr || !planned->profile.is_authority)
      report("pki-unknown-authority", imported.certificate_file, "this layout has no authority " + name);
  }
  for (const PlannedCertificate& planned : plan_.certificates) {
    const auto imported = options_.imports.find(planned.name);
    if (imported != options_.imports.end() && planned.profile.is_authority)
      import_authority(planned, imported->second);
    else if (is_missing_issuer(planned))
      continue;  // reported where it was found
    else if (planned.profile.is_authority)
      complete_authority(planned);
    else
      complete_leaf(planned);
  }
  for (const std::string& name : plan_.key_pairs) complete_key_pair(name);
  if (!problems_.has_errors()) check_chains();
  if (problems_.has_errors()) return problems_;
  for (const PlannedBundle& bundle : plan_.bundles) complete_bundle(bundle);
  return std::move(pki_);
}

void Completer::complete_authority(const PlannedCertificate& planned) {
  const std::string certificate_file = planned.name + ".crt", key_file = planned.name + ".key";
  const Secret* certificate_text = text_of(certificate_file);
  const Secret* key_text = text_of(key_file);
  if (key_text == nullptr && certificate_text == nullptr)
    return issue_with(planned, PrivateKey::generate(options_.algorithm), StoreAction::made, "");
  if (key_text == nullptr)
    return report("pki-missing-key", path_of(key_file),
                  "the key of this authority is not there; remove " + certificate_file +
                      " too to make a new authority, and with it everything below it");
  const auto key = parse_private_key(key_text->reveal());
  if (!key) return report("pki-bad-key", path_of(key_file), key.error().message());
  if (certificate_text == nullptr) return issue_with(planned, *key, StoreAction::made, "for the key that was there");
  auto certificates = parse_certificates(certificate_text->reveal());
  if (!certificates) return report("pki-bad-certificate", path_of(certificate_file), certificates.error().message());
  const Certificate& certificate = certificates->front();
  if (!certificate.has_key(*key))
    return report("pki-key-mismatch", path_of(key_file), "this is not the key of " + certificate_file);
  if (!check_authority(planned, certificate, path_of(certificate_file))) return;

  // One with another subject is somebody else's: it is used as it is, and only its owner can renew it.
  const bool is_ours = certificate.info().profile.subject == planned.profile.subject;
  const StoredIdentity* issuer = issuer_of(planned);
  const bool is_rightly_issued =
      issuer != nullptr ? certificate.is_issued_by(issuer->identity.certificate) : certificate.is_self_signed();
  if (is_ours && !is_rightly_issued)
    return issue_with(planned, *key, StoreAction::replaced, "it was signed by another authority");
  if (is_ours && is_due(planned, certificate.info())) return issue_with(planned, *key, StoreAction::renewed, "");
  std::vector<Certificate> chain(certificates->begin() + 1, certificates->end());
  store(planned.name, {{certificate, *key}, std::move(chain)}, StoreAction::kept, "");
}

void Completer::import_authority(const PlannedCertificate& planned, const ImportedAuthority& imported) {
  const auto certificates = parse_certificates(imported.certificate);
  if (!certificates) return report("pki-bad-certificate", imported.certificate_file, certificates.error().message());
  const auto key = parse_private_key(imported.key.reveal());
  if (!key) return report("pki-bad-key", imported.key_file, key.error().message());
  const Certificate& certificate = certificates->front();
  if (!certificate.has_key(*key))
    return report("pki-key-mismatch", imported.key_file, "this is not the key of " + imported.certificate_file);
  if (!check_authority(planned, certificate, imported.certificate_file)) return;
  const Secret* present = text_of(planned.name + ".crt");
  const auto before = present != nullptr ? parse_certificates(present->reveal()) : Errc::not_pem;
  const bool is_same = before && before->front().fingerprint() == certificate.fingerprint();
  std::vector<Certificate> chain(certificates->begin() + 1, certificates->end());
  store(planned.name, {{certificate, *key}, std::move(chain)}, is_same ? StoreAction::kept : StoreAction::imported, "");
}

bool Completer::check_authority(const PlannedCertificate& planned, const Certificate& certificate,
                                const std::string& file) {
  const CertificateInfo& info = certificate.info();
  const std::size_t before = problems_.error_count();
  const int below = authorities_below(planned.name);
  if (!info.may_sign)
    report("pki-not-authority", file, "this certificate may not sign others");
  else if (options_.now > info.not_after)
    report(
        "pki-expired", file,
        "this authority ended at " + to_string(info.not_after) + "; with a new one everything below it is made anew");
  else if (options_.now < info.not_before)
    report("pki-not-yet-valid", file, "this authority begins at " + to_string(info.not_before));
  else if (info.path_length && *info.path_length < below)
    report("pki-path-length", file,
           "pathlen:" + std::to_string(*info.path_length) + " forbids the " + std::to_string(below) +
               " authorities below this one: no chain through them is valid");
  return problems_.error_count() == before;
}

int Completer::authorities_below(const std::string& name) const {
  int depth = 0;
  for (const PlannedCertificate& other : plan_.certificates)
    if (other.issuer == name && other.profile.is_authority) depth = std::max(depth, 1 + authorities_below(other.name));
  return depth;
}

void Completer::check_chains() {
  std::set<std::string> reported;  // one authority is one problem, whatever it signed
  for (const PlannedCertificate& planned : plan_.certificates) {
    if (planned.profile.is_authority) continue;
    std::vector<Certificate> above;
    std::string foreign;
    for (const PlannedCertificate* step = plan_.find(planned.issuer); step != nullptr;) {
      const StoredIdentity& authority = pki_.identities.find(step->name)->second;
      const Certificate& certificate = authority.identity.certificate;
      above.push_back(certificate);
      above.insert(above.end(), authority.chain.begin(), authority.chain.end());
      const auto imported = options_.imports.find(step->name);
      if (foreign.empty() && imported != options_.imports.end())
        foreign = imported->second.certificate_file;
      else if (foreign.empty() && certificate.info().profile.subject != step->profile.subject)
        foreign = path_of(step->name + ".crt");
      // One that was imported may have come from elsewhere than the plan has it.
      const StoredIdentity* issuer = issuer_of(*step);
      if (issuer == nullptr || !certificate.is_issued_by(issuer->identity.certificate)) break;
      step = plan_.find(step->issuer);
    }
    if (foreign.empty()) continue;  // ours sign what they are made for
    const Certificate& leaf = pki_.identities.find(planned.name)->second.identity.certificate;
    std::string fault;
    if (planned.profile.server_auth) fault = chain_fault(leaf, above, X509_PURPOSE_SSL_SERVER);
    if (fault.empty() && planned.profile.client_auth) fault = chain_fault(leaf, above, X509_PURPOSE_SSL_CLIENT);
    if (!fault.empty() && reported.insert(foreign).second)
      report("pki-bad-chain", foreign, "with this authority no chain of " + planned.name + " is valid: " + fault);
  }
}

void Completer::complete_leaf(const PlannedCertificate& planned) {
  const Secret* certificate_text = text_of(planned.name + ".crt");
  const Secret* key_text = text_of(planned.name + ".key");
  const auto make = [&](StoreAction action, std::string reason) {
    issue_with(planned, PrivateKey::generate(options_.algorithm), action, std::move(reason));
  };
  if (certificate_text == nullptr && key_text == nullptr) return make(StoreAction::made, "");
  if (certificate_text == nullptr) return make(StoreAction::replaced, "its certificate was not there");
  if (key_text == nullptr) return make(StoreAction::replaced, "its key was not there");
  const auto certificates = parse_certificates(certificate_text->reveal());
  if (!certificates) return make(StoreAction::replaced, certificates.error().message());
  const auto key = parse_private_key(key_text->reveal());
  if (!key) return make(StoreAction::replaced, key.error().message());
  std::string fault = leaf_fault(planned, {*certificates, *key});
  if (!fault.empty()) return make(StoreAction::replaced, std::move(fault));
  const CertificateInfo& info = certificates->front().info();
  if (options_.now > info.not_after) return make(StoreAction::renewed, "it ended at " + to_string(info.not_after));
  if (is_due(planned, info)) return make(StoreAction::renewed, "");
  store(planned.name, {{certificates->front(), *key}, {}}, StoreAction::kept, "");
}

std::string Completer::leaf_fault(const PlannedCertificate& planned, const Found& found) const {
  const Certificate& certificate = found.certificates.front();
  if (!certificate.has_key(*found.key)) return "its key was another";
  if (found.key->algorithm() != options_.algorithm)
    return "its key was " + std::string(to_string(found.key->algorithm())) + ", not " +
           std::string(to_string(options_.algorithm));
  if (!certificate.is_issued_by(issuer_of(planned)->identity.certificate)) return "it was signed by another authority";
  if (options_.now < certificate.info().not_before) return "it begins at " + to_string(certificate.info().not_before);
  return profile_fault(planned.profile, certificate.info());
}

bool Completer::is_due(const PlannedCertificate& planned, const CertificateInfo& info) const {
  if (options_.now < info.not_after - renewal_time(options_.renew_before, planned.lifetime)) return false;
  // Below an authority that ends itself a new one would be no better.
  Time end = options_.now + planned.lifetime;
  if (const StoredIdentity* issuer = issuer_of(planned))
    end = std::min(end, issuer->identity.certificate.info().not_after);
  return end > info.not_after;
}

void Completer::complete_key_pair(const std::string& name) {
  const Secret* text = text_of(name + ".key");
  StoreAction action = StoreAction::kept;
  std::optional<PrivateKey> key;
  if (text == nullptr) {
    action = StoreAction::made;
    key = PrivateKey::generate(options_.algorithm);
  } else {
    const auto parsed = parse_private_key(text->reveal());
    // Tokens that were signed with it would become void: not for this to decide.
    if (!parsed) return report("pki-bad-key", path_of(name + ".key"), parsed.error().message());
    key = *parsed;
  }
  pki_.files.push_back({name + ".key", key->to_pem(), 0600});
  pki_.files.push_back({name + ".pub", Secret(key->public_pem()), 0644});
  pki_.key_pairs.emplace(name, *key);
  pki_.changes.push_back({name, action, "", {}});
}

void Completer::complete_bundle(const PlannedBundle& bundle) {
  std::string pem;
  for (const std::string& name : bundle.certificates) pem += pki_.identities.at(name).identity.certificate.to_pem();
  pki_.files.push_back({bundle.name + ".crt", Secret(pem), 0644});
  pki_.bundles.emplace(bundle.name, std::move(pem));
}

std::vector<Certificate> Completer::chain_above(const PlannedCertificate& planned) const {
  std::vector<Certificate> chain;
  for (const PlannedCertificate* step = plan_.find(planned.issuer); step != nullptr; step = plan_.find(step->issuer)) {
    const StoredIdentity& authority = pki_.identities.find(step->name)->second;
    if (authority.identity.certificate.is_self_signed()) break;
    chain.push_back(authority.identity.certificate);
    if (authority.chain.empty()) continue;
    // A foreign authority brought its own way up.
    for (const Certificate& above : authority.chain)
      if (!above.is_self_signed()) chain.push_back(above);
    break;
  }
  return chain;
}

const StoredIdentity* Completer::issuer_of(const PlannedCertificate& planned) const {
  const auto found = pki_.identities.find(planned.issuer);
  return found == pki_.identities.end() ? nullptr : &found->second;
}

bool Completer::is_missing_issuer(const PlannedCertificate& planned) const {
  return !planned.issuer.empty() && issuer_of(planned) == nullptr;
}

const Secret* Completer::text_of(const std::string& file) const {
  const auto found = existing_.find(file);
  return found == existing_.end() ? nullptr : &found->second;
}

void Completer::report(std::string_view code, const std::string& file, std::string message) {
  Diagnostic d;
  d.file = file;
  d.code = std::string(code);
  d.message = std::move(message);
  problems_.add(std::move(d));
}

void Completer::issue_with(const PlannedCertificate& planned, const PrivateKey& key, StoreAction action,
                           std::string reason) {
  const StoredIdentity* issuer = issuer_of(planned);
  Certificate certificate =
      issue(planned.profile, key, issuer != nullptr ? &issuer->identity : nullptr, {options_.now, planned.lifetime});
  store(planned.name, {{std::move(certificate), key}, {}}, action, std::move(reason));
}

void Completer::store(const std::string& name, StoredIdentity identity, StoreAction action, std::string reason) {
  const PlannedCertificate& planned = *plan_.find(name);
  // A server sends what stands between it and the root (RFC 8446 section 4.4.2); an authority's file is what others
  // trust.
  if (!planned.profile.is_authority) identity.chain = chain_above(planned);
  pki_.changes.push_back({name, action, std::move(reason), identity.identity.certificate.info().not_after});
  pki_.files.push_back({name + ".key", identity.identity.key.to_pem(), 0600});
  pki_.files.push_back({name + ".crt", Secret(identity.chain_pem()), 0644});
  pki_.identities.insert_or_assign(name, std::move(identity));
}

}  // namespace hcpnet::pki

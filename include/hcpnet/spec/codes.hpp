// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

/// Kinds of problem that loading, checking and observing can find, besides those of hcpnet/text/codes.hpp. docs/spec.md
/// explains each.
namespace hcpnet::spec::code {

inline constexpr std::string_view address_in_range = "address-in-range";
inline constexpr std::string_view address_outside_cidr = "address-outside-cidr";
inline constexpr std::string_view address_reserved = "address-reserved";
inline constexpr std::string_view addresses_collide = "addresses-collide";
inline constexpr std::string_view bad_address = "bad-address";
inline constexpr std::string_view bad_choice = "bad-choice";
inline constexpr std::string_view bad_cidr = "bad-cidr";
inline constexpr std::string_view bad_combination = "bad-combination";
inline constexpr std::string_view bad_duration = "bad-duration";
inline constexpr std::string_view bad_endpoint = "bad-endpoint";
inline constexpr std::string_view bad_hostname = "bad-hostname";
inline constexpr std::string_view bad_name = "bad-name";
inline constexpr std::string_view bad_nodes = "bad-nodes";
inline constexpr std::string_view bad_option_value = "bad-option-value";
inline constexpr std::string_view bad_range = "bad-range";
inline constexpr std::string_view bad_record = "bad-record";
inline constexpr std::string_view bad_reference = "bad-reference";
inline constexpr std::string_view bad_template = "bad-template";
inline constexpr std::string_view bad_version = "bad-version";
inline constexpr std::string_view claim_lost = "claim-lost";
inline constexpr std::string_view domains_overlap = "domains-overlap";
inline constexpr std::string_view dropped_field = "dropped-field";
inline constexpr std::string_view duplicate_cluster = "duplicate-cluster";
inline constexpr std::string_view duplicate_hostname = "duplicate-hostname";
inline constexpr std::string_view duplicate_name = "duplicate-name";
inline constexpr std::string_view duplicate_object = "duplicate-object";
inline constexpr std::string_view duplicate_policy = "duplicate-policy";
inline constexpr std::string_view duplicate_prefix = "duplicate-prefix";
inline constexpr std::string_view empty_list = "empty-list";
inline constexpr std::string_view empty_pool = "empty-pool";
inline constexpr std::string_view even_control_plane = "even-control-plane";
inline constexpr std::string_view forward_loop = "forward-loop";
inline constexpr std::string_view guessed_namespace = "guessed-namespace";
inline constexpr std::string_view missing_field = "missing-field";
inline constexpr std::string_view mixed_forms = "mixed-forms";
inline constexpr std::string_view networks_overlap = "networks-overlap";
inline constexpr std::string_view no_component = "no-component";
inline constexpr std::string_view no_documents = "no-documents";
inline constexpr std::string_view other_namespace = "other-namespace";
inline constexpr std::string_view out_of_range = "out-of-range";
inline constexpr std::string_view pool_outside_cidr = "pool-outside-cidr";
inline constexpr std::string_view prefix_mismatch = "prefix-mismatch";
inline constexpr std::string_view range_reversed = "range-reversed";
inline constexpr std::string_view ranges_overlap = "ranges-overlap";
inline constexpr std::string_view too_few_items = "too-few-items";
inline constexpr std::string_view too_many_items = "too-many-items";
inline constexpr std::string_view ttl_differs = "ttl-differs";
inline constexpr std::string_view unknown_field = "unknown-field";
inline constexpr std::string_view unknown_kind = "unknown-kind";
inline constexpr std::string_view unreadable_file = "unreadable-file";
inline constexpr std::string_view unsupported_version = "unsupported-version";
inline constexpr std::string_view unused_port = "unused-port";
inline constexpr std::string_view vip_unusable = "vip-unusable";
inline constexpr std::string_view wrong_type = "wrong-type";
inline constexpr std::string_view zone_apex = "zone-apex";

inline constexpr std::array all{address_in_range,   address_outside_cidr, address_reserved,
                                addresses_collide,  bad_address,          bad_choice,
                                bad_cidr,           bad_combination,      bad_duration,
                                bad_endpoint,       bad_hostname,         bad_name,
                                bad_nodes,          bad_option_value,     bad_range,
                                bad_record,         bad_reference,        bad_template,
                                bad_version,        claim_lost,           domains_overlap,
                                dropped_field,      duplicate_cluster,    duplicate_hostname,
                                duplicate_name,     duplicate_object,     duplicate_policy,
                                duplicate_prefix,   empty_list,           empty_pool,
                                even_control_plane, forward_loop,         guessed_namespace,
                                missing_field,      mixed_forms,          networks_overlap,
                                no_component,       no_documents,         other_namespace,
                                out_of_range,       pool_outside_cidr,    prefix_mismatch,
                                range_reversed,     ranges_overlap,       too_few_items,
                                too_many_items,     ttl_differs,          unknown_field,
                                unknown_kind,       unreadable_file,      unsupported_version,
                                unused_port,        vip_unusable,         wrong_type,
                                zone_apex};

}  // namespace hcpnet::spec::code

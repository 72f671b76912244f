// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "proxy/connection.hpp"

namespace hcpnet::proxy {

/// Judges who the client is, counts the connection towards the limit of its source, and counts refusals. The reason to
/// close it, if any.
[[nodiscard]] std::optional<CloseReason> admit(Worker& worker, const Listener& listener, ConnectionRecord& record);

/// Counts one more connection as open at this listener where there is room for it; otherwise the refusal is counted and
/// now and then logged.
[[nodiscard]] bool take_room(Worker& worker, const Listener& listener, ListenerState& state, const Endpoint& client);
/// The record of a new connection, for which room has been taken.
[[nodiscard]] ConnectionRecord open_record(Worker& worker, const std::shared_ptr<ListenerState>& listener,
                                           const Endpoint& client, Protocol protocol);
/// Enters the decision for this greeting, and counts it. Null: close it.
[[nodiscard]] const Backend* decide(Worker& worker, const RouteTable& table, ConnectionRecord& record,
                                    Greeting greeting);

/// An interface that was there when the configuration was checked.
void note_failed_rebind(Worker& worker, const Listener& listener, const error_code& ec);

}  // namespace hcpnet::proxy

// SPDX-License-Identifier: Apache-2.0
#include "reconcile/json_fields.hpp"

namespace hcpnet::reconcile {

using Json = nlohmann::json;

const Json& json_at(const Json& value, std::string_view pointer) {
  static const Json none;
  const Json* here = &value;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t slash = pointer.find('/');
    if (!here->is_object()) return none;
    const auto member = here->find(std::string(pointer.substr(0, slash)));
    if (member == here->end()) return none;
    here = &*member;
    pointer = slash == std::string_view::npos ? std::string_view() : pointer.substr(slash);
  }
  return *here;
}

std::string string_at(const Json& value, std::string_view pointer) {
  const Json& found = json_at(value, pointer);
  return found.is_string() ? found.get<std::string>() : std::string();
}

bool flag_at(const Json& value, std::string_view pointer, bool otherwise) {
  const Json& found = json_at(value, pointer);
  return found.is_boolean() ? found.get<bool>() : otherwise;
}

std::string word_of(const Json& object, const char* field, std::string_view name) {
  const Json& words = json_at(json_at(object, "/metadata"), std::string("/") + field);
  if (!words.is_object()) return {};
  const auto word = words.find(std::string(name));
  return word != words.end() && word->is_string() ? word->get<std::string>() : std::string();
}

}  // namespace hcpnet::reconcile

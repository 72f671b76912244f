// SPDX-License-Identifier: Apache-2.0
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <hcpnet/text/yaml.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "text/source.hpp"
#include "text/tree_builder.hpp"

// yaml-cpp follows the grammar; what it lets through is refused here: quotes that are never closed, text behind the end
// of a document, empty keys, tags on nothing, tags beyond the core schema. So is what readers of YAML 1.1 take for
// something else: colons at the edge of a word in a flow collection, text beside a marker, late directives.
namespace hcpnet::text {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kFlowIndicators = ",[]{}";

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

/// What may stand before a node: "&anchor" and "!tag", in either order, with blanks and comments between.
struct Properties {
  bool has_tag = false;
  std::size_t content = 0;  ///< offset of what follows them
};

Properties skip_properties(std::string_view text, std::size_t offset) {
  Properties found;
  while (offset < text.size()) {
    if (text[offset] == '&' || text[offset] == '!') {
      found.has_tag |= text[offset] == '!';
      offset = std::min(text.find_first_of(kBlanks, offset), text.size());
    } else if (text[offset] == '#') {
      offset = std::min(text.find('\n', offset), text.size());
    } else if (kBlanks.find(text[offset]) != std::string_view::npos) {
      offset = std::min(text.find_first_not_of(kBlanks, offset), text.size());
    } else {
      break;
    }
  }
  found.content = offset;
  return found;
}

/// Offset behind the quote that closes the one at `open`; npos when there is none.
std::size_t end_of_quoted(std::string_view text, std::size_t open) {
  const char quote = text[open];
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != '\'') return i + 1;
      ++i;  // '' inside single quotes is a quote
    }
  }
  return std::string_view::npos;
}

constexpr std::size_t kNextKey = static_cast<std::size_t>(-1);
constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";

class Handler : public YAML::EventHandler {
 public:
  Handler(const Source& source, const LoadLimits& limits, Parsed& parsed)
      : source_(source), parsed_(parsed), tree_(source, limits, parsed.problems) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    const std::size_t offset = visit(mark);
    const std::string_view text = source_.text();
    if (text.substr(offset).starts_with("---")) {
      const std::size_t next = text.find_first_not_of(" \t", offset + 3);
      if (next != std::string_view::npos && !is_one_of(text[next], "\r\n#"))
        source_.stop(code::yaml_syntax, next, "a document begins on the line behind ---; kubectl reads no other");
    } else if (documents_ > 0) {
      // YAML lets a document follow a line "..." as well; kubectl then reads the first one only.
      source_.stop(code::yaml_syntax, offset,
                   "this belongs to nothing: the document before it has ended; a new one begins with ---");
    }
    ++documents_;
  }
  void OnDocumentEnd() override { parsed_.documents.push_back(tree_.take()); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::size_t offset = visit(mark);
    check_colon();
    Value value;
    if (skip_properties(source_.text(), offset).has_tag) {
      refuse_tag(offset, "a tag needs a value behind it");
      value.type = ValueType::invalid;
    }
    node(std::move(value), offset, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::size_t offset = visit(mark);
    scalar_.reset();
    tree_.alias(anchor, offset);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const std::size_t offset = visit(mark);
    watch_quotes(offset);
    note_end(offset, text);
    if (!collections_.empty() && collections_.back().is_flow) refuse_colon_at_edge(scalar_->first);
    if (text == "-") refuse_lone_dash(skip_properties(source_.text(), offset).content);
    Value value;
    value.text = text;
    value.type = type_of(tag, text, offset);
    value.flag = value.type == ValueType::boolean && (text.front() == 't' || text.front() == 'T');
    node(std::move(value), offset, anchor, tag == "?" && text == "<<");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    begin(ValueType::list, visit(mark), tag, "seq", anchor, style);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    begin(ValueType::map, visit(mark), tag, "map", anchor, style);
  }
  void OnMapEnd() override { end(); }

  /// Where a syntax error at `mark` is reported: at the quote that swallowed everything up to here, if there is one.
  [[noreturn]] void stop(const YAML::Mark& mark, const std::string& message) {
    const std::size_t offset = mark.pos < 0 ? source_.text().size() : static_cast<std::size_t>(mark.pos);
    if (quoted_ && offset < quoted_->second) stop_at_quote();
    source_.stop(code::yaml_syntax, offset, explain(offset, message));
  }

 private:
  /// yaml-cpp's words, with the usual cause and its remedy where there is one.
  [[nodiscard]] std::string explain(std::size_t offset, const std::string& message) const {
    const std::string_view text = source_.text();
    const std::size_t line_break = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
    const std::string_view line = text.substr(line_break == std::string_view::npos ? 0 : line_break + 1);
    if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos)
      return "a tab may not indent; use blanks";
    if (text.substr(offset).starts_with('*'))
      return "a value that begins with * is an alias, and nothing has this name; a wildcard needs quotes around it";
    if (message == "illegal map value")
      return "a key cannot stand here; the value before it needs quotes, or the indentation is wrong";
    if (message == "end of map not found")
      return "this fits no mapping that is open here; the indentation is wrong, or a quote closed too early";
    return message;
  }

  std::size_t visit(const YAML::Mark& mark) {
    const auto offset = static_cast<std::size_t>(std::max(mark.pos, 0));
    if (!collections_.empty() && collections_.back().indent == kNextKey)
      collections_.back().indent = source_.position(offset).column;
    // yaml-cpp ends a quoted scalar where a line is indented too little; then the next node lies before the closing
    // quote.
    if (quoted_ && offset > quoted_->first && offset < quoted_->second) stop_at_quote();
    return offset;
  }
  /// A word without a colon is no key; yaml-cpp takes it for one whose value is null.
  void check_colon() const {
    if (collections_.empty() || !collections_.back().is_block_map || !tree_.expects_value() || !scalar_) return;
    const std::string_view text = source_.text();
    const std::size_t next = std::min(text.find_first_not_of(" \t", scalar_->second), text.size());
    if (next >= text.size() || text[next] != ':')
      source_.stop(code::yaml_syntax, scalar_->first, "a key needs a colon behind it");
  }
  void note_end(std::size_t offset, const std::string& value) {
    const std::size_t content = skip_properties(source_.text(), offset).content;
    const bool is_quoted = quoted_ && quoted_->first == content;
    // A plain key stands on one line as it is; one that does not was never ended by a colon.
    scalar_ = {content, is_quoted ? quoted_->second : content + value.size()};
  }
  /// In a flow collection "-" begins a value only with more of it behind (YAML 1.2.2 section 7.3.3), which yaml-cpp
  /// does not hold.
  void refuse_lone_dash(std::size_t content) const {
    if (source_.text().substr(content).starts_with('-'))
      source_.stop(code::yaml_syntax, content, "a dash alone is no value; it needs quotes around it");
  }
  /// In a flow collection a colon before one of ,[]{} ends a key for YAML 1.2 and is part of the word for YAML 1.1; one
  /// that begins a word is a character of it for YAML 1.2 and ends an empty key for YAML 1.1.
  void refuse_colon_at_edge(std::size_t content) const {
    const std::string_view text = source_.text();
    if (content >= text.size() || is_one_of(text[content], "\"'")) return;
    if (text[content] == ':')
      source_.stop(code::yaml_syntax, content, "a value that begins with a colon needs quotes between brackets");
    for (std::size_t i = content; i < text.size() && !is_one_of(text[i], kFlowIndicators); ++i) {
      if (text[i] == '#' && is_one_of(text[i - 1], kBlanks)) return;
      if (text[i] != ':' || i + 1 >= text.size()) continue;
      if (is_one_of(text[i + 1], kBlanks)) return;
      if (is_one_of(text[i + 1], kFlowIndicators))
        source_.stop(code::yaml_syntax, i,
                     "YAML 1.1 (kubectl) and YAML 1.2 read this colon differently; put a blank behind it if it ends a "
                     "key, or quotes around the value if it belongs to it");
    }
  }
  void watch_quotes(std::size_t offset) {
    const std::string_view text = source_.text();
    const std::size_t open = skip_properties(text, offset).content;
    if (open >= text.size() || (text[open] != '"' && text[open] != '\'')) return;
    quoted_ = {open, end_of_quoted(text, open)};
    if (quoted_->second == std::string_view::npos || is_outdented(text.substr(open, quoted_->second - open)))
      stop_at_quote();
  }
  /// Whether a line of a quoted scalar, but for the first, begins no deeper than the keys of the mapping around it
  /// (YAML 1.2.2 section 7.3.1, which yaml-cpp does not hold): then the quote was meant to be closed before.
  [[nodiscard]] bool is_outdented(std::string_view quoted) const {
    if (collections_.empty()) return false;
    for (std::size_t line = quoted.find('\n'); line != std::string_view::npos; line = quoted.find('\n', line + 1)) {
      const std::size_t first = quoted.find_first_not_of(' ', line + 1);
      if (first == std::string_view::npos || quoted[first] == '\n' || quoted[first] == '\r') continue;
      if (first - line <= collections_.back().indent) return true;
    }
    return false;
  }
  [[noreturn]] void stop_at_quote() {
    source_.stop(code::yaml_syntax, quoted_->first, "the quote that opens here is not closed where its value ends");
  }

  void refuse_tag(std::size_t offset, std::string message) {
    Diagnostic problem =
        source_.problem(code::unsupported_tag, source_.position(offset), tree_.path(), std::move(message));
    parsed_.problems.add(std::move(problem));
  }
  ValueType type_of(const std::string& tag, const std::string& text, std::size_t offset) {
    if (tag == "?") return classify_plain_scalar(text);
    if (tag == std::string(kCoreTags) + "str") return ValueType::string;
    // yaml-cpp's tag of what is quoted or a block. As it stands in a file "!" makes a string of 010 for YAML 1.2 alone.
    if (tag == "!" && !skip_properties(source_.text(), offset).has_tag) return ValueType::string;
    const ValueType plain = classify_plain_scalar(text);
    if (tag.starts_with(kCoreTags)) {
      const std::string_view name = std::string_view(tag).substr(kCoreTags.size());
      if (name == "bool" && plain == ValueType::boolean) return plain;
      if (name == "int" && plain == ValueType::integer) return plain;
      if (name == "float" && (plain == ValueType::integer || plain == ValueType::floating)) return ValueType::floating;
      if (name == "null" && plain == ValueType::null) return plain;
    }
    refuse_tag(offset,
               "the tag is none of YAML's core tags, or this value does not fit it; write the value without a tag");
    return ValueType::invalid;
  }
  void begin(ValueType type, std::size_t offset, const std::string& tag, std::string_view core_name,
             YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
    const bool readable = tag == "?" || tag == std::string(kCoreTags).append(core_name);
    if (!readable)
      refuse_tag(offset,
                 "the tag is none of YAML's core tags, or this value does not fit it; write the value without a tag");
    tree_.begin(type, offset, anchor, readable);
    const bool is_flow = style == YAML::EmitterStyle::Flow;
    const bool is_block_map = type == ValueType::map && !is_flow;
    collections_.push_back({is_block_map           ? kNextKey
                            : collections_.empty() ? 0
                                                   : collections_.back().indent,
                            is_block_map, is_flow});
  }
  void end() {
    collections_.pop_back();
    tree_.end();
  }
  void node(Value value, std::size_t offset, YAML::anchor_t anchor, bool merges = false) {
    tree_.scalar(std::move(value), offset, anchor, merges);
  }

  const Source& source_;
  Parsed& parsed_;
  TreeBuilder tree_;
  std::size_t documents_ = 0;
  struct Collection {
    std::size_t indent =
        0;  ///< column of the keys of the nearest block mapping; kNextKey until its first key, 0 where there is none
    bool is_block_map = false;
    bool is_flow = false;
  };
  std::vector<Collection> collections_;                        ///< those that are open
  std::optional<std::pair<std::size_t, std::size_t>> scalar_;  ///< begin and end of the last one; none after an alias
  std::optional<std::pair<std::size_t, std::size_t>> quoted_;  ///< from the opening quote to behind the closing one
};

/// A line that begins with % is a directive before the first document alone. yaml-cpp drops it wherever it stands.
void refuse_late_directives(const Source& source) {
  const std::string_view text = source.text();
  bool has_begun = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (has_begun && line.starts_with('%'))
      source.stop(code::yaml_syntax, begin,
                  "a line that begins with % belongs before the first document; a value needs quotes around it");
    const std::size_t first = line.find_first_not_of(kBlanks);
    has_begun |= first != std::string_view::npos && line[first] != '#' && !line.starts_with('%');
    begin = end + 1;
  }
}

}  // namespace

Parsed parse_yaml(std::string_view file, std::string_view text, const LoadLimits& limits) {
  Parsed parsed{{}, Diagnostics(limits.max_errors), false};
  const Source source(file, text);
  try {
    source.check(limits, true);
    refuse_late_directives(source);
    std::istringstream stream{std::string(source.text())};
    Handler handler(source, limits, parsed);
    try {
      YAML::Parser parser(stream);
      while (parser.HandleNextDocument(handler)) {
      }
      parsed.complete = true;
    } catch (const YAML::Exception& error) {
      handler.stop(error.mark, error.msg);
    }
  } catch (const Stop& stop) {
    parsed.documents.clear();
    parsed.problems = Diagnostics(limits.max_errors);
    parsed.problems.add(stop.problem);
  }
  return parsed;
}

}  // namespace hcpnet::text

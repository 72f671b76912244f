// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <hcpnet/lint/files.hpp>
#include <hcpnet/lint/lint.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"
#include "text.hpp"
#include "utc.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace lint;

/// A dict of names, as read_files() has them, and contents, in its own order; a str counts as its UTF-8. Raises
/// TypeError where one is something else, UnicodeEncodeError where it has no form in UTF-8.
std::vector<File> to_files(const py::dict& contents) {
  std::vector<File> files;
  for (const auto& [name, content] : contents) {
    const bool is_text = py::isinstance<py::str>(content);
    if (!py::isinstance<py::str>(name) || (!is_text && !py::isinstance<py::bytes>(content)))
      throw py::type_error("names are str, contents are str or bytes");
    files.push_back({peer_bytes(py::reinterpret_borrow<py::str>(name)),
                     is_text ? utf8_text(py::reinterpret_borrow<py::str>(content)) : content.cast<std::string>()});
  }
  return files;
}
py::list to_pairs(const std::vector<File>& files) {
  py::list list;
  for (const File& file : files) list.append(py::make_tuple(printed_text(file.name), printed_text(file.text)));
  return list;
}

Report check_files(const py::dict& contents, const py::object& now, std::vector<Suppression> suppressions) {
  Options options;
  if (!now.is_none()) options.now = from_datetime(now);
  options.suppressions = std::move(suppressions);
  const std::vector<File> files = to_files(contents);
  const WithoutGil no_gil;
  return check(files, options);
}

py::dict read_paths(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(path.string());
  std::vector<File> files;
  {
    const WithoutGil no_gil;
    files = read_files(names).value();
  }
  py::dict contents;
  for (const File& file : files) contents[peer_text(file.name)] = raw_bytes(file.text);
  return contents;
}

const Rule& rule_of(const std::string& id) {
  const Rule* rule = find_rule(id);
  if (rule == nullptr) throw py::key_error(id);
  return *rule;
}

void bind_rule(py::module_& m) {
  const auto text = [](std::string_view Rule::* member) {
    return py::cpp_function([member](const Rule& rule) { return py::str(std::string(rule.*member)); });
  };
  py::class_<Rule>(m, "Rule", "One thing that the lint looks for.")
      .def_property_readonly("id", text(&Rule::id), "str: stable; the code of its findings.")
      .def_readonly("severity", &Rule::severity, "Severity: of its findings.")
      .def_property_readonly("title", text(&Rule::title), "str: what is found.")
      .def_property_readonly("why", text(&Rule::why), "str: what it comes to in practice.")
      .def_property_readonly("fix", text(&Rule::fix), "str: how to mend it.")
      .def_property_readonly("source", text(&Rule::source), "str: the code, manual or specification that says so.")
      .def_property_readonly(
          "wrong_files", [](const Rule& rule) { return to_pairs(rule.wrong_files()); },
          "list[tuple[str, str]]: names and texts of an example with this fault and no other.")
      .def_property_readonly(
          "right_files", [](const Rule& rule) { return to_pairs(rule.right_files()); },
          "list[tuple[str, str]]: the same without the fault.")
      .def("explain", &explain, "All about it, for a terminal.\n\nReturns:\n    str: several lines.")
      .def("__repr__", [](const Rule& rule) { return "<Rule " + std::string(rule.id) + '>'; });
}

void bind_report(py::module_& m) {
  py::class_<SuppressedFinding>(m, "SuppressedFinding", "What was found, and is to stay as it is.")
      .def_readonly("finding", &SuppressedFinding::finding, "Diagnostic: what was found.")
      .def_property_readonly(
          "reason", [](const SuppressedFinding& suppressed) { return printed_text(suppressed.reason); },
          "str: why it stays.")
      .def_readonly("in_source", &SuppressedFinding::in_source, "bool: whether a comment says so.");
  py::class_<Report>(m, "Report", "What was found.")
      .def_property_readonly(
          "findings", [](const Report& report) { return to_list(report.findings); },
          "list[Diagnostic]: `code` is the rule; in the order of files and lines.")
      .def_readonly("suppressed", &Report::suppressed, "list[SuppressedFinding].")
      .def_readonly("files", &Report::files, "int: how many were looked at.")
      .def_property_readonly(
          "unrecognised",
          [](const Report& report) {
            py::list names;
            for (const std::string& name : report.unrecognised) names.append(printed_text(name));
            return names;
          },
          "list[str]: files that are nothing that a rule is about.")
      .def("has", &Report::has, py::arg("least"),
           "Whether there is a finding of a severity, or worse.\n\nArgs:\n    least (Severity): from which on.\n"
           "Returns:\n    bool.")
      .def(
          "to_text", [](const Report& report) { return printed_text(render_text(report)); },
          "One line for each finding, and the counts.\n\nReturns:\n    str.")
      .def("to_json", &render_json, "The report as JSON.\n\nReturns:\n    str.")
      .def("to_sarif", &render_sarif,
           "The report as SARIF 2.1.0, with every rule and what is suppressed.\n\nReturns:\n    str.\nSpec:\n    "
           "https://docs.oasis-open.org/sarif/sarif/v2.1.0/");
}

}  // namespace

void bind_lint(py::module_& parent) {
  py::module_ m = parent.def_submodule("lint", "What goes wrong with what is written by hand, found before it does.");
  bind_rule(m);
  py::class_<Suppression>(m, "Suppression", "What somebody has looked at and leaves as it is.")
      .def(py::init([](const std::string& rule, const std::string& reason, const std::string& file) {
             if (reason.empty()) throw py::value_error("a suppression needs a reason");
             return Suppression{std::string(rule_of(rule).id), file, reason, "Suppression"};
           }),
           py::arg("rule"), py::arg("reason"), py::kw_only(), py::arg("file") = "",
           R"doc(Suppress the findings of a rule.

Args:
    rule (str): its id.
    reason (str): why; not empty.
    file (str): a name, or a pattern with ``*``; empty for every file.
Raises:
    KeyError: there is no such rule.
    ValueError: the reason is empty.)doc")
      .def_readonly("rule", &Suppression::rule, "str.")
      .def_readonly("file", &Suppression::file, "str: empty for every file.")
      .def_readonly("reason", &Suppression::reason, "str.");
  bind_report(m);
  m.def("check", &check_files, py::arg("files"), py::kw_only(), py::arg("now") = py::none(),
        py::arg("suppressions") = std::vector<Suppression>{},
        R"doc(Look at files as one set, as `hcpnet lint` does.

Args:
    files (Mapping[str, str | bytes]): names and contents; what they are shows in their content.
    now (datetime.datetime | None): for the validity of certificates; None: that is not looked at.
    suppressions (Sequence[Suppression]): beside those in comments.
Returns:
    Report: findings, none of which holds anything secret.
Raises:
    TypeError: a name or a content is something else.
    ValueError: a str has no form in UTF-8, or the time is none of the years 1679 to 2260.)doc");
  m.def("read_files", &read_paths, py::arg("paths"),
        R"doc(Read files for check(): each path, and every file below a path that is a folder.

Args:
    paths (Sequence[str | os.PathLike[str]]): of folders what begins with a dot is left out; links are not followed.
Returns:
    dict[str, bytes]: names and contents.
Raises:
    SpecError: a path can't be read, or there are more than 10,000 files.)doc");
  m.def(
      "parse_suppressions",
      [](const std::string& text, const std::string& file) { return parse_suppressions(file, text).value(); },
      py::arg("text"), py::kw_only(), py::arg("file") = "suppressions",
      R"doc(Read a list of {rule, file, reason} in YAML.

Args:
    text (str): the list.
    file (str): its name in findings.
Returns:
    list[Suppression].
Raises:
    SpecError: an entry has no rule or no reason, or something else.)doc");
  m.def("rules", &rules, "Every rule, family by family.\n\nReturns:\n    list[Rule].");
  m.def(
      "find_rule", &rule_of, py::arg("id"), py::return_value_policy::reference,
      "The rule of an id.\n\nArgs:\n    id (str): such as \"etcd-certificate-usages\".\nReturns:\n    Rule.\nRaises:\n"
      "    KeyError: there is none.");
}

}  // namespace hcpnet::python

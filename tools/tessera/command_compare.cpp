#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "core/text/nearest_name.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/row_file.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/run_folder/history.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/run_folder/run_folder.hpp"
#include "tools/simulation/status_line.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/job/own_process.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

enum class Kind { Run, Fields, Checkpoint };

/// Of `tessera job` and `tessera ensemble`: a deck, and nothing else of a run.
bool isResultFolder(const fs::path& path) {
  return !fs::exists(path / "resolved.toml") && !fs::exists(path / "checkpoints") &&
         !fs::exists(path / "out");
}

Kind kindOf(const fs::path& path) {
  if (!fs::exists(path)) throw InputError("there is no " + path.string());
  if (isRunFolder(path) && isResultFolder(path)) {
    throw UsageError(
        Message(path.string() + " is the folder of a job or an ensemble; compare reads those of runs")
            .line("fix  compare its tables: diff A/result.json B/result.json")
            .text());
  }
  if (isRunFolder(path)) return Kind::Run;
  if (fs::is_directory(path)) return Kind::Checkpoint;
  if (path.extension() == ".toml") {
    throw UsageError(Message(path.string() + " is a deck; compare reads the output of runs")
                         .line("fix  run it, and give the run folders: tessera run ", path.string())
                         .text());
  }
  return Kind::Fields;
}

const char* nameOf(Kind kind) {
  return kind == Kind::Run ? "a run folder" : kind == Kind::Fields ? "a field file" : "a checkpoint";
}

/// Prints what differs; adds up what was compared.
class Report {
 public:
  explicit Report(const CompareRequest& request) : request_(request) {}

  void add(const std::string& what, const Comparison& comparison) {
    bool anyField = false;
    names_.insert(comparison.names.begin(), comparison.names.end());
    for (const std::string& problem : comparison.problems) missing(what + ": " + problem);
    for (const FieldComparison& field : comparison.fields) {
      if (!wanted(field.field)) continue;
      anyField = true;
      compared_ += field.compared;
      if (field.differing == 0) continue;
      equal_ = false;
      if (isJson()) {
        differences_.push_back({{"where", what},
                                {"field", field.field},
                                {"differing", field.differing},
                                {"compared", field.compared},
                                {"max_abs", field.maxAbs},
                                {"max_rel", field.maxRel}});
      } else {
        print(what, field);
      }
    }
    if (!anyField && !request_.fields.empty()) without_.push_back(what);
  }

  void missing(const std::string& text) {
    if (isJson()) {
      problems_.push_back(text);
    } else {
      std::cout << text << '\n';
    }
    equal_ = false;
  }

  /// Throws UsageError where a field that was asked for is in nothing that was compared.
  int close() {
    const std::vector<std::string> names(names_.begin(), names_.end());
    for (const std::string& field : request_.fields) {
      if (names.empty() || names_.count(field) > 0) continue;
      throw UsageError(
          Message("there is no field \"" + field + "\" in what is compared" + didYouMeanOneOf(field, names))
              .line("fix  give --field one of the known names, or leave it out for all")
              .text());
    }
    for (const std::string& what : without_) missing(what + " has none of the fields asked for");
    const bool equal = equal_;
    if (isJson()) {
      const nlohmann::ordered_json json = {
          {"equal", equal}, {"compared", compared_}, {"problems", problems_}, {"differences", differences_}};
      std::cout << json.dump(1) << std::endl;
    } else if (equal) {
      std::cout << "equal" << (request_.tolerance.exact ? ", bit by bit" : "") << ": " << compared_
                << " values" << std::endl;
    } else {
      std::cout << "different" << std::endl;
    }
    return equal ? 0 : 1;
  }

 private:
  bool wanted(const std::string& field) const {
    const auto& names = request_.fields;
    return names.empty() || std::find(names.begin(), names.end(), field) != names.end();
  }

  static void print(const std::string& what, const FieldComparison& field) {
    std::cout.precision(17);
    std::cout << what << ": " << field.field << ": " << field.differing << " of " << field.compared
              << " values differ, by up to " << field.maxAbs << " (relative " << field.maxRel << ")";
    if (field.first) {
      const ValueDifference& d = *field.first;
      std::cout << "; first at " << asText(d.index) << " of level " << d.level << ": " << d.a << " and "
                << d.b;
    }
    std::cout << '\n';
  }

  bool isJson() const { return request_.format == TableFormat::Json; }

  const CompareRequest& request_;
  std::vector<std::string> problems_;
  nlohmann::ordered_json differences_ = nlohmann::ordered_json::array();
  std::set<std::string> names_;  ///< of all fields that either side has
  std::vector<std::string> without_;
  bool equal_ = true;
  std::int64_t compared_ = 0;
};

/// In `place`: "out" or "planes".
std::set<std::string> fieldFilesOf(const fs::path& run, const char* place) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run / place, error)) {
    if (entry.path().extension() == ".hdf") names.insert(entry.path().filename().string());
  }
  return names;
}

/// Throws InputError where it is damaged: nothing can be said of what it held.
std::optional<CheckpointListing> newestCheckpoint(const fs::path& run) {
  const std::vector<CheckpointListing> all = listCheckpoints(run / "checkpoints");
  const CheckpointListing* newest = nullptr;
  for (const CheckpointListing& one : all) {
    if (newest == nullptr || isNewer(one, *newest)) newest = &one;
  }
  if (newest == nullptr) return std::nullopt;
  if (!newest->valid) {
    throw InputError(
        Message("the newest checkpoint of " + run.string() + " is damaged, so the runs cannot be compared")
            .line("found  ", newest->problem)
            .line("fix    compare what is whole: two field files, or two checkpoints")
            .text());
  }
  return *newest;
}

void compareNewest(const CompareRequest& request, const std::optional<CheckpointListing>& left,
                   const std::optional<CheckpointListing>& right, Report& report) {
  if (left.has_value() != right.has_value()) {
    throw InputError("there is no checkpoint in " + (left ? request.b : request.a).string() +
                     ", so the runs cannot be compared; compare what both have: field files");
  }
  if (!left) return;
  if (left->step != right->step) {
    report.missing("newest checkpoint: the step is " + std::to_string(left->step) + " in the first and " +
                   std::to_string(right->step) + " in the second");
    return;
  }
  StatusLine line;
  line.show("comparing the newest checkpoints");
  const Comparison comparison = compareCheckpoints(CheckpointReader::open(left->path),
                                                   CheckpointReader::open(right->path), request.tolerance);
  line.clear();
  report.add("newest checkpoint", comparison);
}

std::vector<std::string> historyOf(const fs::path& run) {
  std::vector<std::string> lines;
  const FolderHandle folder = FolderHandle::openNamed(run);
  if (folder.has("history.csv"))
    folder.forEachLine("history.csv", [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

bool within(double a, double b, const CompareTolerance& tolerance) {
  const double larger = std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) <= tolerance.abs + tolerance.rel * larger;
}

bool sameLine(const std::string& a, const std::string& b, const CompareTolerance& tolerance) {
  std::istringstream left(a);
  std::istringstream right(b);
  std::string x;
  std::string y;
  for (;;) {
    const bool more = static_cast<bool>(std::getline(left, x, ','));
    if (more != static_cast<bool>(std::getline(right, y, ','))) return false;
    if (!more) return true;
    if (x == y) continue;
    if (tolerance.exact) return false;
    double p = 0.0;
    double q = 0.0;
    const bool numbers = std::from_chars(x.data(), x.data() + x.size(), p).ec == std::errc() &&
                         std::from_chars(y.data(), y.data() + y.size(), q).ec == std::errc();
    if (!numbers || !within(p, q, tolerance)) return false;
  }
}

/// Rows of analysis.hdf as lines of a history, the names first; none where there is no such file.
std::vector<std::string> rowsOf(const fs::path& run) {
  const fs::path file = run / "analysis.hdf";
  std::vector<std::string> lines;
  if (!fs::exists(file)) return lines;
  std::string names = "step,time,dt";
  for (const RowArray& array : rowArraysOf(file.string())) {
    for (const std::string& column : array.columns) names += "," + column;
  }
  lines.push_back(names);
  forEachRow(file.string(), [&](const NumberRow& row) {
    std::string line = std::to_string(row.step) + "," + shortestText(row.time) + "," + shortestText(row.dt);
    for (const double value : row.values) line += "," + shortestText(value);
    lines.push_back(std::move(line));
    return true;
  });
  return lines;
}

void compareLines(const std::string& name, const std::vector<std::string>& a,
                  const std::vector<std::string>& b, const CompareRequest& request, Report& report) {
  for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
    if (sameLine(a[n], b[n], request.tolerance)) continue;
    report.missing(name + ": line " + std::to_string(n + 1) + " is \"" + a[n] + "\" in the first and \"" +
                   b[n] + "\" in the second");
    return;
  }
  if (a.size() != b.size()) {
    report.missing(name + " has " + std::to_string(a.size()) + " lines in the first and " +
                   std::to_string(b.size()) + " in the second");
  }
}

/// The numbers over time; those of fields that were not asked for are not looked at.
void compareHistories(const CompareRequest& request, Report& report) {
  if (!request.fields.empty()) return;
  compareLines("history.csv", historyOf(request.a), historyOf(request.b), request, report);
  compareLines("analysis.hdf", rowsOf(request.a), rowsOf(request.b), request, report);
}

/// False where neither has field files.
bool compareFolders(const std::string& place, const CompareRequest& request, Report& report) {
  const std::set<std::string> a = fieldFilesOf(request.a, place.c_str());
  const std::set<std::string> b = fieldFilesOf(request.b, place.c_str());
  for (const std::string& name : a) {
    const std::string what = place + "/" + name;
    if (b.count(name) == 0) {
      report.missing(what + " is only in " + request.a.string());
      continue;
    }
    StatusLine line;
    line.show("comparing " + what);
    const FieldReader left = FieldReader::open(request.a / place / name);
    const FieldReader right = FieldReader::open(request.b / place / name);
    const Comparison comparison = compareFields(left, right, request.tolerance);
    line.clear();
    report.add(what, comparison);
  }
  for (const std::string& name : b) {
    if (a.count(name) == 0) report.missing(place + "/" + name + " is only in " + request.b.string());
  }
  return !a.empty() || !b.empty();
}

void compareRuns(const CompareRequest& request, Report& report) {
  const bool anyFields = compareFolders("out", request, report);
  const bool anyPlanes = request.fields.empty() && compareFolders("planes", request, report);
  const std::optional<CheckpointListing> left = newestCheckpoint(request.a);
  const std::optional<CheckpointListing> right = newestCheckpoint(request.b);
  compareNewest(request, left, right, report);
  compareHistories(request, report);
  if (!anyFields && !anyPlanes && !left && !right)
    throw InputError("neither run has field files or checkpoints: nothing to compare");
}

int compareAs(Kind kind, const CompareRequest& request) {
  Report report(request);
  switch (kind) {
    case Kind::Run:
      compareRuns(request, report);
      break;
    case Kind::Fields:
      report.add("fields", compareFields(FieldReader::open(request.a), FieldReader::open(request.b),
                                         request.tolerance));
      break;
    case Kind::Checkpoint:
      report.add("checkpoint", compareCheckpoints(CheckpointReader::open(request.a),
                                                  CheckpointReader::open(request.b), request.tolerance));
      break;
  }
  return report.close();
}

}  // namespace

int compareCommand(const CompareRequest& request) {
  const Kind kind = kindOf(request.a);
  const Kind other = kindOf(request.b);
  if (kind != other) {
    throw UsageError(Message("only things of the same kind can be compared")
                         .line(request.a.string(), " is ", nameOf(kind))
                         .line(request.b.string(), " is ", nameOf(other))
                         .text());
  }
  return inOwnProcess({request.a, request.b}, [&] { return compareAs(kind, request); });
}

}  // namespace tessera

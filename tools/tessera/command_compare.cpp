#include <algorithm>
#include <iostream>
#include <set>

#include "core/text/error.hpp"
#include "core/text/nearest_name.hpp"
#include "tools/tessera/commands.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

enum class Kind { Run, Fields, Checkpoint };

Kind kindOf(const fs::path& path) {
  if (!fs::exists(path)) throw InputError("there is no " + path.string());
  if (fs::exists(path / "deck.toml")) return Kind::Run;
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
    for (const std::string& problem : comparison.problems) {
      std::cout << what << ": " << problem << '\n';
      equal_ = false;
    }
    for (const FieldComparison& field : comparison.fields) {
      if (!wanted(field.field)) continue;
      anyField = true;
      compared_ += field.compared;
      if (field.differing == 0) continue;
      equal_ = false;
      print(what, field);
    }
    if (!anyField && !request_.fields.empty()) without_.push_back(what);
  }

  void missing(const std::string& text) {
    std::cout << text << '\n';
    equal_ = false;
  }

  /// Throws UsageError where a field that was asked for is in nothing that was compared.
  int close() const {
    const std::vector<std::string> names(names_.begin(), names_.end());
    for (const std::string& field : request_.fields) {
      if (names.empty() || names_.count(field) > 0) continue;
      throw UsageError(
          Message("there is no field \"" + field + "\" in what is compared" + didYouMeanOneOf(field, names))
              .line("fix  give --field one of the known names, or leave it out for all")
              .text());
    }
    for (const std::string& what : without_) std::cout << what << " has none of the fields asked for\n";
    const bool equal = equal_ && without_.empty();
    if (equal) {
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

  const CompareRequest& request_;
  std::set<std::string> names_;  ///< of all fields that either side has
  std::vector<std::string> without_;
  bool equal_ = true;
  std::int64_t compared_ = 0;
};

std::set<std::string> fieldFilesOf(const fs::path& run) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run / "out", error)) {
    if (entry.path().extension() == ".hdf") names.insert(entry.path().filename().string());
  }
  return names;
}

void compareRuns(const CompareRequest& request, Report& report) {
  const std::set<std::string> a = fieldFilesOf(request.a);
  const std::set<std::string> b = fieldFilesOf(request.b);
  for (const std::string& name : a) {
    if (b.count(name) == 0) {
      report.missing("out/" + name + " is only in " + request.a.string());
      continue;
    }
    const FieldReader left = FieldReader::open(request.a / "out" / name);
    const FieldReader right = FieldReader::open(request.b / "out" / name);
    report.add("out/" + name, compareFields(left, right, request.tolerance));
  }
  for (const std::string& name : b) {
    if (a.count(name) == 0) report.missing("out/" + name + " is only in " + request.b.string());
  }
  const auto newest = [](const fs::path& run) {
    const auto all = listCheckpoints(run / "checkpoints");
    return !all.empty() && all.front().valid ? all.front() : CheckpointListing{};
  };
  const CheckpointListing left = newest(request.a);
  const CheckpointListing right = newest(request.b);
  if (left.step >= 0 && left.step == right.step) {
    report.add("newest checkpoint",
               compareCheckpoints(CheckpointReader::open(left.path), CheckpointReader::open(right.path),
                                  request.tolerance));
  }
  if (a.empty() && b.empty() && (left.step < 0 || left.step != right.step)) {
    throw InputError(
        "neither run has field files, and their newest checkpoints are not of the same step: nothing to "
        "compare");
  }
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

}  // namespace tessera

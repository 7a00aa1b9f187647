#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/field_reader.hpp"
#include "tools/simulation/run_folder/file_sums.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/run_folder/history.hpp"
#include "tools/simulation/run_folder/json_depth.hpp"
#include "tools/simulation/run_folder/run_folder.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/job/own_process.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string textOf(const StateValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return shortestText(*number);
  return std::to_string(std::get<std::vector<double>>(value).size()) + " numbers";
}

void infoOfCheckpoint(const fs::path& path) {
  const CheckpointReader checkpoint = CheckpointReader::open(path);
  checkpoint.verifyAll();
  const CheckpointIdentity& identity = checkpoint.identity();
  std::cout << "checkpoint of step " << checkpoint.step() << ", all checksums are right\n"
            << "  written by  " << identity.codeVersion << ", " << checkpoint.writingRanks() << " rank(s)\n"
            << "  components ";
  for (const std::string& name : identity.components) std::cout << ' ' << name;
  std::cout << '\n';
  for (const Level& level : identity.mesh->levels()) {
    std::cout << "  level " << level.number() << "     " << level.patches().size() << " patches in "
              << asText(level.domain()) << '\n';
  }
  for (const CheckpointLabel& label : identity.labels) {
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;
    for (const BlockDescription& block : checkpoint.blocks()) {
      if (block.label != label.name) continue;
      ++blocks;
      bytes += block.bytes();
    }
    std::cout << "  variable    " << label.name << ", " << asText(label.type) << " per "
              << asText(label.centering) << ", " << blocks << " patches, " << bytes << " bytes\n";
  }
  for (const auto& [key, value] : checkpoint.state().values())
    std::cout << "  state       " << key << " = " << textOf(value) << '\n';
}

void infoOfFields(const fs::path& path) {
  const FieldReader reader = FieldReader::open(path);
  const FieldOutput& header = reader.header();
  std::cout << "fields of step " << header.step << ", t = " << shortestText(header.time) << ", "
            << (reader.precision() == FieldPrecision::Float32 ? "float32" : "float64") << "\n  written by  "
            << header.codeVersion << "\n  deck        sha256 " << header.deckSha256 << "\n  run id      "
            << header.runId << '\n';
  for (std::size_t n = 0; n < header.levels.size(); ++n) {
    std::cout << "  level " << n << "     " << header.levels[n].patches.size() << " patches in "
              << asText(header.levels[n].domain) << '\n';
  }
  for (std::size_t f = 0; f < header.fields.size(); ++f) {
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -lowest;
    for (std::size_t l = 0; l < header.levels.size(); ++l) {
      for (std::size_t p = 0; p < header.levels[l].patches.size(); ++p) {
        for (const double value : reader.values(f, l, static_cast<std::int64_t>(p))) {
          lowest = std::min(lowest, value);
          highest = std::max(highest, value);
        }
      }
    }
    std::cout << "  field       " << header.fields[f].name << ", " << header.fields[f].components
              << " component(s) per " << asText(header.fields[f].centering)
              << (header.fields[f].unit.empty() ? "" : " in " + header.fields[f].unit) << ", from "
              << shortestText(lowest) << " to " << shortestText(highest) << '\n';
  }
}

std::string textOf(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

void printResult(const FolderHandle& folder) {
  if (!folder.has("result.json")) {
    std::cout << "  result      none: the run is still going, or ended without writing it\n";
    return;
  }
  const Json result = Json::parse(shallowJson(folder.read("result.json")), nullptr, false);
  if (!result.is_object()) throw InputError("result.json of " + folder.path().string() + " is damaged");
  const std::array<std::array<const char*, 3>, 6> lines{{{"status", "status      ", ""},
                                                         {"reason", "reason      ", ""},
                                                         {"step", "step        ", ""},
                                                         {"time", "time        ", ""},
                                                         {"wall_seconds", "wall time   ", " s"},
                                                         {"cells_per_second", "speed       ", " cells/s"}}};
  for (const auto& [key, shown, unit] : lines) {
    if (!result.contains(key)) continue;
    const Json& value = result[key];
    std::cout << "  " << shown << (value.is_string() ? value.get<std::string>() : textOf(value)) << unit
              << '\n';
  }
  if (!result.contains("diagnostics") || !result["diagnostics"].is_object()) return;
  for (const auto& [name, value] : result["diagnostics"].items())
    std::cout << "  " << name << " = " << textOf(value) << '\n';
}

void infoOfRun(const fs::path& path) {
  const FolderHandle folder = FolderHandle::open(path);
  std::cout << "run folder " << path.string() << '\n';
  printResult(folder);
  for (const CheckpointListing& checkpoint : listCheckpoints(path / "checkpoints")) {
    std::cout << "  checkpoint  step " << checkpoint.step << ", t = " << shortestText(checkpoint.time) << ", "
              << checkpoint.path.filename().string()
              << (checkpoint.valid ? "" : ", DAMAGED: " + checkpoint.problem)
              << (checkpoint.valid && !isWhole(checkpoint.path)
                      ? ", DAMAGED: values changed after they were written"
                      : "")
              << '\n';
  }
  std::int64_t files = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(path / "out", none))
    files += entry.path().extension() == ".hdf" ? 1 : 0;
  std::cout << "  fields      " << files << " file(s) in out/\n";
}

/// Says what is damaged, a line each.
class Verification {
 public:
  void check(const std::string& what, const std::function<void()>& read) {
    ++files_;
    try {
      read();
    } catch (const Error& problem) {
      ++damaged_;
      std::cout << "  DAMAGED     " << what << ": " << problem.message() << '\n';
    }
  }
  void close(const fs::path& run) const {
    if (damaged_ == 0) {
      std::cout << "  verified    " << files_ << " file(s) and checkpoint(s) are as they were written\n";
      return;
    }
    std::cout.flush();
    throw InputError(
        Message(std::to_string(damaged_) + " of " + std::to_string(files_) +
                " file(s) and checkpoint(s) of " + run.string() + " are damaged")
            .line("fix  see above; continue from a checkpoint that is whole: tessera restart --from STEP")
            .text());
  }

 private:
  int files_ = 0;
  int damaged_ = 0;
};

void readAllValues(const fs::path& file) {
  const FieldReader reader = FieldReader::open(file);
  const FieldOutput& header = reader.header();
  for (std::size_t f = 0; f < header.fields.size(); ++f) {
    for (std::size_t l = 0; l < header.levels.size(); ++l) {
      for (std::size_t p = 0; p < header.levels[l].patches.size(); ++p)
        reader.values(f, l, static_cast<std::int64_t>(p));
    }
  }
}

std::set<std::string> namesWithEnd(const FolderHandle& folder, std::string_view end) {
  std::set<std::string> names;
  for (const std::string& name : folder.names()) {
    if (name.ends_with(end)) names.insert(name);
  }
  return names;
}

/// Those of a series: `cut_000120.hdf` of `cut.hdf.series`.
std::set<std::string> filesOfSeries(const std::set<std::string>& files, const std::string& series) {
  const std::string start = series.substr(0, series.find(".hdf.series")) + "_";
  std::set<std::string> found;
  for (const std::string& name : files) {
    const std::size_t step = start.size();
    if (name.starts_with(start) && name.find_first_not_of("0123456789", step) == name.find(".hdf", step))
      found.insert(name);
  }
  return found;
}

void requireSeries(const FolderHandle& folder, const std::string& name, const std::set<std::string>& files) {
  constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;
  const Json series = Json::parse(shallowJson(folder.read(name, kMostBytes)), nullptr, false);
  if (!series.is_object() || !series.contains("files") || !series["files"].is_array())
    throw InputError("it is not a list of files");
  std::set<std::string> named;
  for (const Json& entry : series["files"]) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string())
      throw InputError("it has an entry without a name");
    named.insert(entry["name"].get<std::string>());
  }
  if (named != files) throw InputError("it does not name the field files that are there");
}

/// The field files of `out` or `planes`, and the lists of them.
void verifyFields(const FolderHandle& run, const std::string& place, Verification& verification) {
  if (!run.has(place)) return;
  const FolderHandle folder = run.inside(place);
  const std::set<std::string> files = namesWithEnd(folder, ".hdf");
  for (const std::string& name : files)
    verification.check(place + "/" + name, [&] { readAllValues(run.path() / place / name); });
  std::set<std::string> lists = namesWithEnd(folder, ".hdf.series");
  if (place == "out" && !files.empty()) lists.insert("fields.hdf.series");
  for (const std::string& list : lists) {
    verification.check(place + "/" + list, [&] { requireSeries(folder, list, filesOfSeries(files, list)); });
  }
}

void verifyRun(const fs::path& path) {
  const FolderHandle run = FolderHandle::open(path);
  Verification verification;
  for (const CheckpointListing& listing : listCheckpoints(path / "checkpoints")) {
    verification.check("checkpoints/" + listing.path.filename().string(),
                       [&] { CheckpointReader::open(listing.path).verifyAll(); });
  }
  for (const char* place : {"out", "planes"}) verifyFields(run, place, verification);
  std::map<std::string, FileSum> sums;
  verification.check("sums.json", [&] { sums = readSums(run); });
  for (const auto& [name, sum] : sums) {
    verification.check(name, [&, &name = name, &sum = sum] {
      if (sumOf(run, name, sum.bytes) != sum) throw InputError("it does not begin as it was written");
    });
  }
  verification.close(path);
}

}  // namespace

int infoCommand(const InfoRequest& request) {
  const fs::path& target = request.target;
  if (!fs::exists(target)) {
    throw InputError(Message("there is no " + target.string())
                         .line("fix  give a run folder, a field file (.hdf) or a checkpoint")
                         .text());
  }
  if (fs::is_regular_file(target) && target.extension() == ".toml") {
    throw UsageError(Message(target.string() + " is a deck; info shows the output of a run")
                         .line("fix  to find mistakes in it: tessera check ", target.string(),
                               "; to see what it would run: tessera check --deep ", target.string())
                         .text());
  }
  return inOwnProcess({target}, [&] {
    if (isRunFolder(target)) {
      infoOfRun(target);
      if (request.verify) verifyRun(target);
    } else if (fs::is_directory(target)) {
      infoOfCheckpoint(target);
    } else {
      infoOfFields(target);
    }
    return 0;
  });
}

}  // namespace tessera

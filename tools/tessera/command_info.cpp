#include <algorithm>
#include <array>
#include <iostream>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/field_reader.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/run_folder/history.hpp"
#include "tools/simulation/run_folder/json_depth.hpp"
#include "tools/simulation/run_folder/run_folder.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/job/own_process.hpp"
#include "tools/tessera/verify_run.hpp"

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

/// Of a job: its numbers, and whether they are right.
void printNumbers(const Json& result) {
  if (!result.contains("numbers") || !result["numbers"].is_object()) return;
  for (const char* key : {"program", "as_expected"}) {
    if (result.contains(key)) std::cout << "  " << key << " = " << textOf(result[key]) << '\n';
  }
  for (const auto& [name, number] : result["numbers"].items()) {
    if (number.is_object() && number.contains("value"))
      std::cout << "  " << name << " = " << textOf(number["value"]) << '\n';
  }
}

void printResult(const FolderHandle& folder) {
  if (!folder.has("result.json")) {
    std::cout << "  result      none: the run is still going, or ended without writing it\n";
    return;
  }
  const Json result = Json::parse(shallowJson(folder.read("result.json")), nullptr, false);
  if (!result.is_object()) throw InputError("result.json of " + folder.path().string() + " is damaged");
  printNumbers(result);
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
  const FolderHandle folder = FolderHandle::openNamed(path);
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
    if (request.format == TableFormat::Json) {
      if (!isRunFolder(target)) {
        throw UsageError(Message(target.string() + " is not a run folder, and --verify reads those")
                             .line("fix  leave --verify out: tessera info --json ", target.string())
                             .text());
      }
      verifyRun(target, request.format);
    } else if (isRunFolder(target)) {
      infoOfRun(target);
      if (request.verify) verifyRun(target, request.format);
    } else if (fs::is_directory(target)) {
      infoOfCheckpoint(target);
    } else {
      infoOfFields(target);
    }
    return 0;
  });
}

}  // namespace tessera

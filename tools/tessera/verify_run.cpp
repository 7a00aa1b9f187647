#include "tools/tessera/verify_run.hpp"

#include <functional>
#include <iostream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "core/deck/deck.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/field_reader.hpp"
#include "datawarehouse/archive/row_file.hpp"
#include "tools/simulation/run_folder/file_sums.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/run_folder/json_depth.hpp"
#include "tools/simulation/status_line.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Says what is damaged, a line each or as JSON.
class Verification {
 public:
  explicit Verification(TableFormat format) : format_(format) {}

  void check(const std::string& what, const std::function<void()>& read) {
    ++files_;
    line_.show("reading " + what);
    try {
      read();
    } catch (const Error& problem) {
      line_.clear();
      damaged_.push_back({{"what", what}, {"problem", problem.message()}});
      if (format_ == TableFormat::Text)
        std::cout << "  DAMAGED     " << what << ": " << problem.message() << '\n';
    }
  }

  void close(const fs::path& run) {
    line_.clear();
    if (format_ == TableFormat::Json) {
      const Json json{{"kind", "verification"},
                      {"run", run.string()},
                      {"whole", damaged_.empty()},
                      {"checked", files_},
                      {"damaged", damaged_}};
      std::cout << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
    } else if (damaged_.empty()) {
      std::cout << "  verified    " << files_ << " file(s) and checkpoint(s) are as they were written\n";
    }
    if (damaged_.empty()) return;
    std::cout.flush();
    throw InputError(
        Message(std::to_string(damaged_.size()) + " of " + std::to_string(files_) +
                " file(s) and checkpoint(s) of " + run.string() + " are damaged")
            .line("fix  see above; continue from a checkpoint that is whole: tessera restart --from STEP")
            .text());
  }

 private:
  TableFormat format_;
  StatusLine line_;
  int files_ = 0;
  Json damaged_ = Json::array();
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

/// What the deck asks for, as far as it can be read, of a run that has written its first sums; these tell
/// whether the deck was changed.
class AskedFor {
 public:
  explicit AskedFor(const FolderHandle& run) {
    if (!run.has("resolved.toml") || !run.has("sums.json")) return;
    try {
      const Deck deck = Deck::fromText(run.read("resolved.toml"), "resolved.toml");
      const DeckNode* format = deck.find("analysis.format");
      const bool apart = format != nullptr && format->kind == DeckKind::Text && format->text() == "hdf5";
      for (const char* kind : {"region", "probe", "line", "profile"}) {
        const DeckNode* list = deck.find("analysis." + std::string(kind));
        rows_ = rows_ || (apart && list != nullptr && !list->children.empty());
      }
      const DeckNode* planes = deck.find("analysis.plane");
      for (const DeckNode& plane : planes == nullptr ? std::vector<DeckNode>() : planes->children) {
        const DeckNode* name = plane.child("name");
        if (name != nullptr && name->kind == DeckKind::Text) planes_.insert(name->text());
      }
      const DeckNode* every = deck.find("history.every_steps");
      rows_ = rows_ && !(every != nullptr && every->kind == DeckKind::Integer && every->integer() == 0);
    } catch (const Error&) {
      planes_.clear();
    }
  }

  bool rows() const { return rows_; }
  const std::set<std::string>& planes() const { return planes_; }

 private:
  bool rows_ = false;  ///< analysis.hdf
  std::set<std::string> planes_;
};

/// The field files of `out` or `planes`, and the lists of them, also those that should be there.
void verifyFields(const FolderHandle& run, const std::string& place, const std::set<std::string>& names,
                  Verification& verification) {
  std::set<std::string> lists;
  for (const std::string& name : names) lists.insert(name + ".hdf.series");
  std::set<std::string> files;
  if (run.has(place)) {
    const FolderHandle folder = run.inside(place);
    files = namesWithEnd(folder, ".hdf");
    lists.merge(namesWithEnd(folder, ".hdf.series"));
  }
  for (const std::string& name : files) {
    verification.check(place + "/" + name, [&] { readAllValues(run.path() / place / name); });
    lists.insert(name.substr(0, name.rfind('_')) + ".hdf.series");
  }
  for (const std::string& list : lists) {
    verification.check(place + "/" + list,
                       [&] { requireSeries(run.inside(place), list, filesOfSeries(files, list)); });
  }
}

/// Every row by its checksum, and as many as the history has lines.
void verifyRows(const FolderHandle& run) {
  std::int64_t rows = 0;
  forEachRow((run.path() / "analysis.hdf").string(), [&](const NumberRow&) {
    ++rows;
    return true;
  });
  std::int64_t lines = -1;  // the first one has the names
  if (run.has("history.csv")) run.forEachLine("history.csv", [&](std::string_view) { ++lines; });
  const bool ended = run.has("result.json");
  if (ended && rows != lines)
    throw InputError("it has " + std::to_string(rows) + " rows, and history.csv " + std::to_string(lines));
}

}  // namespace

void verifyRun(const fs::path& path, TableFormat format) {
  const FolderHandle run = FolderHandle::openNamed(path);
  const AskedFor asked(run);
  Verification verification(format);
  for (const CheckpointListing& listing : listCheckpoints(path / "checkpoints")) {
    verification.check("checkpoints/" + listing.path.filename().string(),
                       [&] { CheckpointReader::open(listing.path).verifyAll(); });
  }
  verifyFields(run, "out", {}, verification);
  verifyFields(run, "planes", asked.planes(), verification);
  if (asked.rows() || run.has("analysis.hdf")) verification.check("analysis.hdf", [&] { verifyRows(run); });
  std::map<std::string, FileSum> sums;
  verification.check("sums.json", [&] { sums = readSums(run); });
  for (const auto& [name, sum] : sums) {
    verification.check(name, [&, &name = name, &sum = sum] {
      if (sumOf(run, name, sum.bytes) != sum) throw InputError("it does not begin as it was written");
    });
  }
  verification.close(path);
}

}  // namespace tessera

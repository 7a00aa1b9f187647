#include "tools/ensemble/stage_results.hpp"

#include <algorithm>
#include <charconv>

#include "core/text/error.hpp"

namespace tessera::ensemble {
namespace {

/// The shortest text that reads back to the same bits.
std::string shortest(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

/// The number at the start of a line of results, or -1.
std::int64_t indexOf(const std::string& line) {
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
  return error == std::errc() && end != line.data() + line.size() && *end == ',' ? index : -1;
}

}  // namespace

StageResults::StageResults(const std::filesystem::path& folder, const Stage& stage)
    : path_(folder / (stage.name + ".csv")),
      stage_(stage),
      done_(static_cast<std::size_t>(stage.tasks()), false) {
  read();
  file_.open(path_, std::ios::app);
  if (!file_) throw OutputError("cannot write results to " + path_.string() + "; is the folder writable?");
  if (std::filesystem::file_size(path_) == 0) file_ << header() << std::flush;
}

std::string StageResults::header() const {
  std::string text = "index,status,code";
  for (const std::string& name : stage_.kind->parameters) text += "," + name;
  for (const std::string& name : stage_.kind->results) text += "," + name;
  return text + "\n";
}

std::string StageResults::line(const Row& row) const {
  const auto status = static_cast<engine::TaskStatus>(row.status);
  std::string text =
      std::to_string(row.index) + "," + engine::statusText(status) + "," + std::to_string(row.code);
  for (const double value : stage_.values(row.index)) text += "," + shortest(value);
  for (std::size_t n = 0; n < stage_.kind->results.size(); ++n) {
    text += "," + (status == engine::TaskStatus::Done ? shortest(row.results[n]) : std::string());
  }
  return text + "\n";
}

/// Keeps whole lines of tasks that ended well; a torn last line and failed tasks are run again.
void StageResults::read() {
  std::ifstream before(path_, std::ios::binary);
  if (!before) return;
  std::string text;
  std::string kept = header();
  bool first = true;
  while (std::getline(before, text)) {
    if (before.eof()) break;  // a line without its end
    text += '\n';
    if (first && text != kept) {
      throw InputError(path_.string() + " has other columns than stage '" + stage_.name +
                       "'; name another folder by --out, or move the file away");
    }
    const std::int64_t index = first ? -1 : indexOf(text);
    first = false;
    if (index < 0 || index >= static_cast<std::int64_t>(done_.size()) || isDone(index)) continue;
    if (text.compare(text.find(','), 6, ",done,") != 0) continue;
    done_[static_cast<std::size_t>(index)] = true;
    ++doneCount_;
    kept += text;
  }
  before.close();
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << kept;
}

void StageResults::add(const Row& row) {
  if (row.index < 0 || row.index >= static_cast<std::int64_t>(done_.size())) {
    throw InternalError("a result came for a task that the stage does not have");
  }
  file_ << line(row) << std::flush;
  if (row.status == 0 && !isDone(row.index)) {
    done_[static_cast<std::size_t>(row.index)] = true;
    ++doneCount_;
  }
}

void StageResults::finish() {
  file_.close();
  std::ifstream before(path_, std::ios::binary);
  std::vector<std::string> lines(done_.size());
  std::string text;
  std::getline(before, text);
  while (std::getline(before, text)) {
    const std::int64_t index = indexOf(text);
    if (index >= 0 && index < static_cast<std::int64_t>(lines.size()))
      lines[static_cast<std::size_t>(index)] = text + "\n";
  }
  const std::filesystem::path next = path_.string() + ".next";
  {
    std::ofstream after(next, std::ios::binary);
    after << header();
    for (const std::string& each : lines) after << each;
    after.flush();
    if (!after)
      throw OutputError("cannot write results to " + next.string() + "; is there room on the disk?");
  }
  std::filesystem::rename(next, path_);
}

}  // namespace tessera::ensemble

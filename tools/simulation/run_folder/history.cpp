#include "tools/simulation/run_folder/history.hpp"

#include <charconv>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"

namespace tessera {
namespace {

std::string headerOf(const std::vector<std::string>& columns) {
  std::string text = "step,time,dt";
  for (const std::string& column : columns) text += "," + column;
  return text + "\n";
}

/// Hands lines to a file in large pieces.
class LineCopy {
 public:
  explicit LineCopy(const FileHandle& to) : to_(to) {}
  void add(std::string_view line) {
    text_.append(line).append("\n");
    if (text_.size() >= kPiece) flush();
  }
  int flush() {
    if (error_ == 0) error_ = writeAll(to_.get(), text_);
    text_.clear();
    return error_;
  }

 private:
  static constexpr std::size_t kPiece = 65536;
  const FileHandle& to_;
  std::string text_;
  int error_ = 0;
};

/// The step that a line begins with; -1 where it does not.
std::int64_t stepOf(std::string_view line) {
  std::int64_t step = -1;
  std::from_chars(line.data(), line.data() + line.size(), step);
  return step;
}

}  // namespace

std::string shortestText(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

void writeHistoryUnits(const FolderHandle& folder,
                       const std::vector<std::pair<std::string, std::string>>& units) {
  using Json = nlohmann::ordered_json;
  Json table = Json::object();
  for (const auto& [column, unit] : units) table[column] = unit;
  folder.write("history.json",
               Json{{"units", table}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

History::History(const FolderHandle& folder, std::string name, const std::vector<std::string>& columns)
    : name_(std::move(name)) {
  folder.write(name_, headerOf(columns));
  file_ = SummedFile(folder, name_);
}

History::History(const FolderHandle& folder, std::string name, const std::vector<std::string>& columns,
                 std::int64_t step, bool keepStep)
    : name_(std::move(name)) {
  const std::string kept = name_ + ".kept";
  folder.write(kept, headerOf(columns));
  const FileHandle file = folder.openToAppend(kept);
  LineCopy copy(file);
  if (folder.has(name_)) {
    folder.forEachLine(name_, [&](std::string_view line) {
      const std::int64_t at = stepOf(line);
      if (at >= 0 && (at < step || (at == step && keepStep))) copy.add(line);
    });
  }
  if (const int error = copy.flush(); error != 0)
    throw OutputError(name_ + " cannot be written: " + errorText(error));
  folder.rename(kept, name_);
  file_ = SummedFile(folder, name_);
}

void History::add(std::int64_t step, double time, double dt, std::span<const double> values) {
  std::string line = std::to_string(step) + "," + shortestText(time) + "," + shortestText(dt);
  for (const double value : values) line += "," + shortestText(value);
  append(line + "\n");
}

void History::append(const std::string& text) {
  const int error = file_.append(text);
  if (error != 0 && failure_.empty()) failure_ = name_ + " could not be written: " + errorText(error);
}

}  // namespace tessera

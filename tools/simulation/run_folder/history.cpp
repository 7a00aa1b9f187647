#include "tools/simulation/run_folder/history.hpp"

#include <charconv>
#include <sstream>

namespace tessera {
namespace {

std::string headerOf(const std::vector<std::string>& columns) {
  std::string text = "step,time,dt";
  for (const std::string& column : columns) text += "," + column;
  return text + "\n";
}

/// The lines of an earlier run that an unbroken one would have written up to `step`.
std::string keptLines(const std::string& text, std::int64_t step, std::int64_t everySteps) {
  std::istringstream in(text);
  std::string line;
  std::string kept;
  std::getline(in, line);  // the header
  while (std::getline(in, line)) {
    std::int64_t at = -1;
    std::from_chars(line.data(), line.data() + line.size(), at);
    if (at < 0 || at > step || everySteps == 0 || at % everySteps != 0) continue;
    kept += line + "\n";
  }
  return kept;
}

}  // namespace

std::string shortestText(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

History::History(const FolderHandle& folder, std::string name, const std::vector<std::string>& columns)
    : name_(std::move(name)) {
  folder.write(name_, headerOf(columns));
  file_ = folder.openToAppend(name_);
}

History::History(const FolderHandle& folder, std::string name, const std::vector<std::string>& columns,
                 std::int64_t step, std::int64_t everySteps)
    : name_(std::move(name)) {
  const std::string old = folder.has(name_) ? folder.read(name_) : std::string();
  folder.write(name_, headerOf(columns) + keptLines(old, step, everySteps));
  file_ = folder.openToAppend(name_);
}

void History::add(std::int64_t step, double time, double dt, std::span<const double> values) {
  std::string line = std::to_string(step) + "," + shortestText(time) + "," + shortestText(dt);
  for (const double value : values) line += "," + shortestText(value);
  append(line + "\n");
}

void History::append(const std::string& text) {
  const int error = writeAll(file_.get(), text);
  if (error != 0 && failure_.empty()) failure_ = name_ + " could not be written: " + errorText(error);
}

}  // namespace tessera

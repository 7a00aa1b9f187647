#include "tools/jobs/pace_file.hpp"

#include <cmath>
#include <fstream>
#include <sstream>

#include "core/text/error.hpp"

namespace tessera::jobs {
namespace {

constexpr const char* kHead = "job\tdevice\tform\tunits\tseconds";

bool takeLine(const std::string& line, JobPaces& paces) {
  std::istringstream words(line);
  PaceKey key;
  std::string form;
  Pace pace;
  if (!std::getline(words, key.job, '\t') || !std::getline(words, key.device, '\t') ||
      !std::getline(words, form, '\t') || !(words >> pace.units >> pace.seconds))
    return false;
  int number = 0;
  while (number < kForms && form != formText(static_cast<JobForm>(number))) ++number;
  key.form = static_cast<JobForm>(number);
  const bool isRight = number < kForms && std::isfinite(pace.units) && pace.units >= 0.0 &&
                       std::isfinite(pace.seconds) && pace.seconds > 0.0;
  if (isRight) paces.keep(key, pace);
  return isRight;
}

}  // namespace

void readPaces(const std::filesystem::path& file, JobPaces& paces) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return;
  std::ifstream in(file);
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    if (number == 1 ? line == kHead : takeLine(line, paces)) continue;
    throw InputError(Message("the paces of earlier runs are damaged")
                         .line("file  ", file.string(), ":", number)
                         .line("fix   remove the file; a run writes a new one")
                         .text());
  }
}

void writePaces(const JobPaces& paces, const std::filesystem::path& file) {
  const std::filesystem::path whole = file.string() + ".new";
  std::ofstream out(whole);
  out.precision(12);
  out << kHead << '\n';
  for (const auto& [key, pace] : paces.all()) {
    if (pace.seconds <= 0.0) continue;
    out << key.job << '\t' << key.device << '\t' << formText(key.form) << '\t' << pace.units << '\t'
        << pace.seconds << '\n';
  }
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(whole, file, error);
  if (!out || error) throw OutputError("cannot write the paces " + file.string() + "; name another file");
}

}  // namespace tessera::jobs

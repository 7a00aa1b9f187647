#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/jobs/job_program.hpp"

namespace tessera::jobs {

/// What a deck expects of a number, and whether it is so.
struct ExpectedNumber {
  double value = 0.0;
  double room = 0.0;    ///< what the number may be away
  bool atMost = false;  ///< it may be anything up to `value`
  bool isRight = false;
};

/// A number of the result, with all that is expected of it.
struct JudgedNumber {
  JobNumber number;
  std::vector<ExpectedNumber> expected;
};

/// What result.json says.
struct JobResult {
  std::string program;
  std::string title;
  std::vector<std::string> overrides;
  bool isAsExpected = true;
  std::vector<JudgedNumber> numbers;
  const std::vector<JobTotals>& jobs;
};

/// The text of result.json. NaN and infinity are texts in it.
std::string asJson(const JobResult& result);

/// Throws OutputError.
void writeText(const std::string& text, const std::filesystem::path& file);

/// "photons: 120000 of 400000 units done (30 %), 43000 a second, 6.5 s left".
std::string progressLine(const std::string& name, std::int64_t done, std::int64_t units, double seconds);

}  // namespace tessera::jobs

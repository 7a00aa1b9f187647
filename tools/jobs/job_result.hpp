#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/jobs/job_program.hpp"

namespace tessera::jobs {

/// What result.json says.
struct JobResult {
  std::string program;
  bool isAsExpected = true;
  const std::vector<JobNumber>& numbers;
  const std::vector<JobTotals>& jobs;
};

/// Throws OutputError.
void writeResult(const JobResult& result, const std::filesystem::path& file);

/// "photons: 120000 of 400000 units done (30 %), 43000 a second, 6.5 s left".
std::string progressLine(const std::string& name, std::int64_t done, std::int64_t units, double seconds);

}  // namespace tessera::jobs

#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "scheduler/jobs/job_runner.hpp"

namespace tessera::jobs {

/// Writes jobs and their tasks as a trace of runs (docs/user/tracing.md): a job is a step, a lane of workers
/// has tasks of one device that do not overlap. Throws OutputError.
void writeJobTrace(const std::vector<JobSpan>& jobs, const std::vector<std::unique_ptr<JobDevice>>& devices,
                   const std::filesystem::path& file);

}  // namespace tessera::jobs

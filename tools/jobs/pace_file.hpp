#pragma once

#include <filesystem>

#include "scheduler/jobs/job_paces.hpp"

namespace tessera::jobs {

/// Reads what earlier runs have measured; a file that is not there holds nothing. Throws InputError with the
/// line that is damaged.
void readPaces(const std::filesystem::path& file, JobPaces& paces);

/// Writes what this run has measured, with what it has read. Throws OutputError.
void writePaces(const JobPaces& paces, const std::filesystem::path& file);

}  // namespace tessera::jobs

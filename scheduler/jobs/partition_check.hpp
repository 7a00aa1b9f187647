#pragma once

#include "scheduler/jobs/job.hpp"

namespace tessera::jobs {

/// Looks at the smallest tasks of a job, all of them: each part lies in its domain, and those of a written
/// domain cover it and do not overlap. Throws JobError that names the job, the domain and the tasks.
void checkPartition(const Job& job);

/// Looks at one task: what it writes is what its smallest tasks write, no more and no less. Throws JobError.
void checkTask(const Job& job, const Box& units, std::int64_t firstPiece, std::int64_t endPiece,
               const std::vector<DomainPart>& parts);

}  // namespace tessera::jobs

#include "tools/jobs/job_program.hpp"

namespace tessera::jobs {

const JobReport& DeckRun::runJob(Job& job) {
  if (hasForm) job.form(form);
  const std::size_t number = runner.add(job);
  runner.run(show);
  return runner.report(number);
}

const std::vector<JobProgram>& jobPrograms() {
  static const std::vector<JobProgram> programs{matrixProgram(), photonProgram(), pathProgram(),
                                                clusterProgram()};
  return programs;
}

}  // namespace tessera::jobs

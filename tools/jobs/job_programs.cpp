#include <algorithm>

#include "tools/jobs/job_program.hpp"

namespace tessera::jobs {

namespace {

void addTo(std::vector<JobTotals>& totals, const std::string& name, const JobReport& report) {
  auto total = std::ranges::find_if(totals, [&](const JobTotals& each) { return each.job == name; });
  if (total == totals.end()) {
    totals.push_back({name, 1, report.seconds, report.shares});
    return;
  }
  ++total->runs;
  total->seconds += report.seconds;
  for (std::size_t n = 0; n < report.shares.size(); ++n) {
    JobReport::Share& sum = total->shares[n];
    const JobReport::Share& more = report.shares[n];
    const std::int64_t tasks = sum.tasks;
    sum.tasks += more.tasks;
    sum.units += more.units;
    sum.copies = sum.copies + more.copies;
    if (more.tasks > 0 || tasks == 0) {
      sum.form = more.form;
      sum.source = more.source;
    }
  }
}

}  // namespace

JobReport DeckRun::runJob(Job& job, std::vector<JobForm> among) {
  if (among.empty()) {
    among = {JobForm::ConsumerProducer, JobForm::Wavefront};
    if (job.kernels().pushes == 0) among.insert(among.end(), {JobForm::Regular, JobForm::Consumer});
  }
  job.fastestOf(form.empty() ? std::move(among) : form);
  const std::size_t number = runner.add(job);
  runner.run([&](std::int64_t ended, std::int64_t units) {
    if (show) show(done + ended, std::max(expected, done + units));
  });
  JobReport report = runner.report(number);
  runner.forget(number);
  done += report.units;
  addTo(totals, job.name(), report);
  return report;
}

const std::vector<JobProgram>& jobPrograms() {
  static const std::vector<JobProgram> programs{matrixProgram(), photonProgram(), pathProgram(),
                                                clusterProgram()};
  return programs;
}

}  // namespace tessera::jobs

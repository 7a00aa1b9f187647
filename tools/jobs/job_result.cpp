#include "tools/jobs/job_result.hpp"

#include <charconv>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "core/text/error.hpp"

namespace tessera::jobs {
namespace {

std::string shortest(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

void writeJob(std::ostream& out, const JobTotals& job) {
  out << "    {\"job\": \"" << job.job << "\", \"runs\": " << job.runs
      << ", \"seconds\": " << shortest(job.seconds) << ", \"devices\": [";
  const char* separator = "\n";
  for (const JobReport::Share& share : job.shares) {
    out << separator << "      {\"device\": \"" << share.device << "\", \"form\": \"" << formText(share.form)
        << "\", \"form_by\": \"" << sourceText(share.source) << "\", \"tasks\": " << share.tasks
        << ", \"units\": " << share.units << ", \"bytes_to_device\": " << share.copies.toDeviceBytes
        << ", \"bytes_from_device\": " << share.copies.fromDeviceBytes << '}';
    separator = ",\n";
  }
  out << "\n    ]}";
}

}  // namespace

void writeResult(const JobResult& result, const std::filesystem::path& file) {
  std::ofstream out(file);
  out << "{\n  \"program\": \"" << result.program
      << "\",\n  \"as_expected\": " << (result.isAsExpected ? "true" : "false") << ",\n  \"numbers\": {";
  const char* separator = "\n";
  for (const JobNumber& number : result.numbers) {
    out << separator << "    \"" << number.name << "\": {\"value\": " << shortest(number.value)
        << ", \"deviation\": " << shortest(number.deviation) << '}';
    separator = ",\n";
  }
  out << "\n  },\n  \"jobs\": [";
  separator = "\n";
  for (const JobTotals& job : result.jobs) {
    out << separator;
    writeJob(out, job);
    separator = ",\n";
  }
  out << "\n  ]\n}\n";
  if (!out.flush()) throw OutputError("cannot write " + file.string() + "; name another folder by --out");
}

std::string progressLine(const std::string& name, std::int64_t done, std::int64_t units, double seconds) {
  const double rate = seconds > 0.0 ? static_cast<double>(done) / seconds : 0.0;
  std::ostringstream line;
  line << name << ": " << done << " of " << units << " units done (" << (units > 0 ? 100 * done / units : 0)
       << " %), " << std::setprecision(3) << rate << " a second";
  if (rate > 0.0) line << ", " << static_cast<double>(units - done) / rate << " s left";
  return line.str();
}

}  // namespace tessera::jobs

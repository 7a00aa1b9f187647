#include "tools/jobs/job_result.hpp"

#include <fstream>
#include <iomanip>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "core/text/json_number.hpp"

namespace tessera::jobs {
namespace {

using Json = nlohmann::ordered_json;

Json jsonOf(const JobTotals& job) {
  Json devices = Json::array();
  for (const JobReport::Share& share : job.shares) {
    devices.push_back({{"device", share.device},
                       {"form", formText(share.form)},
                       {"form_by", sourceText(share.source)},
                       {"tasks", share.tasks},
                       {"units", share.units},
                       {"bytes_to_device", share.copies.toDeviceBytes},
                       {"bytes_from_device", share.copies.fromDeviceBytes}});
  }
  return {
      {"job", job.job}, {"runs", job.runs}, {"seconds", jsonNumber<Json>(job.seconds)}, {"devices", devices}};
}

}  // namespace

std::string asJson(const JobResult& result) {
  Json json{{"program", result.program},     {"title", result.title},
            {"overrides", result.overrides}, {"as_expected", result.isAsExpected},
            {"numbers", Json::object()},     {"jobs", Json::array()}};
  for (const auto& [number, expectations] : result.numbers) {
    Json& one = json["numbers"][number.name];
    one = {{"value", jsonNumber<Json>(number.value)}, {"deviation", jsonNumber<Json>(number.deviation)}};
    for (const ExpectedNumber& expected : expectations) {
      one["expected"].push_back({{"value", jsonNumber<Json>(expected.value)},
                                 {"room", jsonNumber<Json>(expected.room)},
                                 {"at_most", expected.atMost},
                                 {"as_expected", expected.isRight}});
    }
  }
  for (const JobTotals& job : result.jobs) json["jobs"].push_back(jsonOf(job));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void writeText(const std::string& text, const std::filesystem::path& file) {
  std::ofstream out(file, std::ios::binary);
  out << text;
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

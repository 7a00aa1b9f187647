#include <nlohmann/json.hpp>

#include "tools/tessera/trace/trace_summary.hpp"

namespace tessera {
namespace {

using TraceJson = nlohmann::json;

TraceJson sharesJson(const std::vector<TimeShare>& shares) {
  TraceJson list = TraceJson::array();
  for (const TimeShare& one : shares)
    list.push_back({{"name", one.name}, {"nanoseconds", one.nanoseconds}, {"share", one.share}});
  return list;
}

const char* kindName(TraceKind kind) {
  switch (kind) {
    case TraceKind::Task:
      return "task";
    case TraceKind::Fill:
      return "fill";
    case TraceKind::Send:
      return "send";
    case TraceKind::Receive:
      return "receive";
    case TraceKind::Reduce:
      return "reduce";
  }
  return "";
}

TraceJson tasksJson(const std::vector<TaskRow>& rows) {
  TraceJson list = TraceJson::array();
  for (const TaskRow& row : rows) {
    list.push_back({{"name", row.name},
                    {"kind", kindName(row.kind)},
                    {"count", row.count},
                    {"total", row.total},
                    {"mean", row.mean},
                    {"p99", row.p99},
                    {"delay_mean", row.delayMean},
                    {"delay_p99", row.delayP99}});
  }
  return list;
}

TraceJson plansJson(const std::vector<PlanRow>& rows) {
  TraceJson list = TraceJson::array();
  for (const PlanRow& row : rows)
    list.push_back({{"name", row.name}, {"runs", row.runs}, {"total", row.total}, {"tasks", row.tasks}});
  return list;
}

TraceJson devicesJson(const DeviceSummary& summary) {
  TraceJson devices = TraceJson::array();
  for (const DeviceRow& row : summary.devices) {
    devices.push_back({{"rank", row.rank},
                       {"device", row.device},
                       {"busy", row.busy},
                       {"idle_in_steps", row.idleInSteps},
                       {"idle_between_steps", row.idleBetween},
                       {"idle_for_output", row.idleForOutput}});
  }
  TraceJson launches = TraceJson::array();
  for (const LaunchRow& row : summary.launches) {
    launches.push_back({{"name", row.name},
                        {"kind", row.kind},
                        {"launches", row.launches},
                        {"tasks", row.tasks},
                        {"total", row.total},
                        {"bytes", row.bytes}});
  }
  return {{"devices", devices}, {"launches", launches}};
}

}  // namespace

std::string asJson(const TraceSummary& summary) {
  const TraceJson json = {{"ranks", summary.ranks},
                          {"workers", summary.workers},
                          {"runs", summary.runs},
                          {"wall", summary.wall},
                          {"critical_path_length", summary.pathLength},
                          {"critical_path", sharesJson(summary.path)},
                          {"time_of_the_workers", sharesJson(summary.workerTime)},
                          {"plans", plansJson(summary.plans)},
                          {"tasks", tasksJson(summary.tasks)},
                          {"on_devices", devicesJson(summary.devices)}};
  return json.dump(1) + "\n";
}

}  // namespace tessera

#pragma once

#include <string>
#include <vector>

#include "tools/jobs/job_run.hpp"
#include "tools/tessera/device_choice.hpp"

namespace tessera {

/// What `tessera job` was asked for, with its devices.
struct JobCommandRequest {
  jobs::JobRequest job;
  int threads = -1;  ///< workers on the host; 0: one a core; -1: one a core, or none beside devices
  DeviceChoice devices;
  std::int64_t deviceMebibytes = 256;
};

/// What --form takes.
std::vector<std::string> jobForms();

/// `tessera job DECK` on this process. Returns the exit code; throws as runJobDeck.
int jobCommand(const JobCommandRequest& request);

}  // namespace tessera

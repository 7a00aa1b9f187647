#pragma once

#include <cstdint>
#include <filesystem>

namespace tessera {

// What a second signal does: it ends the process at once, in the midst of whatever it does. A signal handler
// can reach nothing but static storage, so what it says and where is put down beforehand. One run in a
// process at a time has it.

/// Forgets an earlier run. As long as no run folder is known, rank 0 speaks for all.
void prepareForcedEnd(int rank, int ranks);
/// From here on the end is written down in this folder, by the first rank that comes to it.
void forcedEndIn(const std::filesystem::path& runFolder);
/// The newest checkpoint that this process knows of.
void forcedEndGoesBackTo(std::int64_t checkpointStep);

/// After the first signal: tells a person at a terminal what comes. Calls what a signal handler may call
/// only.
void announceStop() noexcept;
/// What it says.
extern const char* const kStopAnnouncement;

/// Says that no checkpoint of this step was written and which is the last one, on standard error and in
/// RUN/error.txt and result.json, and ends the process with code 6. Calls what a signal handler may call
/// only.
[[noreturn]] void endAtOnce(int signal) noexcept;

}  // namespace tessera

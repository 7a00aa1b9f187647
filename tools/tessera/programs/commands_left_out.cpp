// In place of command_job.cpp and command_ensemble.cpp in a program without the part `jobs`
// (cmake/TesseraParts.cmake).
#include "core/text/error.hpp"
#include "tools/tessera/programs/command_ensemble.hpp"
#include "tools/tessera/programs/command_job.hpp"

namespace tessera {
namespace {

[[noreturn]] void refuse(const std::string& command) {
  throw UsageError(Message("this program was built without the command `" + command + "`")
                       .line("fix  write ./" + command +
                             ", which builds what it needs first, or build all by "
                             "./tessera setup")
                       .text());
}

}  // namespace

std::vector<std::string> jobForms() { return {}; }

int jobCommand(const JobCommandRequest& /*request*/) { refuse("tessera job"); }

void checkEnsembleDeck(const std::filesystem::path& /*deck*/) { refuse("tessera ensemble"); }

int ensembleCommand(const ensemble::EnsembleRequest& /*request*/) { refuse("tessera ensemble"); }

}  // namespace tessera

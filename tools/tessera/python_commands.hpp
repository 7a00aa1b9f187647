#pragma once

#include <string>
#include <vector>

namespace tessera {

/// Names of the commands of tools/python that the program does not have itself.
std::vector<std::string> pythonCommands();

/// Whether a command is one of tools/python: pictures, reports and tables of results. `compare` is one where
/// it is asked for norms, tolerances by field or a picture, and `info` where it is asked for JSON and not to
/// verify.
bool isPythonCommand(int argc, char** argv);

/// Replaces this process by `python3 -m tessera ...` with the same command line. The package is looked for in
/// the install tree and in the source tree around this program; Python is that of $TESSERA_PYTHON, of
/// `./tessera setup --plot`, or of the path. Returns only by throwing InternalError, where there is no Python
/// or no package.
[[noreturn]] void becomePython(char** argv);

}  // namespace tessera

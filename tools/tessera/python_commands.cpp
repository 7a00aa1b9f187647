#include "tools/tessera/python_commands.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "core/text/error.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// The launcher ./tessera and tools/python have the same list; a test compares them.
constexpr std::array<std::string_view, 11> kPythonCommands{"plot",        "report",     "extract", "export",
                                                           "convergence", "new",        "doctor",  "top",
                                                           "gallery",     "completion", "man"};
constexpr std::array<std::string_view, 3> kCompareOptions{"--norms", "--picture", "--tolerance"};

constexpr const char* kPythonFix =
    "fix  ./tessera setup --plot in the repository installs it; or name one: TESSERA_PYTHON=/usr/bin/python3";

/// Where the package is, and what is around it: the private environment of the repository.
struct PackagePlace {
  fs::path packages;
  fs::path environment;
};

std::optional<PackagePlace> findPackage() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (fs::path folder = program.parent_path(); folder != folder.root_path(); folder = folder.parent_path()) {
    for (const char* place : {"share/tessera/python", "tools/python"}) {
      if (fs::exists(folder / place / "tessera" / "__main__.py", error))
        return PackagePlace{folder / place, folder / "build" / "python" / "bin" / "python3"};
    }
  }
  return {};
}

/// Debian's packages belong to Debian's Python; another one that comes first on the path does not see them.
std::string pythonFor(const PackagePlace& place) {
  if (const char* named = std::getenv("TESSERA_PYTHON"); named != nullptr && *named != '\0') return named;
  for (const fs::path& candidate : {place.environment, fs::path("/usr/bin/python3")}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return "python3";
}

}  // namespace

std::vector<std::string> pythonCommands() { return {kPythonCommands.begin(), kPythonCommands.end()}; }

bool isPythonCommand(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view name = argv[1];
  if (std::find(kPythonCommands.begin(), kPythonCommands.end(), name) != kPythonCommands.end()) return true;
  const auto has = [&](std::string_view option) {
    return std::any_of(argv + 2, argv + argc, [&](const char* word) { return option == word; });
  };
  if (name == "info") return has("--json") && !has("--verify");
  return name == "compare" && std::any_of(argv + 2, argv + argc, [](const char* word) {
           return std::any_of(kCompareOptions.begin(), kCompareOptions.end(), [&](std::string_view option) {
             return std::string_view(word).substr(0, option.size()) == option;
           });
         });
}

void becomePython(char** argv) {
  const std::optional<PackagePlace> place = findPackage();
  if (!place) {
    throw InternalError(
        Message("this command is written in Python, and the package is not beside this program")
            .line("fix  run it as ./tessera in the repository, or install the wheel of tools/python and use "
                  "tessera-results")
            .text());
  }
  const char* known = std::getenv("PYTHONPATH");
  const std::string path =
      place->packages.string() + (known != nullptr ? std::string(":") + known : std::string());
  ::setenv("PYTHONPATH", path.c_str(), 1);
  if (std::getenv("TESSERA_PROGRAM") == nullptr) {
    std::error_code error;
    ::setenv("TESSERA_PROGRAM", fs::read_symlink("/proc/self/exe", error).c_str(), 1);
  }
  std::string python = pythonFor(*place);
  std::string dashM = "-m";
  std::string package = "tessera";
  std::vector<char*> words{python.data(), dashM.data(), package.data()};
  for (char** word = argv + 1; *word != nullptr; ++word) words.push_back(*word);
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  throw InternalError(
      Message("this command is written in Python, and " + python + " cannot be started: " + errorText(errno))
          .line(kPythonFix)
          .text());
}

}  // namespace tessera

#include "tools/tessera/command_line.hpp"

int main(int argc, char** argv) { return tessera::runTessera(argc, argv, tessera::builtInComponents()); }

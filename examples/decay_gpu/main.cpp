#include "decay.hpp"
#include "tools/tessera/command_line.hpp"

int main(int argc, char** argv) {
  tessera::ComponentRegistry components = tessera::builtInComponents();
  components.add<Decay>();
  return tessera::runTessera(argc, argv, components);
}

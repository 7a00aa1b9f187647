#include "tests/core/sample_schema.hpp"

namespace tessera::test {

namespace {

ParameterTable simulation() {
  ParameterTable table("simulation", "What is run");
  table.text("title").doc("title of plots and reports").defaultsTo("").mayChangeOnRestart();
  table.textList("components").doc("names of the physics to run").required();
  return table;
}

ParameterTable grid() {
  ParameterTable table("grid", "Domain, cells and patches");
  table.realVector("lower", 3).unit("m").doc("lower corner of the domain").defaultsTo({0, 0, 0});
  table.realVector("upper", 3).unit("m").doc("upper corner of the domain");
  table.integerVector("cells", 3).doc("cells of level 0 along each axis").atLeast(1);
  table.integerVector("patch_size", 3).doc("cells of a patch along each axis").atLeast(1).optional();
  table.integerVector("patches", 3).doc("patches along each axis").atLeast(1).optional();
  table.booleanVector("periodic", 3).doc("axes that wrap around").defaultsTo({false, false, false});
  ParameterTable& level = table.arrayOf("level", "a finer level");
  level.realVector("lower", 3).unit("m").doc("lower corner of the refined box");
  level.realVector("upper", 3).unit("m").doc("upper corner of the refined box");
  level.integer("ratio").doc("refinement ratio").atLeast(2).atMost(8).defaultsTo(2);
  table.check([](const ParameterValues& grid, DeckDiagnostics& findings) {
    if (grid.has("patches") && grid.has("patch_size")) {
      findings.error(grid.where("patches"), "give 'grid.patches' or 'grid.patch_size', not both");
    }
  });
  return table;
}

ParameterTable time() {
  ParameterTable table("time", "When the run ends and how long a step is");
  table.real("end").unit("s").doc("physical time at which the run ends").above(0).mayChangeOnRestart();
  table.integer("max_steps").doc("most steps").atLeast(0).optional().mayChangeOnRestart();
  table.real("cfl").doc("share of the stable step").above(0).atMost(1).defaultsTo(0.9);
  table.real("dt").unit("s").doc("fixed step").above(0).optional();
  return table;
}

ParameterTable heat() {
  ParameterTable table("heat", "Explicit heat conduction");
  table.real("conductivity").unit("W/(m K)").doc("thermal conductivity").atLeast(0);
  table.expression("initial", {"x", "y", "z"}).unit("K").doc("temperature at t = 0");
  table.expression("source").unit("K/s").doc("heating rate").defaultsTo(0);
  table.expression("exact").unit("K").doc("exact solution, for error norms").optional();
  table.choice("scheme", {"explicit", "super_step"}).doc("time scheme").defaultsTo("explicit");
  for (const char* side : {"x_low", "x_high", "z_low", "z_high"}) {
    const std::string name = std::string("boundary.") + side;
    table.choice(name + ".type", {"dirichlet", "neumann", "outflow"})
        .doc("kind of condition")
        .defaultsTo("neumann");
    table.expression(name + ".value").doc("value or flux").defaultsTo(0);
  }
  return table;
}

ParameterTable output() {
  ParameterTable table("output", "Fields for people");
  table.real("every").unit("s").doc("physical time between outputs").above(0).optional().mayChangeOnRestart();
  table.integer("every_steps").doc("steps between outputs").atLeast(1).optional().mayChangeOnRestart();
  table.textList("fields").doc("labels to write").defaultsTo(std::vector<std::string>{}).mayChangeOnRestart();
  table.choice("precision", {"float", "double"})
      .doc("type in the file")
      .defaultsTo("float")
      .mayChangeOnRestart();
  table.boolean("compress").doc("compress with zlib").defaultsTo(false).mayChangeOnRestart();
  return table;
}

ParameterTable checkpoint() {
  ParameterTable table("checkpoint", "State for a restart");
  table.integer("every_steps").doc("steps between checkpoints").atLeast(1).optional().mayChangeOnRestart();
  return table;
}

ParameterTable wave() {
  ParameterTable table("wave", "Second-order wave equation");
  table.real("speed").unit("m/s").doc("speed of the wave").above(0);
  return table;
}

}  // namespace

Schema sampleSchema() {
  Schema schema;
  schema.add(simulation());
  schema.add(grid());
  schema.add(time());
  schema.add(heat());
  schema.add(output());
  schema.add(checkpoint());
  schema.addUnselected(wave());
  return schema;
}

std::string sampleDeck() {
  return R"deck([simulation]
title = "Hot spot"
components = ["heat"]

[grid]
upper = [1, 1, 1]
cells = [64, 64, 64]
patch_size = [16, 16, 16]
periodic = [true, true, false]

[time]
end = 0.1

[heat]
conductivity = 1
initial = "exp(-((x-0.5)^2 + (y-0.5)^2 + (z-0.5)^2) / width^2)"
boundary.z_low = { type = "dirichlet", value = 0 }
boundary.z_high = { type = "neumann", value = "sin(2*pi*t)" }

[constants]
width = 0.1
twice = "2*width"

[output]
every = 0.01
fields = ["temperature"]

[checkpoint]
every_steps = 100

[notes]
author = "a person"
)deck";
}

}  // namespace tessera::test

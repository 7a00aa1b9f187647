# The parts of the program that it can do without: each component of components/, and `jobs`, the commands `tessera job` and
# `tessera ensemble` with their engines. TESSERA_PARTS names those that are built, "all" being the default. The launcher
# (./tessera) starts with the components that the first deck names, since a newcomer waits for these alone, and adds
# what a later command needs. Where a part is missing there are no tests and no benchmarks, which need all of them.
#
# In this order the program lists its components.
set(TESSERA_COMPONENTS heat advection wave euler levels diffusion poisson rmcrt lowmach)

set(TESSERA_CHOSEN ${TESSERA_PARTS})
if(TESSERA_CHOSEN STREQUAL "all")
  set(TESSERA_CHOSEN ${TESSERA_COMPONENTS} jobs)
endif()
foreach(part IN LISTS TESSERA_CHOSEN)
  if(NOT part IN_LIST TESSERA_COMPONENTS AND NOT part STREQUAL "jobs")
    list(JOIN TESSERA_COMPONENTS ", " known)
    message(FATAL_ERROR "TESSERA_PARTS names \"${part}\", which is no part of the program: give \"all\", or some of "
                        "${known}, jobs, separated by semicolons.")
  endif()
endforeach()

# The folders of components that are left out, for tessera_module(... WITHOUT).
set(TESSERA_COMPONENTS_LEFT_OUT "")
set(includes "")
set(adds "")
set(names "")
foreach(component IN LISTS TESSERA_COMPONENTS)
  string(SUBSTRING ${component} 0 1 first)
  string(SUBSTRING ${component} 1 -1 rest)
  string(TOUPPER ${first} first)
  if(component IN_LIST TESSERA_CHOSEN)
    string(APPEND includes "#include \"components/${component}/${component}.hpp\"\n")
    string(APPEND adds "  registry.add<${first}${rest}>();\n")
  else()
    list(APPEND TESSERA_COMPONENTS_LEFT_OUT components/${component})
    string(APPEND names "\"${component}\", ")
  endif()
endforeach()
set(TESSERA_HAS_ALL_PARTS ON)
if(TESSERA_COMPONENTS_LEFT_OUT OR NOT "jobs" IN_LIST TESSERA_CHOSEN)
  set(TESSERA_HAS_ALL_PARTS OFF)
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/built_in_components.cpp CONTENT
"// Written by cmake/TesseraParts.cmake from TESSERA_PARTS.
#include \"components/component.hpp\"
${includes}#include \"components/parts/left_out.hpp\"

namespace tessera {

ComponentRegistry builtInComponents() {
  ComponentRegistry registry;
${adds}  return registry;
}

const std::vector<std::string>& componentsLeftOut() {
  static const std::vector<std::string> names{${names}};
  return names;
}

}  // namespace tessera
" @ONLY)

#include "react_row.hpp"
#include "scheduler/engine/kinds_library.hpp"

TESSERA_KINDS_LIBRARY("reactions", ReactRow)

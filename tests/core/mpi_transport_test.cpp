// What of MPI's start can be tested without MPI; the transport itself is in tests/mpi.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "core/transport/detail/mpi_start.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

std::string problemOf(const detail::MpiStart& start) {
  try {
    detail::checkMpiStart(start);
  } catch (const InternalError& error) {
    return error.message();
  }
  return "";
}

TEST(MpiStart, MpichWithThreadsIsFine) {
  EXPECT_EQ(problemOf({.libraryVersion = "MPICH Version: 4.0.2"}), "");
}

TEST(MpiStart, AnotherLibraryIsRefusedWithTheNamesToUse) {
  EXPECT_THAT(problemOf({.libraryVersion = "Open MPI v4.1.4"}),
              HasSubstr("libmpich and start with mpiexec.mpich"));
}

TEST(MpiStart, TheLauncherOfOpenMpiIsRecognised) {
  EXPECT_THAT(problemOf({.libraryVersion = "MPICH", .ranks = 1, .openMpiRanks = "4"}),
              HasSubstr("4 processes that cannot see each other"));
  EXPECT_EQ(problemOf({.libraryVersion = "MPICH", .ranks = 1, .openMpiRanks = "1"}), "");
}

TEST(MpiStart, TooLowAThreadLevelIsRefused) {
  EXPECT_THAT(problemOf({.libraryVersion = "MPICH", .threadsSuffice = false}),
              HasSubstr("MPI_THREAD_SERIALIZED"));
}

}  // namespace
}  // namespace tessera

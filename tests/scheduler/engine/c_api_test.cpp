#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/engine/tessera_engine.h"
#include "tests/scheduler/engine/c_caller.h"

namespace {

/// An engine for one test.
struct Handle {
  explicit Handle(const char* form) { EXPECT_EQ(tessera_engine_setup(form, 1, 64, 1 << 20, &engine), 0); }
  ~Handle() { tessera_engine_cleanup(engine); }
  tessera_engine* engine = nullptr;
};

TEST(EngineForC, TenThousandTasksComeBackOnceEach) {
  Handle handle("threads");
  const int adder = tessera_engine_kind(handle.engine, "adder");
  constexpr std::int64_t kCount = 10'000;
  std::vector<std::int64_t> arguments(2 * kCount);
  std::vector<std::uint64_t> tags(kCount);
  for (std::int64_t n = 0; n < kCount; ++n) {
    arguments[static_cast<std::size_t>(2 * n)] = n;
    arguments[static_cast<std::size_t>(2 * n + 1)] = 5;
    tags[static_cast<std::size_t>(n)] = static_cast<std::uint64_t>(n);
  }
  std::int64_t pushed = 0;
  std::int64_t polled = 0;
  std::uint64_t sum = 0;
  tessera_result results[30];
  while (polled < kCount) {
    pushed += tessera_engine_push(handle.engine, adder, arguments.data() + 2 * pushed, 16, kCount - pushed,
                                  tags.data() + pushed);
    const std::int64_t got = tessera_engine_poll(handle.engine, results, 30);
    ASSERT_GE(got, 0);
    for (std::int64_t n = 0; n < got; ++n) {
      EXPECT_EQ(results[n].result[0], results[n].tag + 5);
      sum += results[n].tag;
    }
    polled += got;
  }
  EXPECT_EQ(sum, static_cast<std::uint64_t>(kCount * (kCount - 1) / 2));
}

TEST(EngineForC, AProgramInCRunsTasks) { EXPECT_EQ(sumOfAddersFromC(1000), 500'500); }

TEST(EngineForC, MemoryGoesInAndOut) {
  Handle handle("stepped");
  const double in[2] = {1.5, 2.5};
  double out[2] = {};
  void* block = tessera_engine_allocate(handle.engine, sizeof(in));
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(tessera_engine_copy_in(handle.engine, block, in, sizeof(in)), 0);
  EXPECT_EQ(tessera_engine_copy_out(handle.engine, out, block, sizeof(out)), 0);
  EXPECT_EQ(out[1], 2.5);
  EXPECT_EQ(tessera_engine_free(handle.engine, block), 0);
  EXPECT_EQ(tessera_engine_free(handle.engine, block), TESSERA_ENGINE_USAGE);
  EXPECT_NE(std::string(tessera_engine_error()).find("given back already"), std::string::npos);
  EXPECT_EQ(tessera_engine_allocate(handle.engine, 1 << 30), nullptr);
}

TEST(EngineForC, SeveralEnginesKeepTheirTasksAndMemoryApart) {
  std::vector<tessera_engine*> engines;
  for (const char* form : {"stepped", "threads", "stepped", "threads"}) {
    const tessera_engine_options options{nullptr, 1, 0, 64, 1 << 20};
    engines.push_back(nullptr);
    ASSERT_EQ(tessera_engine_setup_with(form, &options, &engines.back()), 0) << tessera_engine_error();
  }
  const int adder = tessera_engine_kind(engines[0], "adder");
  std::vector<void*> blocks;
  for (std::size_t n = 0; n < engines.size(); ++n) {
    blocks.push_back(tessera_engine_allocate(engines[n], 100));
    ASSERT_NE(blocks[n], nullptr);
    for (std::uint64_t tag = 0; tag < 50; ++tag) {
      const std::int64_t arguments[2] = {static_cast<std::int64_t>(tag), static_cast<std::int64_t>(1000 * n)};
      ASSERT_EQ(tessera_engine_push(engines[n], adder, arguments, 16, 1, &tag), 1);
    }
  }
  for (std::size_t n = 0; n < engines.size(); ++n) {
    EXPECT_EQ(tessera_engine_free(engines[(n + 1) % 4], blocks[n]), TESSERA_ENGINE_USAGE);
    EXPECT_NE(std::string(tessera_engine_error()).find("not the start of a block of this engine"),
              std::string::npos);
    EXPECT_EQ(tessera_engine_free(engines[n], blocks[n]), 0);
    std::uint64_t seen = 0;
    for (int ended = 0; ended < 50;) {
      tessera_result result;
      if (tessera_engine_poll(engines[n], &result, 1) == 0) continue;
      EXPECT_EQ(result.result[0], result.tag + 1000 * n);
      seen |= std::uint64_t{1} << result.tag;
      ++ended;
    }
    EXPECT_EQ(seen, (std::uint64_t{1} << 50) - 1);
  }
  for (tessera_engine* engine : engines) EXPECT_EQ(tessera_engine_cleanup(engine), 0);
}

TEST(EngineForC, KindsOfOnesOwnComeFromALibrary) {
  const tessera_engine_options options{TESSERA_REACT_KINDS, 2, 0, 64, 0};
  tessera_engine* engine = nullptr;
  ASSERT_EQ(tessera_engine_setup_with("threads", &options, &engine), 0) << tessera_engine_error();
  const int kind = tessera_engine_kind(engine, "react_row");
  ASSERT_EQ(kind, 0);
  EXPECT_EQ(tessera_engine_kind(engine, "adder"), TESSERA_ENGINE_USAGE);
  EXPECT_STREQ(tessera_engine_error(),
               "the program reactions has no tasks of the kind \"adder\"; it has react_row");
  const std::int64_t few[2] = {0, 0};
  const std::uint64_t tag = 3;
  EXPECT_EQ(tessera_engine_push(engine, kind, few, sizeof(few), 1, &tag), TESSERA_ENGINE_USAGE);
  auto* cells = static_cast<double*>(tessera_engine_allocate(engine, 16));
  const double amount = 4.0;
  double after = 0.0;
  tessera_engine_copy_in(engine, cells, &amount, sizeof(amount));
  const struct {
    double *old, *next;
    double rate;
    std::int64_t count;
  } row{cells, cells + 1, 4.0, 1};
  ASSERT_EQ(tessera_engine_push(engine, kind, &row, sizeof(row), 1, &tag), 1) << tessera_engine_error();
  tessera_result result;
  while (tessera_engine_poll(engine, &result, 1) == 0) {
  }
  EXPECT_EQ(result.tag, 3U);
  EXPECT_EQ(result.result[0], 8U);
  tessera_engine_copy_out(engine, &after, cells + 1, sizeof(after));
  EXPECT_EQ(after, 4.0 / 256.0);
  tessera_engine_cleanup(engine);
}

TEST(EngineForC, MistakesAreCodesAndSentences) {
  tessera_engine* engine = nullptr;
  EXPECT_EQ(tessera_engine_setup("quantum", 0, 0, 0, &engine), TESSERA_ENGINE_USAGE);
  EXPECT_STREQ(tessera_engine_error(), "an engine's form is threads, stepped or cuda, not \"quantum\"");
  EXPECT_EQ(tessera_engine_setup("threads", 1, 63, 0, &engine), TESSERA_ENGINE_USAGE);
  const tessera_engine_options negative{nullptr, 0, -1, 0, 0};
  EXPECT_EQ(tessera_engine_setup_with("stepped", &negative, &engine), TESSERA_ENGINE_USAGE);
  const tessera_engine_options missing{"./none.so", 0, 0, 0, 0};
  EXPECT_EQ(tessera_engine_setup_with("stepped", &missing, &engine), TESSERA_ENGINE_USAGE);
  EXPECT_NE(std::string(tessera_engine_error()).find("the library of kinds ./none.so cannot be loaded"),
            std::string::npos);
  EXPECT_EQ(tessera_engine_setup_with("stepped", nullptr, &engine), TESSERA_ENGINE_USAGE);
  EXPECT_EQ(tessera_engine_poll(nullptr, nullptr, 1), TESSERA_ENGINE_USAGE);
  EXPECT_EQ(tessera_engine_cleanup(nullptr), 0);
  Handle handle("stepped");
  EXPECT_EQ(tessera_engine_kind(handle.engine, "nothing"), TESSERA_ENGINE_USAGE);
  const std::int64_t few[1] = {1};
  const std::uint64_t tag = 0;
  EXPECT_EQ(tessera_engine_push(handle.engine, 0, few, 8, 1, &tag), TESSERA_ENGINE_USAGE);
  EXPECT_STREQ(tessera_engine_error(), "tasks of the kind adder have 16 bytes of arguments, not 8");
}

}  // namespace

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/engine/tessera_engine.h"

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

TEST(EngineForC, MistakesAreCodesAndSentences) {
  tessera_engine* engine = nullptr;
  EXPECT_EQ(tessera_engine_setup("quantum", 0, 0, 0, &engine), TESSERA_ENGINE_USAGE);
  EXPECT_STREQ(tessera_engine_error(), "an engine's form is threads, stepped or cuda, not \"quantum\"");
  EXPECT_EQ(tessera_engine_setup("threads", 1, 63, 0, &engine), TESSERA_ENGINE_USAGE);
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

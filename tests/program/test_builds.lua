-- The same stats byte for byte from a repetition and from clang's build. tests/long has more data, and the thread sanitizer's.
local harness = require "tests.lib.harness"
local same_stats = require "tests.lib.same_stats"

same_stats("opt", {})
same_stats("asan-clang", { less = true })

harness.finish()

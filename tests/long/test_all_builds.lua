-- The same stats byte for byte from builds with sanitizers, which look for bad memory accesses and for data races.
local harness = require "tests.lib.harness"
local same_stats = require "tests.lib.same_stats"

same_stats("asan-clang", {})
same_stats("tsan", { less = true, threads = 2 })

harness.finish()

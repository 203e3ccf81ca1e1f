-- A victim cache behind each L1 data cache (Jouppi, ISCA 1990, section 3.2): a few lines, fully associative, that hold what
-- the L1 has replaced. A miss that finds its line there exchanges it with the line that the L1 replaces, in one cycle.
local policy = require "warpwright.policy"

return policy "victim_cache" {
  doc = "A few fully associative lines for what the L1 data cache replaces",
  params = {
    lines = { 4, min = 1, max = 65536, doc = "Lines of each victim cache; the paper has 1 to 15" },
    ways = { 0, min = 0, max = 65536, doc = "Of each of its sets, a divisor of lines; 0: as lines, it is fully associative" },
  },
  caches = "data",
  parts = {
    { class = "VictimCache", name = "victims", of = "cache", lines = policy.param "lines", ways = policy.param "ways" },
  },
}

-- Fully associative, unbounded caches (Khairy et al., section 3.1, the third cache scenario): only cold misses occur, while
-- MSHRs, queues and everything else stay as they are. "Unbounded" is a number of lines that is never reached; a cache that
-- does replace one ends the run with an error. Figure 3 has L1 unbounded, and L2 below a bounded L1: l2=false, l1=false.
local policy = require "warpwright.policy"
local core = require "warpwright.core"

local unbounded = policy "unbounded" {
  doc = "Fully associative caches in which no line is ever replaced: only compulsory misses",
  scope = "machine",
  params = {
    l1 = { true, doc = "Unbounded L1 data caches" },
    l2 = { true, doc = "Unbounded L2" },
    l1_lines = { 131072, min = 65, max = 1 << 24, doc = "Lines of each L1 data cache: 16 MiB of 128 B" },
    l2_lines = { 262144, min = 65, max = 1 << 24, doc = "Lines of each L2 slice: 32 MiB" },
  },
  caches = { "data", when = "l1" },
}

local function quantity(value) return math.tointeger(value) or core.quantity(value, "bytes") end

--- The lines of a cache, false when it stays as it is.
local function lines_of(self, class, path)
  if self:acts_on(path) then return self.params.l1_lines end
  return class == "L2" and self.params.l2 and self.params.l2_lines
end

function unbounded:configure(class, path, params)
  local lines = lines_of(self, class, path)
  if not lines then return end
  return { size = lines * quantity(params.line or 128), ways = lines, index = "linear" }
end

--- A warm machine may have replaced lines before it became this one, whose caches replace none before they are full.
local function check(caches, parameter, lines)
  for _, cache in ipairs(caches) do
    if cache and cache.evictions > 0 and cache.lines_used >= lines then
      error(("%s: expected a kernel that touches up to %d lines, got more; set %s higher"):format(cache.path, lines, parameter), 0)
    end
  end
end

function unbounded:on_kernel_end()
  if self.params.l1 then check(self.caches, "l1_lines", self.params.l1_lines) end
  if self.params.l2 then check(self.l2s, "l2_lines", self.params.l2_lines) end
end

return unbounded

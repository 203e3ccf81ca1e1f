-- Decides nothing: the distribution of the L2 hit ratios of loads, each by itself, beside any other policy. MeDiC (Figure 2) calls
-- the hit ratio of a warp "the percentage of memory requests that hit in the cache when the warp issues a single memory
-- instruction". warp_ratios has that of many instructions of a warp together, by which warp_types tells its type.
-- What counts as a hit: see warp_types. Loads that the L1 serves alone ask nothing of the L2 and do not count.
-- A load writes the registers that the same instruction wrote before: so all that the warp had asked for has come when it issues
-- the instruction again.
local load = require "warpwright.load"
local policy = require "warpwright.policy"

local ratios = load.get("policy", "warp_ratios")

local load_ratios = policy "load_ratios" {
  doc = "Decides nothing: the distribution of the L2 hit ratios of single loads",
  caches = "L2",
  params = {
    merges = { true, doc = "A request for a line on its way to the L2 is a hit" },
  },
  parts = {
    { class = "WarpSampler", name = "load_sampler", of = "SM", warm_up = 0,
      caches = policy.caches_before, sm = policy.sm_number, merges = policy.param "merges" },
  },
  counters = ratios.ranges "Loads",
}

--- Of the last load of each warp and instruction: requests that the L2 has answered, and those that hit.
function load_ratios:start() self.state.requests, self.state.hits = {}, {} end

local function key(warp, pc) return pc << 6 | warp end

function load_ratios:close(instruction)
  local requests = self.state.requests[instruction]
  if requests and requests > 0 then self:count(ratios.range(self.state.hits[instruction], requests)) end
end

function load_ratios:on_lsu_coalesced(warp, pc, write)
  if write == 1 then return end
  local instruction = key(warp, pc)
  self:close(instruction)
  self.state.requests[instruction], self.state.hits[instruction] = 0, 0
end

function load_ratios:on_load_sampler_answered(warp, pc, write, hit)
  local requests, hits, instruction = self.state.requests, self.state.hits, key(warp, pc)
  if write == 1 or not requests[instruction] then return end
  requests[instruction], hits[instruction] = requests[instruction] + 1, hits[instruction] + hit
end

function load_ratios:on_kernel_end()
  for instruction in pairs(self.state.requests) do self:close(instruction) end
  self.state.requests, self.state.hits = {}, {}
end

return load_ratios

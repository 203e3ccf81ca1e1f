-- Divergence-aware warp scheduling, after Rogers, O'Connor and Aamodt, "Divergence-Aware Warp Scheduling", MICRO 2013: the
-- footprint of each warp in a loop is predicted, and only as many warps may load there as fit the L1 together. CCWS throttles
-- once locality is lost; here a loop that lost it once is known, and warps that come to it later, or with other lanes, are
-- counted before they lose any.
--
-- A loop is a branch back and what lies between it and its target. Of the loads in it, those have locality whose lines a warp
-- had lost when it missed them (victim tags, as in CCWS). The footprint of a warp in the loop is, for each of these, as many
-- lines as the load takes accesses on average, and at most one for each lane that went round last. From the oldest warp on
-- footprints are added up; warps that this brings above `share` of the L1's lines may not load. The oldest one always may.
--
-- The paper's text was not at hand: the share of 0.6, loops, lanes and victim tags follow it as we know it. Ours: the average of
-- accesses, where the paper has classes of loads, a line or one for each lane (that holds spmv back far too much: neighbouring
-- rows share lines); all warps teach, not one that samples; loads of the same lines are not found, so A[i] and A[i + 1] count
-- twice; a warp is in a loop from its first load or branch back there; what is known begins anew with each launch; and warps
-- that wait at a barrier or spin are not counted. An L1 that SMs share counts as if it were each one's own.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local daws = policy "daws" {
  doc = "Divergence-aware warp scheduling: as many warps may load in a loop as fit the L1 together; one kernel per SM",
  order = "gto",
  caches = "data",
  params = {
    share = { 0.6, min = 0, doc = "Part of the L1's lines that warps in loops may take" },
    hits = { 4, min = 1, doc = "Hits in victim tags that give a load locality; more than ever come: no load has any" },
    vta_entries = { 16, min = 1, doc = "Victim tags per warp" },
    vta_ways = { 8, min = 1, doc = "Victim tags per set" },
  },
  parts = {
    { class = "VictimTags", name = "vta", of = "SM",
      cache = policy.first_cache, sm = policy.sm_number,
      warps = function(_, sm) return sm.warps end,
      entries = policy.param "vta_entries", ways = policy.param "vta_ways" },
  },
  counters = { entered = "Warps that entered loops, iterations of outer loops apart", left = "Warps that left them",
    local_loads = "Loads that were found to have locality", decisions = "Sums of footprints",
    held = "Warps above the cut-off, in all of these" },
}

--- Loops are told apart by their PCs alone.
function daws:configure(class, _, given)
  if class == "Dispatcher" and math.tointeger(given.kernels_per_sm or 1) ~= 1 then
    error(("dispatcher.kernels_per_sm: expected 1 with this policy, got %s"):format(given.kernels_per_sm), 0)
  end
end

--- `loads` and `loops` by PC, the latter of their branch; lists of the PCs of these branches and of loads with locality; `inside` and
-- `lanes` by warp: the branch of its loop, and how many lanes went round last; `entered`: the set of the warps that are in loops.
function daws:begin()
  self.state = { loads = {}, loops = {}, branches = {}, local_loads = {}, inside = {}, lanes = {}, entered = 0 }
end

function daws:start()
  local cache = self.caches[1]
  self.room = self.params.share * cache.size // cache.line
  self:begin()
end

function daws:on_kernel_given()
  self:begin()
  self.sm.may_load = bits.all
end

--- The innermost of the loops that are known around the instruction, or nil.
function daws:loop_around(pc)
  local state, inner = self.state, nil
  for _, branch in ipairs(state.branches) do
    local first = state.loops[branch]
    if first <= pc and pc <= branch and (not inner or first >= state.loops[inner] and branch <= inner) then inner = branch end
  end
  return inner
end

--- The warp is in this loop now, or in none, with so many lanes.
function daws:move(warp, loop, lanes)
  local state = self.state
  local before = state.inside[warp]
  if before == loop and (not loop or state.lanes[warp] == lanes) then return end
  state.inside[warp], state.lanes[warp] = loop, lanes
  if loop and not before then
    state.entered = state.entered | bits.of(warp)
    self:count "entered"
  elseif before and not loop then
    state.entered = state.entered & ~bits.of(warp)
    self:count "left"
  end
  self:decide()
end

function daws:on_branch(warp, pc, lanes, others)
  local state = self.state
  local _, _, _, _, target = self.sm:instruction(pc)
  if target >= 0 and target <= pc then
    if not state.loops[pc] then
      state.loops[pc] = target
      table.insert(state.branches, pc)
    end
    if lanes ~= 0 then return self:move(warp, pc, bits.count(lanes)) end
    return self:move(warp, self:loop_around(pc + 1), bits.count(others))
  end
  local loop = state.inside[warp]
  if loop and others == 0 and (target < state.loops[loop] or target > loop) then
    self:move(warp, target >= 0 and self:loop_around(target) or nil, bits.count(lanes))
  end
end

function daws:on_lsu_coalesced(warp, pc, write, accesses)
  if write == 1 then return end
  local load = self.state.loads[pc]
  if not load then
    load = { executed = 0, accesses = 0, hits = 0 }
    self.state.loads[pc] = load
  end
  load.executed, load.accesses = load.executed + 1, load.accesses + accesses
  local loop = self.state.inside[warp]
  if loop and self.state.loops[loop] <= pc and pc <= loop then return end
  loop = self:loop_around(pc)
  self:move(warp, loop, self.state.lanes[warp] or 32)
end

function daws:on_vta_hit(_, _, pc)
  local load = self.state.loads[pc]
  if not load then return end
  load.hits = load.hits + 1
  if load.hits ~= self.params.hits then return end
  table.insert(self.state.local_loads, pc)
  self:count "local_loads"
  self:decide()
end

--- Lines that the warp is predicted to use in its loop.
function daws:footprint(warp)
  local state, lines = self.state, 0.0
  local loop = state.inside[warp]
  for _, pc in ipairs(state.local_loads) do
    local load = state.loads[pc]
    if state.loops[loop] <= pc and pc <= loop then lines = lines + math.min(load.accesses / load.executed, state.lanes[warp]) end
  end
  return lines
end

function daws:decide()
  local sm, sum, held = self.sm, 0.0, 0
  local rest = self.state.entered & sm.live & ~sm.waiting & ~sm.spinning
  while rest ~= 0 do
    local oldest = sm:oldest(rest, 1)
    local lines = self:footprint(bits.lowest(oldest))
    if lines > 0 and sum > 0 and sum + lines > self.room then held = held | oldest end
    sum, rest = sum + lines, rest & ~oldest
  end
  sm.may_load = ~held
  self:count "decisions"
  self:count("held", bits.count(held))
end

daws.on_warps_changed = daws.decide

function daws:on_warp_end(warp)
  self:move(warp, nil, nil)
  self.state.lanes[warp] = nil
end

return daws

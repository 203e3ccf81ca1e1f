-- Mascar: memory-aware scheduling and cache access re-execution. A. Sethia, D. A. Jamshidi, S. Mahlke, HPCA 2015, section III.
--
-- What the paper calls the memory-ready instructions of earlier warps, which may still go to the L1 when a warp has become
-- the owner, are here those between issue and the tags: operand collectors, load/store unit, links, L1 pipeline.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local mascar = policy "mascar" {
  doc = "Memory-aware scheduling: under saturation one warp issues memory; re-execution of what the L1 does not take",
  params = {
    scheduling = { true, doc = "Switch between equal priority (EP) and memory access priority (MP)" },
    reexecution = { true, doc = "Put accesses that the L1 does not take into a queue beside it" },
    entries = { 32, min = 1, max = 64, doc = "Of the re-execution queue; Table II" },
    mshrs_left = { 8, min = 0, doc = "MSHRs of the L1 that are free when it counts as saturated: an eighth" },
    queue_left = { 2, min = 0, doc = "The same for its miss queue: a quarter" },
    relief = { 8, min = 0, doc = "So many more must become free before it no longer does" },
  },
  counters = {
    mp_modes = "Switches to MP mode; l1d.saturated_cycles are the cycles in it",
    owners = "Warps that became owner as the first to issue memory",
    queue_owners = "Warps that became owner because their access was at the head of the re-execution queue",
  },
}

--- The data cache is the L1 that configs call l1d.
function mascar:configure(class, path)
  if class ~= "L1" or not path:match "%.l1d$" then return end
  local p = self.params
  return {
    saturation_mshrs = p.mshrs_left, saturation_queue = p.queue_left, saturation_relief = p.relief,
    reexecution_entries = p.reexecution and p.entries or nil,
  }
end

function mascar:start()
  if not self.l1 then error("mascar wants an L1 behind the load/store unit", 0) end
  if self.params.reexecution and self.l1.reexecution_entries == 0 then
    error(("mascar wants a re-execution queue: set %s.reexecution_entries"):format(self.l1.path), 0)
  end
  if self.params.scheduling then self:equal_priority() end
end

-- Section III-B: scheduling in equal priority mode --------------------------------------------------------------------

--- Memory warps before compute warps, greedy then oldest inside; no stall bits.
function mascar:equal_priority()
  local sm = self.sm
  self.state.mp, self.state.owner = false, nil
  sm.first, sm.scheduler = "memory", "gto"
  sm.may_issue_memory, sm.memory_watched, sm.watched = bits.all, 0, 0
  self.l1.may_miss = bits.all
end

-- Section III-A: scheduling in memory access priority mode ------------------------------------------------------------

--- Compute warps before memory warps, the oldest first inside.
function mascar:memory_access_priority()
  self.state.mp = true
  self:count "mp_modes"
  self.sm.first, self.sm.scheduler = "compute", "oldest"
  self.sm.memory_watched = bits.all
  self.l1.may_miss = 0
end

--- The memory saturation flag.
function mascar:on_l1_saturation(on)
  if not self.params.scheduling then return end
  if on == 1 then self:memory_access_priority() else self:equal_priority() end
end

--- Only this warp may issue memory from now on, on whatever scheduler. The L1 serves its misses, and goes on to serve those
-- of former owners of this MP phase: what they issued as owners goes before what their successors issue, since "one warp is
-- given priority to issue all of its memory requests before another warp can issue any".
function mascar:own(warp)
  local own = bits.of(warp)
  self.state.owner = warp
  self.sm.may_issue_memory = own
  self.l1.may_miss = self.l1.may_miss | own
end

--- Without an owner every warp may issue memory; the first that does becomes it.
function mascar:on_memory_issue(warp)
  if not self.state.mp or self.state.owner then return end
  self:own(warp)
  self.state.from_queue = false
  self.sm.watched = bits.of(warp)
  self:count "owners"
end

--- The owner waits for one of its loads, or cannot issue for another reason: it has ended, or stands at a barrier or a fence
-- (which the paper does not mention).
function mascar:on_load_blocked(warp)
  if self.state.owner == warp and not self.state.from_queue then self:relinquish() end
end
mascar.on_watched_stops = mascar.on_load_blocked

-- Section III-D: MP mode and re-execution -----------------------------------------------------------------------------

function mascar:relinquish()
  local head = self.sm:memory_ready() == 0 and self.l1:reexecution_head()
  if head then
    self:own(head)
    self.state.from_queue = true
    self:count "queue_owners"
  else
    self.state.owner = nil
    self.sm.may_issue_memory, self.sm.memory_watched = bits.all, bits.all
  end
end

--- A warp that owns for what it has in the queue waits for that already: it relinquishes when all of it is taken.
function mascar:on_l1_reexecuted(warp)
  if self.state.owner == warp and self.state.from_queue then self:relinquish() end
end

return mascar

-- Mascar: memory-aware scheduling and cache access re-execution. A. Sethia, D. A. Jamshidi, S. Mahlke, HPCA 2015, section III.
--
-- What the paper calls the memory-ready instructions of earlier warps, which may still go to the L1 when a warp has become
-- the owner, are here those between issue and the tags: operand collectors, load/store unit, links, L1 pipeline.
--
-- Who owns the memory next. When the owner gives way, the queue of memory-ready warps says: first those that have issued
-- already, in their order, since the next owner's accesses would come behind theirs and find the re-execution queue full of
-- them; then the oldest, as the schedulers take them oldest first. "If [...] the scheduler's memory-ready warps queue is
-- empty, the warp of the request at the head of the re-execution queue is given ownership" (III-D). Where both are empty, and
-- when MP mode begins, "all warps are free to issue to memory, one will go ahead and access memory. If the memory saturation
-- flag remains asserted [...], this warp will become the new owner" (III-A): the first of which the L1 takes an access that
-- uses the memory below, a miss or a store. To issue is not enough: an access that hits needs no memory, and those that have
-- issued before it and wait for memory would all be refused.
--
-- "Mascar also observes saturation from these caches", of textures and constants: the flag is up while one of the three is
-- saturated, the first of which any of them takes an access that uses the memory below becomes owner, and none of them serves
-- the misses of others. The re-execution queue is the data cache's; the other two have one as well, used in MP mode alone:
-- what they have refused would otherwise stand in the load/store unit, before the owner's accesses. In EP mode their accesses
-- wait as they do without Mascar. Without the queues that lasts until all that is in flight has come and the flag is down.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local mascar = policy "mascar" {
  doc = "Memory-aware scheduling: under saturation one warp issues memory; re-execution of what the L1 does not take",
  params = {
    scheduling = { true, doc = "Switch between equal priority (EP) and memory access priority (MP)" },
    reexecution = { true, doc = "Put accesses that the L1 does not take into a queue beside it" },
    entries = { 32, min = 1, max = 64, doc = "Of the re-execution queue; Table II" },
    free = { 250, min = 0, max = 500, doc = "Permille of the L1's MSHRs, or of its miss queue, that are free when they are "
      .. "\"almost full\"" },
    relief = { 250, min = 0, max = 400, doc = "So much more of both must become free before that is over" },
  },
  caches = "data|texture|constant",
  counters = {
    mp_modes = "Switches to MP mode; it lasts while one of the L1s is saturated: saturated_cycles",
    owners = "Warps that became owner as the first to access memory",
    issued_owners = "Warps that became owner because their accesses had issued and were the next to come to an L1",
    ready_owners = "Warps that became owner as the oldest that was ready to access memory",
    queue_owners = "Warps that became owner because their access was at the head of a re-execution queue",
  },
}

function mascar:configure(_, path)
  if not self:acts_on(path) then return end
  local p = self.params
  return {
    saturation_free = p.scheduling and p.free or nil, saturation_relief = p.scheduling and p.relief or nil,
    reexecution_entries = p.reexecution and (self:acts_on(path, "data") or p.scheduling) and p.entries or nil,
  }
end

function mascar:start()
  self:own_l1()
  if self.params.reexecution and self.l1.reexecution_entries == 0 then
    error(("%s.reexecution_entries: expected 1 or more, got 0"):format(self.l1.path), 0)
  end
  if not self.params.scheduling then return end
  self:make_settings()
  -- The memory saturation flag.
  self:bind("on_saturation", { [1] = self.memory_access_priority }, "mp_modes")
  self:bind("on_saturation", { [0] = self.equal_priority })
  -- In MP mode without an owner: the first that accesses memory becomes owner.
  self:bind("on_memory_access", self.own, "owners")
  self.sm:watch_caches()
  self.sm:watch_taken()
  self.equal_priority()
end

--- A function that sets these knobs of the SM, those of the L1s, and whether the queues of those that are not for data work.
function mascar:setting(sm, may_miss, memory_watched, queues)
  local settings = { sm, self.l1, { may_miss = may_miss, memory_watched = memory_watched } }
  for _, name in ipairs { "texture", "constant" } do
    if self[name] then
      table.insert(settings, self[name])
      table.insert(settings, { may_miss = may_miss, memory_watched = memory_watched, reexecution = queues })
    end
  end
  return self.sm:setting(table.unpack(settings))
end

function mascar:make_settings()
  local all = bits.all

-- Section III-B: scheduling in equal priority mode --------------------------------------------------------------------

  -- Memory warps before compute warps, greedy then oldest inside; no stall bits.
  self.equal_priority = self:setting(
    { first = "memory", scheduler = "gto", may_issue_memory = all, watched = 0 }, all, 0, false)

-- Section III-A: scheduling in memory access priority mode ------------------------------------------------------------

  -- Compute warps before memory warps, the oldest first inside. Without an owner every warp may issue memory, and the L1s
  -- serve it.
  self.memory_access_priority = self:setting({ first = "compute", scheduler = "oldest" }, all, all, true)
  self.find_owner = self:setting({ may_issue_memory = all }, all, all)

  -- Only this warp may issue memory from now on, on whatever scheduler, and the L1s serve its misses alone. The SM watches it
  -- from when they have taken what it has issued.
  self.own = self:setting({ may_issue_memory = bits.of, watched = bits.of }, bits.of)
end

-- Section III-D: MP mode and re-execution -----------------------------------------------------------------------------

--- The owner has reached an instruction that depends on its loads, or cannot issue for another reason, which the paper does
-- not mention: it has ended, or stands at a barrier or a fence. An instruction issues here before its accesses have MSHRs:
-- "one warp is given priority to issue all of its memory requests before another warp can issue any", so the owner remains
-- it until the L1s have taken them.
function mascar:on_load_blocked()
  local issued = self.sm:first_issued()
  local ready = not issued and self.sm:oldest_memory_ready()
  local head = not (issued or ready) and self:queue_head()
  if issued or ready or head then
    self.own(issued or ready or head)
    self:count(issued and "issued_owners" or ready and "ready_owners" or "queue_owners")
  else
    self.find_owner()
  end
end
mascar.on_watched_stops = mascar.on_load_blocked

--- Two of the queues wait seldom: "only one of the three memory spaces causes saturation at a given time".
function mascar:queue_head()
  local texture, constant = self.texture, self.constant
  return self.l1:reexecution_head() or texture and texture:reexecution_head() or constant and constant:reexecution_head()
end

return mascar

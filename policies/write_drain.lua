-- Write drains with watermarks, as the literature on DRAM scheduling has them beneath its schedulers (Lee, Narasiman, Ebrahimi,
-- Mutlu, Patt, "DRAM-Aware Last-Level Cache Writeback", HPS Technical Report, 2010; Chatterjee et al., HPCA 2012, SC 2014): a
-- controller keeps writes back, since nobody waits for them, until `high` of them wait; then it serves writes alone until `low`
-- are left. Each change of direction costs the data bus a turnaround, which so many writes share.
-- From memory. Ours: reads and writes wait in one queue, so `high` is a part of its places, and writes go as well when no read
-- waits, as long as that is so. Among the requests of a direction the controller's `scheduler` chooses; its `age_cap` goes before
-- all of this. With `high` above `queue_entries` nothing is ever drained.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local write_drain = policy "write_drain" {
  doc = "Memory controllers keep writes back until many wait, then serve writes alone until few are left",
  scope = "mc",
  params = {
    high = { 32, min = 1, max = 64, doc = "Writes in a queue that begin a drain" },
    low = { 8, min = 0, max = 63, doc = "Writes that end it" },
  },
  counters = { drains = "Drains", reads_held = "Choices of a drain that left reads out",
    writes_held = "Choices that left writes out" },
}

--- `draining`: by queue, true from `high` to `low`.
function write_drain:start()
  local params = self.params
  if params.low >= params.high then error(("low: expected less than high = %d, got %d"):format(params.high, params.low), 0) end
  self.state = { draining = {} }
end

--- Is the queue drained, with so many writes in it?
function write_drain:drains(queue, writes)
  local draining, params = self.state.draining, self.params
  if draining[queue] and writes <= params.low then
    draining[queue] = nil
  elseif not draining[queue] and writes >= params.high then
    draining[queue] = true
    self:count "drains"
  end
  return draining[queue]
end

function write_drain:pick(queue, requests, _, writes)
  local reads = requests & ~writes
  local drains = self:drains(queue, bits.count(self.mc:writes(queue)))
  if reads == 0 or writes == 0 then return nil end
  self:count(drains and "reads_held" or "writes_held")
  return drains and writes or reads
end

return write_drain

-- Warp-aware memory scheduling (N. Chatterjee, M. O'Connor, G. Loh, N. Jayasena, R. Balasubramonian, "Managing DRAM Latency
-- Divergence in Irregular GPGPU Applications", SC 2014). A warp waits for the last of its requests, so those of a warp at a
-- controller are served side by side, and the warp with the least left goes first: the shortest job.
--
-- The order holds in each bank: requests that have waited too long; row hits; reads of the warp that has the fewest reads left
-- at the controller; the oldest. Among what the banks would do, the controller chooses by FR-FCFS, and by its `age_cap`.
-- Nobody waits for writes: a bank gets to them when no read wants it, or when they hit in the open row.
--
-- The paper scores a group by the time that its fullest bank needs, waits until all of the group has come, has controllers
-- tell each other which group they serve, and drains writes in batches. Here a group is what has come, and counts requests.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local most_banks <const> = 32
local most_requests <const> = 512 -- of a controller: 8 queues of 64

local warp_groups = policy "warp_groups" {
  doc = "Memory controllers finish the warp first that has the fewest reads left there",
  scope = "mc",
  params = {
    row_hits = { true, doc = "Row hits go before the reads of shorter warps" },
    threshold = { 2000, min = 1, doc = "Cycles of the controller's clock after which a request goes before all others" },
  },
  counters = {
    reordered = "Choices for a bank of a read before an older request, since its warp has fewer left",
    aged = "Choices for a bank of a request that had waited too long",
  },
}

function warp_groups:configure(class)
  if class == "MemoryController" then return { scheduler = "frfcfs" } end
end

--- `left`, by SM and warp: reads that wait.
function warp_groups:start() self.state.left = {} end

local function key(sm, warp) return sm << 16 | warp end

function warp_groups:on_arrived(sm, warp, _, write)
  local left, group = self.state.left, key(sm, warp)
  if write == 0 then left[group] = (left[group] or 0) + 1 end
end

function warp_groups:on_served(sm, warp, _, write)
  local left, group = self.state.left, key(sm, warp)
  if write == 1 or not left[group] then return end -- it came before this policy
  left[group] = left[group] > 1 and left[group] - 1 or nil
end

local aged <const>, hit <const>, other <const> = 0, 1, 2

--- Where a request stands in the order of its bank, the lowest number first; its rank is the lowest 6 bits.
function warp_groups:position(rank, sm, warp, write, waited, is_hit)
  if waited > self.params.threshold then return aged << 20 | rank end
  local left = write and most_requests or self.state.left[key(sm, warp)] or 1
  return (is_hit and self.params.row_hits and hit or other) << 20 | left << 6 | rank
end

--- What is counted of a choice: `oldest` is the position of the oldest request of the bank.
function warp_groups:note(position, oldest)
  if position >> 20 == aged then
    self:count "aged"
  elseif position >> 20 == oldest >> 20 and position & 63 ~= oldest & 63 then
    self:count "reordered"
  end
end

function warp_groups:pick(queue, requests, row_hits)
  local first, oldest, answer = {}, {}, 0
  for rank in bits.each(requests) do
    local sm, warp, _, bank, _, write, waited = self.mc:request(queue, rank)
    local position = self:position(rank, sm, warp, write, waited, bits.has(row_hits, rank))
    oldest[bank] = oldest[bank] or position
    first[bank] = math.min(first[bank] or position, position)
  end
  for bank = 0, most_banks - 1 do
    if first[bank] then
      self:note(first[bank], oldest[bank])
      answer = answer | 1 << (first[bank] & 63)
    end
  end
  return answer
end

return warp_groups

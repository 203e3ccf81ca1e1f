-- FR-FCFS+Cap (O. Mutlu, T. Moscibroda, "Stall-Time Fair Memory Access Scheduling for Chip Multiprocessors", MICRO 2007, where it is
-- a scheduler to compare with): of each bank, so many row hits may go before an older request for another row; then the
-- older one is served.
--
-- As we know it; the text was not at hand: a cap of four. Ours: that a hit counts when it is served, by the requests that wait in
-- its queue then, and that writes count as reads do.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local row_cap = policy "row_cap" {
  doc = "So many row hits of a bank may pass an older request for another row, and no more",
  scope = "mc",
  params = { cap = { 4, min = 1, doc = "Row hits that may pass" } },
  counters = { passed = "Row hits that have passed an older request", held = "Picks that left row hits of a bank out" },
}

function row_cap:configure(class)
  if class == "MemoryController" then return { scheduler = "frfcfs" } end
end

function row_cap:start()
  self.state.passed = {} -- by bank: row hits in a row that have passed an older request
  self.state.full = 0    -- set of the banks that have had their share
  for bank = 0, self.mc.banks - 1 do self.state.passed[bank] = 0 end
end

--- Has a request waited longer for another row of this bank?
function row_cap:is_older(bank, waited)
  local mc = self.mc
  for queue = 0, mc.queues - 1 do
    local rank = bits.lowest(mc:of_bank(queue, bank) & ~mc:row_hits(queue))
    if rank and select(7, mc:request(queue, rank)) > waited then return true end
  end
  return false
end

function row_cap:on_served(_, _, _, _, bank, _, waited, _, hit)
  local state, passes = self.state, hit == 1 and self:is_older(bank, waited)
  state.passed[bank] = passes and state.passed[bank] + 1 or 0
  if passes then self:count "passed" end
  local is_full = state.passed[bank] >= self.params.cap
  state.full = state.full & ~bits.of(bank) | (is_full and bits.of(bank) or 0)
end

--- All but the row hits of banks that have had their share.
function row_cap:pick(queue, requests, row_hits)
  if self.state.full == 0 then return nil end
  local hits = 0
  for bank in bits.each(self.state.full) do
    local of_bank = self.mc:of_bank(queue, bank) & requests
    local oldest = bits.lowest(of_bank)
    if oldest and not bits.has(row_hits, oldest) then hits = hits | of_bank & row_hits end
  end
  if hits == 0 or hits == requests then return nil end
  self:count "held"
  return requests & ~hits
end

return row_cap

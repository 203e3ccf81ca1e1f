-- PAR-BS: parallelism-aware batch scheduling (O. Mutlu, T. Moscibroda, "Parallelism-Aware Batch Scheduling", ISCA 2008). When
-- a memory controller has served its batch, it marks the oldest requests of each thread to each bank, a few of them: the next
-- batch. Marked requests go before others, so nobody waits for longer than a batch or two; in a batch the shortest job goes
-- first in all banks, so that a thread's requests are served side by side.
--
-- The paper's threads are the cores of a CPU; here they are the SMs. The order (rules 1 and 2): marked requests; row hits; the
-- SM of the higher rank; the oldest. Ranks are those of Max-Total: first who has fewest marked requests in any one bank, then
-- who has fewest in all. The order holds in each bank; among what the banks would do, the controller chooses by FR-FCFS, and
-- by its `age_cap`. Writes are marked like reads, with the SM that made the line dirty.
local policy = require "warpwright.policy"

local most_banks <const> = 32

local parbs = policy "parbs" {
  doc = "Memory controllers serve requests in batches, and the SM with the least work in a batch first",
  scope = "mc",
  params = { cap = { 5, min = 1, doc = "Requests of an SM to a bank that a batch has at most: the paper's Marking-Cap" } },
  counters = { batches = "Batches", marked = "Requests in them", served = "Of these: served", ranked = "Choices for a bank by rank" },
}

function parbs:configure(class)
  if class == "MemoryController" then return { scheduler = "frfcfs", queues = 1 } end
end

--- `batch`, by SM and bank: how many are left, and the cycle in which the last of them entered the queue. `formed`: in which
-- cycle; what is served in it had left the queue before.
function parbs:start() self.state = { batch = {}, left = 0, order = {}, formed = -1 } end

local function key(sm, bank) return sm * most_banks + bank end

--- Requests of the queue, oldest first: rank, SM, bank, and the cycle in which it entered.
local function each_request(self, queue)
  local mc, now, rank = self.mc, self:cycle(), -1
  return function()
    rank = rank + 1
    local sm, _, _, bank, _, _, waited = mc:request(queue, rank)
    if sm then return rank, sm, bank, now - waited end
  end
end

--- Who has fewer marked requests in its fullest bank goes first, then who has fewer in all.
function parbs:rank(most, total)
  local order = self.state.order
  table.sort(order, function(a, b)
    if most[a] ~= most[b] then return most[a] < most[b] end
    if total[a] ~= total[b] then return total[a] < total[b] end
    return a < b
  end)
end

function parbs:form_batch(queue)
  local state, most, total = self.state, {}, {}
  state.batch, state.order, state.formed = {}, {}, self:cycle()
  for _, sm, bank, entered in each_request(self, queue) do
    local at = key(sm, bank)
    local of_bank = state.batch[at] or { left = 0 }
    state.batch[at] = of_bank
    if of_bank.left < self.params.cap then
      of_bank.left, of_bank.last = of_bank.left + 1, entered
      if not total[sm] then state.order[#state.order + 1] = sm end
      most[sm], total[sm] = math.max(most[sm] or 0, of_bank.left), (total[sm] or 0) + 1
      state.left = state.left + 1
    end
  end
  self:count "batches"
  self:count("marked", state.left)
  self:rank(most, total)
end

function parbs:is_marked(sm, bank, entered)
  local of_bank = self.state.batch[key(sm, bank)]
  return of_bank and of_bank.left > 0 and entered <= of_bank.last
end

--- The marked requests, and the banks that requests wait for.
function parbs:look(queue)
  local marked, banks, seen = 0, {}, {}
  for rank, sm, bank, entered in each_request(self, queue) do
    if self:is_marked(sm, bank, entered) then marked = marked | 1 << rank end
    if not seen[bank] then banks[#banks + 1], seen[bank] = bank, true end
  end
  return marked, banks
end

--- Of marked requests for a bank: row hits, and of these those of the SM that is ranked first.
function parbs:first_of(queue, marked, row_hits)
  if marked & row_hits ~= 0 then marked = marked & row_hits end
  for _, sm in ipairs(self.state.order) do
    local own = self.mc:of_sm(queue, sm) & marked
    if own ~= 0 then return own end
  end
end

function parbs:pick(queue, requests, row_hits)
  if self.state.left == 0 then self:form_batch(queue) end
  local marked, banks = self:look(queue)
  local answer = 0
  for _, bank in ipairs(banks) do
    local of_bank = self.mc:of_bank(queue, bank) & requests
    if of_bank & marked ~= 0 then
      self:count "ranked"
      of_bank = self:first_of(queue, of_bank & marked, row_hits)
    end
    answer = answer | of_bank
  end
  return answer ~= 0 and answer or nil
end

function parbs:on_served(sm, _, _, _, bank, _, waited)
  local now = self:cycle()
  if now == self.state.formed or not self:is_marked(sm, bank, now - waited) then return end
  local of_bank = self.state.batch[key(sm, bank)]
  of_bank.left, self.state.left = of_bank.left - 1, self.state.left - 1
  self:count "served"
end

return parbs

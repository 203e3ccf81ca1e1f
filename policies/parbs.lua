-- PAR-BS: parallelism-aware batch scheduling (O. Mutlu, T. Moscibroda, "Parallelism-Aware Batch Scheduling", ISCA 2008). When
-- a memory controller has served its batch, it marks the oldest requests of each thread to each bank, a few of them: the next
-- batch. Marked requests go before others, so nobody waits for longer than a batch or two; in a batch the shortest job goes
-- first in all banks, so that a thread's requests are served side by side.
--
-- The paper's threads are the cores of a CPU; here they are the SMs. The order (rules 1 and 2): marked requests; row hits; the
-- SM of the higher rank; the oldest. Ranks are those of Max-Total: first who has fewest marked requests in any one bank, then
-- who has fewest in all. The order holds in each bank; among what the banks would do, the controller chooses by FR-FCFS, and
-- by its `age_cap`. Writes are marked like reads, with the SM that made the line dirty.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local parbs = policy "parbs" {
  doc = "Memory controllers serve requests in batches, and the SM with the least work in a batch first",
  scope = "mc",
  params = { cap = { 5, min = 1, doc = "Requests of an SM to a bank that a batch has at most: the paper's Marking-Cap" } },
  counters = { batches = "Batches", marked = "Requests in them", served = "Of these: served", ranked = "Choices for a bank by rank" },
}

function parbs:configure(class)
  if class == "MemoryController" then return { scheduler = "frfcfs", queues = 1 } end
end

--- `batch`, by bank: of each SM that has marked requests, the first in rank first, how many are left, and the cycle in which the last
-- of them entered the queue. `formed`: in which cycle; what is served in it had left the queue before.
function parbs:start() self.state = { batch = {}, left = 0, formed = -1 } end

--- Requests of the queue, oldest first: SM, bank, and the cycle in which it entered.
local function each_request(self, queue)
  local mc, now, rank = self.mc, self:cycle(), -1
  return function()
    rank = rank + 1
    local sm, _, _, bank, _, _, waited = mc:request(queue, rank)
    if sm then return sm, bank, now - waited end
  end
end

--- SMs in order: who has fewer marked requests in its fullest bank goes first, then who has fewer in all.
function parbs.rank(_, order, most, total)
  table.sort(order, function(a, b)
    if most[a] ~= most[b] then return most[a] < most[b] end
    if total[a] ~= total[b] then return total[a] < total[b] end
    return a < b
  end)
end

--- The requests of an SM for a bank in the batch.
local function share_of(batch, bank, sm)
  for _, share in ipairs(batch[bank] or {}) do
    if share.sm == sm then return share end
  end
end

function parbs:form_batch(queue)
  local state, order, most, total, shares = self.state, {}, {}, {}, {}
  for sm, bank, entered in each_request(self, queue) do
    shares[sm] = shares[sm] or {}
    local share = shares[sm][bank] or { sm = sm, left = 0 }
    shares[sm][bank] = share
    if share.left < self.params.cap then
      share.left, share.last = share.left + 1, entered
      if not total[sm] then order[#order + 1] = sm end
      most[sm], total[sm] = math.max(most[sm] or 0, share.left), (total[sm] or 0) + 1
      state.left = state.left + 1
    end
  end
  self:count "batches"
  self:count("marked", state.left)
  self:rank(order, most, total)
  state.batch, state.formed = {}, self:cycle()
  for _, sm in ipairs(order) do
    for bank = 0, self.mc.banks - 1 do
      if shares[sm][bank] then
        state.batch[bank] = state.batch[bank] or {}
        table.insert(state.batch[bank], shares[sm][bank])
      end
    end
  end
end

local function entered_later(self, queue, request, cycle)
  local _, _, _, _, _, _, waited = self.mc:request(queue, bits.lowest(request))
  return self:cycle() - waited > cycle
end

--- Of these requests, all of an SM for a bank, those that entered no later than the last marked one: the oldest, as many as are left. One
-- that was served in this cycle still counts among these. Where ports let two enter in a cycle, there may be more.
local function marked_of(self, queue, share, requests)
  local rest, newest = requests, 0
  for _ = 1, share.left do rest, newest = rest & (rest - 1), rest & -rest end
  if newest ~= 0 and entered_later(self, queue, newest, share.last) then rest = rest | newest end
  while rest ~= 0 and self.mc.ports > 1 and not entered_later(self, queue, rest, share.last) do rest = rest & (rest - 1) end
  return requests & ~rest
end

--- The requests that go first of those for a bank that may: marked row hits, or else marked ones, of the SM that is ranked first; nil:
-- none is marked. `own`: requests by SM, as far as they are known.
local function first_of(self, queue, bank, requests, row_hits, own)
  local of_bank, first = self.mc:of_bank(queue, bank), nil
  for _, share in ipairs(self.state.batch[bank] or {}) do
    if share.left > 0 then
      local sm = share.sm
      own[sm] = own[sm] or self.mc:of_sm(queue, sm)
      local marked = marked_of(self, queue, share, of_bank & own[sm]) & requests
      if marked & row_hits ~= 0 then return marked & row_hits end
      if marked ~= 0 and not first then first = marked end
    end
  end
  return first
end

function parbs:pick(queue, requests, row_hits)
  if self.state.left == 0 then self:form_batch(queue) end
  local answer, own = 0, {}
  for bank = 0, self.mc.banks - 1 do
    local of_bank = self.mc:of_bank(queue, bank) & requests
    local first = of_bank ~= 0 and first_of(self, queue, bank, requests, row_hits, own)
    if first then self:count "ranked" end
    answer = answer | (first or of_bank)
  end
  return answer ~= 0 and answer or nil
end

function parbs:on_served(sm, _, _, _, bank, _, waited)
  local now, share = self:cycle(), share_of(self.state.batch, bank, sm)
  if now == self.state.formed or not share or share.left == 0 or now - waited > share.last then return end
  share.left, self.state.left = share.left - 1, self.state.left - 1
  self:count "served"
end

return parbs

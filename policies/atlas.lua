-- ATLAS: adaptive per-thread least-attained-service scheduling of several memory controllers (Y. Kim, D. Han, O. Mutlu,
-- M. Harchol-Balter, HPCA 2010, sections 3 and 4). Who has been served least by all controllers together goes first in each of
-- them: the ranks are those of a long quantum, so that controllers must seldom tell each other what they have served.
--
-- The paper's threads are the cores of a CPU; here they are the SMs. Service is counted in requests served, where the paper
-- counts cycles of banks. In each quantum the attained service is alpha of what it was and 1 - alpha of what is new (equation
-- 1). The order in a controller: requests that have waited too long; the SM with the least attained service; row hits; the
-- oldest (rule 1). What a controller knows of the others is a quantum of the machine old, 16 cycles.
local policy = require "warpwright.policy"

local most_sms <const> = 1024

local atlas = policy "atlas" {
  doc = "Memory controllers serve the SMs first that all of them together have served least",
  scope = "mc",
  params = {
    quantum = { 100000, min = 16, doc = "Cycles from one ranking to the next; the paper has 10 million" },
    alpha = { 0.875, min = 0, max = 1, doc = "How much of the attained service of earlier quanta counts" },
    threshold = { 100000, min = 1, doc = "Cycles of the controller's clock after which a request goes before all ranks" },
  },
  period = "quantum",
  shares = { served = { most_sms, doc = "Requests of each SM that the controller has served" } },
  counters = { ranked = "Picks by rank", aged = "Picks of a request that had waited too long" },
}

function atlas:configure(class)
  if class == "MemoryController" then return { scheduler = "frfcfs" } end
end

function atlas:start()
  self.state.served, self.state.before, self.state.attained, self.state.order = {}, {}, {}, {}
end

function atlas:on_served(sm)
  if sm >= most_sms then return end -- of a line that the host has written: of no SM
  local served = self.state.served
  for other = #served, sm do served[other + 1] = 0 end
  served[sm + 1] = served[sm + 1] + 1
  self:share("served", served[sm + 1], sm + 1)
end

--- What all controllers have served of an SM, by number from 1, since the last quantum.
function atlas:served_by_all(i)
  local sum, before = 0, self.state.before
  for _, served in ipairs((self:shared("served", i))) do sum = sum + served end
  local new = sum - (before[i] or 0)
  before[i] = sum
  return new
end

--- Section 3.2: the attained service, and the SMs in its order, those with less first.
function atlas:on_period()
  local state, alpha = self.state, self.params.alpha
  local order, attained = {}, state.attained
  for i = 1, #state.served do
    attained[i] = alpha * (attained[i] or 0) + (1 - alpha) * self:served_by_all(i)
    order[i] = i
  end
  table.sort(order, function(a, b) return attained[a] < attained[b] or attained[a] == attained[b] and a < b end)
  state.order = order
end

--- The built-in order among those of the SM that is ranked first: row hits, then the oldest.
function atlas:pick(queue, requests)
  local _, _, _, _, _, _, waited = self.mc:request(queue, 0)
  if waited > self.params.threshold and requests & 1 == 1 then
    self:count "aged"
    return 1
  end
  for _, i in ipairs(self.state.order) do
    local own = self.mc:of_sm(queue, i - 1) & requests
    if own ~= 0 then
      self:count "ranked"
      return own
    end
  end
end

return atlas

-- BLISS: the blacklisting memory scheduler (L. Subramanian, D. Lee, V. Seshadri, H. Rastogi, O. Mutlu, ICCD 2014). Who has been
-- served too often in a row goes behind all others until the lists are cleared; there are no ranks. The order in a controller:
-- requests of those who are not on its list; row hits; the oldest. Each controller has a list of its own.
--
-- As we know it; the text was not at hand: a streak of four requests, lists that are cleared every 10000 cycles. The paper's
-- applications run on the cores of a CPU; here they are the tenants of the GPU, and a run without tenants is one of gto. With
-- tenants=false they are the SMs, as for atlas and parbs. Ours: that writes, which nobody waits for, count in streaks.
local policy = require "warpwright.policy"

local bliss = policy "bliss" {
  doc = "Memory controllers serve those last who have been served too often in a row",
  scope = "mc",
  params = {
    tenants = { true, doc = "Tenants are served, by their classes; else SMs" },
    streak = { 4, min = 1, doc = "Requests in a row that bring a tenant on the list" },
    clear = { 10000, min = 16, doc = "Cycles from one clearing of the list to the next" },
  },
  period = "clear",
  uses = { { "tenant_classes", when = "tenants" } },
  counters = { listed = "Times that a tenant came on a list", held = "Picks that left out requests of those on it" },
}

function bliss:configure(class)
  if class == "MemoryController" then return { scheduler = "frfcfs" } end
end

function bliss:start() self.state = { list = {}, is_listed = {}, last = -1, streak = 0 } end

function bliss:on_period() self.state.list, self.state.is_listed = {}, {} end

function bliss:on_served(sm, _, class)
  local state, who = self.state, self.params.tenants and class or sm
  state.streak = who == state.last and state.streak + 1 or 1
  state.last = who
  if state.streak < self.params.streak or state.is_listed[who] then return end
  state.streak = 0
  state.list[#state.list + 1], state.is_listed[who] = who, true
  self:count "listed"
end

--- The built-in order among those who are not on the list, if they have any requests.
function bliss:pick(queue, requests)
  local mc, others = self.mc, requests
  for _, who in ipairs(self.state.list) do
    others = others & ~(self.params.tenants and mc:of_class(queue, who) or mc:of_sm(queue, who))
  end
  if others == 0 or others == requests then return nil end
  self:count "held"
  return others
end

return bliss

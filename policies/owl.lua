-- CTA-aware scheduling (OWL: Jog et al., ASPLOS 2013), as Sethia et al. (Mascar, HPCA 2015, section IV-C) compare with it:
-- groups of CTAs are fetch groups, one of them goes before all others, and memory-side prefetching is left out.
-- What those texts do not say and is chosen here: a group has as many CTAs as make up `group_warps` warps; it is that of
-- neighbouring CTA slots; it keeps its priority until the CTAs that it began with have ended, or for `turn` cycles.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local owl = policy "owl" {
  doc = "CTA-aware scheduling: one group of CTAs goes before all others; one kernel per SM",
  order = "groups",
  params = {
    group_warps = { 8, min = 1, max = 64, doc = "A group has CTAs enough for so many warps" },
    turn = { 100000, min = 1, doc = "Cycles after which the next group is preferred, even if this one is not done" },
  },
  period = "turn",
  counters = { groups = "Groups that came to be preferred" },
}

-- CTA-aware two-level scheduling: round robin among the warps of a group, and among groups -------------------------------

function owl:configure(class, _, given)
  if class == "Dispatcher" and math.tointeger(given.kernels_per_sm or 1) ~= 1 then
    error(("dispatcher.kernels_per_sm: expected 1 with this policy, got %s"):format(given.kernels_per_sm), 0)
  end
  if class == "SM" then return { group_order = "lrr" } end
end

local function range(first, count) return (1 << count) - 1 << first end
local function divide_up(a, b) return (a + b - 1) // b end

function owl:on_kernel_given()
  local sm, state = self.sm, self.state
  local warps = sm:warps_per_cta()
  state.warps = warps
  state.ctas = divide_up(self.params.group_warps, warps)
  state.groups = divide_up(sm:ctas_per_sm(), state.ctas)
  state.resident = 0 -- slots with a CTA
  sm.group_size = math.min(64, divide_up(state.ctas * warps, sm.schedulers))
  -- Bank-level parallelism: neighbouring SMs begin with different groups, and so with different pages of memory.
  self:prefer(sm:number() % state.groups)
end

-- Locality: the data of one group stays in L1 until the group is done --------------------------------------------------

function owl:prefer(group)
  local state = self.state
  state.group = group
  state.slots = range(group * state.ctas, state.ctas)
  state.begun = state.slots & state.resident -- of them, those whose first CTA under this priority has started,
  state.left = state.begun                   -- and not yet ended
  self.sm.preferred = range(group * state.ctas * state.warps, state.ctas * state.warps)
  self:count "groups"
end

--- The next group that has a CTA.
function owl:go_on()
  local state = self.state
  for i = 1, state.groups - 1 do
    local group = (state.group + i) % state.groups
    if state.resident & range(group * state.ctas, state.ctas) ~= 0 then return self:prefer(group) end
  end
end

function owl:on_cta_start(slot)
  local state = self.state
  if not state.groups then return end
  local new = bits.of(slot) & state.slots & ~state.begun
  state.resident = state.resident | bits.of(slot)
  state.begun = state.begun | new
  state.left = state.left | new
end

function owl:on_cta_end(slot)
  local state = self.state
  if not state.groups then return end
  state.resident = state.resident & ~bits.of(slot)
  state.left = state.left & ~bits.of(slot)
  if state.left == 0 then self:go_on() end
end

function owl:on_period()
  if self.state.groups then self:go_on() end
end

return owl

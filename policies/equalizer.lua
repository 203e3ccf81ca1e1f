-- Equalizer (A. Sethia, S. Mahlke, "Equalizer: Dynamic Tuning of GPU Resources for Efficient Execution", MICRO 2014): each SM
-- looks, every 128 cycles, at how many of its warps are active, wait for operands, and are ready for the memory pipeline or for
-- arithmetic without being taken. At the end of an epoch of 4096 cycles their means say what limits it: compute, memory, or a
-- cache that has too many users. It runs one CTA fewer or more once three epochs in a row say so, and votes. What most SMs vote
-- for sets the clocks of the SMs and of the memory system, a step of 15% at a time: to be faster, up, what limits the kernel; to
-- save energy, down, what does not.
--
-- Ours: all SMs look in the same cycle, at a boundary of a quantum. Ready warps beyond the one that the load/store unit takes in
-- a cycle, and the one of each scheduler, are in excess. Where most SMs vote for nothing, and for what is not concerned, a clock
-- goes back to its first frequency by a step. An L2 that has the core's clock, as on gtx480, is faster and slower with it.
local bits = require "warpwright.bits"
local core = require "warpwright.core"
local policy = require "warpwright.policy"

local equalizer = policy "equalizer" {
  doc = "The clocks of SMs and memory, and how many CTAs run, follow what most SMs are limited by; one kernel per SM",
  scope = "machine",
  order = "gto",
  params = {
    mode = { "performance", doc = "performance: what limits is faster; energy: what does not is slower" },
    period = { 128, min = 16, doc = "Core cycles from one look at the warps to the next" },
    samples = { 32, min = 1, doc = "Looks of an epoch" },
    agree = { 3, min = 1, doc = "Epochs in a row that ask for one CTA fewer, or more, until it is done" },
    step = { 0.15, min = 0.01, max = 0.9, doc = "Part by which a clock is faster or slower" },
    core = { "core", doc = "Clock of the SMs" },
    memory = { "icnt|l2|dram", doc = "Clocks of the memory system, of those that the machine has" },
  },
  period = "period",
  counters = {
    compute = "Epochs in which most SMs were limited by compute", memory = "By memory, or the caches", balanced = "By neither",
    faster = "Steps up of the SMs' clock or of the memory's", slower = "Steps down",
    more = "Times that an SM ran one CTA more", fewer = "One less",
  },
}

--- What the levels of the two clocks shall be: steps from their first frequencies.
local wanted_levels <const> = {
  performance = { compute = { core = 1, memory = 0 }, memory = { core = 0, memory = 1 }, balanced = { core = 0, memory = 0 } },
  energy = { compute = { core = 0, memory = -1 }, memory = { core = -1, memory = 0 }, balanced = { core = 0, memory = 0 } },
}

local function is_of_memory(params, clock) return ("|" .. params.memory .. "|"):find("|" .. clock .. "|", 1, true) ~= nil end

--- The clocks may go one step up, or one down; a range that the config gives stays.
function equalizer:configure(class, path, given)
  local params = self.params
  if class ~= "clock" or not (path == params.core or is_of_memory(params, path)) then return end
  local hertz = math.tointeger(given.frequency)
  if not hertz then
    if given.frequency:find(",", 1, true) then return end
    hertz = core.quantity(given.frequency, "Hz")
  end
  local step = math.floor(hertz * params.step)
  if params.mode == "energy" then return { frequency = ("%dHz, %dHz to %dHz"):format(hertz, hertz - step, hertz) } end
  return { frequency = ("%dHz, %dHz to %dHz"):format(hertz, hertz, hertz + step) }
end

local function new_means() return { active = 0, waiting = 0, alu = 0, memory = 0 } end

local function clock_of(self, name)
  local hertz, slowest, fastest = self:clock(name)
  return { name = name, hertz = hertz, slowest = slowest, fastest = fastest }
end

function equalizer:start()
  local params = self.params
  if not wanted_levels[params.mode] then
    error(("mode: expected performance or energy, got '%s'"):format(params.mode), 0)
  end
  local several = self.dispatchers[1].kernels_per_sm
  if several > 1 then error(("dispatcher.kernels_per_sm: expected 1 with this policy, got %d"):format(several), 0) end
  self.clocks = { core = { clock_of(self, params.core) }, memory = {} }
  for name in params.memory:gmatch "[^|]+" do
    local there, clock = pcall(clock_of, self, name)
    if there then table.insert(self.clocks.memory, clock) end
  end
  if not self.clocks.memory[1] then error(("memory: expected clocks of the machine, got '%s'"):format(params.memory), 0) end
  self.state = { levels = { core = 0, memory = 0 }, samples = 0, sms = {} }
  for i = 1, #self.sms do self.state.sms[i] = { ctas = 64, most = 64, asked = 0, epochs = 0, sums = new_means() } end
end

--- Of an SM, its oldest CTAs run, as many as may.
function equalizer:pause(sm)
  local own = self.state.sms[sm:number() + 1]
  sm.may_issue = own.ctas >= own.most and bits.all or sm:oldest_ctas(own.ctas)
end

equalizer.on_sm_cta_start = equalizer.pause
equalizer.on_sm_cta_end = equalizer.pause

function equalizer:on_kernel_start()
  self.state.samples = 0
  for i, sm in ipairs(self.sms) do
    local most = sm:ctas_per_sm()
    self.state.sms[i] = { ctas = most, most = most, asked = 0, epochs = 0, sums = new_means() }
    self:pause(sm)
  end
end

--- Adds to the sums how many warps of the SM are in each state.
function equalizer.look(_, sm, sums)
  local active = sm.live & sm.may_issue
  local to_memory = sm:memory_ready() & active
  local to_alu = sm.valid & ~(sm.blocked | sm.waiting | sm.head_memory) & active
  sums.active = sums.active + bits.count(active)
  sums.waiting = sums.waiting + bits.count(sm.blocked & active)
  sums.memory = sums.memory + math.max(0, bits.count(to_memory) - 1)
  sums.alu = sums.alu + math.max(0, bits.count(to_alu) - sm.schedulers)
end

--- What limits an SM with these means of its states, and how many CTAs more it should run: the paper's algorithm 1.
function equalizer.decide(_, mean, warps_per_cta)
  if mean.memory > warps_per_cta then return "memory", -1 end
  if mean.alu > warps_per_cta then return "compute", 0 end
  if mean.memory > 2 then return "memory", 0 end
  if mean.waiting > mean.active / 2 then return mean.alu > mean.memory and "compute" or "memory", 1 end
  return mean.active == 0 and "compute" or "balanced", 0
end

--- One CTA fewer or more, when so many epochs in a row have asked for it.
function equalizer:ask_for(sm, own, change)
  own.epochs = change ~= 0 and change == own.asked and own.epochs + 1 or 1
  own.asked = change
  local ctas = own.ctas + change
  if change == 0 or own.epochs < self.params.agree or ctas < 1 or ctas > own.most then return end
  own.ctas, own.epochs = ctas, 0
  self:count(change > 0 and "more" or "fewer")
  self:pause(sm)
end

--- A step of the clocks towards the level that is wanted, within the range that the config gives.
function equalizer:move_clocks(which, wanted)
  local levels = self.state.levels
  local step = math.max(-1, math.min(1, wanted - levels[which]))
  if step == 0 then return end
  levels[which] = levels[which] + step
  for _, clock in ipairs(self.clocks[which]) do
    local hertz = clock.hertz + levels[which] * math.floor(clock.hertz * self.params.step)
    self:set_clock(clock.name, math.max(clock.slowest, math.min(clock.fastest, hertz)))
  end
  self:count(step > 0 and "faster" or "slower")
end

--- What more than half of the SMs are limited by.
local function majority(votes, count)
  for _, limit in ipairs { "compute", "memory" } do
    if 2 * votes[limit] > count then return limit end
  end
  return "balanced"
end

function equalizer:end_epoch()
  local state, votes = self.state, { compute = 0, memory = 0, balanced = 0 }
  for i, sm in ipairs(self.sms) do
    local own, mean = state.sms[i], {}
    for _, name in ipairs { "active", "waiting", "alu", "memory" } do mean[name] = own.sums[name] / state.samples end
    local limit, change = self:decide(mean, sm:warps_per_cta())
    votes[limit] = votes[limit] + 1
    self:ask_for(sm, own, change)
    own.sums = new_means()
  end
  state.samples = 0
  local limit = majority(votes, #self.sms)
  self:count(limit)
  local wanted = wanted_levels[self.params.mode][limit]
  self:move_clocks("core", wanted.core)
  self:move_clocks("memory", wanted.memory)
end

function equalizer:on_period()
  local state = self.state
  for i, sm in ipairs(self.sms) do self:look(sm, state.sms[i].sums) end
  state.samples = state.samples + 1
  if state.samples >= self.params.samples then self:end_epoch() end
end

return equalizer

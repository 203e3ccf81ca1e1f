-- Dynamic warp throttling via core sampling (DWT-CS: Khairy et al., section 4.2). When L1 misses too often for some periods
-- in a row, every SM tries another number of active warps, and that of the SM that got furthest is taken for all of them,
-- until the kernel ends and whenever it is launched again.
-- The paper gives the period and the threshold (Table 4), and 60,000 cycles for detection and sampling together; N = M = 3
-- periods are chosen here. Instructions are those of threads. Periods are counted from the start of the run: the first one
-- of a kernel is shorter. Kernels side by side are to it as one kernel, which begins and ends with each of them: sampling
-- compares SMs, whatever they run. A cache that stream_bypass has switched off keeps its tags, and what misses there counts, too.
local policy = require "warpwright.policy"

local dwt_cs = policy "dwt_cs" {
  doc = "Dynamic warp throttling via core sampling: each SM tries another number of active warps",
  scope = "machine",
  caches = "data",
  order = "gto",
  params = {
    period = { 10000, min = 1, doc = "Cycles of a period" },
    mpki = { 10.0, min = 0, doc = "L1 misses per 1000 instructions that are too many" },
    consecutive = { 3, min = 1, doc = "N: periods in a row with too many misses that start the sampling" },
    samples = { 3, min = 1, doc = "M: periods that a sampling takes" },
    caches_on = { false, doc = "The L1 data caches are on during a sampling, whatever stream_bypass finds" },
  },
  period = "period",
  counters = {
    detections = "Times that N periods in a row had too many misses",
    samplings = "Samplings of the SMs",
    throttled = "Kernels throttled",
    warps = "Warps per scheduler found best, summed over the kernels throttled",
  },
}

local unlimited = 64

--- The most warps that a scheduler of the SM has: they take turns with its warps.
local function most_warps(sm) return (sm.warps + sm.schedulers - 1) // sm.schedulers end

-- Counters of the SMs ----------------------------------------------------------------------------------------------------

local function sum(objects, name)
  local total = 0
  for _, object in ipairs(objects) do total = total + object[name] end
  return total
end

--- Misses per 1000 instructions since the last call.
function dwt_cs:measure()
  local state = self.state
  local misses, instructions = sum(self.caches, "misses") + sum(self.caches, "off_misses"), sum(self.sms, "thread_instructions")
  local mpki = 1000 * (misses - (state.misses or 0)) / math.max(1, instructions - (state.instructions or 0))
  state.misses, state.instructions = misses, instructions
  return mpki
end

-- Sampling ---------------------------------------------------------------------------------------------------------------

--- With an L1 that is off, as it is where all warps together thrash, the number of warps that it could hold is not found:
-- all SMs would be sampled without what throttling is for.
function dwt_cs:keep_caches_on()
  for _, l1 in ipairs(self.params.caches_on and self.caches or {}) do l1.enabled = true end
end

--- SM number i, from 0, runs with first + i active warps per scheduler.
function dwt_cs:sample(first)
  local state, most = self.state, most_warps(self.sms[1])
  state.phase, state.left, state.counts, state.begun = "sample", self.params.samples, {}, {}
  for i, sm in ipairs(self.sms) do
    state.counts[i] = math.min(first + i - 1, most)
    state.begun[i] = sm.thread_instructions
    sm.warp_limit = state.counts[i]
  end
  self:keep_caches_on()
  self:count "samplings"
end

--- The coordinator: the first of the SMs that committed the most instructions.
function dwt_cs:winner()
  local best, most = 1, -1
  for i, sm in ipairs(self.sms) do
    local committed = sm.thread_instructions - self.state.begun[i]
    if committed > most then best, most = i, committed end
  end
  return best
end

function dwt_cs:throttle(warps)
  self.state.phase = "throttled"
  for _, sm in ipairs(self.sms) do sm.warp_limit = warps end
  self:count "throttled"
  self:count("warps", warps)
end

function dwt_cs:unthrottle()
  for _, sm in ipairs(self.sms) do sm.warp_limit = unlimited end
end

--- When the last SM wins, larger numbers are sampled, from its own on.
function dwt_cs:end_sampling()
  local state, winner = self.state, self:winner()
  local warps, more = state.counts[winner], state.counts[winner] < most_warps(self.sms[1])
  if winner == #self.sms and more then return self:sample(warps) end
  state.best[state.kernel] = warps
  self:throttle(warps)
end

-- Periods ----------------------------------------------------------------------------------------------------------------

function dwt_cs:watch(mpki)
  local state = self.state
  state.over = mpki > self.params.mpki and state.over + 1 or 0
  if state.over < self.params.consecutive or #self.sms == 1 then return end
  self:count "detections"
  local known = state.best[state.kernel] -- the kernel was sampled in an earlier launch
  if known then self:throttle(known) else self:sample(1) end
end

function dwt_cs:on_period()
  local state, mpki = self.state, self:measure()
  if state.phase == "watch" then
    self:watch(mpki)
  elseif state.phase == "sample" then
    state.left = state.left - 1
    if state.left == 0 then self:end_sampling() else self:keep_caches_on() end
  end
end

--- From now on these kernels run.
function dwt_cs:begin()
  local state = self.state
  local running = {}
  for i, kernel in ipairs(state.running) do running[i] = kernel end
  table.sort(running)
  state.kernel, state.phase, state.over = table.concat(running, "+"), running[1] and "watch" or "idle", 0
end

function dwt_cs:start() self.state = { running = {}, best = {} } end -- best: of each kernel

function dwt_cs:on_kernel_start(kernel)
  table.insert(self.state.running, kernel)
  if self.state.running[2] then self:unthrottle() end
  self:begin()
  self:measure()
end

function dwt_cs:on_kernel_end(kernel)
  local running = self.state.running
  for i, other in ipairs(running) do
    if other == kernel then
      table.remove(running, i)
      break
    end
  end
  self:unthrottle()
  self:begin()
end

return dwt_cs

-- A pass of a sampled launch: the process executes all of it without timing, and leaves workers behind where windows, the check and
-- tails begin, which take over there.
local core = require "warpwright.core"
local launch_profile = require "warpwright.launch_profile"
local timed_parts = require "warpwright.timed_parts"

local sampling_pass = {}

sampling_pass.LEAST_TAILS = 3 -- that are counted, where more than one is
sampling_pass.TAILS_PART = 0.05 -- of the launch's instructions: those behind the first one

local MOST_WAITING <const> = 12 -- windows that have counted and may be asked for longer ones: each keeps a machine in memory
local LOOKS <const> = 96 -- at what the middle asks of the machine, at equal intervals

--- `pool`, of workers; workers `windows`, `tails` and `check`; `instructions` and what else the launch has executed. `waits`: windows
-- may be asked for longer ones.
local Pass = {}
Pass.__index = Pass

--- The places of a pass in order: where parts of the middle begin and end, and where the machine takes over for a window.
local function places_of(plan)
  local first, last, warm_up_ctas = plan.first_at, plan.tail_at, plan.warm_up * (plan.resident / plan.life)
  local places, length = {}, (last - first) / plan.windows
  local rng, looks = core.rng(plan.seed), math.ceil(LOOKS / plan.windows)
  for i = 1, plan.windows do
    local begins = first + (i - 1) * length
    for look = 1, looks - 1 do places[#places + 1] = { at = math.floor(begins + look / looks * length), is_look = true, order = 0 } end
    local at = begins + rng:float() * length - warm_up_ctas
    places[#places + 1] = { at = math.floor(begins), part = i, order = 2 * i }
    places[#places + 1] = { at = math.max(math.floor(at), plan.check_at), window = i, order = 2 * i + 1 }
  end
  places[#places + 1] = { at = last, part = plan.windows + 1, order = 2 * plan.windows + 2 }
  for i, at in ipairs(plan.tails) do places[#places + 1] = { at = at, tail = i, order = 2 * plan.windows + 2 + i } end
  table.sort(places, function(a, b) return a.at < b.at or a.at == b.at and a.order < b.order end)
  return places
end

--- A worker that takes over where the launch has come to, and is at work.
local function begin_part(pool, work, order)
  local worker = pool:start(work)
  pool:ask(worker, order)
  return worker
end

--- Of workers where the tail may begin, in order, the last one from which there is a warm-up and a wave to go is at work, as CTAs at
-- the end of a grid may be shorter than others; and those before it, as many as there are to be, which count the same part of the
-- launch: each begins it from another state.
function Pass:begin_tails(plan)
  local chosen, least = 1, sampling_pass.LEAST_TAILS
  for i, tail in ipairs(self.tails) do
    if self.instructions - tail.at >= plan.warm_up + plan.life then chosen = i end
  end
  local fit = sampling_pass.TAILS_PART * self.instructions // (self.instructions - self.tails[chosen].at) -- long CTAs may be at the end
  local more = math.min(plan.more_tails, math.max(fit, least - 1), chosen - 1)
  local first = more + 1 < least and chosen or chosen - more
  local workers_of_tails = {}
  for i, tail in ipairs(self.tails) do
    if i >= first and i <= chosen then
      self.pool:ask(tail.worker, { offset = self.tails[chosen].at - tail.at, warm_up = plan.warm_up, doublings = plan.doublings,
        least = plan.life / 2, is_last = true })
      workers_of_tails[#workers_of_tails + 1] = tail.worker
    else
      self.pool:dismiss(tail.worker)
    end
  end
  self.tails = workers_of_tails
end

--- Executes the launch, with windows as `plan` has them: { windows =, seed =, warm_up =, length =, doublings =, resident =, life =,
-- check_at =, check_length =, first_at =, tail_at =, tails = where the tail may begin }; without tails there is no check either. Knows
-- then the instructions of the launch and of the parts of its middle, how often these load, and workers: for each window, for the
-- check and for the tail.
function sampling_pass.run(sampler, offer, plan)
  local gpu, pool, at_part, has_tail = sampler.gpu, sampler.pool, {}, #plan.tails > 0
  local pass = setmetatable({ pool = pool, windows = {}, places = {}, parts = {}, begins = {}, loads = {}, looks = {}, tails = {} }, Pass)
  core.forward_begin(gpu)
  if has_tail then
    core.forward_until(gpu, plan.check_at)
    pass.check = begin_part(pool, timed_parts.window(sampler), { warm_up = plan.warm_up, length = plan.check_length })
  end
  pass.waits = has_tail and plan.windows <= MOST_WAITING
  local order = { warm_up = plan.warm_up, length = plan.length, is_early = sampler.has_hooks, is_last = not pass.waits }
  for _, place in ipairs(places_of(plan)) do
    sampler:stop_if_asked(offer)
    local look = launch_profile.look(gpu, place.at)
    if place.part then at_part[place.part] = look end
    if place.part or place.is_look then table.insert(pass.looks, look) end
    if place.window then
      pass.windows[place.window], pass.places[place.window] = begin_part(pool, timed_parts.window(sampler), order), look[1]
    end
    if place.tail then pass.tails[place.tail] = { worker = pool:start(timed_parts.tail(sampler)), at = look[1] } end
  end
  pass.all = launch_profile.look(gpu, offer.ctas)
  pass.instructions = pass.all[1]
  core.forward_end(gpu)
  if has_tail then pass:begin_tails(plan) end
  for i = 1, plan.windows do
    pass.begins[i] = at_part[i][1]
    pass.parts[i], pass.loads[i] = at_part[i + 1][1] - at_part[i][1], at_part[i + 1][3] - at_part[i][3]
  end
  return pass
end

--- What its windows have counted.
function Pass:windows_counted()
  local windows = {}
  for i, worker in ipairs(self.windows) do windows[i] = self.pool:hear(worker) end
  return windows
end

--- What its tails have counted: lists, for warm-ups of so many doublings from 0 on.
function Pass:tails_counted()
  local by_doubling = {}
  for i, worker in ipairs(self.tails) do
    for k, tail in ipairs(self.pool:hear(worker)) do
      by_doubling[k] = by_doubling[k] or {}
      by_doubling[k][i] = tail
    end
  end
  return by_doubling
end

function Pass:dismiss()
  for _, worker in ipairs(self.windows) do self.pool:dismiss(worker) end
  for _, worker in ipairs(self.tails) do self.pool:dismiss(worker) end
  if self.check then self.pool:dismiss(self.check) end
end

return sampling_pass

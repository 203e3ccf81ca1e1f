-- --sample: launches of which windows alone have timing. A launch executes without timing; in forks of the process the machine takes
-- over and runs its head, its tail and windows of its middle; sampled_result.lua makes a result with intervals of what they count.
-- docs/sampling.md says how and why so.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local launch_profile = require "warpwright.launch_profile"
local like_launches = require "warpwright.like_launches"
local literal = require "warpwright.literal"
local measures = require "warpwright.measures"
local note = require "warpwright.note"
local policy = require "warpwright.policy"
local sample_options = require "warpwright.sample_options"
local sampled_result = require "warpwright.sampled_result"
local sampling_pass = require "warpwright.sampling_pass"
local timed_parts = require "warpwright.timed_parts"
local window_checks = require "warpwright.window_checks"
local workers = require "warpwright.workers"

local sampling = {}

local LEAST_WAVES <const> = 10 -- of CTAs in a launch: with fewer its middle is not steady
local FIRST_WINDOWS <const> = 6 -- of a first pass
local MOST_WINDOWS <const> = 200 -- of a launch
local WARM_UP <const>, WARM_UP_OF_HOOKS <const> = 0.4, 1.0 -- lives of a CTA
local DOUBLINGS <const> = 3 -- of the warm-up, while windows drift or are unlike the launch
local WINDOW <const> = 0.2 -- likewise
local CHECK_WINDOWS <const> = 2 -- how long the check is
local CHECK_PART <const>, LATEST_CHECK <const> = 1 / 8, 8 -- where it begins: of the launch; and in waves
local EARLIEST_TAIL <const>, TAIL_STEP <const> = 3, 1 / 3 -- where tails may begin: times the length of the shortest one from the end
local MOST_TAILS <const> = 6 -- that are counted
local LONG_PART <const>, LEAST_LONG <const> = 0.05, 4 -- how far a window goes on: of the launch's instructions; times itself and its warm-up
local MOST_SHIFT <const> = 1 / 2 -- of a part of the middle: how far windows may go on in it
local MOST_OF_LAUNCH <const> = 1 / 3 -- of its instructions: a window with its warm-up
local MOST_WITH_TIMING <const> = 0.6 -- of its instructions: all windows together, and those of passes that were not good
local LEAST_LEARNING <const> = 0.01 -- of cycles, by warm-ups twice as long
local MOST_BYTES <const> = 1 << 30 -- of a pass that is kept
local SAFETY <const> = 1.2 -- more windows than the first say

local Sampler = {}
Sampler.__index = Sampler

--- How long warm-ups and windows are, in warp instructions. `life`: those of a wave, in which a CTA lives; `rate`: about how many
-- issue in a cycle; `doublings`: { warm_up =, window = }.
function Sampler:lengths(doublings, life, rate)
  local least, lives = self.options.cycles * rate, self.has_hooks and WARM_UP_OF_HOOKS or WARM_UP
  return math.floor(math.max(lives * life, least)) << doublings.warm_up, math.floor(math.max(WINDOW * life, least)) << doublings.window
end

-- Passes that are kept --------------------------------------------------------------------------------------------------------------

--- What `work` returns, which takes long; what lies in the folder of passes from before the run was killed, if that is there.
function Sampler:kept(name, work)
  local path = self.passes and ("%s/%s"):format(self.passes, name)
  local packed = path and inputs.read_file(path)
  local text = packed and core.unpacked(packed, MOST_BYTES)
  local chunk = text and load(text, "=pass", "t", { math = math })
  local ok, answer = pcall(chunk or error)
  if ok and type(answer) == "table" and answer.key == self.key then return answer.seen end
  local seen, problem = work()
  local lost = path and seen and inputs.try_to_write(path, core.pack("return " .. literal { key = self.key, seen = seen }))
  if lost then note("sample: %s; the run goes on, and cannot begin again behind this pass", lost) end
  return seen, problem
end

--- Passes are kept in this folder until the run has ended, for one that begins again: `key` tells what they are of.
function Sampler:keep_passes(folder, key)
  self.passes, self.key = folder, key
  core.make_folder(folder)
end

function Sampler:forget_passes()
  if not self.passes then return end
  for _, name in ipairs(core.list_folder(self.passes)) do os.remove(self.passes .. "/" .. name) end
  os.remove(self.passes)
end

--- An error when a signal is to stop the run. Passes that are kept are for the run that begins again.
function Sampler:stop_if_asked(offer)
  local signal = core.take_stop()
  if not signal then return end
  self.pool.is_stopped = true
  core.user_error(("kernel %s has not ended: %s"):format(offer.kernel, signal))
end

-- What can be sampled ---------------------------------------------------------------------------------------------------------------

local function percent_text(share) return ("%.0f%%"):format(100 * share) end

function Sampler:why_not(offer)
  local waves = offer.ctas / offer.resident
  if offer.uses_dma then return "it uses the DMA engine" end
  if offer.is_cooperative then return "a cooperative launch is one wave" end
  if waves < LEAST_WAVES then return ("%.1f waves of CTAs, %d are needed"):format(waves, LEAST_WAVES) end
end

--- Instructions that one more tail takes: its CTAs are in the middle of their lives where it begins, one to two waves from the end.
local function tail_length(warm_up, life) return 2 * life + warm_up end

--- Of a launch that takes `all` instructions; `spent`: the part that had timing in passes before. Nil and the part that has it now,
-- when nothing is in the way.
function Sampler:why_not_so_long(warm_up, length, study)
  local all, spent, life, head = study.all, study.spent, study.life, study.head
  local one = (warm_up + length) / all
  if one > MOST_OF_LAUNCH then return ("a window and its warm-up are %s of it"):format(percent_text(one)) end
  local windows = self.options.windows or FIRST_WINDOWS
  local tails = life + warm_up + (study.more_tails or 0) * tail_length(warm_up, life)
  local share = (windows * (warm_up + length) + warm_up + CHECK_WINDOWS * length + head + tails) / all
  if spent + share > MOST_WITH_TIMING then return ("%s of it would need timing"):format(percent_text(spent + share)) end
  return nil, share
end

-- A launch ------------------------------------------------------------------------------------------------------------------------

--- What a pass has to keep of the launch that it has executed.
local function executed(pass)
  return { instructions = pass.instructions, all = pass.all, parts = pass.parts, begins = pass.begins, loads = pass.loads,
    places = pass.places, looks = pass.looks }
end

--- What the windows of passes ask for, by kind: from least to most.
local function ranges_of(passes)
  local pieces, plan = {}, passes[1].plan
  for _, pass in ipairs(passes) do
    for i, place in ipairs(pass.places) do
      local _, instructions, _, _, conflicts = measures.header(pass.windows[i].all)
      pieces[#pieces + 1] = launch_profile.rates(pass.looks, place + plan.warm_up, place + plan.warm_up + plan.length,
        conflicts / math.max(1, instructions))
    end
  end
  return launch_profile.ranges(pieces)
end

--- The windows of one or two passes, each standing for its part of the instructions of the middle.
local function windows_of(passes, middle, sms)
  local windows, total, ranges = {}, 0, ranges_of(passes)
  for _, pass in ipairs(passes) do total = total + #pass.windows end
  for _, pass in ipairs(passes) do
    local parts = 0
    for _, part in ipairs(pass.parts) do parts = parts + part end
    for i, window in ipairs(pass.windows) do
      local cycles, instructions = measures.header(window.all)
      local first = pass.begins[i]
      windows[#windows + 1] = { all = window.all, second = window.second, early = window.early,
        factors = launch_profile.factors(pass.looks, first, first + pass.parts[i], ranges, cycles / math.max(1, instructions), sms),
        weight = middle * pass.parts[i] / parts * #pass.windows / total }
    end
  end
  return windows
end

--- What is compared with the head: the window that is there to be, or all windows, where it may be that these need longer.
local function checked(seen)
  if not seen.is_unsettled then return seen.check.all end
  local list, weights = {}, {}
  for i, window in ipairs(seen.windows) do list[i], weights[i] = window.all, 1 end
  return measures.sum(list, weights)
end

--- The launch as far as it is known, for measures.total().
local function launch_of(offer, passes)
  local first = passes[1]
  local _, head = measures.header(first.head.all)
  local tail_all = measures.mean(first.tails)
  local _, tail = measures.header(tail_all)
  local middle = first.instructions - head - tail
  return { offer = offer, kind = "sampled", head = first.head.all, tail = tail_all, tails = first.tails, windows = windows_of(passes, middle, offer.sms),
    check = { all = checked(first), timed = first.head.checked, middle = middle }, long = first.long,
    rates = launch_profile.rates_of_all(first.all), instructions = first.instructions, warm_up = first.plan.warm_up,
    length = first.plan.length, life = first.life }
end

--- The part of its instructions that has timing.
local function share_of(launch, windows)
  local _, head = measures.header(launch.head)
  local _, tail = measures.header(launch.tail)
  local tails, long = #launch.tails * (tail + launch.warm_up), launch.long and LONG_PART * launch.instructions or 0
  return (head + tails + long + launch.warm_up + CHECK_WINDOWS * launch.length + windows * (launch.warm_up + launch.length)) / launch.instructions
end

--- How many windows the goal takes, those of the first pass included.
function Sampler:windows_for(launch)
  local n = #launch.windows
  if self.options.windows then return n end
  if self.options.budget then
    local each = (launch.warm_up + launch.length) / launch.instructions
    return math.max(n, math.min(MOST_WINDOWS, math.floor(n + (self.options.budget - share_of(launch, n)) / each)))
  end
  local cycles, chance = measures.chance_of_windows(launch)
  local bias = measures.change_of_cycles(launch, measures.by_second_halves(launch))
    + measures.change_of_cycles(launch, measures.by_profile(launch))
  local room = self.options.error * cycles
  if chance + bias <= room then return n end
  -- Windows do not drift: what halves of them differ by is chance, too; and more windows leave less of the launch that none is like.
  -- Of many windows, the quantile is nearly the normal one.
  local by_window = (chance / measures.student(n - 1) * 2 + bias) * math.sqrt(n)
  return math.max(n + 3, math.ceil(SAFETY * (by_window / room) ^ 2))
end

--- By what part the estimate changes when warm-ups are twice as long: what a policy learns in them, it may go on to learn.
local function learns(offer, seen)
  local launch = launch_of(offer, { seen })
  return measures.change_of_cycles(launch, measures.by_early_windows(launch)) / measures.header(measures.total(launch))
end

--- Why what the windows say cannot stand for the launch, and whether they are unlike it; nil when it can.
local function problem_of(offer, seen)
  local unlike, more = window_checks.are_unlike(seen)
  if unlike then return ("its windows have %+.0f%% loads"):format(100 * more), true end
  local drift, by = window_checks.drifts(seen.windows)
  if drift then return ("its windows drift by %.1f%%"):format(100 * by), false end
  local misses, cycles = window_checks.misses(seen)
  if misses then return ("a window takes %+.0f%% cycles beside the same part of the launch"):format(100 * cycles), false end
  local change = learns(offer, seen)
  if change <= LEAST_LEARNING then return nil end
  return ("its policy learns: warm-ups twice as long change cycles by %.1f%%"):format(100 * change), false
end

--- How many CTAs have ended when the check begins: the first wave, and of a long launch some more, as CTAs may need some to come
-- into step with each other.
local function check_at(offer)
  return offer.resident * math.floor(math.max(1, math.min(CHECK_PART * offer.ctas / offer.resident, LATEST_CHECK)))
end

--- At which instruction the check begins; and those of a wave, in which a CTA lives: of the waves behind the first one, in which all
-- CTAs begin at once. Without timing, in a worker.
function Sampler:scout(offer)
  core.forward_begin(self.gpu)
  local first, ended = core.forward_until(self.gpu, offer.resident)
  local at = core.forward_until(self.gpu, check_at(offer))
  local last, later = core.forward_until(self.gpu, math.max(check_at(offer), ended + offer.resident))
  return { at = at, life = (last - first) * offer.resident / (later - ended) }
end

--- How long warm-ups and windows are to be, as the first wave with timing says, and what follows for the launch: a plan for its pass;
-- and a worker that goes on, with timing, to where the check ends. Or nil and why it cannot be sampled. The launch has not begun here.
function Sampler:study(offer, doublings, spent)
  local worker = self.pool:start(timed_parts.head(self, offer, function(life, rate) return self:lengths(doublings, life, rate) end))
  self.pool:ask(worker, {}, true)
  local scout, problem = self.pool:call(function() return self:scout(offer) end)
  local wave, of_wave = self.pool:answer_of(worker)
  problem = problem or of_wave
  local study = { worker = worker, doublings = doublings, spent = spent }
  if not problem then
    study.at, study.life, study.warm_up, study.length = scout.at, scout.life, wave.warm_up, wave.length
    problem = self:plan(offer, study)
  end
  if problem then
    self.pool:dismiss(worker)
    return nil, problem
  end
  self:ask_for_check(study, study.warm_up, study.length)
  return study
end

--- Asks for the head up to where a check with such a warm-up, beside windows of this length, ends.
function Sampler:ask_for_check(study, warm_up, length)
  self.pool:ask(study.worker, { at = study.at, warm_up = warm_up, length = CHECK_WINDOWS * length })
end

--- Adds the plan and the share that has timing; returns why it cannot be.
function Sampler:plan(offer, study)
  local life, warm_up, length = study.life, study.warm_up, study.length
  study.head = study.at + warm_up + CHECK_WINDOWS * length -- instructions
  study.all = life * offer.ctas / offer.resident
  local refused
  refused, study.share = self:why_not_so_long(warm_up, length, study)
  if refused then return refused end
  local function ctas_at(lives) return math.floor(math.max(1, lives - 0.5) * offer.resident) end
  local function tail_at(times) return math.floor(offer.ctas - times * offer.resident * (1 + warm_up / life)) end
  study.more_tails = math.min(MOST_TAILS - 1, sampling_pass.TAILS_PART * study.all // tail_length(warm_up, life))
  if self:why_not_so_long(warm_up, length, study) or study.more_tails < sampling_pass.LEAST_TAILS - 1 then study.more_tails = 0 end
  study.plan = {
    windows = self.options.windows or FIRST_WINDOWS, seed = self.options.seed * 1000003 + offer.number,
    warm_up = warm_up, length = length, resident = offer.resident, life = life,
    check_at = check_at(offer), first_at = ctas_at(study.head / life), tail_at = tail_at(1), tails = {},
    more_tails = study.more_tails, doublings = DOUBLINGS, check_length = CHECK_WINDOWS * length,
  }
  for times = EARLIEST_TAIL, 1 - TAIL_STEP / 2, -TAIL_STEP do
    if tail_at(times) > study.plan.first_at then table.insert(study.plan.tails, tail_at(times)) end
  end
  if study.plan.tail_at <= study.plan.first_at then return "its head and its tail are all of it" end
end

--- The plan with other values.
local function with(plan, changes)
  local changed = {}
  for name, value in pairs(plan) do changed[name] = value end
  for name, value in pairs(changes) do changed[name] = value end
  return changed
end

--- One more: of the warm-up, and of the window as well if windows are unlike the launch.
local function doubled(doublings, is_unlike)
  return { warm_up = doublings.warm_up + 1, window = doublings.window + (is_unlike and 1 or 0), made = doublings.made + 1 }
end

--- Can the windows of a pass go on to such, and still stand for their parts of the middle?
local function can_go_on(pass, plan, life, warm_up, length)
  if not pass.waits or warm_up - plan.warm_up > MOST_SHIFT * (pass.instructions / plan.windows) then return false end
  for _, place in ipairs(pass.places) do
    if place + warm_up + length > pass.instructions - life then return false end
  end
  return true
end

--- Asks the workers of a pass for longer warm-ups and windows.
function Sampler:count_longer(study, pass, seen, warm_up, length)
  for _, worker in ipairs(pass.windows) do
    self.pool:ask(worker, { warm_up = warm_up, length = length, is_early = self.has_hooks })
  end
  self.pool:ask(pass.check, { warm_up = warm_up, length = CHECK_WINDOWS * length })
  self:ask_for_check(study, warm_up, length)
  seen.windows, seen.check = pass:windows_counted(), self.pool:hear(pass.check)
  seen.head = { all = seen.head.all, checked = self.pool:hear(study.worker).checked }
end

--- What the first window of a pass counts when it goes on for long: queues may take so long to fill. Nil where that would be hardly
-- longer than it is, or more of the launch than may have timing.
function Sampler:count_long(pass, seen)
  local span, plan = math.floor(LONG_PART * pass.instructions), seen.plan
  if not pass.waits or span < LEAST_LONG * (plan.warm_up + plan.length) then return nil end
  if seen.share + LONG_PART > MOST_WITH_TIMING or pass.places[1] + span > pass.instructions - seen.life then return nil end
  self.pool:ask(pass.windows[1], { warm_up = plan.warm_up, length = span - plan.warm_up })
  return self.pool:hear(pass.windows[1]).all
end

--- What a pass has counted, { windows =, head =, tail =, check = ... }. While windows are no good, they go on to such with longer
-- warm-ups, if they can. `why`: the last ones are not good either; `too_long`: and longer ones cannot be.
function Sampler:settle(offer, study, pass)
  local plan = study.plan
  local tails, warm_up, length = pass:tails_counted(), plan.warm_up, plan.length
  local seen = executed(pass)
  seen.windows, seen.check, seen.tails, seen.head = pass:windows_counted(), self.pool:hear(pass.check), tails[1], self.pool:hear(study.worker)
  seen.life, seen.share, seen.doublings, seen.plan = study.life, study.share, study.doublings, plan
  local before
  repeat
    self:stop_if_asked(offer)
    seen.why, seen.is_unlike = problem_of(offer, seen)
    local may_settle = window_checks.may_settle(seen, before)
    local goes_on = (seen.why or may_settle) and seen.doublings.made < DOUBLINGS
    before = seen.windows
    if goes_on then
      warm_up, length = warm_up << 1, seen.is_unlike and length << 1 or length
      local too_long, share = self:why_not_so_long(warm_up, length, study)
      seen.too_long = seen.why and too_long
      goes_on = share and can_go_on(pass, plan, seen.life, warm_up, length)
      if goes_on then
        self:count_longer(study, pass, seen, warm_up, length)
        seen.doublings, seen.share = doubled(seen.doublings, seen.is_unlike), share
        seen.tails = tails[seen.doublings.made - study.doublings.made + 1]
        seen.plan = with(plan, { warm_up = warm_up, length = length })
      end
    end
    seen.is_unsettled = may_settle and not goes_on
  until not goes_on
  seen.long = not seen.why and self:count_long(pass, seen) or nil
  pass:dismiss()
  self.pool:dismiss(study.worker)
  return seen
end

--- The pass that says how many windows are needed. It is the only one if no more are than it has, and they are good. Returns
-- whether the launch has been executed; and what was counted, or nil and why it cannot be.
function Sampler:first_pass(offer, doublings, spent)
  local is_executed = false
  local seen, problem = self:kept(("%d-%d"):format(offer.number, doublings.made), function()
    local study, refused = self:study(offer, doublings, spent)
    if not study then return { refused = refused } end
    local seen, problem
    is_executed, seen, problem = workers.attempt(self.pool, self.gpu, function()
      local counted = self:settle(offer, study, sampling_pass.run(self, offer, study.plan))
      return not counted.why and self:windows_for(launch_of(offer, { counted })) <= #counted.windows, counted
    end)
    return seen, problem
  end)
  return is_executed, seen, problem
end

--- First passes with warm-ups that double, until windows no longer drift and what a policy learns changes no more; and windows,
-- until they are like the launch. Returns whether the last one has executed the launch, and what it counted; or nil, nil and why.
function Sampler:find_warm_up(offer)
  local doublings, spent, why = { warm_up = self.has_hooks and 1 or 0, window = 0, made = 0 }, 0, nil
  while true do
    local is_executed, seen, problem = self:first_pass(offer, doublings, spent)
    if not seen then return nil, nil, problem end
    local refused = seen.refused or seen.too_long
    why = seen.why or why
    if refused then return nil, nil, why and ("%s, and with longer ones %s"):format(why, refused) or refused end
    if not seen.why then return is_executed, seen end
    if seen.doublings.made == DOUBLINGS then return nil, nil, why end
    spent = spent + seen.share
    doublings = doubled(seen.doublings, seen.is_unlike)
  end
end

--- All of it without timing: a look at its end.
function Sampler:execute(offer)
  core.forward_begin(self.gpu)
  local look = launch_profile.look(self.gpu, offer.ctas)
  core.forward_end(self.gpu)
  return look
end

--- A second pass, for so many windows more than the first one had.
function Sampler:second_pass(offer, first, more)
  local is_executed = false
  local second = self:kept(("%d-more"):format(offer.number), function()
    local plan = with(first.plan, { windows = more, seed = first.plan.seed + 500009, tails = {} })
    local pass = sampling_pass.run(self, offer, plan)
    is_executed = true
    local seen = executed(pass)
    seen.windows = pass:windows_counted()
    pass:dismiss()
    return seen
  end)
  return is_executed, second
end

--- Samples the launch, and executes it; nil and why, when it cannot be, and nothing has happened then.
function Sampler:sample(offer)
  core.part_memory(self.gpu)
  local is_executed, seen, why = self:find_warm_up(offer)
  if not seen then return nil, why end
  local launch = launch_of(offer, { seen })
  local wanted = self:windows_for(launch)
  local share = share_of(launch, wanted)
  if wanted > MOST_WINDOWS or share > MOST_WITH_TIMING and wanted > #launch.windows then
    return nil, ("%d windows are needed, %s of it"):format(wanted, percent_text(math.min(share, 99)))
  end
  if wanted > #launch.windows then
    local second
    is_executed, second = self:second_pass(offer, seen, wanted - #launch.windows)
    launch = launch_of(offer, { seen, second })
  end
  if not is_executed then self:execute(offer) end
  launch.share = share_of(launch, #launch.windows)
  return launch
end

-- Launches that are like others -------------------------------------------------------------------------------------------------------

local MOST_LIKE_ONE <const> = 4 -- launches that are estimated for each that is measured

local function kernel_key(offer) return ("%s %d %d"):format(offer.kernel, offer.ctas, offer.threads_per_cta) end

--- Estimates a launch by others like it. Nil when there are none, or it is time to measure again, and nothing has happened then; and
-- what it asks for, if that is known.
function Sampler:estimate_by_others(offer)
  local known = self.kernels[kernel_key(offer)]
  if not known or #known < like_launches.MEMBERS or known.estimated >= #known * MOST_LIKE_ONE then return nil end
  core.part_memory(self.gpu)
  local before = measures.now(self)
  local is_executed, look = workers.attempt(self.pool, self.gpu, function()
    local look = self:execute(offer)
    return like_launches.members_for(known, offer, look, self.instructions) ~= nil, look
  end)
  if not is_executed then return nil, look and launch_profile.rates_of_all(look) end
  known.estimated = known.estimated + 1
  local members, factors = like_launches.members_for(known, offer, look, self.instructions)
  self.instructions = self.instructions + look[1]
  return { offer = offer, kind = "like others", members = members, factors = factors, instructions = look[1],
    share = 0, counted = measures.difference(measures.now(self), before) }
end

--- What a launch asks for that is to run with timing, of which others may be like it. Nil where that is not worth finding out.
function Sampler:rates_of(offer)
  local known = self.kernels[kernel_key(offer)]
  if known and like_launches.MEMBERS * known[#known].instructions < like_launches.LEAST_PART * self.instructions then return nil end
  core.part_memory(self.gpu)
  local look = self.pool:call(function() return self:execute(offer) end)
  return look and launch_profile.rates_of_all(look)
end

function Sampler:note_measured(launch)
  local key = kernel_key(launch.offer)
  self.kernels[key] = self.kernels[key] or { estimated = 0 }
  table.insert(self.kernels[key], launch)
  self.instructions = self.instructions + launch.instructions
end

-- All launches ----------------------------------------------------------------------------------------------------------------------

--- What a launch with timing has counted, once something comes after it. `cycles`: when it ended, if that was before now.
function Sampler:end_exact(cycles)
  local launch = self.running
  if not launch then return end
  self.running = nil
  launch.all = measures.difference(measures.now(self, cycles), launch.before)
  local _, instructions = measures.header(launch.all)
  launch.before, launch.instructions = nil, instructions
  self:note_measured(launch)
end

--- A launch is offered. Returns what it is estimated to have taken; nil when it is to run with timing.
function Sampler:take(offer)
  self:end_exact()
  self.built:stop_threads()
  local _ <close> = setmetatable({}, { __close = function() core.rejoin_memory(self.gpu) end }) -- in the process that goes on
  local why = self:why_not(offer)
  local can_be_forwarded, launch, rates = not offer.is_cooperative and not offer.uses_dma, nil, nil
  if can_be_forwarded then launch, rates = self:estimate_by_others(offer) end
  if not launch and not why then
    launch, why = self:sample(offer)
    if launch then self:note_measured(launch) end
  end
  if not launch then
    rates = rates or can_be_forwarded and self:rates_of(offer) or nil
    self.running = { offer = offer, kind = "exact", why = why, rates = rates, before = measures.now(self), share = 1 }
    table.insert(self.launches, self.running)
    return nil
  end
  table.insert(self.launches, launch)
  local cycles, _, threads = measures.header(measures.total(launch))
  return { cycles = math.floor(cycles + 0.5), warp_instructions = launch.instructions, thread_instructions = math.floor(threads + 0.5) }
end

--- sampling.result(sampler, cycles, make): see sampled_result.lua.
sampling.result = sampled_result.new

--- Of a machine with its GPU; nil where all of each launch is to have timing.
function sampling.attach(built, gpu, policies, text, jobs)
  local options = sample_options.read(text)
  if options.budget and options.budget >= 1 then return nil end
  local sampler = setmetatable({
    built = built, gpu = gpu, options = options, text = text, pool = workers.pool(jobs or 1), launches = {}, kernels = {},
    instructions = 0, -- of all launches that have ended
    seconds = 0, -- of the host, beside those of kernels with timing
  }, Sampler)
  for _, entry in ipairs(policies) do
    sampler.has_hooks = sampler.has_hooks or policy.has_hooks(entry.definition)
  end
  core.on_launch(gpu, function(offer)
    local began = core.monotonic_seconds()
    local estimate = sampler:take(offer)
    sampler.seconds = sampler.seconds + core.monotonic_seconds() - began
    return estimate
  end)
  return sampler
end

return sampling

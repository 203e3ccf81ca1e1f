-- --sample: launches of which windows alone have timing. A launch executes without timing; in forks of the process the machine takes
-- over and runs its head, its tail and windows of its middle; sampled_result.lua makes a result with intervals of what they count.
-- docs/sampling.md says how and why so.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local literal = require "warpwright.literal"
local measures = require "warpwright.measures"
local names = require "warpwright.names"
local policy = require "warpwright.policy"

local sampling = {}

local LEAST_WAVES <const> = 10 -- of CTAs in a launch: with fewer its middle is not steady
local PILOT_WINDOWS <const> = 6
local MOST_WINDOWS <const> = 200 -- of a launch
local WARM_UP <const>, WARM_UP_OF_HOOKS <const> = 0.4, 1.0 -- lives of a CTA
local DOUBLINGS <const> = 3 -- of the warm-up, while windows drift or are unlike the launch
local WINDOW <const> = 0.2 -- likewise
local CHECK_WINDOWS <const> = 2 -- how long the check is
local ENDLESS <const> = 1 << 50 -- instructions
local LEAST_CYCLES <const> = 8000 -- of a warm-up, of a window, unless the user says so
local MOST_OF_LAUNCH <const> = 1 / 3 -- of its instructions: a window with its warm-up
local MOST_WITH_TIMING <const> = 0.6 -- of its instructions: all windows together, and those of pilots that were not good
local LEAST_DRIFT <const> = 0.01
local LEAST_LEARNING <const> = 0.01 -- of cycles, by warm-ups twice as long
local LEAST_UNLIKE <const> = 0.05 -- of loads per instruction
local MOST_BYTES <const> = 1 << 30 -- of a pass that is kept
local SAFETY <const> = 1.2 -- more windows than the pilot's say

-- What the user asks for ------------------------------------------------------------------------------------------------------------

local function refuse(text)
  names.expected("sample", "error=3%, the half-width of the 95% interval of cycles; windows=N of each launch; or budget=5%, the part "
    .. "of the instructions that has timing; beside it seed=N, and cycles=N, the least that a warm-up and a window take", text)
end

local function percent(text)
  local number = tonumber(text:match "^([%d.]+)%%$")
  return number and number > 0 and number <= 100 and number / 100 or nil
end

local least_of <const> = { windows = 3, seed = 0, cycles = 1 }

--- "error=3%,seed=1" as { error = 0.03, seed = 1 }.
function sampling.read(text)
  local given, goals = { seed = 1, cycles = LEAST_CYCLES }, 0
  if type(text) ~= "string" or text == "" then refuse(text) end
  for word in (text .. ","):gmatch "([^,]*)," do
    local name, value = word:match "^(%l+)=(.+)$"
    if name == "error" or name == "budget" then
      value = percent(value)
    elseif least_of[name] then
      value = math.tointeger(tonumber(value))
      if value and (value < least_of[name] or value > 1 << 30) then value = nil end
    else
      value = nil
    end
    if not value then refuse(text) end
    goals = goals + ((name == "seed" or name == "cycles") and 0 or 1)
    given[name] = value
  end
  if goals ~= 1 then refuse(text) end
  return given
end

local excluded <const> = { "memcheck", "profile", "fast_forward" }

--- Errors for options that cannot be beside it.
function sampling.check(options)
  sampling.read(options.sample)
  local jobs = options.jobs or 1
  if math.type(jobs) ~= "integer" or jobs < 1 then names.expected("jobs", "a whole number from 1 on", jobs) end
  for _, name in ipairs(excluded) do
    if options[name] then core.user_error(("sample: expected a run without %s, got one with it"):format(name)) end
  end
end

-- Processes -------------------------------------------------------------------------------------------------------------------------

local Sampler = {}
Sampler.__index = Sampler

local function write_file(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

function Sampler:wait()
  local child = self.children[core.wait_for_child()]
  if not child then return end
  child.ended = true
  self.alive = self.alive - 1
end

--- `work` in a process of its own, which gets the machine as it is; up to `jobs` at a time.
function Sampler:start(work, jobs)
  while self.alive >= jobs do self:wait() end
  local path = os.tmpname()
  local pid = core.fork()
  if pid == 0 then
    self.children, self.alive = {}, 0
    local ok, answer = xpcall(work, core.message_handler)
    local written = pcall(write_file, path, ok and "return " .. literal(answer) or ("return %q"):format(tostring(answer)))
    core.leave(written and 0 or 2)
  end
  local child = { path = path }
  self.children[pid], self.alive = child, self.alive + 1
  return child
end

--- What it returned, a table; or nil and what went wrong.
function Sampler:answer_of(child)
  while not child.ended do self:wait() end
  local text = inputs.read_file(child.path) -- by loadfile() it would count among the files of the run
  local chunk = text and load(text, "=answer", "t", { math = math })
  os.remove(child.path)
  local ok, answer = pcall(chunk or error)
  if not ok or answer == nil then return nil, "a process of it was killed" end
  if type(answer) == "string" then return nil, answer end
  return answer
end

-- How long ------------------------------------------------------------------------------------------------------------------------------

--- How long warm-ups and windows are, in warp instructions. `life`: those of a wave, in which a CTA lives; `rate`: about how many
-- issue in a cycle; `doublings`: { warm_up =, window = }.
function Sampler:lengths(doublings, life, rate)
  local least, lives = self.options.cycles * rate, self.has_hooks and WARM_UP_OF_HOOKS or WARM_UP
  return math.floor(math.max(lives * life, least)) << doublings.warm_up, math.floor(math.max(WINDOW * life, least)) << doublings.window
end

--- Of a wave, as far as the launch has come.
local function life_of(offer, instructions, ctas) return instructions * offer.resident / (ctas + offer.resident / 2) end

--- The same of `work` that takes long, when what it returned lies in the folder of passes from before the run was killed.
function Sampler:kept(name, work)
  local path = self.passes and ("%s/%s"):format(self.passes, name)
  local packed = path and inputs.read_file(path)
  local text = packed and core.unpacked(packed, MOST_BYTES)
  local chunk = text and load(text, "=pass", "t", { math = math })
  local ok, answer = pcall(chunk or error)
  if ok and type(answer) == "table" and answer.key == self.key then return answer.seen end
  local seen, problem = work()
  if path and seen then inputs.write_file(path, core.pack("return " .. literal { key = self.key, seen = seen })) end
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

-- With timing, in a process of its own --------------------------------------------------------------------------------------------

function Sampler:take_over()
  core.forward_end(self.gpu)
  core.begin_timing(self.gpu)
  return self.gpu:totals().warp_instructions
end

--- From the beginning of the launch: the first wave, which says how long warm-ups and windows are, and on to where the check
-- window ends. `at`: the instructions at which the machine takes over for that one.
function Sampler:run_head(offer, doublings, at)
  local from = self:take_over()
  local before = measures.now(self)
  core.run_instructions(self.gpu, from + ENDLESS, offer.resident)
  local cycles, instructions = measures.header(measures.difference(measures.now(self), before))
  local life = life_of(offer, instructions, offer.resident)
  local warm_up, length = self:lengths(doublings, life, instructions / cycles)
  core.run_instructions(self.gpu, from + at + warm_up)
  local first = measures.now(self)
  core.run_instructions(self.gpu, from + at + warm_up + CHECK_WINDOWS * length)
  local last = measures.now(self)
  local all = measures.difference(last, before)
  return { all = all, checked = measures.difference(last, first), warm_up = warm_up, length = length,
    life = life_of(offer, select(2, measures.header(all)), self.gpu:totals().ctas_done) }
end

--- What is counted between two numbers of instructions.
function Sampler:count_between(from, to)
  core.run_instructions(self.gpu, from)
  local before = measures.now(self)
  core.run_instructions(self.gpu, to)
  return measures.difference(measures.now(self), before)
end

--- A window, in two halves. `is_early`: and before it another one, after half the warm-up.
function Sampler:run_window(warm_up, length, is_early)
  local from = self:take_over()
  local early = is_early and self:count_between(from + warm_up // 2, from + warm_up // 2 + length) or nil
  core.run_instructions(self.gpu, from + warm_up)
  local first = measures.now(self)
  core.run_instructions(self.gpu, from + warm_up + length // 2)
  local middle = measures.now(self)
  core.run_instructions(self.gpu, from + warm_up + length)
  local last = measures.now(self)
  return { all = measures.difference(last, first), second = measures.difference(last, middle), early = early }
end

function Sampler:run_tail(warm_up)
  local from = self:take_over()
  core.run_instructions(self.gpu, from + warm_up)
  local first = measures.now(self)
  core.run_instructions(self.gpu, from + ENDLESS)
  return { all = measures.difference(measures.now(self), first) }
end

-- Without timing ----------------------------------------------------------------------------------------------------------------------

--- The places of a pass in order: where parts of the middle begin and end, and where the machine takes over for a window.
local function places_of(offer, plan, warm_up_ctas)
  local first, last = plan.first_at, plan.tail_at
  local places, length = {}, (last - first) / plan.windows
  local rng = core.rng(plan.seed)
  for i = 1, plan.windows do
    local begins = first + (i - 1) * length
    local at = begins + rng:float() * length - warm_up_ctas
    places[#places + 1] = { at = math.floor(begins), part = i, order = 2 * i }
    places[#places + 1] = { at = math.max(math.floor(at), offer.resident), window = i, order = 2 * i + 1 }
  end
  places[#places + 1] = { at = last, part = plan.windows + 1, order = 2 * plan.windows + 2 }
  table.sort(places, function(a, b) return a.at < b.at or a.at == b.at and a.order < b.order end)
  return places
end

--- Executes the launch, with windows as `plan` has them, { windows =, seed =, warm_up =, length =, tail_at =, has_tail = }. Returns
-- what each counted, the instructions of the parts of the middle, and of all.
function Sampler:pass(offer, plan)
  local at_part, loads_at_part, children, tail, check = {}, {}, {}, nil, nil
  if plan.has_tail then
    core.forward_until(self.gpu, offer.resident)
    check = self:start(function() return self:run_window(plan.warm_up, CHECK_WINDOWS * plan.length) end, self.jobs)
  end
  for _, place in ipairs(places_of(offer, plan, plan.warm_up * plan.ctas_per_instruction)) do
    local instructions, _, loads = core.forward_until(self.gpu, place.at)
    if place.part then at_part[place.part], loads_at_part[place.part] = instructions, loads end
    if place.window then
      children[place.window] = self:start(function() return self:run_window(plan.warm_up, plan.length, self.has_hooks) end,
        self.jobs)
    end
  end
  if plan.has_tail then tail = self:start(function() return self:run_tail(plan.warm_up) end, self.jobs) end
  local seen = { instructions = core.forward_until(self.gpu, offer.ctas), windows = {}, parts = {}, loads = {} }
  core.forward_end(self.gpu)
  for i, child in ipairs(children) do
    local window, problem = self:answer_of(child)
    if not window then core.user_error(problem) end
    seen.windows[i], seen.parts[i], seen.loads[i] = window, at_part[i + 1] - at_part[i], loads_at_part[i + 1] - loads_at_part[i]
  end
  for name, child in pairs { tail = tail, check = check } do
    local answer, problem = self:answer_of(child)
    if not answer then core.user_error(problem) end
    seen[name] = answer
  end
  return seen
end

--- Instructions without timing until the first wave has gone; in a process of its own, as the launch has not begun here.
function Sampler:scout(offer)
  core.forward_begin(self.gpu)
  return { (core.forward_until(self.gpu, offer.resident)) }
end

--- In a process of its own, before it is known whether the launch can be sampled: the head first, then windows, check and tail.
function Sampler:pilot(offer, doublings, spent)
  local scout, problem = self:answer_of(self:start(function() return self:scout(offer) end, 1))
  if not scout then return { refused = problem } end
  core.forward_begin(self.gpu)
  local head
  head, problem = self:answer_of(self:start(function() return self:run_head(offer, doublings, scout[1]) end, 1))
  if not head then return { refused = problem } end
  local _, instructions = measures.header(head.all)
  local life, warm_up, length = head.life, head.warm_up, head.length
  local refused, share = self:why_not_so_long(warm_up, length, life * offer.ctas / offer.resident, instructions, life, spent)
  if refused then return { refused = refused } end
  local function ctas_at(lives) return math.floor(math.max(1, lives - 0.5) * offer.resident) end
  local plan = {
    windows = self.options.windows or PILOT_WINDOWS, seed = self.options.seed * 1000003 + offer.number,
    warm_up = warm_up, length = length, ctas_per_instruction = offer.resident / life, has_tail = true,
    first_at = ctas_at(instructions / life), tail_at = math.floor(offer.ctas - offer.resident * (1 + warm_up / life)),
  }
  if plan.tail_at <= plan.first_at then return { refused = "its head and its tail are all of it" } end
  local seen = self:pass(offer, plan)
  seen.head, seen.plan, seen.life, seen.share = head, plan, life, share
  return seen
end

-- What can be sampled ---------------------------------------------------------------------------------------------------------------

local function percent_text(share) return ("%.0f%%"):format(100 * share) end

function Sampler:why_not(offer)
  local waves = offer.ctas / offer.resident
  if offer.uses_dma then return "it uses the DMA engine" end
  if offer.is_cooperative then return "a cooperative launch is one wave" end
  if waves < LEAST_WAVES then return ("%.1f waves of CTAs, %d are needed"):format(waves, LEAST_WAVES) end
end

--- Of launches that take `all` instructions; `spent`: the part that had timing in pilots before. Nil and the part that has it now,
-- when nothing is in the way.
function Sampler:why_not_so_long(warm_up, length, all, head, life, spent)
  local one = (warm_up + length) / all
  if one > MOST_OF_LAUNCH then return ("a window and its warm-up are %s of it"):format(percent_text(one)) end
  local windows = self.options.windows or PILOT_WINDOWS
  local share = (windows * (warm_up + length) + warm_up + CHECK_WINDOWS * length + head + life + warm_up) / all
  if spent + share > MOST_WITH_TIMING then return ("%s of it would need timing"):format(percent_text(spent + share)) end
  return nil, share
end

--- Are these beyond chance and `least`, and their mean.
local function is_beyond_chance(differences, least)
  local mean, deviation = measures.mean_and_deviation(differences)
  local chance = measures.student(#differences - 1) * deviation / math.sqrt(#differences)
  return math.abs(mean) > math.max(chance, least), mean
end

--- Does the second half of windows differ from the first?
local function drifts(windows)
  local differences = {}
  for i, window in ipairs(windows) do
    local cycles, instructions = measures.header(window.all)
    local second_cycles, second = measures.header(window.second)
    local first = (cycles - second_cycles) / math.max(1, instructions - second)
    differences[i] = (second_cycles / math.max(1, second) - first) / (cycles / math.max(1, instructions))
  end
  return is_beyond_chance(differences, LEAST_DRIFT)
end

--- Do windows load more or less often than the parts that they stand for, whose loads are counted without timing? Then their CTAs
-- are not where CTAs of the launch are: all at their beginnings, say.
local function are_unlike(seen)
  local differences = {}
  for i, window in ipairs(seen.windows) do
    local _, instructions, _, loads = measures.header(window.all)
    local wanted = seen.loads[i] * instructions / math.max(1, seen.parts[i])
    differences[i] = wanted > 0 and loads / wanted - 1 or 0
  end
  return is_beyond_chance(differences, LEAST_UNLIKE)
end

-- A launch ------------------------------------------------------------------------------------------------------------------------

--- The windows of one or two passes, each standing for its part of the instructions of the middle.
local function windows_of(passes, middle)
  local windows, total = {}, 0
  for _, pass in ipairs(passes) do total = total + #pass.windows end
  for _, pass in ipairs(passes) do
    local parts = 0
    for _, part in ipairs(pass.parts) do parts = parts + part end
    for i, window in ipairs(pass.windows) do
      windows[#windows + 1] = { all = window.all, second = window.second, early = window.early,
        weight = middle * pass.parts[i] / parts * #pass.windows / total }
    end
  end
  return windows
end

--- The launch as far as it is known, for measures.total().
local function launch_of(offer, passes)
  local pilot = passes[1]
  local _, head = measures.header(pilot.head.all)
  local _, tail = measures.header(pilot.tail.all)
  local middle = pilot.instructions - head - tail
  return { offer = offer, kind = "sampled", head = pilot.head.all, tail = pilot.tail.all, windows = windows_of(passes, middle),
    check = { all = pilot.check.all, timed = pilot.head.checked, middle = middle },
    instructions = pilot.instructions, warm_up = pilot.plan.warm_up, length = pilot.plan.length, life = pilot.life }
end

--- The part of its instructions that has timing.
local function share_of(launch, windows)
  local _, head = measures.header(launch.head)
  local _, tail = measures.header(launch.tail)
  return (head + tail + 2 * launch.warm_up + CHECK_WINDOWS * launch.length + windows * (launch.warm_up + launch.length)) / launch.instructions
end

--- How many windows the goal takes, those of the pilot included.
function Sampler:windows_for(launch)
  local n = #launch.windows
  if self.options.windows then return n end
  if self.options.budget then
    local each = (launch.warm_up + launch.length) / launch.instructions
    return math.max(n, math.min(MOST_WINDOWS, math.floor(n + (self.options.budget - share_of(launch, n)) / each)))
  end
  local cycles, chance = measures.interval_of_cycles(launch)
  local bias = measures.change_of_cycles(launch, measures.by_second_halves(launch))
  local room = self.options.error * cycles
  if chance + bias <= room then return n end
  -- Windows do not drift: what halves of them differ by is chance, too. Of many windows, the quantile is nearly the normal one.
  local by_window = (chance / measures.student(n - 1) * 2 + bias) * math.sqrt(n)
  return math.max(n + 3, math.ceil(SAFETY * (by_window / room) ^ 2))
end

--- By what part the estimate changes when warm-ups are twice as long: what a policy learns in them, it may go on to learn.
local function learns(offer, seen)
  local launch = launch_of(offer, { seen })
  return measures.change_of_cycles(launch, measures.by_early_windows(launch)) / measures.header(measures.total(launch))
end

--- Pilots with warm-ups that double, until windows no longer drift and what a policy learns changes no more; and windows, until they
-- are like the launch. Returns what the last pilot saw; or nil and why it cannot be.
function Sampler:find_warm_up(offer)
  local doublings, spent, why = { warm_up = self.has_hooks and 1 or 0, window = 0 }, 0, nil
  for attempt = 0, DOUBLINGS do
    local seen, problem = self:kept(("%d-%d"):format(offer.number, attempt), function()
      return self:answer_of(self:start(function() return self:pilot(offer, doublings, spent) end, 1 << 30))
    end)
    if not seen then return nil, problem end
    if seen.refused then return nil, why and ("%s, and with longer ones %s"):format(why, seen.refused) or seen.refused end
    local drift, by = drifts(seen.windows)
    local unlike, more = are_unlike(seen)
    local change = learns(offer, seen)
    if not drift and not unlike and change <= LEAST_LEARNING then return seen end
    spent = spent + seen.share
    doublings = { warm_up = doublings.warm_up + 1, window = doublings.window + (unlike and 1 or 0) }
    why = unlike and ("its windows have %+.0f%% loads"):format(100 * more)
      or drift and ("its windows drift by %.1f%%"):format(100 * by)
      or ("its policy learns: warm-ups twice as long change cycles by %.1f%%"):format(100 * change)
  end
  return nil, why
end

--- All of it without timing.
function Sampler:execute(offer)
  core.forward_begin(self.gpu)
  local instructions = core.forward_until(self.gpu, offer.ctas)
  core.forward_end(self.gpu)
  return instructions
end

--- Samples the launch, and executes it; nil and why, when it cannot be, and nothing has happened then.
function Sampler:sample(offer)
  local seen, why = self:find_warm_up(offer)
  if not seen then return nil, why end
  local launch = launch_of(offer, { seen })
  local wanted = self:windows_for(launch)
  local share = share_of(launch, wanted)
  if wanted > MOST_WINDOWS or share > MOST_WITH_TIMING and wanted > #launch.windows then
    return nil, ("%d windows are needed, %s of it"):format(wanted, percent_text(math.min(share, 99)))
  end
  local more = wanted - #launch.windows
  if more > 0 then
    local plan = setmetatable({ windows = more, seed = seen.plan.seed + 500009, has_tail = false }, { __index = seen.plan })
    local made_now
    local second = self:kept(("%d-more"):format(offer.number), function()
      made_now = true
      core.forward_begin(self.gpu)
      return self:pass(offer, plan)
    end)
    launch = launch_of(offer, { seen, second })
    if not made_now then self:execute(offer) end
  else
    self:execute(offer)
  end
  launch.share = share_of(launch, #launch.windows)
  return launch
end
-- Launches that are like others -------------------------------------------------------------------------------------------------------

local ALIKE <const> = 0.05 -- instructions of launches of a kernel
local AGREE <const> = 0.02 -- cycles per instruction of two of them
local MOST_LIKE_ONE <const> = 4 -- launches that are estimated for each that is measured

local function kernel_key(offer) return ("%s %d %d"):format(offer.kernel, offer.ctas, offer.threads_per_cta) end

local function is_near(a, b, by) return math.abs(a - b) <= by * math.max(math.abs(a), math.abs(b)) end

--- The last two measured launches of the kernel that have about as many instructions, if they agree in what these take.
local function members_for(known, instructions)
  local members = {}
  for i = #known, 1, -1 do
    if #members < 2 and is_near(known[i].instructions, instructions, ALIKE) then table.insert(members, 1, known[i]) end
  end
  if not members[2] then return nil end
  local function rate_of(launch)
    local cycles, own = measures.header(measures.total(launch))
    return cycles / own
  end
  return is_near(rate_of(members[1]), rate_of(members[2]), AGREE) and members or nil
end

--- Estimates a launch by others like it. Nil when there are none, or it is time to measure again, and nothing has happened then.
function Sampler:estimate_by_others(offer)
  local known = self.kernels[kernel_key(offer)]
  if not known or #known < 2 or known.estimated >= #known * MOST_LIKE_ONE then return nil end
  local counted = self:answer_of(self:start(function()
    return { self:execute(offer) }
  end, 1 << 30))
  local members = counted and members_for(known, counted[1])
  if not members then return nil end
  self:execute(offer)
  known.estimated = known.estimated + 1
  return { offer = offer, kind = "like others", members = members, instructions = counted[1], share = 0 }
end

function Sampler:note_measured(launch)
  local key = kernel_key(launch.offer)
  self.kernels[key] = self.kernels[key] or { estimated = 0 }
  table.insert(self.kernels[key], launch)
end

-- All launches ----------------------------------------------------------------------------------------------------------------------

--- What a launch with timing has counted, once something comes after it.
function Sampler:end_exact()
  local launch = self.running
  if not launch then return end
  self.running = nil
  launch.all = measures.difference(measures.now(self), launch.before)
  local _, instructions = measures.header(launch.all)
  launch.before, launch.instructions = nil, instructions
  self:note_measured(launch)
end

--- A launch is offered. Returns what it is estimated to have taken; nil when it is to run with timing.
function Sampler:take(offer)
  self:end_exact()
  self.built:stop_threads()
  local why = self:why_not(offer)
  local launch = not offer.is_cooperative and not offer.uses_dma and self:estimate_by_others(offer) or nil
  if not launch and not why then
    launch, why = self:sample(offer)
    if launch then self:note_measured(launch) end
  end
  if not launch then
    self.running = { offer = offer, kind = "exact", why = why, before = measures.now(self), share = 1 }
    table.insert(self.launches, self.running)
    return nil
  end
  table.insert(self.launches, launch)
  local cycles, _, threads = measures.header(measures.total(launch))
  return { cycles = math.floor(cycles + 0.5), warp_instructions = launch.instructions, thread_instructions = math.floor(threads + 0.5) }
end

--- Of a machine with its GPU; nil where all of each launch is to have timing.
function sampling.attach(built, gpu, policies, text, jobs)
  local options = sampling.read(text)
  if options.budget and options.budget >= 1 then return nil end
  local sampler = setmetatable({
    built = built, gpu = gpu, options = options, text = text, jobs = jobs or 1, children = {}, alive = 0, launches = {}, kernels = {},
    seconds = 0, -- of the host, beside those of kernels with timing
  }, Sampler)
  for _, entry in ipairs(policies) do
    sampler.has_hooks = sampler.has_hooks or policy.has_hooks(entry.definition)
  end
  core.on_launch(gpu, function(offer)
    local began = os.time()
    local estimate = sampler:take(offer)
    sampler.seconds = sampler.seconds + os.time() - began
    return estimate
  end)
  return sampler
end

return sampling

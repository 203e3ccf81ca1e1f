-- `warpwright check`: policies that keep the rules pass; of each kind of mistake one is found, named, and told how to repeat.
local core = require "warpwright.core"
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

local function write_policy(name, text)
  return harness.write(name .. ".lua", 'local policy = require "warpwright.policy"\n' .. text)
end

--- Checks a policy on a machine of two SMs with few runs; returns the exit status and what was printed.
local function check(policy, ...)
  return harness.run("check", "gtx480", "vecadd", "--policy", policy, "--set", "sms=2", "--checkpoints", "2", "--order", "reversed", ...)
end

--- A policy in which something is wrong: the status, and texts that the command prints.
local function is_found(name, text, status, ...)
  local got, output = check(write_policy(name, text))
  harness.equal(got, status, "exit status, output " .. output)
  harness.contains(output, ...)
  return output
end

-- What passes ------------------------------------------------------------------------------------------------------------

harness.test("a shipped policy passes, off it is its baseline, and what it counted is told", function()
  local status, output = harness.run("check", "gtx480", "kmeans,vecadd", "--policy", "ccws", "--off", "k_throttle=0", "--set", "sms=2")
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, "policy ccws on gtx480\nkmeans, small: ", "\nvecadd, small: ", "  the same command again  ", "  --order reversed  ",
    "  --order shuffled:1  ", "  --threads 2  ", "  ccws:k_throttle=0 is gto  ", "  with 4 checkpoints  ", ", --order shuffled:1 --threads 2  ",
    "\n20 comparisons, 0 differences, ")
  assert(not output:find("DIFFERS", 1, true))
end)

harness.test("--base alone is for observers, which must have its statistics; --off changes the last policy's parameters", function()
  local status, output = check("gto+locality:since=first", "--base", "gto")
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, "gto+locality:since=first is gto  ")
  status, output = check("locality+swl:limit=2", "--base", "gto", "--off", "limit=48")
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, "locality+swl:limit=48 is gto  ")
end)

harness.test("a counter that never moves, and a policy that changes nothing, are warnings", function()
  local idle = write_policy("idle", [[
    local p = policy "idle" { doc = "-", order = "gto", params = { on = { true } }, counters = { moves = "-", calls = "-" } }
    function p:on_cta_start() self:count "calls" end
    return p]])
  local status, output = check(idle, "--off", "on=false")
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, "has the statistics of gto, too: nothing acted", ", 2 warnings\n")
  assert(output:find "idle%.calls +%d+\n" and output:find "idle%.moves +0   warning: it never moved\n", output)
end)

harness.test("how much of the time is spent in Lua is told", function()
  local function share_of(policy)
    local status, output = harness.run("check", "gtx480", "kmeans", "--policy", policy, "--checkpoints", "0", "--order", "reversed", "--set", "sms=2",
      "--set", "partitions=2")
    harness.equal(status, 0, "exit status, output " .. output)
    return tonumber(output:match "\n  in the Lua of policies +(%d+)%% of the time of a run\n") or error(output)
  end
  local busy = write_policy("busy", [[
    local p = policy "busy" { doc = "-", order = "gto" }
    function p:on_issue() for _ = 1, 200 do end end
    return p]])
  harness.equal(share_of "gto", 0, "share of a policy without functions")
  assert(share_of(busy) > 30)
end)

-- State outside of self.state ----------------------------------------------------------------------------------------------

harness.test("a global variable that counts is named", function()
  is_found("global_counter", [[
    local p = policy "global_counter" { doc = "-", order = "gto" }
    issues = 0
    function p:on_issue() issues = issues + 1 end
    return p]], 1, "NOT SAVED\n", "policy global_counter of sm[0]: issues: expected a global variable to keep its value, got another",
    "      again with: ", "--checkpoint-at ")
end)

harness.test("a local variable of the file is named, also in a table", function()
  is_found("file_local", [[
    local p = policy "file_local" { doc = "-", order = "gto", period = 200 }
    local memory = { n = 0 }
    function p:on_period() memory.n = memory.n + 1 end
    return p]], 1, "NOT SAVED\n", "policy file_local of sm[0]: memory: expected a local variable to keep its value, got another")
end)

harness.test("a variable that a closure keeps from cycle to cycle is named", function()
  is_found("upvalue", [[
    local p = policy "upvalue" { doc = "-", order = "gto" }
    local function make()
      local last = -1
      return function(_, warp) last = warp end
    end
    p.on_issue = make()
    return p]], 1, "NOT SAVED\n", "policy upvalue of sm[0]: last: expected a local variable to keep its value, got another")
end)

harness.test("a field of self beside the state is named, also one that is a table of the state", function()
  is_found("self_field", [[
    local p = policy "self_field" { doc = "-", order = "gto", period = 200 }
    function p:start() self.n = 0 end
    function p:on_period() self.n = self.n + 1 end
    return p]], 1, "NOT SAVED\n", "policy self_field of sm[0]: self.n: expected the value of start(), got another")
  is_found("kept_table", [[
    local p = policy "kept_table" { doc = "-", order = "gto", period = 200 }
    function p:start() self.state = { t = { n = 0 } }; self.t = self.state.t end
    function p:on_period() self.t.n = self.t.n + 1 end
    return p]], 1, "NOT SAVED\n", "policy kept_table of sm[0]: self.t: expected the value of start(), got another")
end)

harness.test("what a policy keeps in Lua's own functions and tables is named", function()
  is_found("standard_function", [[
    local p = policy "standard_function" { doc = "-", order = "gto", period = 200 }
    function p:on_period() local before = rawlen; rawset(_G, "rawlen", function(t) return before(t) end) end
    return p]], 1, "NOT SAVED\n", "policy standard_function of sm[0]: rawlen: expected a global variable to keep its value, got another")
  is_found("standard_table", [[
    local p = policy "standard_table" { doc = "-", order = "gto", period = 200 }
    function p:on_period() string.last = self:cycle() end
    return p]], 1, "NOT SAVED\n", "policy standard_table of sm[0]: module string: expected what it was after start(), got another")
  is_found("in_standard_table", [[
    local p = policy "in_standard_table" { doc = "-", order = "gto", period = 200 }
    function p:start() table.memory = { n = 0 } end
    function p:on_period() table.memory.n = table.memory.n + 1 end
    return p]], 1, "NOT SAVED\n", "policy in_standard_table of sm[0]: module table: expected what it was after start(), got another")
  is_found("without_function", [[
    local p = policy "without_function" { doc = "-", order = "gto", period = 200 }
    function p:on_period() utf8.char = nil end
    return p]], 1, "NOT SAVED\n", "policy without_function of sm[0]: module utf8: expected what it was after start(), got another")
end)

-- What differs -------------------------------------------------------------------------------------------------------------

harness.test("the order of pairs over tables is found, and told apart from that of the ticks", function()
  local output = is_found("pairs_objects", [[
    local p = policy "pairs_objects" { doc = "-", order = "gto", period = 300 }
    function p:on_period()
      local groups = {}
      for i = 0, 15 do groups[{ i }] = i end
      for _, i in pairs(groups) do self.sm.preferred = 1 << i break end
    end
    return p]], 1, "DIFFERS\n", "often the cause: the same command gives other statistics in another process: `pairs`")
  local _, count = output:gsub("often the cause", "")
  harness.equal(count, 1, "causes")
end)

local two_questions <const> = [[
  local p = policy "two_questions" { doc = "-", order = "gto" }
  function p:start() self.state = { n = 0 } end
  function p:pick() self.state.n = self.state.n + 1 end
  function p:l1_bypass() return self.state.n % 2 == 0 end
  return p]]

harness.test("state that the questions of two objects share is found by the tick order: which statistic, when, and the cause", function()
  local output = is_found("two_questions", two_questions, 1, "  --order reversed  ", "often the cause: what one object does in a cycle depends on")
  assert(output:find "\n  the same command again +the same\n", output)
  assert(output:find "\n  %-%-threads 2 +the same\n", output)
  assert(output:find "\n      [%w_%[%]%.]+: expected %d+, got %d+; %d+ of %d+ statistics differ\n", output)
  assert(output:find "\n      first in cycles %d+ to %d+: [%w_%[%]%.]+: %d+, and %d+\n", output)
end)

harness.test("the commands that it prints repeat the difference", function()
  local folder = harness.folder() .. "/kept"
  local _, output = check(write_policy("two_questions", two_questions), "--out", folder)
  local commands = output:match "the two runs, and all that differs:\n(.-)\n      often"
  harness.contains(commands, "--policy " .. harness.folder() .. "/two_questions.lua --set sms=2 --out " .. folder .. "/vecadd-policy\n",
    " --order reversed --set sms=2 --out ")
  local lines = {}
  for line in commands:gmatch "[^\n]+" do lines[#lines + 1] = line end
  harness.equal(#lines, 3, "commands")
  for i, line in ipairs(lines) do
    local _, _, status = os.execute(line .. " > " .. harness.folder() .. "/said 2>&1")
    harness.equal(status, i == 3 and 1 or 0, line)
  end
end)

harness.test("a trigger that is off, but not quite, is found", function()
  local name = write_policy("acts_when_off", [[
    local p = policy "acts_when_off" { doc = "-", order = "gto", params = { on = { true } } }
    function p:on_cta_start() self.sm.preferred = self.sm.live & -self.sm.live end
    return p]])
  local status, output = check(name, "--off", "on=false")
  harness.equal(status, 1, "exit status, output " .. output)
  harness.contains(output, "acts_when_off.lua:on=false is gto ", "DIFFERS", "often the cause: the policy acts although its trigger is off",
    "--policy gto --set sms=2 --out out/check/vecadd-base")
end)

-- What is the user's fault ----------------------------------------------------------------------------------------------------

harness.test("the clock and random numbers end the first run, with what the run says", function()
  is_found("os_time", [[
    local p = policy "os_time" { doc = "-", order = "gto" }
    function p:on_cta_start() self.sm.preferred = os.time() end
    return p]], 2, "os_time.lua:3: policy os_time of sm[0], in on_cta_start at cycle 16: os.time: expected a time that is the same in each run")
  is_found("math_random", [[
    local p = policy "math_random" { doc = "-", order = "gto" }
    function p:on_cta_start() self.sm.preferred = math.random(0, 100) end
    return p]], 2, "math.random: expected numbers that repeat in each run", "  again with: ")
end)

--- A machine with an object of a class in Lua whose tick ends so, behind the one L2 slice; a request is kept for five cycles.
local function with_class(name, last_line)
  harness.write(name .. "_class.lua", ([[
return require "warpwright.class" "Keeper" {
  doc = "Keeps requests", passes_on = true, state = { kept = {} },
  ports = { up = { "responder", doc = "From who asks" }, down = { "requester", doc = "Towards memory" } },
  tick = function(self, cycle)
    local kept = self.state.kept
    self.down:forward()
    local m = #kept < 32 and self.up:pop()
    if m then kept[#kept + 1] = { message = m, cycle = cycle + 5 } end
    if kept[1] and kept[1].cycle <= cycle and self.down:can_send() then self.down:send(table.remove(kept, 1).message) end
    %s
  end,
}]]):format(last_line))
  return harness.write(name .. ".lua", ([[
return require "warpwright".variant("%s", "gtx480", { sms = 2, partitions = 1 }, function(m)
  m:use "%s_class.lua"
  m:insert("l2[*].mem -> mc[*].cpu[*]", function(b, i)
    local keeper = b:Keeper ("keeper", i) { clock = "core" }
    return keeper.up, keeper.down
  end)
end)]]):format(name, name))
end

harness.test("without a policy a machine is checked, with its classes in Lua", function()
  local function check_machine(name, last_line)
    return harness.run("check", with_class(name, last_line), "vecadd", "--size", "small,n=65536", "--checkpoints", "2")
  end
  local status, output = check_machine("good", "return kept[1] and kept[1].cycle")
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, "machine " .. harness.folder() .. "/good.lua\n", "  --order restless  ", "  with 2 checkpoints  ", "  in the Lua of classes  ",
    ", 0 differences, 0 warnings\n")
  status, output = check_machine("late", "return kept[1] and cycle + 40")
  harness.equal(status, 1, "exit status, output " .. output)
  harness.contains(output, "  --order restless                                         DIFFERS", "often the cause: a class of the machine's own: its tick returns a later cycle")
end)

harness.test("wrong words are refused before anything runs", function()
  harness.refused("check: expected CONFIG and WORKLOAD[,WORKLOAD...], or CONFIG -- PROGRAM, got 1 argument; see warpwright check --help", "check", "gtx480")
  harness.refused("check: --off: expected --policy with it, got none", "check", "gtx480", "vecadd", "--off", "limit=48")
  harness.refused("check: --base: expected --policy with it, got none", "check", "gtx480", "vecadd", "--base", "gto")
  harness.refused("check: unknown option '--polcy'", "check", "gtx480", "vecadd", "--polcy", "swl")
  harness.refused("--order: expected path, reversed, restless or shuffled:SEED, got 'shufled'", "check", "gtx480", "vecadd", "--policy", "swl", "--order", "shufled")
  harness.refused("--threads: expected a whole number from 1 on, got 'two'", "check", "gtx480", "vecadd", "--policy", "swl", "--threads", "two")
  harness.refused("--checkpoints: expected a whole number from 0 on, got '-1'", "check", "gtx480", "vecadd", "--policy", "swl", "--checkpoints=-1")
  harness.refused("policy swl: no parameter matches 'limt'; did you mean limit", "check", "gtx480", "vecadd", "--policy", "swl", "--off", "limt=48")
  harness.refused("check: --base: expected a policy, got none, and none is named like the order of policy owl, 'groups'", "check", "gtx480", "vecadd",
    "--policy", "owl", "--off", "group_warps=64")
  harness.refused("config: no config matches 'gtx48'", "check", "gtx48", "vecadd", "--policy", "swl")
  harness.refused("workload: no workload matches 'veccadd'", "check", "gtx480", "vecadd,veccadd", "--policy", "swl")
  harness.refused("size: no size of workload vecadd matches 'smal'", "check", "gtx480", "vecadd", "--policy", "swl", "--size", "smal")
end)

harness.test("a signal that stops a run stops the command, with its status, and nothing is left behind", function()
  local folder = harness.folder() .. "/stopped"
  core.make_folder(folder)
  local stopping = write_policy("stopping", [[
    local p = policy "stopping" { doc = "-", order = "gto" }
    function p:on_cta_start() os.execute "kill -TERM $PPID" end
    return p]])
  local status, output = harness.run_with("TMPDIR=" .. folder, "check", "gtx480", "vecadd", "--policy", stopping, "--set", "sms=1")
  harness.equal(status, 75, "exit status, output " .. output)
  harness.contains(output, "check: stopped by a signal")
  harness.equal(#core.list_folder(folder), 0, "files")
end)

harness.test("without --out nothing is left behind", function()
  local folder = harness.folder() .. "/temporary"
  core.make_folder(folder)
  local status, output = harness.run_with("TMPDIR=" .. folder, "check", "gtx480", "vecadd", "--policy", "swl", "--checkpoints", "0", "--set", "sms=2")
  harness.equal(status, 0, "exit status, output " .. output)
  harness.equal(#core.list_folder(folder), 0, "files")
end)

-- CUDA programs -----------------------------------------------------------------------------------------------------------

--- Checks a policy on a machine of two SMs under a CUDA program of the tests.
local function check_program(policy, ...)
  return harness.run("check", "gtx480", "--policy", policy, "--set", "sms=2", "--checkpoints", "2", "--order", "reversed", ...)
end

harness.test("a policy is checked under a CUDA program, by runs, resumes and its baseline", function()
  local program = cuda_programs.build "api"
  local status, output = check_program("ccws", "--off", "k_throttle=0", "--", program, "steps")
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(output, "policy ccws on gtx480\napi, cuda: ", "  the same command again  ", "  ccws:k_throttle=0 is gto  ", "  with 2 checkpoints  ",
    "  resumed from ", ", --order reversed", " comparisons, 0 differences, ")
  assert(not output:find "results in" and not output:find("Lua of policies", 1, true), output)
end)

harness.test("what differs under a CUDA program comes with commands that repeat it", function()
  local program, folder = cuda_programs.build "api", harness.folder() .. "/program"
  local status, output = check_program(write_policy("two_questions", two_questions), "--out", folder, "--", program, "steps")
  harness.equal(status, 1, "exit status, output " .. output)
  local commands = output:match "the two runs, and all that differs:\n(.-)\n      often"
  harness.contains(commands, (" cuda gtx480 --policy %s/two_questions.lua --set sms=2 --out %s/api-policy -- %s steps\n"):format(harness.folder(), folder, program))
  local lines = {}
  for line in commands:gmatch "[^\n]+" do lines[#lines + 1] = line end
  harness.equal(#lines, 3, "commands")
  for i, line in ipairs(lines) do
    local _, _, status_of_line = os.execute(line .. " > " .. harness.folder() .. "/said 2>&1")
    harness.equal(status_of_line, i == 3 and 1 or 0, line)
  end
end)

harness.test("what a check cannot do with a CUDA program, or without one, is said", function()
  harness.refused("check: expected CONFIG in front of -- PROGRAM, got 2 arguments", "check", "gtx480", "kmeans", "--policy", "gto", "--", "ls")
  harness.refused("check: expected a program behind --, got nothing", "check", "gtx480", "--policy", "gto", "--")
  harness.refused("check: --size: expected a workload with it, got a CUDA program", "check", "gtx480", "--policy", "gto", "--size", "small", "--", "ls")
  harness.refused("check: --launches: expected a CUDA program behind -- with it, got a workload", "check", "gtx480", "kmeans", "--policy", "gto",
    "--launches", "1-")
  cuda_programs.libraries()
  local status, output = check_program("gto", "--", "false")
  harness.equal(status, 1, "exit status, output " .. output)
  harness.contains(output, "  the program ended with 1, expected 0\n  again with: ", " -- false\n")
  harness.refused("program: expected a file, or a name in PATH, got './none'", "check", "gtx480", "--policy", "gto", "--", "./none")
end)

harness.finish()

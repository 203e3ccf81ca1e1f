-- To ask for a result, for counters or for the files of a run changes nothing of what comes after: launches begin in the same cycle,
-- on the same queues, and the run ends with the same statistics, whatever the order, the threads and the checkpoints.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local function text_of(r)
  local lines = {}
  for name, value in r:stats() do lines[#lines + 1] = ("%s %s"):format(name, value) end
  return table.concat(lines, "\n")
end

local n <const> = 1 << 17

--- A host program of three launches; `observe` is called behind each.
local function program(observe)
  local w = ww.workload "three" { ptx = "../../workloads/vecadd/vecadd.ptx", sizes = { small = {} } }
  function w:run(gpu)
    local kernel = (self.kernels or gpu:load "workloads/vecadd/vecadd.ptx").vecadd
    local a, b, c = gpu:alloc(4 * n), gpu:alloc(4 * n), gpu:alloc(4 * n)
    for i = 1, 3 do
      gpu:launch(kernel, { grid = n // 256, block = 256, args = { a, b, c, n } })
      observe(i)
    end
  end
  return w
end

--- Runs it as a host program, or as the script itself, on a machine with these options; returns the machine, and all its statistics at
-- the end.
local function run(config, options, is_script, observe)
  local sim = ww.build(config, options)
  local w = program(function(i) if observe then observe(sim, i) end end)
  if is_script then w:run(sim:gpu()) else sim:run(w, "small") end
  local text = text_of(sim:result())
  return text, sim
end

local counted <const> = { writes = "mc[*].writes" }

local observers <const> = {
  { "a result", function(sim) sim:result() end },
  { "two results and counters", function(sim, i)
    local first = text_of(sim:result())
    sim:counters(counted):read()
    harness.same_text(text_of(sim:result()), first, "a second result")
    if i > 1 then sim:result():since(sim:result()) end
  end },
  { "energy and the machine's text", function(sim) return sim:result().energy.total, sim:config(), sim:clocks() end },
  { "files of a run", function(sim, i) if i == 2 then sim:write(harness.folder() .. "/files" .. #text_of(sim:result())) end end },
}

local traffic = harness.write("traffic.lua", [[
local ww = require "warpwright"
return ww.variant("traffic", "gtx480", function(m)
  m:base()
  m:TrafficSource "source" { rate = 0.05, writes = 0.3, posted = true, base = "1GiB", footprint = "1MiB" }
  m:TrafficSink "sink" {}
  m:wire("source.mem", "sink.cpu")
end)]])

local machines <const> = {
  { "gtx480_mascar", {} }, -- each kernel leaves requests in flight
  { "gtx480_mascar", { threads = 2, order = "reversed", policy = "mascar" } },
  { "gtx480_mascar", { policy = "perfect", profile = true, set = { ["dispatcher.count_by_kernel"] = true } } },
  { "gtx480", { policy = "equalizer" } },
  { traffic, { policy = "gto" } },
}

for _, machine in ipairs(machines) do
  local config, options = table.unpack(machine)
  local name = ("%s %s"):format(config:match "[^/]+$", options.policy or options.order or "")
  for _, is_script in ipairs { true, false } do
    harness.test(("%s, %s: asking changes nothing"):format(name, is_script and "a script" or "a host program"), function()
      local want = run(config, options, is_script)
      for _, observer in ipairs(observers) do
        harness.same_text(run(config, options, is_script, observer[2]), want, observer[1])
      end
    end)
  end
end

-- Requests in flight ------------------------------------------------------------------------------------------------

harness.test("each access is in one class at any time, also while requests are in flight", function()
  local in_flight = 0
  run("gtx480_mascar", { policy = "gto" }, true, function(sim)
    local r = sim:result()
    for _, cache in ipairs { "sm[*].l1d", "l2[*]" } do
      local function of(name) return r[cache .. "." .. name] end
      harness.equal(of "hits" + of "misses" + of "merges" + of "bypasses", of "accesses", "accesses of " .. cache)
    end
    local before = sim:gpu():totals().cycles
    sim:drain()
    in_flight = in_flight + sim:gpu():totals().cycles - before
  end)
  assert(in_flight > 0, "nothing was in flight")
end)

harness.test("what drains is counted by a later result, whose cycles end with the last kernel", function()
  local first, second
  local _, sim = run("gtx480_mascar", {}, true, function(one, i)
    if i > 1 then return end
    first = one:result()
    one:drain()
    second = one:result()
  end)
  harness.equal(second.cycles, first.cycles, "cycles")
  assert(second["mc[*].reads"] + second["mc[*].writes"] > first["mc[*].reads"] + first["mc[*].writes"], "nothing was counted")
  harness.equal(second:since(first).cycles, 0, "cycles since")
  local launches = sim:result().launches
  assert(launches[2].start_cycle > launches[1].cycles, "the second launch began at once")
  harness.equal(launches[3].start_cycle, launches[2].start_cycle + launches[2].cycles, "the third launch")
end)

-- Checkpoints ---------------------------------------------------------------------------------------------------------

--- The program with a call of `ask` behind each launch, on a machine that is saved after `until_cycle`, and on one that goes on from
-- there; returns what each has at its end.
local function resumed(options, until_cycle, ask)
  local file = harness.folder() .. "/at.ckpt"
  local texts = {}
  for i = 1, 2 do
    local sim = ww.build("gtx480_mascar", options)
    local asked = {}
    local w = program(function(launch) asked[launch] = ask(sim) end)
    if i == 2 then sim:resume(file) end
    sim:start(w, "small")
    if i == 1 then
      sim:run { until_cycle = until_cycle }
      sim:result()
      sim:checkpoint(file)
      sim:result()
    end
    sim:run {}
    texts[i] = ("%s\n%s"):format(table.concat(asked, " "), text_of(sim:result()))
    sim:close()
  end
  return texts
end

for _, options in ipairs { { policy = "gto" }, { policy = "perfect", threads = 2, set = { sms = 4, partitions = 2 } },
  { policy = "equalizer", set = { ["clock.core"] = "700MHz, 600MHz to 800MHz" } } } do
  harness.test(("a host program that reads counters and drains resumes from everywhere, under %s"):format(options.policy), function()
    local function ask(sim)
      local counters = sim:counters { b = "mc[*].writes", a = { "l2[*].hits", "l2[*].misses" } }
      local early = counters:read()
      sim:drain()
      local late = counters:read()
      return ("%d %d %d %d"):format(early.a, early.b, late.a, late.b)
    end
    local want
    for _, cycle in ipairs { 0, 5000, 9000, 17000, 1 << 40 } do
      local texts = resumed(options, cycle, ask)
      want = want or texts[1]
      harness.same_text(texts[1], want, "the run that was saved at cycle " .. cycle)
      harness.same_text(texts[2], want, "the run that goes on from cycle " .. cycle)
    end
  end)
end

harness.test("a script that launches, and reads counters in between, resumes", function()
  local file, texts = harness.folder() .. "/script.ckpt", {}
  for i = 1, 2 do
    local sim, lines = ww.build("gtx480_mascar", {}), {}
    local gpu = sim:gpu()
    if i == 2 then sim:resume(file) end
    local counters = sim:counters(counted)
    lines[1] = counters:read().writes
    program(function(launch)
      lines[launch + 1] = counters:read().writes
      if i == 1 and launch == 2 then sim:checkpoint(file) end
    end):run(gpu)
    texts[i] = table.concat(lines, " ") .. "\n" .. text_of(sim:result())
  end
  harness.same_text(texts[2], texts[1])
end)

harness.finish()

-- gpu:launch_async and gpu:wait: kernels that join those in flight. CUDA programs do it in tests/cuda/test_cuda_waits.lua, and
-- tests/checkpoints/test_resume.lua resumes such a host program at random cycles.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local loaded_machine = require "tests.lib.loaded_machine"

local ptx <const> = "tests/kernels/in_flight_kernel.ptx"

local function build(options) return loaded_machine(ptx, options) end

local function spin(gpu, kernels, grid, rounds, more)
  local launch = { kernel = kernels.spin, grid = grid, block = 128, args = { gpu:alloc(4 * 128 * grid), rounds } }
  for key, value in pairs(more or {}) do launch[key] = value end
  return launch
end

local function wait(kernels, flag) return { kernel = kernels.wait, grid = 1, block = 32, args = { flag } } end

--- Memory and statistics of a run, but for what the clock says.
local function text_of(sim)
  local lines = { sim:gpu():digest() }
  for name, value in sim:result():stats() do
    if not name:find "^run%.s" and not name:find "per_second" then lines[#lines + 1] = name .. " " .. value end
  end
  return table.concat(lines, "\n")
end

local function end_of(launch) return launch.start_cycle + launch.cycles end

harness.test("a kernel that waits for the program ends when the program has written, behind the end of another", function()
  local sim, gpu, kernels = build()
  local flag = gpu:upload(ww.array("u32", 2))
  local first = gpu:launch_async { wait(kernels, flag), spin(gpu, kernels, 20, 50) }
  harness.equal(first, 0, "number of the first")
  local ended, fault = gpu:wait(1)
  harness.equal(fault, nil, "fault")
  harness.equal(ended[0], nil, "the kernel that waits")
  harness.equal(ended[1].ctas, 20, "CTAs of the other")
  harness.equal(sim:result().cycles, end_of(ended[1]), "the program goes on at its end")
  harness.equal(#gpu:launches(), 0, "launches that are told of before all have ended")
  local third = gpu:launch_async { spin(gpu, kernels, 3, 10, { behind = 1 }) }
  harness.equal(third, 2, "number of the third")
  local more = gpu:wait(third)
  harness.equal(more[2].start_cycle, end_of(ended[1]), "it begins when the program launches it")
  gpu:write(flag, ww.array("u32", 1):fill(7))
  local last = gpu:wait()
  harness.equal(last[0].start_cycle, 0, "start of the first")
  assert(end_of(last[0]) > end_of(more[2]), "it ends behind the word")
  harness.equal(gpu:download("u32", flag, 2)[1], 7, "what it read")
  local launches = gpu:launches()
  harness.equal(#launches, 3, "launches")
  for i, launch in ipairs(launches) do harness.equal(launch.together, 0, "together of " .. i) end
  harness.equal(launches[1], last[0], "the first")
  harness.equal(next(gpu:wait()), nil, "what ended while nothing was in flight")
end)

harness.test("waiting often changes nothing: kernels launched at once run as together", function()
  local texts = {}
  for _, way in ipairs { "together", "all", "each", "cycles", "together 3", "each 3", "cycles 3" } do
    local several = way:find "3" and 3 or 1
    local sim, gpu, kernels = build { set = { ["dispatcher.kernels_per_sm"] = several } }
    way = way:match "^%a+"
    local function list() return { spin(gpu, kernels, 100, 40), spin(gpu, kernels, 7, 10), spin(gpu, kernels, 90, 30, { after = 2 }) } end
    if way == "together" then gpu:launch_together(list()) else gpu:launch_async(list()) end
    if way == "each" then for k = 0, 2 do gpu:wait(k) end end
    for _ = 1, way == "cycles" and 5 or 0 do gpu:wait(nil, 300) end
    if way ~= "together" then gpu:wait() end
    local text = text_of(sim)
    texts[several] = texts[several] or text
    harness.same_text(text, texts[several], way)
  end
end)

local function statistics(how, body)
  local sim, gpu, kernels = build(how)
  body(gpu, kernels)
  return text_of(sim)
end

--- Kernels join others again and again, and the one that waits is there from the first to the last.
local function pipeline(gpu, kernels)
  local flag = gpu:upload(ww.array("u32", 2))
  gpu:launch_async { wait(kernels, flag) }
  local before = {}
  for i = 1, 6 do
    local number = gpu:launch_async { spin(gpu, kernels, 10 * i, 20, { behind = before[1] }), spin(gpu, kernels, 3, 90 * i) }
    if i % 2 == 0 then gpu:wait(number) else gpu:wait({ number, number + 1 }, 400) end
    before = { number }
  end
  gpu:write(flag, ww.array("u32", 1):fill(1))
  gpu:wait()
end

harness.test("the result is the same with any number of threads and order of ticks, for each sharing", function()
  for _, sharing in ipairs { "in_order", "evenly", "one_at_a_time", "in_order 3", "evenly 3" } do
    local rule, per_sm = sharing:match "^(%S+) ?(%d*)"
    local function body(gpu, kernels)
      if rule ~= "one_at_a_time" then return pipeline(gpu, kernels) end
      gpu:launch_async { spin(gpu, kernels, 10, 400) }
      gpu:wait(0, 100)
      gpu:launch_async { spin(gpu, kernels, 30, 20) }
      gpu:wait()
    end
    local want
    for _, how in ipairs { {}, { threads = 2 }, { order = "reversed" }, { order = "restless" } } do
      how.set = { ["dispatcher.sharing"] = rule, ["dispatcher.kernels_per_sm"] = tonumber(per_sm) or 1 }
      local text = statistics(how, body)
      want = want or text
      harness.same_text(text, want, sharing)
    end
  end
end)

harness.test("a kernel that takes more of an SM than those that it has joins them there", function()
  local texts = {}
  for _, how in ipairs { {}, { threads = 2 }, { order = "reversed" } } do
    how.set = { ["dispatcher.kernels_per_sm"] = 4, ["dispatcher.sharing"] = "evenly" }
    texts[#texts + 1] = statistics(how, function(gpu, kernels)
      local flag, out, wide = gpu:upload(ww.array("u32", 2)), {}, {}
      local function wide_on(grid)
        wide[#wide + 1] = gpu:alloc(4 * 64 * grid)
        return { kernel = kernels.wide, grid = grid, block = 64, args = { wide[#wide] } }
      end
      for i = 1, 2 do out[i] = gpu:alloc(4 * 128 * 60) end
      local function spin_to(i) return { kernel = kernels.spin, grid = 60, block = 128, args = { out[i], 300 } } end
      gpu:launch_async { wait(kernels, flag) }
      gpu:wait(0, 400)
      gpu:launch_async { spin_to(1) }
      gpu:wait(0, 1000)
      gpu:launch_async { wide_on(40) }
      gpu:wait(2, 500)
      gpu:launch_async { wide_on(7), spin(gpu, kernels, 5, 30, { behind = 2 }) }
      gpu:wait(3)
      gpu:write(flag, ww.array("u32", 1):fill(1))
      local ends = gpu:wait()
      assert(ends[0], "the kernel that waits has ended before")
      gpu:launch(kernels.spin, { grid = 60, block = 128, args = { out[2], 300 } })
      harness.equal(gpu:download("u32", out[1], 7680):string(), gpu:download("u32", out[2], 7680):string(), "what spin computed")
      for _, address in ipairs(wide) do harness.equal(gpu:download("u32", address, 448)[65], 96, "what wide computed") end
    end)
    harness.same_text(texts[#texts], texts[1], "statistics")
  end
end)

harness.test("a kernel of a lower priority number gets SMs before others that wait for them, and with several per SM before all", function()
  for _, per_sm in ipairs { 1, 2 } do
    for _, priority in ipairs { 0, -3 } do
      local _, gpu, kernels = build { set = { ["dispatcher.kernels_per_sm"] = per_sm } }
      gpu:launch_async { spin(gpu, kernels, 600, 200), spin(gpu, kernels, 200, 200) }
      gpu:wait(0, 500)
      gpu:launch_async { spin(gpu, kernels, 200, 200, { priority = priority }) }
      gpu:wait()
      local launches = gpu:launches()
      local last = end_of(launches[3])
      harness.equal(last < end_of(launches[2]), priority < 0, "it ends before the one that waited")
      harness.equal(last < end_of(launches[1]), priority < 0 and per_sm > 1, "it ends before the first")
    end
  end
end)

harness.test("a wait for cycles ends at their next multiple, or when all have ended", function()
  local sim, gpu, kernels = build()
  gpu:launch_async { spin(gpu, kernels, 1, 500) }
  for i = 1, 3 do
    harness.equal(next(gpu:wait(0, 320)), nil, "ends")
    harness.equal(sim:result().cycles, 320 * i, "cycle")
  end
  local ends = gpu:wait(0, 1 << 30)
  harness.equal(sim:result().cycles, end_of(ends[0]), "cycle of the end")
end)

harness.test("memory may be allocated, written and read, and modules loaded, while kernels are in flight", function()
  local _, gpu, kernels = build()
  local flag = gpu:upload(ww.array("u32", 2))
  gpu:launch_async { wait(kernels, flag) }
  gpu:wait(0, 1000)
  local more = gpu:load(ptx)
  local out = gpu:alloc(4 * 128 * 2)
  local number = gpu:launch_async { { kernel = more.spin, grid = 2, block = 128, args = { out, 1 } } }
  gpu:wait(number)
  harness.equal(gpu:download("u32", out, 256)[130], 130, "what the kernel of the other module wrote")
  gpu:free(out)
  gpu:write(flag, ww.array("u32", 1):fill(3))
  harness.equal(gpu:wait()[0].ctas, 1, "CTAs")
end)

harness.test("policies hear of kernels that join", function()
  local policy = harness.write("listener.lua", [[
local policy = require "warpwright.policy"
local p = policy "listener" { scope = "machine", counters = { begins = "kernels begun", ends = "kernels ended" } }
function p:on_kernel_start() self:count "begins" end
function p:on_kernel_end() self:count "ends" end
return p
]])
  local sim, gpu, kernels = build { policy = policy }
  pipeline(gpu, kernels)
  local begins, ends = 0, 0
  for name, value in sim:result():stats() do
    if name:find "begins$" then begins = value elseif name:find "ends$" then ends = value end
  end
  harness.equal(begins, 13, "begins")
  harness.equal(ends, 13, "ends")
end)

harness.test("a fault of one ends all that are in flight, and the next wait tells it", function()
  local _, gpu, kernels = build()
  local flag = gpu:upload(ww.array("u32", 2))
  gpu:launch_async { wait(kernels, flag), spin(gpu, kernels, 20, 50) }
  gpu:wait(1)
  gpu:launch_async { { kernel = kernels.stop, grid = 1, block = 32 } }
  local ends, fault = gpu:wait(0)
  harness.equal(fault.kernel, "stop", "kernel")
  harness.equal(fault.kind, "trap", "kind")
  assert(ends[0] and ends[2] and not ends[1], "what ended")
  harness.equal(#gpu:launches(), 3, "launches")
  harness.equal(gpu:launch_async { spin(gpu, kernels, 2, 5) }, 3, "number of the next")
  ends, fault = gpu:wait()
  harness.equal(ends[3].ctas, 2, "CTAs")
  harness.equal(fault, nil, "fault of the next")
end)

harness.test("what cannot go with kernels in flight is refused, and so are wrong numbers", function()
  local sim, gpu, kernels = build()
  local function refused(text, f, ...)
    local ok, problem = pcall(f, ...)
    harness.equal(ok, false, "refused")
    harness.contains(tostring(problem), text)
  end
  gpu:launch_async { spin(gpu, kernels, 20, 500) }
  refused("launch: expected no kernel in flight, got spin; gpu:wait() waits for all", gpu.launch, gpu, kernels.spin,
    { grid = 1, block = 1, args = { 0, 1 } })
  refused("launch_together: expected no kernel in flight", gpu.launch_together, gpu, { spin(gpu, kernels, 1, 1) })
  refused("drain: expected no kernel in flight", gpu.drain, gpu)
  refused("wait: numbers: expected numbers of kernels, as gpu:launch_async() returned, below 1, got 1", gpu.wait, gpu, 1)
  refused("wait: cycles: expected a number of cycles from 1 on, got 0", gpu.wait, gpu, 0, 0)
  refused("wait: cycles: expected a number of cycles from 1 on, got 1.5", gpu.wait, gpu, nil, 1.5)
  refused("wait: cycles: expected a number of cycles from 1 on, got a table", gpu.wait, gpu, nil, {})
  refused("below 1, got 'x'", gpu.wait, gpu, "x")
  refused("kernel spin: behind: expected the number of a launch before it, or several, got 1", gpu.launch_async, gpu,
    { spin(gpu, kernels, 1, 1, { behind = 1 }) })
  refused("priority: expected a whole number, lower ones first, got 'high'", gpu.launch_async, gpu,
    { spin(gpu, kernels, 1, 1, { priority = "high" }) })
  refused("no field matches 'priority'", gpu.launch_together, gpu, { spin(gpu, kernels, 1, 1, { priority = 0 }) })
  refused("no field matches 'behind'", gpu.launch_together, gpu, { spin(gpu, kernels, 1, 1, { behind = 0 }) })
  local nothing, why = gpu:try_launch_async { { kernel = kernels.stop, grid = 1, block = 32, shared = 1 << 20 } }
  harness.equal(nothing, nil, "number of a launch that is refused")
  harness.equal(why.kind, "launch", "kind")
  gpu:wait()
  local many = {}
  for i = 1, 1000 do
    many[i] = { kernel = kernels.spin, grid = 1, block = 32, after = i > 1 and i - 1 or nil,
      args = { many[1] and many[1].args[1] or gpu:alloc(128), 1 } }
  end
  for _ = 1, 16 do gpu:launch_async(many) end
  refused("expected up to 16384 kernels from the first to the last that is in flight, got 17000", gpu.launch_async, gpu, many)
  gpu:wait()
  harness.equal(#sim:result().launches, 16001, "launches")
end)

harness.test("a host program may pause in its waits, and before its launches", function()
  local texts = {}
  harness.write("in_flight.ptx", harness.read(ptx))
  for _, step in ipairs { 1 << 40, 320, 90 } do
    local sim = ww.build("gtx480", { policy = "gto" })
    local w = ww.workload "pauses" { ptx = harness.folder() .. "/in_flight.ptx", sizes = { small = {} } }
    function w:run(gpu) pipeline(gpu, self.kernels) end
    sim:start(w, "small")
    local cycle, pauses = step, 0
    while not sim:run { until_cycle = cycle } do
      cycle, pauses = cycle + step, pauses + 1
      harness.equal(pcall(sim:gpu().alloc, sim:gpu(), 4), false, "a script may allocate while the host program waits")
    end
    harness.equal(pauses > 5, step < 1000, "pauses")
    texts[#texts + 1] = text_of(sim)
    harness.same_text(texts[#texts], texts[1], step .. " cycles at a time")
  end
end)

harness.test("a checkpoint between two calls has the kernels in flight", function()
  local folder = harness.folder()
  harness.write("in_flight.ptx", harness.read(ptx))
  local function results(saves, resumes)
    local sim = ww.build("gtx480", { policy = "gto" })
    local w = ww.workload "saves" { ptx = folder .. "/in_flight.ptx", sizes = { small = {} } }
    function w:run(gpu)
      local flag, calls = gpu:upload(ww.array("u32", 2)), 0
      local function call()
        calls = calls + 1
        if saves then sim:checkpoint(("%s/call%d.ckpt"):format(folder, calls)) end
      end
      gpu:launch_async { wait(self.kernels, flag) }
      call()
      gpu:wait(0, 500)
      call()
      local number = gpu:launch_async { spin(gpu, self.kernels, 40, 30), spin(gpu, self.kernels, 3, 10, { after = 1 }) }
      call()
      gpu:wait(number)
      call()
      gpu:write(flag, ww.array("u32", 1):fill(1))
      call()
      gpu:wait()
    end
    if resumes then sim:resume(("%s/call%d.ckpt"):format(folder, resumes), { allow_changes = true }) end
    sim:start(w, "small")
    sim:run {}
    return text_of(sim)
  end
  local want = results(true)
  for call = 1, 5 do harness.same_text(results(false, call), want, "resumed at call " .. call) end
end)

harness.test("a host program that leaves kernels in flight is told so", function()
  local w = ww.workload "leaves" { ptx = harness.write("in_flight.ptx", harness.read(ptx)), sizes = { small = {} } }
  function w:run(gpu) gpu:launch_async { spin(gpu, self.kernels, 20, 500) } end
  local ok, problem = pcall(ww.run, { config = "gtx480", workload = w, size = "small", out = false })
  harness.equal(ok, false, "ended")
  harness.contains(tostring(problem), "end of the host program: expected no kernel in flight, got spin")
end)

harness.finish()

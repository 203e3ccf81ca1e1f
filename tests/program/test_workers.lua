-- Workers that are asked more than once, and attempts that are undone: who goes on, and that whoever started the program sees one
-- process.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local workers = require "warpwright.workers"

local home <const> = harness.folder()

harness.test("a worker keeps its state from one order to the next, and the pool has none of it", function()
  local pool, sum = workers.pool(1), 0
  local worker = pool:start(function(order)
    sum = sum + order.add
    return { sum = sum }
  end)
  for i, wanted in ipairs { 3, 8 } do
    pool:ask(worker, { add = 1 + 2 * i })
    harness.equal(pool:answer_of(worker).sum, wanted)
  end
  pool:dismiss(worker)
  harness.equal(sum, 0)
  harness.equal(next(pool.all), nil)
end)

harness.test("a worker that was asked for the last time has ended once it has answered", function()
  local pool = workers.pool(1)
  local worker = pool:start(function() return { 5 } end)
  pool:ask(worker, { is_last = true })
  harness.equal(core.wait_for_child(), worker.process)
  harness.equal(pool:answer_of(worker)[1], 5)
end)

harness.test("no more workers than jobs are at work", function()
  local pool, list = workers.pool(2), {}
  for i = 1, 5 do
    list[i] = pool:start(function() return { i } end)
    pool:ask(list[i], {})
    assert(#pool.busy <= 2, #pool.busy)
  end
  for i = 5, 1, -1 do
    harness.equal(pool:answer_of(list[i])[1], i)
    pool:dismiss(list[i])
  end
end)

harness.test("who asks goes on while all jobs are at work, up to so many orders that wait", function()
  local pool, list, most = workers.pool(1), {}, workers.MOST_ORDERS
  for i = 1, most + 2 do
    list[i] = pool:start(function(order)
      while order.until_there and not io.open(order.until_there) do core.sleep(0.01) end
      return { i }
    end)
  end
  local gate = home .. "/gate"
  pool:ask(list[1], { until_there = gate }) -- it is at work until the gate is there
  for i = 2, most + 1 do pool:ask(list[i], {}) end
  harness.equal(#pool.busy, 1)
  harness.equal(#pool.waiting, most)
  harness.write("gate", "")
  pool:ask(list[most + 2], {}) -- one more: some have to answer first
  assert(#pool.waiting <= most, #pool.waiting)
  for i = most + 2, 1, -1 do
    harness.equal(pool:answer_of(list[i])[1], i)
    pool:dismiss(list[i])
  end
end)

harness.test("an answer that is longer than a connection holds arrives", function()
  local text = ("0123456789abcdef"):rep(1 << 16)
  harness.equal(workers.pool(1):call(function() return { text = text } end).text, text)
end)

harness.test("what goes wrong in a worker is said, and so is that it was killed", function()
  local pool = workers.pool(1)
  local _, problem = pool:call(function() error("no such thing", 0) end)
  harness.equal(problem, "no such thing")
  local answer
  answer, problem = pool:call(function() os.execute(("kill -KILL %d"):format(core.process())) end)
  harness.equal(answer, nil)
  harness.equal(problem, "a process of it was killed")
end)

--- A script in which `attempt(work)` is there, and note(text) writes into a file. Returns its exit status and the notes; `beside`:
-- a function that is called while it runs, with the number of the process that was started.
local function run_script(body, beside)
  local notes = home .. "/notes"
  os.remove(notes)
  local script = harness.write("attempt.lua", ([[
    local core, workers, ww = require "warpwright.core", require "warpwright.workers", require "warpwright"
    local sim = ww.build("gtx480", { memory = "64MiB" })
    local gpu, pool = sim:gpu(), workers.pool(1)
    local function attempt(work) return workers.attempt(pool, gpu, work) end
    local function note(text)
      local file <close> = io.open(%q, "a")
      file:write(text, "\n")
    end
    %s
  ]]):format(notes, body))
  local process = core.fork(home .. "/printed")
  if process == 0 then
    local ok, problem = pcall(dofile, script)
    if not ok then io.stderr:write(tostring(problem), "\n") end
    core.leave(ok and 0 or 2)
  end
  if beside then beside(process, notes) end
  local ended, status, signal = core.wait_for_child()
  harness.equal(ended, process)
  local file <close> = io.open(notes)
  return status, file and file:read "a" or "", signal
end

harness.test("what an attempt has done stays when it says so, in the same process", function()
  local status, notes = run_script [[
    local x, before = 1, core.process()
    local stays, answer = attempt(function()
      x = 2
      return true, { 7 }
    end)
    note(("%s %d %d %s"):format(stays, answer[1], x, core.process() == before))
    core.leave(4)
  ]]
  harness.equal(notes, "true 7 2 true\n")
  harness.equal(status, 4)
end)

harness.test("what is undone never was: variables, device memory; the answer is known, and the exit status is seen", function()
  local status, notes = run_script [[
    local x, data = 1, gpu:alloc(256)
    gpu:fill(data, 5, 256)
    local stays, answer, problem = attempt(function()
      x = 2
      gpu:fill(data, 6, 256)
      return false, { 7 }
    end)
    note(("%s %d %s %d %d"):format(stays, answer[1], problem, x, gpu:download("u8", data, 1)[0]))
    core.leave(4)
  ]]
  harness.equal(notes, "false 7 nil 1 5\n")
  harness.equal(status, 4)
end)

harness.test("an attempt that throws is undone, and what it threw is known", function()
  local _, notes = run_script [[
    local stays, answer, problem = attempt(function() error("too hot", 0) end)
    note(("%s %s %s"):format(stays, answer, problem))
  ]]
  harness.equal(notes, "false nil too hot\n")
end)

harness.test("of many attempts that are undone two processes are left: the first one, and the one that goes on", function()
  local status, notes = run_script [[
    local first = core.process()
    for i = 1, 5 do attempt(function() return false, {} end) end
    local listed
    repeat -- the one before has ended, and may not have been waited for yet
      listed = io.open(("/proc/%d/task/%d/children"):format(first, first)):read "a"
    until listed:match "^%d+ $"
    note(tostring(listed == core.process() .. " "))
    core.leave(6)
  ]]
  harness.equal(notes, "true\n")
  harness.equal(status, 6)
end)

local goes_on_for_long <const> = [[
  attempt(function() return false, {} end)
  attempt(function() return false, {} end)
  note(tostring(core.process()))
  core.sleep(600)
]]

--- The number of the process that goes on, once it does.
local function process_at_work(notes)
  while true do
    local file <close> = io.open(notes)
    local number = file and file:read "a":match "^(%d+)\n"
    if number then return number end
    core.sleep(0.01)
  end
end

harness.test("a signal to the first process comes to the one that goes on, and how that ends is how the first one does", function()
  local _, _, signal = run_script(goes_on_for_long, function(process, notes)
    process_at_work(notes)
    os.execute("kill -TERM " .. process)
  end)
  harness.equal(signal, 15)
end)

harness.test("when the first process is killed, so is the one that goes on", function()
  local at_work
  local _, _, signal = run_script(goes_on_for_long, function(process, notes)
    at_work = process_at_work(notes)
    os.execute("kill -KILL " .. process)
  end)
  harness.equal(signal, 9)
  while os.execute(("test -e /proc/%s && ! grep -q '^State:.*[ZX]' /proc/%s/status 2>/dev/null"):format(at_work, at_work)) do core.sleep(0.01) end
end)

harness.test("processor time of what was undone counts", function()
  local _, notes = run_script [[
    local function spend(seconds)
      local until_then = core.host().cpu_seconds + seconds
      while core.host().cpu_seconds < until_then do end
    end
    local before = core.host().cpu_seconds
    attempt(function()
      spend(0.1)
      return false, {}
    end)
    note(tostring(core.host().cpu_seconds - before >= 0.1))
  ]]
  harness.equal(notes, "true\n")
end)

harness.finish()

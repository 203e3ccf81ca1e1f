-- Traces as text: what they show, that they change nothing, and that nothing changes them.
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local home <const> = harness.folder()

--- The words of a run that is short and has all events: with 4 banks of DRAM, rows are closed for others.
local function words_of(folder, ...)
  return "run", "gtx480", "spmv", "--size", "small,rows=2048", "--set", "sms=3", "--set", "mc[*].banks=4", "--set", "map.bank_mask=0x2100",
    "--set", "map.row_mask=0x0fffc000", "--out", folder, ...
end

local function run(name, ...)
  local folder = home .. "/" .. name
  local status, output = harness.run(words_of(folder, ...))
  harness.equal(status, 0, output)
  return folder, output
end

local function trace_of(name, ...) return harness.read(run(name, ...) .. "/trace.txt") end

--- Each line as { cycle =, object =, event =, warp =, pc =, text = }.
local function lines_of(trace)
  local lines = {}
  for line in trace:gmatch "[^\n]+" do
    local cycle, object, event, warp, pc, text = line:match "^(%d+) (%S+) (%S+) (%S+) (%S+) ?(.*)$"
    if line:sub(1, 1) ~= "#" then
      lines[#lines + 1] = { cycle = math.tointeger(tonumber(cycle)), object = assert(object, line), event = event, warp = warp, pc = pc,
        text = text }
    end
  end
  return lines
end

local plain <const> = run "plain"
local whole <const> = run("whole", "--trace", "*")
local trace <const> = harness.read(whole .. "/trace.txt")
local lines <const> = lines_of(trace)

harness.test("a run that is traced has the statistics of one that is not", function()
  for _, file in ipairs { "stats.txt", "stats.json" } do
    harness.same_text(harness.read(whole .. "/" .. file), harness.read(plain .. "/" .. file), file)
  end
end)

harness.test("threads and the order of ticks change no byte of it", function()
  local function window(order, threads)
    return trace_of("order", "--trace", "*", "--from", "1000", "--to", "5000", "--order", order, "--threads", threads)
  end
  local first = window("path", 1)
  assert(#first > 2000000, #first)
  for _, order in ipairs { "path", "reversed", "shuffled:3", "restless" } do
    local other = window(order, 2)
    if other ~= first then harness.same_text(other, first, order) end
  end
end)

harness.test("so it is where nothing is due as the window begins", function()
  local traces = {}
  for _, order in ipairs { "path", "restless" } do
    local folder = home .. "/idle"
    local status, output = harness.run("run", "fx5800_l1", "bfs", "--size", "small", "--out", folder, "--trace", "*", "--from", "3000", "--to",
      "4500", "--order", order)
    harness.equal(status, 0, output)
    traces[order] = harness.read(folder .. "/trace.txt")
  end
  assert(traces.path:find "\n3000 sm%[18%] begin ", "a warp's state as the window begins")
  harness.same_text(traces.restless, traces.path, "restless")
end)

local function stat(name)
  local value = harness.read(plain .. "/stats.json"):match('"' .. name:gsub("%p", "%%%0") .. '": ([%d.e+]+)')
  return assert(tonumber(value), name)
end

local counts -- of the lines of each object, by event

local function count(object, event)
  if not counts then
    counts = {}
    for _, line in ipairs(lines) do
      local events = counts[line.object]
      if not events then
        events = {}
        counts[line.object] = events
      end
      events[line.event] = (events[line.event] or 0) + 1
    end
  end
  return counts[object] and counts[object][event] or 0
end

harness.test("it has as many lines of each event as the statistics count", function()
  for i = 0, 2 do
    local sm = ("sm[%d]"):format(i)
    harness.equal(count(sm, "issue"), stat(sm .. ".warp_instructions"), sm .. " issue")
    harness.equal(count(sm .. ".l1d", "miss"), stat(sm .. ".l1d.misses"), sm .. ".l1d miss")
    harness.equal(count(sm .. ".l1d", "hit"), stat(sm .. ".l1d.hits"), sm .. ".l1d hit")
    harness.equal(count(sm .. ".l1d", "merge"), stat(sm .. ".l1d.merges"), sm .. ".l1d merge")
  end
  for i = 0, 5 do
    harness.equal(count(("mc[%d]"):format(i), "ACT"), stat(("mc[%d].activates"):format(i)), "activates")
    harness.equal(count(("mc[%d]"):format(i), "PRE"), stat(("mc[%d].precharges"):format(i)), "precharges")
  end
  assert(stat "mc[0].precharges" > 0 and count("sm[0]", "stall") > 0 and count("sm[0].lsu", "send") > 0 and count("xbar", "receive") > 0)
end)

harness.test("column commands that close their row have names of their own", function()
  local folder = run("closed", "--set", "mc[*].page_policy=closed", "--trace", "mc[0]")
  local stats, closing = harness.read(folder .. "/stats.json"), 0
  for _, line in ipairs(lines_of(harness.read(folder .. "/trace.txt"))) do
    assert(line.event ~= "PRE", line.text)
    if line.event == "RDA" or line.event == "WRA" then closing = closing + 1 end
  end
  harness.contains(stats, ('"mc[0].precharges": %d,'):format(closing))
  assert(closing > 100, closing)
end)

--- By the identity of each request: its lines, as "object event" and the cycle.
local function requests()
  local by_id, order = {}, {}
  for _, line in ipairs(lines) do
    local id = line.text:match "^(%d+%.%d+%.%d+%.%x+) "
    if id and not by_id[id] then
      by_id[id] = {}
      order[#order + 1] = id
    end
    if id then table.insert(by_id[id], line) end
  end
  return by_id, order
end

local function step(line)
  local object = line.object:gsub("%[%d+%]", "")
  return ("%s %s%s"):format(object, line.event, line.text:find ", answer " and " answer" or "")
end

local way_to_dram <const> = [[
sm.lsu send
sm.l1d receive
sm.l1d miss
sm.l1d send
sm.mux receive
sm.mux send
xbar receive
xbar send
l2 receive
l2 miss
l2 send
mc receive
mc RD
mc send answer
l2 receive answer
l2 fill
l2 send answer
xbar receive answer
xbar send answer
sm.mux receive answer
sm.mux send answer
sm.l1d receive answer
sm.l1d fill
sm.l1d send answer
sm.lsu receive answer
]]

harness.test("a request keeps its identity from the load/store unit to DRAM and back, in order", function()
  local by_id, order = requests()
  local whole_ways = 0
  for _, id in ipairs(order) do
    local steps, seen, last = {}, {}, 0
    for _, line in ipairs(by_id[id]) do
      assert(line.cycle >= last, id .. " goes back in time")
      last = line.cycle
      local this = step(line)
      if (way_to_dram):find(this .. "\n", 1, true) and not seen[this] then
        steps[#steps + 1] = this .. "\n"
        seen[this] = true
      end
    end
    if seen["sm.l1d miss"] and seen["mc RD"] and seen["sm.lsu receive answer"] then
      harness.same_text(table.concat(steps), way_to_dram, id)
      whole_ways = whole_ways + 1
    end
  end
  assert(whole_ways > 1000, "requests on the whole way: " .. whole_ways)
end)

harness.test("no two requests of a load/store unit have one identity", function()
  local sent = {}
  for _, line in ipairs(lines) do
    if line.object:find "%.lsu$" and line.event == "send" then
      local id = line.text:match "^(%d+%.%d+%.%d+%.%x+) "
      if id then
        assert(not sent[id], id)
        sent[id] = true
      end
    end
  end
end)

harness.test("a merge says behind which request it waits, and that one is the fetch of the line", function()
  local merges = 0
  for _, line in ipairs(lines) do
    if line.event == "merge" and line.object == "sm[0].l1d" then
      local id, other = line.text:match "^%d+%.%d+%.%d+%.(%x+) .* behind %d+%.%d+%.%d+%.(%x+)$"
      harness.equal(assert(id, line.text), other, "line")
      merges = merges + 1
    end
  end
  assert(merges > 10, merges)
end)

harness.test("a window has the lines of the whole trace within it, its objects and its events alone", function()
  local from, to = 2000, 4000
  local window = trace_of("window", "--trace", "sm[1]*,l2[*]", "--from", from, "--to", to, "--events", "issue,miss,hit")
  local wanted = { "# trace of sm[1]*,l2[*] from cycle 2000 to 4000, events issue,miss,hit\n# cycle object event warp pc text\n" }
  for line in trace:gmatch "[^\n]+\n" do
    local cycle, object, event = line:match "^(%d+) (%S+) (%S+)"
    cycle = tonumber(cycle)
    local shown = cycle and (object:find "^sm%[1%]" or object:find "^l2%[%d+%]$") and (event == "issue" or event == "miss" or event == "hit")
    if shown and cycle >= from and cycle < to then wanted[#wanted + 1] = line end
  end
  local got = { window:match "^#[^\n]*\n#[^\n]*\n" }
  for line in window:gmatch "[^\n]+\n" do
    local cycle = tonumber(line:match "^(%d+) ")
    assert(not cycle or cycle >= from - 16 and cycle <= to + 16, "rounded to quanta: " .. line)
    if cycle and cycle >= from and cycle < to then got[#got + 1] = line end
  end
  assert(#wanted > 100)
  harness.same_text(table.concat(got), table.concat(wanted), "window")
end)

harness.test("a trace that begins at a checkpoint has the lines of one that does not", function()
  local folder = run("saved", "--checkpoint-at", "3000")
  local checkpoint
  for path in io.popen("ls " .. folder .. "/*.ckpt"):lines() do checkpoint = path end
  local status, output = harness.run("run", "--resume", checkpoint, "--out", home .. "/resumed", "--trace", "*", "--from", "4000", "--to",
    "6000")
  harness.equal(status, 0, output)
  local direct = trace_of("direct", "--trace", "*", "--from", "4000", "--to", "6000")
  harness.same_text(harness.read(home .. "/resumed/trace.txt"), direct, "trace")
  harness.same_text(harness.read(home .. "/resumed/stats.txt"), harness.read(plain .. "/stats.txt"), "stats.txt")
end)

-- Accesses to shared memory are begun ahead while nobody looks on; in each of these windows some had been.
harness.test("a window sees accesses to shared memory that came before it as the whole trace does", function()
  local function lines_from(name, from, ...)
    local folder = home .. "/" .. name
    local status, output = harness.run("run", "gtx480", "sgemm", "--size", "small", "--set", "sms=3", "--max-cycles", "3200", "--out", folder,
      "--trace", "sm[1]*", "--from", from, "--to", "3000", ...)
    harness.equal(status, 2, output) -- --max-cycles
    local found = {}
    for line in harness.read(folder .. "/trace.txt"):gmatch "[^\n]+" do
      local cycle, event = line:match "^(%d+) %S+ (%S+)"
      if cycle and tonumber(cycle) >= 2000 and event ~= "begin" then found[#found + 1] = line end
    end
    return found
  end
  local wanted = lines_from("shared", 0)
  assert(#wanted > 1000, #wanted)
  for order, from in pairs { path = 2000, reversed = 2128 } do
    local got, expected = lines_from("shared-" .. order, from, "--order", order), {}
    for _, line in ipairs(wanted) do
      if tonumber(line:match "^%d+") >= from then expected[#expected + 1] = line end
    end
    harness.same_text(table.concat(got, "\n"), table.concat(expected, "\n"), ("from %d, %s"):format(from, order))
  end
end)

harness.test("the knobs that a policy sets are lines, each when its value changes", function()
  local policy = runs.file("setter", [[
local x = policy "setter" { period = 1000 }
function x:on_period()
  self.state.limit = (self.state.limit or 8) - 1
  self.sm.warp_limit = self.state.limit > 4 and self.state.limit or 4
end
return x]])
  local text = harness.read(run("knobs", "--trace", "sm[1]", "--events", "knob", "--policy", policy) .. "/trace.txt")
  local values = {}
  for cycle, value in text:gmatch "\n(%d+) sm%[1%] knob %- %- warp_limit=(%d+)" do values[#values + 1] = cycle // 1000 .. ":" .. value end
  harness.equal(table.concat(values, " "), "1:7 2:6 3:5 4:4", "values")
end)

harness.test("files that end in .gz and .zst are compressed", function()
  for ending, unpack in pairs { gz = "gzip -dc", zst = "zstd -dcq" } do
    local path = ("%s/packed.%s"):format(home, ending)
    run("packed_" .. ending, "--trace", "*", "--trace-file", path)
    local pipe = assert(io.popen(("command -v %s >/dev/null && %s %s"):format(unpack:match "%S+", unpack, path)))
    local text = pipe:read "a"
    pipe:close()
    if ending == "gz" or text ~= "" then harness.same_text(text, trace, path) end
  end
end)

harness.test("bad arguments are errors that say what is legal, before anything is simulated", function()
  local function refused(wanted, ...) harness.refused(wanted, "run", "gtx480", "vecadd", "--size", "small", "--out", home .. "/bad", ...) end
  refused("trace: no object matches 'sm[99]*' on machine gtx480", "--trace", "sm[0],sm[99]*")
  refused("trace: no object matches 'xbra' on machine gtx480; did you mean xbar", "--trace", "xbra")
  refused("events: no event of the traced objects matches 'mis'", "--trace", "l2[*]", "--events", "hit,mis")
  refused("to: expected a cycle behind 500, where the trace begins, got 400", "--trace", "*", "--from", "500", "--to", "400")
  refused("from: expected a core cycle, 0 or more, got 'soon'", "--trace", "*", "--from", "soon")
  refused("to: expected a core cycle, 0 or more, got '-1'", "--trace", "*", "--to", "-1")
  refused("from: expected trace or perfetto with it, got neither", "--from", "5")
  refused("/nowhere/x.txt: expected a file that can be written", "--trace", "*", "--trace-file", "/nowhere/x.txt")
  refused("events: expected names of events", "--trace", "*", "--events", "")
end)

harness.test("a window behind the end of the run is said to be so", function()
  local _, output = run("late", "--trace", "*", "--from", "100000000")
  harness.contains(output, "trace: nothing happened from cycle 100000000; the run ended at cycle ")
end)

harness.test("a resumed run has nothing of a window before its checkpoint, and of one around it what comes behind", function()
  harness.equal(harness.run("run", "gtx480", "vecadd", "--size", "small", "--set", "sms=2", "--checkpoint-at", "2000", "--out", home .. "/first"), 0)
  local function resumed(name, to)
    local status, output = harness.run("run", "--resume", home .. "/first/2000.ckpt", "--out", home .. name, "--trace", "sm[*]", "--from", "100", "--to", to)
    harness.equal(status, 0, output)
    local text = harness.read(home .. name .. "/trace.txt")
    return output, text:match "\n(%d+) sm%[", text:match "^# trace of .- from (cycle %d+ to %d+)\n"
  end
  local output, first = resumed("/before", "200")
  harness.contains(output, "trace: nothing happened from cycle 100 to 200; the run was resumed at cycle 2000\n")
  harness.equal(first, nil)
  local window
  output, first, window = resumed("/around", "2100")
  harness.equal(window, "cycle 2000 to 2100")
  harness.refused("explain: cycle: expected one of the trace, 2000 to 2100, got 500", "explain", home .. "/around", "--warp", "0/0", "--cycle", "500")
  assert(not output:find("nothing happened", 1, true), output)
  harness.equal(first, "2000")
end)

harness.test("a file of the run's own is no file for a trace, and stays", function()
  local folder = home .. "/own"
  harness.equal(harness.run(words_of(folder)), 0, "exit status")
  local stats = harness.read(folder .. "/stats.txt")
  for _, name in ipairs { "stats.txt", "config.lua", "provenance.txt", "hang.txt", "500.ckpt", "run.pid" } do
    harness.refused(("trace_file: expected a name that no file of the run's own has, got '%s/./%s'"):format(folder, name),
      words_of(folder, "--trace", "sm[0]", "--trace-file", ("%s/./%s"):format(folder, name)))
    harness.refused("perfetto: expected a name that no file of the run's own has",
      words_of(folder, "--perfetto", ("%s/../own/%s"):format(folder, name)))
  end
  harness.refused("perfetto: expected another file than that of the text",
    words_of(folder, "--trace", "sm[0]", "--trace-file", home .. "/same", "--perfetto", home .. "/same"))
  harness.same_text(harness.read(folder .. "/stats.txt"), stats, "stats.txt")
  for _, path in ipairs { folder .. "/trace.txt", folder .. "/mine.txt", home .. "/stats.txt" } do
    harness.equal(harness.run(words_of(folder, "--trace", "sm[0]", "--trace-file", path)), 0, "exit status")
    assert(#harness.read(path) > 0)
    harness.same_text(harness.read(folder .. "/stats.txt"), stats, "stats.txt")
  end
end)

harness.test("a full disk costs the trace, and not the results", function()
  local folder = home .. "/full"
  local output = harness.refused("trace: /dev/full: expected a file that can be written, got: No space left on device",
    words_of(folder, "--trace", "*", "--trace-file", "/dev/full"))
  assert(not output:find "traceback", output)
  harness.same_text(harness.read(folder .. "/stats.txt"), harness.read(plain .. "/stats.txt"), "stats.txt")
end)

harness.finish()

-- Damaged files in the folder of a sweep: the run is named and made again, or left out; the others keep their results.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local file <const> = harness.write("sweep.lua", [[
return {
  axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 2, policy = { "lrr", "gto" } },
  stats_every = 5000, histograms = "all",
}
]])
local folder <const> = harness.folder() .. "/out"

local function sweep() return harness.run("sweep", file, "--out", folder, "--jobs", "2") end

local function write(path, text)
  local out = assert(io.open(path, "wb"))
  out:write(text)
  out:close()
end

harness.equal(sweep(), 0, "exit status")
local whole <const> = harness.read(folder .. "/results.sqlite")
local _, first_folder <const> = harness.run("query", folder, "--csv", "--select", "folder", "--where", "run = 1")
local first <const> = ("%s/%s"):format(folder, first_folder:match "\n([^\n]+)")

local function flipped(text, at) return text:sub(1, at - 1) .. string.char(text:byte(at) ~ 1) .. text:sub(at + 1) end

local stats <const>, intervals <const>, histograms <const> = harness.read(first .. "/stats.zst"), harness.read(first .. "/intervals.csv"),
  harness.read(first .. "/histograms.csv")

--- File, what it then holds (nil: it is gone), and what is said.
local damages <const> = {
  { "stats.zst", stats:sub(1, #stats // 2), "stats.zst: expected statistics, got a damaged file" },
  { "stats.zst", flipped(stats, #stats // 2), "stats.zst: expected statistics, got a damaged file" },
  { "stats.zst", "", "stats.zst: expected statistics, got a damaged file" },
  { "stats.zst", nil, "stats.zst: expected statistics, got no such file" },
  { "intervals.csv", intervals:sub(1, -5), "intervals.csv: expected intervals, got a damaged file" },
  { "intervals.csv", "x" .. intervals, "intervals.csv: expected intervals, got a damaged file" },
  { "intervals.csv", intervals .. "1,2,3\n", "intervals.csv: expected intervals, got a damaged file" },
  { "histograms.csv", histograms:sub(1, -5) .. "x\n", "histograms.csv: expected histograms, got a damaged file" },
  { "histograms.csv", histograms .. histograms:match "\n([^\n]*\n)", "histograms.csv: expected histograms, got a damaged file" },
  { "histograms.csv", (histograms:gsub(",(%d+),(%d+),", ",%2,%1,", 1)), "histograms.csv: expected histograms, got a damaged file" },
}

harness.test("--collect leaves out a run with a damaged file, names it, and keeps the others", function()
  for _, damage in ipairs(damages) do
    local path = ("%s/%s"):format(first, damage[1])
    local before = harness.read(path)
    if damage[2] then write(path, damage[2]) else os.remove(path) end
    local status, output = harness.run("sweep", "--collect", folder)
    harness.equal(status, 1, output)
    harness.contains(output, "run 1, gtx480 vecadd small lrr sms=2: ", damage[3] .. "; it is left out")
    local _, rows = harness.run("query", folder, "--csv", "--select", "run, status, error, cycles > 0")
    harness.contains(rows, "\n1,missing,", damage[3], "\n2,done,,1\n")
    write(path, before)
  end
  harness.equal(harness.run("sweep", "--collect", folder), 0, "exit status of a whole one")
  assert(harness.read(folder .. "/results.sqlite") == whole, "another database")
end)

harness.test("the sweep makes a run with a damaged file again, and no other", function()
  write(first .. "/stats.zst", flipped(stats, #stats // 2))
  local status, output = sweep()
  harness.equal(status, 0, output)
  harness.contains(output, "gtx480 vecadd small lrr sms=2: ", "stats.zst: expected statistics, got a damaged file; it is made again", "[1/1, ")
  assert(harness.read(folder .. "/results.sqlite") == whole, "another database")
end)

harness.test("a damaged list of results has its run made again", function()
  for _, text in ipairs { "", "return {", "return 3", "return { program = 1 }", "return { files = 3 }" } do
    write(first .. ".lua", text)
    local status, output = sweep()
    harness.equal(status, 0, output)
    harness.contains(output, "[1/1, ")
  end
  assert(harness.read(folder .. "/results.sqlite") == whole, "another database")
end)

--- Runs the program with these arguments, without the rights by which root reads and writes anywhere: another user might
-- not reach the program's own folder. Returns its output and exit status.
local function run_bound(...)
  local limits <const> = "setpriv --inh-caps=-dac_override,-dac_read_search --bounding-set=-dac_override,-dac_read_search"
  local bound = os.execute(limits .. " true 2>/dev/null") and limits or ""
  local pipe = assert(io.popen(("%s '%s' %s 2>&1; echo status $?"):format(bound, arg[-1], table.concat({ ... }, " "))))
  local output = pipe:read "a"
  pipe:close()
  return output
end

harness.test("a folder in which the database cannot be written is an error that says so", function()
  os.execute(("chmod 555 '%s'"):format(folder))
  local output = run_bound("sweep", "--collect", folder)
  os.execute(("chmod 755 '%s'"):format(folder))
  harness.contains(output, folder .. "/results.sqlite: expected a file that can be written, got: Permission denied\n", "status 2")
  assert(harness.read(folder .. "/results.sqlite") == whole, "another database")
end)

harness.test("results that may not be read are an error that names the file, not missing runs", function()
  os.execute(("chmod 0 '%s.lua'"):format(first))
  local output = run_bound("sweep", "--status", folder)
  os.execute(("chmod 644 '%s.lua'"):format(first))
  harness.contains(output, first .. ".lua: expected a file that can be read", "status 2")
end)

harness.test("a damaged sweep.lua is an error of that file", function()
  local before = harness.read(folder .. "/sweep.lua")
  for _, text in ipairs { "", "return {", "return { runs = {}, axes = 3 }", "return { runs = { 3 }, axes = {} }",
    "return { runs = { { point = {} } }, axes = {} }", 'return { runs = { { point = {}, run = { config = "gtx480" } } }, axes = {} }',
    "error {}", before:sub(1, #before // 2), (before:gsub('%[1%]="config"', "[1]=1", 1)), (before:gsub('%["repetition"%]=1', "x=1", 1)) } do
    write(folder .. "/sweep.lua", text)
    for _, option in ipairs { "--status", "--collect" } do
      harness.refused("sweep: expected the folder of a sweep, with its sweep.lua", "sweep", option, folder)
    end
  end
  write(folder .. "/sweep.lua", before)
end)

harness.test("a warm-up whose checkpoint is damaged or gone is made again for the runs that need it", function()
  local warm = harness.write("warm.lua", [[
    return { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 2, policy = { "lrr", "gto" } }, warm_up = { cycles = 5000 } }
  ]])
  local out = harness.folder() .. "/warm"
  harness.equal(harness.run("sweep", warm, "--out", out), 0, "exit status")
  for _, text in ipairs { false, "", "checkpoint" } do
    for _, name in ipairs(core.list_folder(out .. "/runs")) do
      local path = ("%s/runs/%s"):format(out, name)
      if name:find "^warm%-up.*%.ckpt$" then
        if text then write(path, text) else os.remove(path) end
      elseif name:find "gto.*%.lua$" then
        os.remove(path)
      end
    end
    local status, output = harness.run("sweep", warm, "--out", out)
    harness.equal(status, 0, output)
    harness.contains(output, "warm-up gtx480 vecadd small default sms=2: ", "; it is made again")
  end
end)

harness.test("where nothing can be written no more runs are started, and the same command goes on when it can", function()
  local out = harness.folder() .. "/small"
  local function limited(blocks) -- of 512 bytes
    local pipe = assert(io.popen(("ulimit -f %d; '%s' sweep '%s' --out '%s' --jobs 1 2>&1; echo status $?"):format(blocks, arg[-1], file, out)))
    local said = pipe:read "a"
    pipe:close()
    harness.contains(said, ("no more runs are started: %s/runs: File too large; the same command goes on"):format(out),
      "2 runs: 0 done, 0 failed, 0 stopped, 2 missing")
    return said
  end
  local said = limited(20)
  harness.contains(said, ("error: %s/results.sqlite: "):format(out), "status 2")
  assert(not said:find("CREATE", 1, true), said)
  harness.equal(table.concat(core.list_folder(out), " "), "runs sweep.lua")
  harness.contains(limited(200), "status 1")
  local status, output = harness.run("sweep", file, "--out", out)
  harness.equal(status, 0, output)
  assert(harness.read(out .. "/results.sqlite") == whole, "another database")
end)

harness.test("a run whose reason cannot be written into the folder still tells it", function()
  local failing, out = harness.write("failing.lua", [[
    return { axes = { config = "gtx480", workload = "vecadd", size = "small", sms = 1, max_cycles = 1000 } }
  ]]), harness.folder() .. "/failing"
  harness.equal(harness.run("sweep", failing, "--out", out), 1, "exit status")
  for _, name in ipairs(core.list_folder(out .. "/runs")) do
    local path = ("%s/runs/%s"):format(out, name)
    if name:find "%.problem$" then assert(os.remove(path) and core.make_folder(path) and core.make_folder(path .. "/in_the_way")) end
  end
  local status, output = harness.run("sweep", failing, "--out", out)
  harness.equal(status, 1, output)
  harness.contains(output, "FAILED: ", "max_cycles was reached")
end)

harness.test("a database that a killed process left behind is removed, and that of one at work is not", function()
  local dead, alive = ("results.sqlite.%s-99999999.tmp"):format(core.host().name), ("results.sqlite.%s-%d.tmp"):format(core.host().name, core.process())
  for _, name in ipairs { dead, alive } do write(("%s/%s"):format(folder, name), "") end
  harness.equal(harness.run("sweep", "--collect", folder), 0, "exit status")
  harness.equal(table.concat(core.list_folder(folder), " "), ("results.sqlite %s runs sweep.lua"):format(alive))
end)

harness.finish()

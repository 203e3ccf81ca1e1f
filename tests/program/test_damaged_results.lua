-- Files of a run's folder, changed at random and always in the same way: the commands that read them tell what they can, or
-- name the file. None ends in the library's own code.
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local whole, damaged = harness.folder() .. "/whole", harness.folder() .. "/damaged"

assert(harness.run("run", "gtx480", "vecadd", "--size", "small,n=1024", "--set", "sms=1", "--set", "partitions=1", "--memory", "1MiB", "--profile",
  "--histograms", "all", "--stats-every", "500", "--trace", "sm[0]", "--out", whole) == 0)

--- Commands, and the files that each reads.
local readers <const> = {
  { { "cpi", damaged, "--launches" }, { "stats.json", "intervals.csv" } },
  { { "profile", damaged, "--html", harness.folder() .. "/page.html" },
    { "profile.csv", "profile_warps.csv", "profile_ctas.csv", "profile_allocations.csv" } },
  { { "report", damaged, "--out", harness.folder() .. "/page.html" }, { "stats.json", "intervals.csv", "histograms.csv", "config.lua", "provenance.txt" } },
  { { "histograms", damaged }, { "histograms.csv" } },
  { { "balance", damaged }, { "stats.json" } },
  { { "compare", damaged, whole }, { "stats.json", "provenance.txt" } },
  { { "explain", damaged, "--request", "5" }, { "trace.txt" } },
}
local values <const> = { "", "0", "-1", "nan", "1e999", "99999999999999999999", '"x"', "{}", "[]", "null", "\0", "\255" }
local CASES <const> = 30

local random = ww.rng(21)

--- The text with a piece of it changed: a value in place of another, a byte, a piece that is gone or there twice, an end.
local function changed(text)
  local at, how = random:int(1, #text), random:int(1, 5)
  if how == 1 then
    local first, last = text:find("%f[%w\"{%[][%w.\"]+", at)
    if not first then return text:sub(1, at) end
    return text:sub(1, first - 1) .. values[random:int(1, #values)] .. text:sub(last + 1)
  elseif how == 2 then
    return text:sub(1, at - 1) .. string.char(random:int(0, 255)) .. text:sub(at + 1)
  elseif how == 3 then
    return text:sub(1, at - 1) .. text:sub(at + random:int(1, 60))
  elseif how == 4 then
    return text:sub(1, at + random:int(1, 60)) .. text:sub(at)
  end
  return text:sub(1, at)
end

local function copy()
  os.execute(("rm -rf '%s' && cp -r '%s' '%s'"):format(damaged, whole, damaged))
end

harness.test("what reads a run's folder, with any of its files changed, reads it or names what it expected", function()
  for case = 1, CASES do
    local reader = readers[random:int(1, #readers)]
    local file = reader[2][random:int(1, #reader[2])]
    copy()
    local path = damaged .. "/" .. file
    local text = changed(harness.read(path))
    harness.write("damaged/" .. file, text)
    local status, output = harness.run(table.unpack(reader[1]))
    local what = ("case %d, %s of a changed %s, status %s: %s"):format(case, reader[1][1], file, status, output)
    assert(status == 0 or status == 1 or status == 2 and output:find "warpwright: error: ", what)
    for _, sign in ipairs { "library/warpwright", "attempt to ", "bad argument", "panic" } do assert(not output:find(sign, 1, true), what) end
  end
end)

harness.finish()

-- scripts/reuse_distance: distances are right, and accesses are those of the statistics.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local json = require "warpwright.json"
local reuse_stack = require "scripts.lib.reuse_stack"
local ww = require "warpwright"

local home <const> = harness.folder()

--- The same as reuse_stack.new(), by a list that is searched.
local function searched()
  local recent = {} -- the last one behind
  return { access = function(_, line)
    local distance
    for i = #recent, 1, -1 do
      if recent[i] == line then
        distance = #recent - i
        table.remove(recent, i)
        break
      end
    end
    recent[#recent + 1] = line
    return distance
  end }
end

harness.test("a distance is the number of other lines since, however many accesses there were", function()
  for _, lines in ipairs { 3, 700, 2500 } do
    local stack, wanted, number = reuse_stack.new(), searched(), 1
    for i = 1, 6000 do
      number = (number * 1103515245 + 12345) % (1 << 31)
      local line = (number >> 8) % (i % 3 == 0 and lines or 1 + lines // 10)
      harness.equal(stack:access(line), wanted:access(line), "access " .. i)
    end
  end
end)

local out <const> = home .. "/run"
local r <const> = ww.run { config = "gtx480", workload = "spmv", size = "small", set = { sms = 2 }, out = out, trace = "sm[*]*,l2[*]",
  to = 20000, events = "hit,miss,merge,issue", stats_every = 20000, stats_of = "sm[*].l1d.hits,sm[*].l1d.misses,sm[*].l1d.merges" }

--- The figures of the script by name.
local function figures(...)
  local file = home .. "/figures.json"
  local status, output = harness.run("scripts/reuse_distance.lua", "--json", file, ...)
  harness.equal(status, 0, output)
  local by_name = {}
  for _, of in ipairs(json.decode(harness.read(file))) do by_name[of.name] = of end
  return by_name, output
end

--- Accesses by the buckets of distances, of a cache in the trace, and the first ones to their lines.
local function buckets_in(path, bytes)
  local stack, counts, first = searched(), {}, 0
  for line in io.lines(out .. "/trace.txt") do
    local object, event, address = line:match "^%d+ (%S+) (%S+) .- B at (0x%x+)"
    if object == path and event ~= "issue" then
      local distance = stack:access(math.tointeger(address) // bytes)
      local bucket = distance and (distance == 0 and 0 or 1 << math.floor(math.log(distance, 2)))
      if bucket then counts[bucket] = (counts[bucket] or 0) + 1 else first = first + 1 end
    end
  end
  return counts, first
end

harness.test("tables of a run have the distances in its trace, with the machine's sizes of lines", function()
  local found = figures("--each", out)
  for path, bytes in pairs { ["l2[3]"] = 128, ["sm[1].l1d"] = 128, ["sm[0].constant_cache"] = 64 } do
    local of, all, counts, first = found[path], 0, buckets_in(path, bytes)
    harness.equal(of.line, bytes)
    harness.equal(of.first, first, path)
    for _, bucket in ipairs(of.buckets) do
      harness.equal(bucket.accesses, counts[bucket.from] or 0, ("%s, from %d"):format(path, bucket.from))
      all = all + bucket.accesses
    end
    assert(all > 0 and of.accesses == all + first, path)
    assert(math.abs(of.buckets[#of.buckets].up_to_here - all / of.accesses) < 1e-9)
  end
end)

harness.test("caches that are alike are one table, whose accesses are those of the statistics", function()
  local hits, misses, merges = harness.read(out .. "/intervals.csv"):match "\n0,20000,0,(%d+),(%d+),(%d+)\n"
  local found, text = figures("--caches", "sm[*].l1d", out)
  harness.equal(found["sm[*].l1d"].accesses, hits + misses + merges)
  harness.equal(found["l2[*]"], nil)
  harness.contains(text, "sm[*].l1d: ", "up to here")
  assert(r["sm[*].l1d.accesses"] > found["sm[*].l1d"].accesses)
end)

harness.test("what has no accesses, no lines or no trace is refused", function()
  local function refused(wanted, ...) harness.refused(wanted, "scripts/reuse_distance.lua", ...) end
  refused("expected the folder of a run with --trace, or a trace, got 0 arguments")
  refused("expected the events hit, miss and merge of caches l3[*], got none", "--caches", "l3[*]", out)
  refused("/run/stats.txt: expected a trace as text", out .. "/stats.txt")
  refused("error: reuse_distance: expected the folder of a run with --trace, or a trace, got '/nowhere'", "/nowhere")
  core.make_folder(home .. "/alone")
  harness.write("alone/trace.txt", harness.read(out .. "/trace.txt"):sub(1, 20000))
  refused("expected --line BYTES, got no config.lua", home .. "/alone/trace.txt")
  local status, output = harness.run("scripts/reuse_distance.lua", "--line", "128", home .. "/alone/trace.txt")
  harness.equal(status, 0, output)
end)

harness.finish()

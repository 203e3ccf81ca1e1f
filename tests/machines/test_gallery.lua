-- The hierarchies of configs/gallery: each runs right, obeys the laws, and has a picture that shows it as it is.
local core = require "warpwright.core"
local drawing = require "warpwright.drawing"
local load = require "warpwright.load"
local machine = require "warpwright.machine"
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

local folder <const> = core.home_path "configs/gallery"

local gallery = {}
for _, entry in ipairs(core.list_folder(folder)) do
  local name = entry:match "^(.*)%.lua$"
  if name then gallery[#gallery + 1] = name end
end
table.sort(gallery)

harness.test("there are ten machines or more, all in README.md", function()
  assert(#gallery >= 10, #gallery .. " machines")
  local page = harness.read(folder .. "/README.md")
  for _, name in ipairs(gallery) do harness.contains(page, ("](%s.lua)"):format(name), ("](%s.svg)"):format(name)) end
end)

--- A run's stats as text.
local function stats_of(config, workload, how)
  local lines = {}
  local r = ww.run { config = config, workload = workload, size = "small", out = false, order = how.order, threads = how.threads }
  assert(r.checks > 0, "nothing was checked")
  for name, value in r:stats() do lines[#lines + 1] = name .. " " .. tostring(value) end
  return table.concat(lines, "\n"), r
end

local function resumes(config, workload)
  local lines = {}
  local case = oracle.case {
    folder = harness.folder(), jobs = 2, threaded = 30, seed = 1, config = config, workload = workload, size = "small",
    report = function(line) lines[#lines + 1] = line end,
  }
  if not case.problem then case:resume_everywhere(2) end
  case:close()
  assert(case.unequal == 0, table.concat(lines, "\n"))
  harness.equal(case.resumes, 2, "resumes")
end

for _, name in ipairs(gallery) do
  local config = "gallery/" .. name
  for _, workload in ipairs { "bfs", "kmeans_texture" } do
    harness.test(("%s on %s: verified, in any order, on threads"):format(workload, config), function()
      local want = stats_of(config, workload, {})
      for _, how in ipairs { { order = "reversed", threads = 2 }, { order = "shuffled:3" }, { order = "restless", threads = 3 } } do
        harness.same_text(stats_of(config, workload, how), want, how.order)
      end
    end)
  end
  harness.test(("kmeans_texture on %s resumes"):format(config), function() resumes(config, "kmeans_texture") end)
end

-- That they are what they say ------------------------------------------------------------------------------------------

local function run_on(name, workload) return select(2, stats_of("gallery/" .. name, workload or "kmeans_texture", {})) end

harness.test("requests go where the hierarchy says", function()
  local l3 = run_on "l3"
  assert(l3["l3[*].accesses"] > 0, "nothing comes to the L3")
  harness.equal(l3["l3[*].accesses"], l3["l2[*].fetches"] + l3["l2[*].write_backs"], "accesses of the L3")
  local shared = run_on "shared_l1"
  harness.equal(shared["l1d[*].cpu_mux.requests"], shared["l1d[*].accesses"], "requests of four SMs to two L1s")
  local cluster = run_on "cluster_read_only"
  for _, cache in ipairs { "constant_cache", "texture_cache", "code_cache" } do
    assert(cluster[cache .. "[*].accesses"] > 0, "nothing comes to " .. cache)
    harness.equal(cluster[cache .. "[*].cpu_mux.requests"], cluster[cache .. "[*].accesses"], "requests to " .. cache)
  end
  local halves = run_on "two_partitions"
  local far, requests = halves["bridge.request_packets_out"], halves["l2[*].accesses"]
  assert(far > 0.3 * requests and far < 0.7 * requests, ("%d of %d requests are for the other half"):format(far, requests))
  harness.equal(halves["xbar[*].request_packets_out"], requests, "requests of both crossbars")
  local crossbars = run_on "two_crossbars"
  assert(crossbars["read_only.request_packets_in"] > 0 and crossbars["xbar.request_packets_in"] > 0)
  local read_only = run_on("read_only_cache", "kmeans_texture")
  assert(read_only["sm[*].lsu.texture_loads"] > 0 and read_only["sm[*].read_only.accesses"] > 0, "nothing comes to the read-only cache")
  local modules = run_on("modules", "spmv")
  local all, remote = modules["xbar[*].request_packets_in"], modules["l15[*].accesses"]
  assert(math.abs(remote / all - 3 / 4) < 0.05, "three of four pages lie in other modules")
  harness.equal(modules["ring[*].packets_in"] % 2, 0, "requests and answers on the ring")
  harness.equal(modules["l2_mux[*].requests"], all - remote + modules["ring[*].packets_in"] // 2, "requests to own and other slices")
end)

-- Pictures --------------------------------------------------------------------------------------------------------------

--- An error unless elements are closed in the order in which they were opened, and texts and attributes have no bare < or &.
local function check_xml(text)
  local open, at = {}, 1
  local function check_text(part, what)
    assert(not part:find "<" and not part:gsub("&%a+;", ""):find "&", what .. ": " .. part)
  end
  while true do
    local first, last, closes, name, attributes, ends = text:find("<(/?)([%a]+)([^<>]-)(/?)>", at)
    if not first then break end
    check_text(text:sub(at, first - 1), "text")
    check_text(attributes, "attributes")
    assert(attributes:gsub('%s[%a%-:]+="[^"]*"', "") == "", "attributes: " .. attributes)
    if closes == "/" then
      harness.equal(name, table.remove(open), "closed element")
    elseif ends == "" then
      open[#open + 1] = name
    end
    at = last + 1
  end
  harness.equal(#open, 0, "open elements")
  check_text(text:sub(at), "end")
end

--- The names in bold: those of boxes and frames.
local function names_in(picture)
  local found = {}
  for name in picture:gmatch 'font%-weight="bold"[^>]*>([^<]*)<' do found[name:gsub("  ×%d+$", "")] = true end
  return found
end

local configs = {}
for _, entry in ipairs(core.list_folder(core.home_path "configs")) do
  local name = entry:match "^(.*)%.lua$"
  if name then configs[#configs + 1] = name end
end
table.sort(configs)
for _, name in ipairs(gallery) do configs[#configs + 1] = "gallery/" .. name end

local function stem(name) return (name:gsub("%[[^%]]*%]", "")) end

--- Is it there by its path, or by what is left of it inside the frame of an object above it?
local function is_drawn(drawn, path)
  local name = path
  while name do
    if drawn[name] then return true end
    name = name:match "^[^.]*%.(.*)$"
  end
  return false
end

for _, config in ipairs(configs) do
  harness.test(("%s is drawn: every kind of object is there, the text is XML and always the same"):format(config), function()
    local picture = drawing.of(config, {})
    check_xml(picture)
    harness.same_text(drawing.of(config, {}), picture, "drawn again")
    local drawn = {}
    for name in pairs(names_in(picture)) do drawn[stem(name)] = true end
    for _, object in ipairs(machine.all_objects(machine.build(load.get("config", config), {}))) do
      assert(is_drawn(drawn, stem(object.path)), object.path .. " is not in the picture")
    end
  end)
end

for _, name in ipairs(gallery) do
  harness.test(("%s.svg is current; `warpwright draw gallery/%s` makes it"):format(name, name), function()
    local status, output = harness.run("draw", "gallery/" .. name)
    harness.equal(status, 0, "exit status")
    harness.same_text(harness.read(("%s/%s.svg"):format(folder, name)), output, "picture")
  end)
end

harness.test("the config.lua of a run is drawn as the machine that it was made from", function()
  local sim = ww.build "gallery/l3"
  sim:gpu() -- wires what is not wired yet
  local config = harness.write("config.lua", sim:config())
  sim:close()
  harness.same_text(drawing.of(config, {}), drawing.of("gallery/l3", {}), "picture")
end)

harness.test("equal objects are one box, different ones are not", function()
  local names = names_in(drawing.of("gtx480", {}))
  assert(names["sm[0..14]"] and names["l2[0..5]"] and names["mc[0..5]"] and not names["sm[0]"])
  local picture = drawing.of("gtx480", { "sm[3].l1d.mshrs=8" })
  harness.equal(select(2, picture:gsub(">constant_cache<", "")), 2, "constant caches: one in each kind of SM")
  names = names_in(picture)
  assert(names["sm[0..2,4..14]"], "sm[3] is not apart")
  assert(names["sm[3]"], "sm[3] is not there")
  names = names_in(drawing.of("gallery/heterogeneous", {}))
  assert(names["sm[0..1]"] and names["sm[2..3]"])
end)

harness.test("a machine with loops of wires is drawn, too, and one with hundreds of kinds of objects", function()
  local loop = drawing.of(ww.machine("loop", function(m)
    m:clocks { core = "700MHz" }
    local a, b, c = m:Mux "a" { up = 1 }, m:Mux "b" { up = 1 }, m:Mux "c" { up = 1 }
    m:wire(a.down, b.up[0])
    m:wire(b.down, c.up[0])
    m:wire(c.down, a.up[0])
  end), {})
  check_xml(loop)
  harness.equal(select(2, loop:gsub("marker%-end=", "")), 2, "wires that lead down")
  harness.equal(select(2, loop:gsub("marker%-start=", "")), 1, "wires that lead up")
  local many = drawing.of(ww.machine("many", function(m)
    m:clocks { core = "700MHz" }
    for i = 0, 299 do
      m:wire(m:TrafficSource ("source", i) { footprint = 4096 * (i + 1) }.mem, m:TrafficSink ("sink", i) {}.cpu)
    end
  end), {})
  assert(names_in(many)["source[0..299]"] and names_in(many)["sink[0..299]"])
end)

harness.test("a picture tells parameters, latencies and how many wires", function()
  local picture = drawing.of("gtx480", { "sm[*].l1d.size=48KiB" })
  harness.contains(picture, ">size 48 KiB<", ">ways 4<", ">mshrs 32<", ">16 / 32  ×15<", ">core 700 MHz<", ">sm[0..14]  ×15<")
end)

harness.test("mistakes of `draw` are refused", function()
  harness.refused("draw: expected CONFIG, got nothing", "draw")
  harness.refused("no config matches 'gtx48'; did you mean gtx480?", "draw", "gtx48")
  harness.refused("draw: unknown option '--sett'; did you mean --set? Available: --set", "draw", "gtx480", "--sett", "a=1")
  harness.refused("draw: expected one CONFIG, got a second: 'medic'", "draw", "gtx480", "medic")
  harness.refused("set: no object or parameter matches 'sm[*].l1d.sise'", "draw", "gtx480", "--set", "sm[*].l1d.sise=1")
  harness.refused("no config matches 'gallery/l4'; did you mean l3? Available: banked_l1, bus, cluster_l15", "run", "gallery/l4", "vecadd")
end)

harness.test("banked_l1: a bank uses all of its sets, though one bit of an address chooses the bank", function()
  local counting = harness.write("counting.lua", [[
local counting = require "warpwright.policy" "counting" { doc = "Counts sets", scope = "cache", caches = "data", counters = { sets = "That missed" } }
function counting:on_miss(_, _, _, _, _, _, set)
  if self.state[set] then return end
  self.state[set] = true
  self:count "sets"
end
return counting]])
  local r = ww.run { config = "gallery/banked_l1", workload = "kmeans", size = "small", policy = counting, out = false }
  for bank = 0, 3 do harness.equal(r[("l1d[%d].counting.sets"):format(bank)], 32, "sets of a bank") end
end)

harness.finish()

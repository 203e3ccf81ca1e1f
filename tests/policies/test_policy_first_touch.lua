-- Pages that lie where they are asked for first: whose SM, in whatever order and with whatever threads; resumes; parts of a
-- run without timing.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"
local runs = require "tests.lib.policy_runs"

local functions = load.get("policy", "first_touch").functions
local machine = { "sms=4", "partitions=4" }
local two_modules = "first_touch:sms=2,channels=2"

harness.test("a page lies in the module of the SM, and the pages of a module take its channels in turn", function()
  local self = setmetatable({ params = { sms = 5, channels = 2 }, state = {}, count = function() end }, { __index = functions })
  self:start()
  local function place(sm) return self:place_page(0, sm, 0, 0, 0, 6) end
  harness.equal(next(self.state.pages), nil, "before")
  harness.equal(place(14), 4, "the first of module 2")
  harness.equal(self.state.pages[3], 1, "its pages")
  harness.equal(place(10), 5, "its second")
  harness.equal(place(11), 4, "its third")
  harness.equal(place(0), 0, "module 0")
  harness.equal(place(9), 2, "module 1")
  harness.equal(self.state.pages[3], 3, "pages of module 2")
  harness.equal(place(15), 1, "SM 15 is of a module without channels: of module 0")
end)

--- Requests that a slice gets from SMs of its module, and from others.
local watcher = runs.file("watcher", [[
local p = policy "watcher" { scope = "l2", counters = { own = "", other = "" } }
function p:access(sm) self:count(sm // 2 == tonumber(self.l2.path:match "%[(%d+)") // 2 and "own" or "other") end
p.on_hit, p.on_miss, p.on_merge = p.access, p.access, p.access
return p]])

harness.test("with shares of the grid for each module, first touch leaves most requests in the module", function()
  local function share(policy)
    local r = checks.run { workload = "vecadd", policy = policy .. "+" .. watcher, set = machine }
    local own, other = checks.sum(r, "l2.watcher.own"), checks.sum(r, "l2.watcher.other")
    return own / (own + other), r
  end
  local near, r = share("distributed_ctas:groups=2+" .. two_modules)
  local far = share "distributed_ctas:groups=2"
  assert(near > 0.9 and far < 0.6, ("%.2f with first touch, %.2f without"):format(near, far))
  assert(checks.sum(r, "map.first_touch.placed") > 10)
end)

harness.test("without a policy, pages take the channels in turn", function()
  local r = checks.run { workload = "vecadd", set = { "sms=4", "partitions=4", "map.page_size=4096" } }
  for mc = 0, 3 do assert(r[("mc[%d].reads"):format(mc)] > 0, mc) end
  local few = checks.run { workload = "vecadd", set = { "sms=4", "partitions=4", "map.page_size=1MiB" } }
  local served = 0
  for mc = 0, 3 do served = served + (few[("mc[%d].reads"):format(mc)] > 0 and 1 or 0) end
  assert(served < 4, "a page lies in several channels")
end)

harness.test("a policy finds out in which channel and slice an address lies, and which pages lie nowhere yet", function()
  local at_slice = runs.file("at_slice", [[
local p = policy "at_slice" { scope = "l2", counters = { asked = "" } }
function p:on_miss(_, _, address)
  local channel, slice = self:channel_of(address)
  assert(slice == tonumber(self.l2.path:match "%[(%d+)") and channel == slice // 2)
  self:count "asked"
end
return p]])
  local at_sm = runs.file("at_sm", [[
local p = policy "at_sm" { counters = { placed = "", unplaced = "" } }
function p:start() self.state.place = {} end
function p:on_l1_miss(_, _, address)
  local page, channel = address // 4096, self:channel_of(address)
  local before = self.state.place[page]
  assert(not before or before == channel, "a page moves")
  self.state.place[page] = channel
  self:count(channel and "placed" or "unplaced")
end
return p]])
  local wide = checks.run { workload = "vecadd", policy = at_slice, set = { "sms=4" }, config = "gtx480_gpgpusim4" }
  assert(checks.sum(wide, "l2.at_slice.asked") > 10)
  local pages = { "sms=4", "partitions=4", "map.page_size=4096" }
  local r = checks.run { workload = "vecadd", policy = at_sm, set = pages }
  assert(checks.sum(r, "sm.at_sm.placed") > 10 and checks.sum(r, "sm.at_sm.unplaced") > 10)
  local wrong = runs.file("wrong", 'local p = policy "wrong" {} function p:start() self:channel_of(-1) end return p')
  runs.fails({ policy = wrong, workload = "vecadd", set = machine }, "wrong.lua:3: policy wrong of sm[0]", "channel_of: expected an address in bytes, got -1")
end)

harness.test("a policy finds out in which bank and row an address lies, as the memory controller has it", function()
  local at_mc = runs.file("at_mc", [[
local p = policy "at_mc" { scope = "mc", counters = { asked = "", open = "", served = "" } }
function p:on_arrived(_, _, _, _, bank, row, address)
  local channel, _, found_bank, found_row = self:channel_of(address)
  assert(channel == tonumber(self.mc.path:match "%[(%d+)") and found_bank == bank and found_row == row)
  self:count "asked"
  if self.mc:open_row(found_bank) == found_row then self:count "open" end
end
function p:on_served(_, _, _, _, bank, row, _, _, _, address)
  local channel, _, found_bank, found_row = self:channel_of(address)
  assert(channel == tonumber(self.mc.path:match "%[(%d+)") and found_bank == bank and found_row == row)
  self:count "served"
end
return p]])
  for config, set in pairs { gtx480 = { "sms=4", "map.bank_hash=true" }, gtx480_gpgpusim4 = { "sms=4" } } do
    local r = checks.run { workload = "spmv", policy = at_mc, set = set, config = config }
    local asked, open = checks.sum(r, "mc.at_mc.asked"), checks.sum(r, "mc.at_mc.open")
    assert(asked > 10 and open > 0 and open < asked, ("%s: %d, %d"):format(config, asked, open))
    harness.equal(checks.sum(r, "mc.at_mc.served"), asked, config .. ": requests served")
  end
end)

harness.test("a table says where pages lie, as the page says", function()
  local core = require "warpwright.core"
  local text = harness.read(core.home_path "docs/policy_interface.md"):match '```lua\n([^`]*policy "by_table"[^`]*)```'
  local r = checks.run { workload = "vecadd", policy = runs.file("by_table", text .. "return by_table"),
    set = { "sms=1", "partitions=4" }, size = "small,n=1024" }
  harness.equal(r["mc[3].reads"], 32, "reads of the second array") -- in turn, the third would lie there, which is written
end)

harness.test("what a policy may answer is a channel", function()
  local path = runs.file("beyond", [[
local p = policy "beyond" { scope = "AddressMap" }
function p:configure(class) if class == "AddressMap" then return { page_size = 4096 } end end
function p:place_page(_, _, _, _, _, channels) return channels end
return p]])
  runs.fails({ policy = path, workload = "vecadd", set = machine },
    "policy beyond of map", "expected a channel below `channels` or nil, got 4; `channels` = 4")
end)

harness.test("a module of more channels than the machine has is refused", function()
  runs.fails({ policy = "first_touch:sms=2,channels=5", workload = "vecadd", set = machine }, "first_touch.lua:",
    "policy first_touch, in configure of map: channels: expected up to 4, as many as the machine has, got 5")
  runs.fails({ policy = "first_touch:sms=2,channels=5", workload = "vecadd", set = { "sms=4", "partitions=4", "map.channels=4" } },
    "first_touch.lua:", "channels: expected up to 4, as many as the machine has, got 5")
end)

harness.test("a policy that would place pages is told where there are none", function()
  local path = runs.file("no_pages", [[
local p = policy "no_pages" { scope = "AddressMap" }
function p:place_page() return 0 end
return p]])
  local _, output = runs.good { policy = path, workload = "vecadd", set = machine }
  harness.contains(output, "policy no_pages: place_page is never asked: map.page_size is 0")
  _, output = runs.good { policy = path, workload = "vecadd", set = { "sms=4", "partitions=4", "map.page_size=4096" } }
  runs.lacks(output, "never asked")
end)

harness.test("pages that a part of the run without timing asks for lie where that part says", function()
  local r = checks.run { workload = "vecadd", policy = two_modules, set = machine, fast_forward = "launch=0,cta=0.5" }
  assert(checks.sum(r, "map.first_touch.placed") > 10)
end)

checks.law(two_modules, "bfs", machine)
checks.law("first_touch", "spmv", nil, "gtx480_mesh")
checks.resumes("first_touch", "bfs", 3)

harness.finish()

-- The Lua files that take part in a run: a checkpoint knows them by digest, a resume refuses what has changed by name or,
-- with --allow-changes, says so; provenance.txt lists them. Folders may move.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

local root = harness.folder()
assert(os.execute(("mkdir -p '%s/user/lib' '%s/elsewhere/lib'"):format(root, root)))

local files = {
  ["machine.lua"] = [[
return dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "") .. "lib/base.lua")
]],
  ["lib/base.lua"] = [[
local ww = require "warpwright"
return ww.machine("mine", { sms = 2, partitions = 6, banks = 1 }, require "configs.gtx480".build)
]],
  ["narrow.lua"] = [[
local policy = require "warpwright.policy"
local narrow = policy "narrow" { uses = { "used.lua" }, counters = { periods = "periods" }, period = 100 }
function narrow:start()
  self.limit = dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "") .. "lib/limit.lua")
end
function narrow:on_period()
  self.sm.may_issue = (1 << self.limit) - 1
  self:count "periods"
end
return narrow
]],
  ["used.lua"] = [[
local policy = require "warpwright.policy"
return policy "used" { order = "lrr" }
]],
  ["lib/limit.lua"] = "return 20\n",
  ["host.lua"] = [[
local ww = require "warpwright"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or ""
package.path = folder .. "lib/?.lua;" .. package.path
local sizes = require "sizes"
local w = ww.workload "host" { ptx = "kernels.ptx", sizes = sizes }
function w:run(gpu, size)
  local factor = dofile(folder .. "lib/factor.lua")
  local values = ww.array("u32", size.n):random(1, 0, 100)
  local a, out = gpu:upload(values), gpu:alloc(4 * size.n)
  gpu:launch(self.kernels.scale, { grid = size.n // 64, block = 64, args = { a, out, factor } })
  local got = gpu:download("u32", out, size.n)
  self:check_that("the product", got[5] == factor * values[5])
end
return w
]],
  ["lib/sizes.lua"] = "return { small = { n = 16384 } }\n",
  ["lib/factor.lua"] = "return 3\n",
  ["kernels.ptx"] = [[
.version 6.0
.target sm_20
.address_size 64
.visible .entry scale(.param .u64 a, .param .u64 out, .param .u32 factor)
{
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [a];
    ld.param.u64 %d2, [out];
    ld.param.u32 %r1, [factor];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r2, 64, %r3;
    mul.wide.u32 %d3, %r4, 4;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    ld.global.u32 %r5, [%d4];
    mul.lo.s32 %r6, %r5, %r1;
    st.global.u32 [%d5], %r6;
    ret;
}
]],
}

local function write_all(folder)
  for name, text in pairs(files) do harness.write(folder .. "/" .. name, text) end
end

write_all "user"
local user, out = root .. "/user/", root .. "/out"
local saving = root .. "/saving"
local status, output = harness.run("run", user .. "machine.lua", user .. "host.lua", "--size", "small", "--policy",
  user .. "narrow.lua", "--out", saving, "--checkpoint-at", "600")
assert(status == 0, output)
local saved, stats = oracle.checkpoints(saving)[1].path, harness.read(saving .. "/stats.txt")

--- Resumes with these arguments; returns exit status and output. The stats must be those of the whole run when it ended.
local function resume(...)
  local code, text = harness.run("run", "--resume", saved, "--out", out, ...)
  if code == 0 then harness.same_text(harness.read(out .. "/stats.txt"), stats, "stats.txt") end
  os.execute(("rm -rf '%s'"):format(out))
  return code, text
end

harness.test("files that are as they were resume without a word", function()
  local code, text = resume()
  harness.equal(code, 0, text)
  assert(not text:find("changed", 1, true), text)
end)

--- Blank space in front of the file changes what no result depends on.
local function with_edited(name, body)
  harness.write("user/" .. name, "\n" .. files[name])
  local ok, problem = pcall(body)
  harness.write("user/" .. name, files[name])
  assert(ok, problem)
end

for what, name in pairs {
  ["the config"] = "machine.lua", ["a file that the config loads"] = "lib/base.lua",
  ["the policy"] = "narrow.lua", ["a policy that it uses"] = "used.lua",
  ["a file that the policy loads when it starts"] = "lib/limit.lua",
  ["the workload"] = "host.lua", ["a module of the workload"] = "lib/sizes.lua",
  ["a file that the host program loads when it runs"] = "lib/factor.lua",
} do
  harness.test(what .. " that was edited is refused by name, or allowed and told", function()
    with_edited(name, function()
      local code, text = resume()
      harness.equal(code, 2, text)
      harness.contains(text, ("warpwright: error: checkpoint %s: "):format(saved), "user/" .. name .. " has changed")
      code, text = resume("--allow-changes")
      harness.equal(code, 0, text)
      harness.contains(text, "warpwright: resume: ", "user/" .. name .. " has changed")
    end)
  end)
end

harness.test("a file that is gone is refused by name", function()
  os.rename(user .. "lib/sizes.lua", user .. "lib/other.lua")
  harness.write("user/host.lua", (files["host.lua"]:gsub('require "sizes"', 'require "other"')))
  local code, text = resume()
  local allowed, told = resume("--allow-changes")
  os.rename(user .. "lib/other.lua", user .. "lib/sizes.lua")
  harness.write("user/host.lua", files["host.lua"])
  harness.equal(code, 2, text)
  harness.contains(text, "host.lua has changed")
  harness.equal(allowed, 0, told)
  harness.contains(told, "host.lua has changed", "user/lib/sizes.lua, which took part in its run, is not there",
    "user/lib/other.lua took no part in its run")
end)

-- Folders that move ----------------------------------------------------------------------------------------------------

harness.test("the user's folder may be another", function()
  local program = core.real_path(arg[-1])
  local function run_in(folder, arguments)
    local pipe = assert(io.popen(("cd '%s/%s' && '%s' run %s 2>&1"):format(root, folder, program, arguments)))
    local text = pipe:read "a"
    local _, _, code = pipe:close()
    harness.equal(code, 0, text)
    return text
  end
  write_all "elsewhere"
  run_in("user", "machine.lua ./host.lua --size small --policy narrow.lua --out ../moving --checkpoint-at 600")
  local file = oracle.checkpoints(root .. "/moving")[1].path
  assert(os.rename(user, root .. "/old"))
  local ok, text = pcall(run_in, "elsewhere", ("--resume '%s' --out '%s'"):format(file, out))
  assert(os.rename(root .. "/old", user))
  assert(ok, text)
  harness.same_text(harness.read(out .. "/stats.txt"), stats, "stats.txt")
end)

--- A home folder with the same files.
local function make_home(name)
  local home = root .. "/" .. name
  assert(os.execute(("mkdir -p '%s/core/lua' && cp -r configs policies workloads '%s' && cp -r core/lua/library '%s/core/lua'")
    :format(home, home, home)))
  return home
end

harness.test("the home folder may be another, with the same files", function()
  local before = root .. "/of_home"
  harness.equal(harness.run("run", "gtx480", "bfs", "--size", "small,nodes=256", "--set", "sms=2", "--policy", "mascar",
    "--out", before, "--checkpoint-at", "3000"), 0, "exit status")
  local file, home = oracle.checkpoints(before)[1].path, make_home "home"
  local function from_home()
    return harness.run_with(("WARPWRIGHT_HOME='%s'"):format(home), "run", "--resume", file, "--out", out)
  end
  local code, text = from_home()
  harness.equal(code, 0, text)
  harness.same_text(harness.read(out .. "/stats.txt"), harness.read(before .. "/stats.txt"), "stats.txt")
  harness.write("home/workloads/lib/graph.lua", harness.read "workloads/lib/graph.lua" .. "\n")
  code, text = from_home()
  harness.equal(code, 2, text)
  harness.contains(text, home .. "/workloads/lib/graph.lua has changed")
end)

-- Scripts --------------------------------------------------------------------------------------------------------------

local script = [[
local ww = require "warpwright"
local w = ww.workload "inline" { ptx = "user/kernels.ptx", sizes = { small = { n = 16384 } } }
function w:run(gpu, size)
  local a, out = gpu:alloc(4 * size.n), gpu:alloc(4 * size.n)
  gpu:launch(self.kernels.scale, { grid = size.n // 64, block = 64, args = { a, out, 3 } })
end
local sim = ww.build("gtx480", { set = { sms = 2 } })
if arg[2] == "resume" then sim:resume(arg[1], { allow_changes = arg[3] == "allow" }) end
sim:start(w, "small")
sim:run { until_cycle = arg[2] == "save" and 600 or nil }
if arg[2] == "save" then sim:checkpoint(arg[1]) end
print(sim:result().cycles)
]]

harness.test("a script that makes its workload itself must not change, but another one may make the same", function()
  local file = root .. "/script.ckpt"
  harness.equal(harness.run(harness.write("script.lua", script), file, "save"), 0, "exit status")
  local code, text = harness.run(root .. "/script.lua", file, "resume")
  harness.equal(code, 0, text)
  code, text = harness.run(harness.write("other.lua", "\n" .. script), file, "resume")
  harness.equal(code, 0, text)
  harness.write("script.lua", "\n" .. script)
  code, text = harness.run(root .. "/script.lua", file, "resume")
  harness.equal(code, 2, text)
  harness.contains(text, "script.lua:10: checkpoint ", root .. "/script.lua has changed since it was made")
  code, text = harness.run(root .. "/script.lua", file, "resume", "allow")
  harness.equal(code, 0, text)
  harness.contains(text, "script.lua has changed since it was made")
end)

-- Provenance -----------------------------------------------------------------------------------------------------------

harness.test("provenance.txt has the digest of every file", function()
  local provenance = harness.read(saving .. "/provenance.txt")
  for name in pairs(files) do
    if name:match "%.lua$" then
      harness.contains(provenance, ("Lua file           %s %s"):format(core.digest(files[name]), core.real_path(user .. name)))
    end
  end
  harness.contains(provenance, core.real_path "configs/gtx480.lua")
  assert(not provenance:find("core/lua/library", 1, true), "the library is there")
end)

-- Modules beside the file that requires them ---------------------------------------------------------------------------

assert(os.execute(("mkdir -p '%s/beside/lib' '%s/other'"):format(root, root)))
harness.write("beside/lib/limits.lua", 'return { limit = require "lib.number" }\n')
harness.write("beside/lib/number.lua", 'return require "lib.twenty"\n')
harness.write("beside/lib/twenty.lua", "return 20\n")
harness.write("beside/limited.lua", [[
local policy = require "warpwright.policy"
local limits = require "lib.limits"
local limited = policy "limited" { uses = { "../other/seven.lua" }, counters = { limit = "limits" }, period = 1000 }
function limited:start() self.limit = require("lib.limits").limit end
function limited:on_period() self:count("limit", limits.limit + self.limit) end
return limited
]])
harness.write("other/limits.lua", "return 7\n")
harness.write("beside/limits.lua", "return 8\n")
harness.write("other/seven.lua", [[
local policy = require "warpwright.policy"
assert(require "limits" == 7)
local seven = policy "seven" { order = "gto" }
function seven:configure() assert(require "limits" == 7) end
return seven
]])

local function counted(folder) return tonumber(harness.read(folder .. "/stats.txt"):match "sm%[0%]%.limited%.limit +(%d+)") end

harness.test("a policy requires modules beside itself, from wherever it is run and resumed, and those of that name elsewhere are others", function()
  local first, second = root .. "/beside_first", root .. "/beside_second"
  local code, said = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", root .. "/beside/limited.lua", "--checkpoint-at", "1500",
    "--out", first)
  harness.equal(code, 0, said)
  assert(counted(first) > 0 and counted(first) % 40 == 0)
  local program, checkpoint = core.real_path(arg[-1]), first .. "/1504.ckpt"
  assert(os.execute(("cd '%s/other' && '%s' run --resume '%s' --out '%s' >'%s/log' 2>&1"):format(root, program, checkpoint, second, root)))
  harness.equal(counted(second), counted(first), "counted")
  harness.write("beside/both.lua", 'assert(require "limits" == 8)\nreturn require "limited"\n')
  code, said = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", ("%s/beside/both.lua"):format(root), "--out", second)
  harness.equal(code, 0, said)
  harness.equal(counted(second), counted(first), "counted")
end)

harness.test("a module that there is not is told with the folder of the file that requires it", function()
  harness.write("beside/missing.lua", 'local policy = require "warpwright.policy"\nrequire "lib.nothing"\nreturn policy "missing" {}\n')
  harness.refused(("missing.lua:2: module 'lib.nothing' not found:\n\tno file 'lib/nothing.lua' in %s/beside, "):format(root),
    "run", "gtx480", "vecadd", "--size", "small", "--policy", root .. "/beside/missing.lua", "--out", "none")
end)

harness.finish()

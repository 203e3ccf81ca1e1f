-- --profile: the counts of instructions add up to the statistics, land where they belong, and change nothing.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local home <const> = harness.folder()
local causes <const> = { "idle", "fetch", "scoreboard", "memory", "barrier", "unit", "lsu", "policy", "dma" }

local function run(options)
  local all = { config = "gtx480", workload = "spmv", size = "small", set = { sms = 3 }, out = false, profile = true }
  for key, value in pairs(options) do all[key] = value end
  return ww.run(all)
end

--- Over all instructions of all kernels, those without a warp included: get(of an instruction).
local function sum(found, get)
  local all = 0
  for _, kernel in ipairs(found.kernels) do
    for _, of in ipairs(kernel.instructions) do all = all + get(of) end
  end
  return all
end

harness.test("slots, issues, threads and accesses add up to the statistics, under any policy", function()
  for _, workload in ipairs { "spmv", "sgemm", "bfs" } do
    for _, policy in ipairs { "gto", "mascar", "swl:limit=2" } do
      local r = run { workload = workload, policy = policy }
      local what, found = ("%s %s "):format(workload, policy), r.profile
      harness.equal(sum(found, function(of) return of.issues end), r.warp_instructions, what .. "issues")
      harness.equal(sum(found, function(of) return of.threads end), r.thread_instructions, what .. "threads")
      for _, cause in ipairs(causes) do
        harness.equal(sum(found, function(of) return of.slots[cause] end), r["sm[*].slots_" .. cause], what .. cause)
      end
      for g, group in ipairs(found.groups) do
        for _, name in ipairs { "hits", "misses", "merges" } do
          local counted = sum(found, function(of) return of.accesses[g] and of.accesses[g][name] or 0 end)
          harness.equal(counted, r[("%s.%s"):format(group, name)], ("%s%s.%s"):format(what, group, name))
        end
      end
    end
  end
end)

--- Over all allocations.
local function sum_of_allocations(found, group, name)
  local all = 0
  for _, of in ipairs(found.allocations) do all = all + (of.accesses[group] and of.accesses[group][name] or 0) end
  return all
end

harness.test("accesses of allocations add up to those of instructions, and each kind to the accesses of its stream", function()
  local r = run { workload = "bfs", config = "gtx480" }
  local found = r.profile
  for g, group in ipairs(found.groups) do
    local kinds = 0
    for _, name in ipairs { "hits", "misses", "merges" } do
      local of_instructions = sum(found, function(of) return of.accesses[g] and of.accesses[g][name] or 0 end)
      harness.equal(sum_of_allocations(found, g, name), of_instructions, group .. name)
      kinds = kinds + of_instructions
    end
    harness.equal(sum_of_allocations(found, g, "loads") + sum_of_allocations(found, g, "stores")
      + sum_of_allocations(found, g, "atomics"), kinds, group)
  end
  harness.equal(sum_of_allocations(found, 1, "stores"), r["sm[*].l1d.write_hits"] + r["sm[*].l1d.write_misses"] + r["sm[*].l1d.write_merges"])
end)

harness.test("an allocation has the accesses of its own, also when another takes its place, and a name", function()
  local ptx = harness.write("names.ptx", [[
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter;
.visible .entry touch(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];
  ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1;
  atom.global.add.u32 %r2, [counter], 1;
  ret;
}
]])
  local path = harness.write("names.lua", ([[
local w = require("warpwright").workload "names" { doc = "Allocations.", ptx = "%s", sizes = { small = {} } }
function w:run(gpu)
  local from, to = gpu:alloc(512), gpu:alloc(100)
  gpu:launch(self.kernels.touch, { grid = 1, block = 32, args = { from, to } })
  gpu:free(to)
  local other = gpu:alloc(60)
  gpu:launch(self.kernels.touch, { grid = 2, block = 32, args = { from, other } })
end
return w
]]):format(ptx))
  local out = home .. "/names"
  local r = run { workload = path, out = out }
  local found, of = r.profile, {}
  for i, one in ipairs(found.allocations) do
    local l1 = one.accesses[1] or { loads = 0, stores = 0 }
    local l2 = one.accesses[#found.groups] or { atomics = 0 }
    of[i] = ("%s %s %d %d %d"):format(one.name, one.bytes, l1.loads, l1.stores, l2.atomics)
  end
  harness.equal(table.concat(of, ", "), (" nil 0 0 0, counter 4 0 0 %d, touch from 512 3 0 0, touch to 100 0 1 0, touch to 60 0 2 0"):format(
    r["l2[*].atomic_hits"] + r["l2[*].atomic_misses"] + r["l2[*].atomic_merges"]))
  local status, text = harness.run("profile", out, "--allocations")
  harness.equal(status, 0, text)
  assert(text:find "\n +3 +0 +[%d.]+%%[^\n]* 512  0x%x+ +touch from\n", text)
  harness.contains(text, "(no allocation)")
end)

local files <const> = { "profile.csv", "profile_warps.csv", "profile_ctas.csv", "profile_allocations.csv" }
local straight <const> = home .. "/straight"
local whole <const> = run { out = straight }

harness.test("the statistics are those of a run without, and the files the same on two threads and in another order", function()
  local without = run { profile = false, out = home .. "/without" }
  harness.equal(without.profile, false)
  harness.same_text(harness.read(straight .. "/stats.txt"), harness.read(home .. "/without/stats.txt"))
  for name, options in pairs { threads = { threads = 2 }, order = { order = "shuffled:3" } } do
    options.out = ("%s/%s"):format(home, name)
    run(options)
    for _, file in ipairs(files) do
      harness.same_text(harness.read(("%s/%s"):format(options.out, file)), harness.read(("%s/%s"):format(straight, file)), file)
    end
  end
end)

--- Paths of the checkpoints of a folder.
local function profile(...)
  local status, output = harness.run("profile", ...)
  harness.equal(status, 0, output)
  return output
end

local function checkpoints(folder)
  local paths = {}
  for _, name in ipairs(core.list_folder(folder)) do paths[#paths + 1] = name:find "%.ckpt$" and folder .. "/" .. name or nil end
  return paths
end

harness.test("a run that was stopped and goes on, with CTAs at work or between launches, has the same files", function()
  for _, workload in ipairs { "spmv", "backprop", "bfs" } do
    local without_stop = run { workload = workload, out = ("%s/whole-%s"):format(home, workload) }
    local folder = ("%s/stopped-%s"):format(home, workload)
    local between = without_stop.launches[#without_stop.launches].start_cycle
    run { workload = workload, out = folder, checkpoint_at = ("1,3001,%d,%d"):format(between // 2 + 7, between + 1000) }
    local paths = checkpoints(folder)
    assert(#paths >= 3, workload)
    for _, path in ipairs(paths) do
      ww.run { resume = path, out = home .. "/resumed" }
      for _, file in ipairs(files) do
        harness.same_text(harness.read(("%s/resumed/%s"):format(home, file)), harness.read(without_stop.out .. "/" .. file), path)
      end
    end
  end
end)

--- Two kernels that count to `n`.
local counting_ptx <const> = ".version 7.0\n.target sm_70\n.address_size 64\n" .. (([[
.visible .entry first(.param .u32 n)
{
  .reg .u32 %a<3>;
  .reg .pred %p;
  ld.param.u32 %a1, [n];
  mov.u32 %a2, 0;
COUNT:
  add.u32 %a2, %a2, 1;
  setp.lt.u32 %p, %a2, %a1;
  @%p bra COUNT;
  ret;
}
]]):gsub("^.*$", function(text) return text .. text:gsub("first", "second") end))

--- A workload of these: the path of its file.
local function counting(name, launches)
  local path = harness.write("counting.ptx", counting_ptx)
  return harness.write(name .. ".lua", ([[
local ww = require "warpwright"
local w = ww.workload %q { ptx = %q, sizes = { small = {} } }
function w:run(gpu)
  local first, second = self.kernels.first, self.kernels.second
  %s
end
return w]]):format(name, path, launches))
end

harness.test("slots of SMs without a CTA are those of the kernel that runs meanwhile, whoever looks at the SMs and when", function()
  local turns = counting("turns", [[
  gpu:launch(first, { grid = 3, block = 32, args = { 100 } })
  gpu:launch(first, { grid = 1, block = 32, args = { 100 } })
  gpu:launch(second, { grid = 2, block = 32, args = { 100 } })]])
  local r = run { workload = turns }
  local slots = {}
  for i, kernel in ipairs(r.profile.kernels) do
    slots[i] = 0
    for _, of in ipairs(kernel.instructions) do
      for _, count in pairs(of.slots) do slots[i] = slots[i] + count end
    end
  end
  local begins, of_a_cycle = r.launches[3].start_cycle, 3 * 2 -- SMs with two schedulers
  harness.equal(table.concat(slots, " "), ("%d %d"):format(begins * of_a_cycle, (r.cycles - begins) * of_a_cycle))
  run { workload = turns, out = home .. "/turns" }
  run { workload = turns, out = home .. "/turns-10", stats_every = 10 }
  harness.same_text(harness.read(home .. "/turns-10/profile.csv"), harness.read(home .. "/turns/profile.csv"))
end)

harness.test("where SMs hold CTAs of several kernels, slots without a warp are of no kernel, after a resume, too", function()
  local beside = counting("beside", [[gpu:launch_together { { kernel = first, grid = 1, block = 32, args = { 300 } },
    { kernel = second, grid = 2, block = 64, args = { 100 } } }]])
  local folder, set = home .. "/beside", { sms = 3, ["dispatcher.kernels_per_sm"] = 8 }
  local r = run { workload = beside, out = folder, set = set, checkpoint_at = 4000 }
  assert(r.cycles > 5000, r.cycles)
  local names = {}
  for i, kernel in ipairs(r.profile.kernels) do
    local last = kernel.instructions[#kernel.instructions]
    names[i] = kernel.name
    harness.equal(last.slots.idle, kernel.name == "(no kernel)" and r["sm[*].slots_idle"] or 0, kernel.name)
  end
  harness.equal(table.concat(names, " "), "first second (no kernel)")
  ww.run { resume = checkpoints(folder)[1], out = home .. "/beside-resumed" }
  for _, file in ipairs(files) do
    harness.same_text(harness.read(home .. "/beside-resumed/" .. file), harness.read(folder .. "/" .. file), file)
  end
  harness.contains(profile(folder, "--warps"), "kernel first: ", "kernel second: ", "kernel (no kernel): ")
end)

harness.test("CTAs that are taken over in the middle of their work begin with their launch", function()
  local ptx = harness.write("counts.ptx", [[
.version 6.0
.target sm_20
.address_size 64
.visible .entry counts(.param .u64 out) {
  .reg .b64 %rd; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %rd, [out]; mov.u32 %r1, 200;
MORE:
  sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra MORE;
  st.global.u32 [%rd], %r1;
  ret;
}
]])
  local path = harness.write("taken_over.lua", ([[
local w = require("warpwright").workload "taken_over" { doc = "Two launches.", ptx = "%s", sizes = { small = {} } }
function w:run(gpu)
  local out = gpu:alloc(4)
  gpu:launch(self.kernels.counts, { grid = 60, block = 128, args = { out } })
  gpu:launch(self.kernels.counts, { grid = 60, block = 128, args = { out }, forward = 20 })
end
return w
]]):format(ptx))
  local r = run { workload = path }
  local begin, taken = r.launches[2].start_cycle, 0
  for _, cta in ipairs(r.profile.ctas) do
    if cta.launch == 1 then
      taken = taken + 1
      assert(cta.from >= begin, ("CTA of SM %d from %d, of the launch in %d"):format(cta.sm, cta.from, begin))
    end
  end
  assert(begin > 0 and taken > 0)
end)

harness.test("of a run without, it counts from the checkpoint on, CTAs that are at work included", function()
  run { out = home .. "/plain", profile = false, checkpoint_at = "5000" }
  local path = checkpoints(home .. "/plain")[1]
  local later = ww.run { resume = path, out = false, profile = true }
  local issues, instructions = sum(later.profile, function(of) return of.issues end), 0
  assert(issues > 0 and issues < later.warp_instructions)
  for _, cta in ipairs(later.profile.ctas) do
    assert(cta.from >= 5000 and cta.to > cta.from)
    instructions = instructions + cta.warp_instructions
  end
  harness.equal(instructions, issues)
  assert(not ww.run({ resume = path, out = false }).profile)
end)

harness.test("such a run says from which cycle on it counts, and so does one that goes on from it", function()
  local cycle = checkpoints(home .. "/plain")[1]:match "(%d+)%.ckpt$"
  ww.run { resume = checkpoints(home .. "/plain")[1], out = home .. "/later", profile = true, histograms = "all", checkpoint_at = "9000" }
  ww.run { resume = checkpoints(home .. "/later")[1], out = home .. "/later_still" }
  for _, name in ipairs { "/later", "/later_still" } do
    harness.contains(profile(home .. name), (" slots from cycle %s on\n"):format(cycle))
    local status, output = harness.run("histograms", home .. name)
    harness.equal(status, 0, output)
    harness.contains(output, ("counted from cycle %s on\n"):format(cycle))
    harness.equal(harness.run("report", home .. name), 0)
    harness.contains(harness.read(home .. name .. "/report.html"), (" slots from cycle %s on</h3>"):format(cycle),
      (">counted from cycle %s on<"):format(cycle))
  end
end)

-- A kernel whose waits are known ---------------------------------------------------------------------------------------

local ptx <const> = harness.write("waits.ptx", ([[
.version 7.0
.target sm_70
.address_size 64
.file 1 "waits <&>.cu"
.visible .entry waits(.param .u64 p) {
  .reg .u64 %rd<4>;
  .reg .u32 %r<8>;
  .reg .pred %p<2>;
  .loc 1 3 0
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  setp.lt.u32 %p0, %r0, 32;
  .loc 1 4 0
  @%p0 bra WAIT;
  ld.global.u32 %r1, [%rd0];
  .loc 1 5 0
  add.u32 %r2, %r1, 1;
WAIT:
  .loc 1 6 0
  bar.sync 0;
  ret;
}
]]):gsub("waits <", home .. "/%0"))
harness.write("waits <&>.cu", "\n\n  first\n  loaded\n  used <&>\n  barrier\n")

--- By opcode.
local function instructions_of(r)
  local found = {}
  for _, of in ipairs(r.profile.kernels[1].instructions) do found[of.opcode or "nobody"] = of end
  return found
end

local function waits(threads, name)
  harness.write("waits.lua", ([[
local ww = require "warpwright"
local w = ww.workload "waits" { ptx = %q, sizes = { small = {} } }
function w:run(gpu)
  local buffer = gpu:alloc(128)
  gpu:fill(buffer, 0, 128)
  gpu:launch(gpu:load(w.ptx).waits, { grid = 1, block = %d, args = { buffer } })
end
return w]]):format(ptx, threads))
  return run { workload = home .. "/waits.lua", set = { sms = 1 }, out = name and ("%s/%s"):format(home, name) or false }
end

harness.test("a load's latency is put to the instruction that needs it, a barrier's wait to the barrier", function()
  local r = waits(64, "waits") -- warp 0 waits at the barrier while warp 1, of the other scheduler, loads
  local found = instructions_of(r)
  local used, address = found["add.u32"].slots.memory, found["ld.global.u32"].slots.memory -- the address is a parameter
  assert(used > 200 and address > 200 and r["sm[0].slots_memory"] - used - address < 30)
  harness.equal(found["bar.sync"].slots.barrier, r["sm[0].slots_barrier"])
  assert(found["bar.sync"].slots.barrier > 200)
  harness.equal(found["bar.sync"].issues, 2)
  harness.equal(found["ld.global.u32"].issues, 1)
  harness.equal(found["ld.global.u32"].threads, 32)
  for g, group in ipairs(r.profile.groups) do
    if group == "sm[*].l1d" or group == "l2[*]" then
      local accesses = found["ld.global.u32"].accesses[g]
      harness.equal(accesses.misses, 1, group)
      harness.equal(accesses.hits, 0, group)
    end
  end
  harness.equal(found.nobody.slots.idle, r["sm[0].slots_idle"])
  local warps = r.profile.kernels[1].warps
  harness.equal(#warps, 2)
  harness.equal(warps[1].issues, found["add.u32"].issues == 1 and warps[2].issues - 2)
  harness.equal(warps[1].slots.barrier, r["sm[0].slots_barrier"])
  harness.equal(warps[1].slots.memory + warps[2].slots.memory, r["sm[0].slots_memory"])
end)

harness.test("of two warps of a scheduler, the one that waits for its load is to blame, not the older one at the barrier", function()
  local r = waits(128)
  local found = instructions_of(r)
  assert(found["bar.sync"].slots.memory + found.ret.slots.memory < 5)
  assert(r.profile.kernels[1].warps[3].slots.memory > 400)
  assert(r.profile.kernels[1].warps[1].slots.memory < 30)
end)

harness.test("each CTA has its SM, its cycles and its instructions", function()
  local instructions, ctas = 0, 0
  for _, cta in ipairs(whole.profile.ctas) do
    local launch = whole.launches[cta.launch + 1]
    assert(cta.from >= launch.start_cycle and cta.to > cta.from and cta.to <= launch.start_cycle + launch.cycles)
    assert(cta.sm >= 0 and cta.sm < 3)
    instructions, ctas = instructions + cta.warp_instructions, ctas + 1
  end
  harness.equal(instructions, whole.warp_instructions)
  harness.equal(ctas, whole["sm[*].ctas_finished"])
end)

harness.test("warpwright profile prints the hottest instructions, source lines, warps and CTAs, and a page of all", function()
  local waits_folder = home .. "/waits"
  local output = profile(waits_folder, "--warps", "--ctas")
  harness.contains(output, "kernel waits: ", ": add.u32 %r2, %r1, 1;", ": bar.sync 0;", "(no warp)", "warp of its CTA", "(0, 0, 0)")
  assert(not profile(waits_folder, "--top", "1"):find "add.u32", "only one line")
  harness.contains(profile(waits_folder, "--ptx", "--top=1"), ": setp.lt.u32 %p0, %r0, 32;", ": ret;")
  harness.contains(profile(waits_folder, "--source"), "waits <&>.cu:5  used <&>", "waits <&>.cu:6  barrier")
  local file = home .. "/page.html"
  profile(waits_folder, "--html", file)
  local page = harness.read(file)
  harness.contains(page, "<!doctype html>", "waits &lt;&amp;&gt;.cu:5", "<td>17: add.u32")
  assert(not page:find("waits <&", 1, true), "escaped")
end)

harness.test("kernels of one name in several modules have warps of their own, and one without timing has none", function()
  local path = harness.write("one_name.lua", ([[
local w = require("warpwright").workload "one_name" { doc = "Modules with a kernel of one name.", ptx = "%s/workloads/vecadd/vecadd.ptx",
  sizes = { small = {} } }
function w:run(gpu)
  local a = gpu:alloc(4096)
  for i = 0, 2 do
    local kernels = gpu:load(self.ptx)
    gpu:launch(kernels.vecadd, { grid = 1, block = 32 * (i + 1), timed = i ~= 1, args = { a, a, a, 1024 } })
  end
end
return w
]]):format(core.real_path "."))
  run { workload = path, out = home .. "/one_name" }
  local warps = {}
  for of_kernel in profile(home .. "/one_name", "--warps"):gmatch "warp of its CTA\n(.-)%f[k\0]" do
    local found = {}
    for warp in of_kernel:gmatch " (%d+)\n" do found[#found + 1] = warp end
    if found[1] then warps[#warps + 1] = table.concat(found, " ") end
  end
  harness.equal(table.concat(warps, ", "), "0, 0 1 2")
end)

harness.test("what cannot be is refused", function()
  harness.refused("expected a run with --profile, got no profile.csv", "profile", home .. "/without")
  harness.refused("--top: expected a number from 0 on, got 'x'", "profile", straight, "--top", "x")
  harness.refused("profile: expected --source or --ptx, got both", "profile", straight, "--source", "--ptx")
  harness.refused("profile: expected the folder of a run, got nothing", "profile")
  core.make_folder(home .. "/broken")
  local csv = harness.read(straight .. "/profile.csv")
  for _, damaged in ipairs { csv:sub(1, -20), (csv:gsub(",", ";", 1)), (csv:gsub("\n", '\n"', 1)) } do
    for _, file in ipairs { "profile_warps.csv", "profile_ctas.csv" } do
      harness.write("broken/" .. file, harness.read(("%s/%s"):format(straight, file)))
    end
    harness.write("broken/profile.csv", damaged)
    harness.refused("expected what a run has written, got a damaged file", "profile", home .. "/broken")
  end
end)

harness.test("a page takes the place of no result, and leaves nothing where it cannot be written", function()
  local csv, file = harness.read(straight .. "/profile.csv"), straight .. "/profile.csv"
  harness.refused(("profile: --html: expected a name that no file of a run or a sweep has, got '%s'"):format(file), "profile", straight, "--html", file)
  harness.same_text(harness.read(file), csv, "profile.csv")
  harness.refused("profile: --html: expected a file, got ''", "profile", straight, "--html", "")
  harness.refused(("profile: --html: %s/none/x.html: expected a file that can be written, got: No such file or directory"):format(home), "profile",
    straight, "--html", home .. "/none/x.html")
  core.make_folder(home .. "/folder.html")
  harness.refused(("profile: --html: %s/folder.html: expected a file that can be written, got: "):format(home), "profile", straight, "--html",
    home .. "/folder.html")
  for _, name in ipairs(core.list_folder(home)) do assert(not name:find "%.tmp$", "half a page is left: " .. name) end
end)

harness.test("a page is written to what a name leads to, and a FILE.tmp of the user's stays", function()
  local page, link, own, pipe = home .. "/page.html", home .. "/link.html", home .. "/page.html.tmp", home .. "/pipe.html"
  harness.equal(harness.run("profile", straight, "--html", page), 0, "exit status")
  local expected = harness.read(page)
  assert(os.execute(("cd %s && ln -sf page.html link.html && mkfifo pipe.html && (cat pipe.html > read.html &)"):format(home)))
  harness.write("page.html", "old")
  harness.write("page.html.tmp", "of the user's")
  harness.equal(harness.run("profile", straight, "--html", link), 0, "exit status")
  assert(os.execute("test -L " .. link), "the link is none any more")
  harness.same_text(harness.read(page), expected, page)
  harness.equal(harness.read(own), "of the user's")
  assert(os.execute(("timeout 20 %s profile %s --html %s > %s/said"):format(core.home_path "build/opt/warpwright", straight, pipe, home)))
  assert(os.execute("test -p " .. pipe), "the pipe is none any more")
end)

harness.test("a damaged file of a profile is named, whatever it holds", function()
  local folder, tables = home .. "/damaged", files
  core.make_folder(folder)
  for _, file in ipairs(tables) do
    local whole_text = harness.read(("%s/%s"):format(straight, file))
    for _, damaged in ipairs { (whole_text:gsub("%d", "x")), (whole_text:gsub(",", ";")),
      file == "profile.csv" and (whole_text:gsub("misses", "mises")) or "",
      file == "profile_allocations.csv" and (whole_text:gsub("%.stores", ".stors", 1)) or "", (whole_text:gsub("(\n[^\n]*),%d+\n", "%1,\n")),
      "", "a,b\n1,2\n", whole_text:sub(1, -2) } do
      for _, other in ipairs(tables) do harness.write("damaged/" .. other, harness.read(("%s/%s"):format(straight, other))) end
      harness.write("damaged/" .. file, damaged)
      harness.refused(("profile: %s/%s: expected what a run has written, got a damaged file"):format(folder, file), "profile", folder,
        "--html", home .. "/page.html")
    end
  end
end)

harness.test("a machine that a script builds has a profile in its result and its folder", function()
  local sim = require "warpwright".build("gallery/private_l1", { profile = true })
  sim:run("vecadd", "small")
  local profile_folder = harness.folder() .. "/built"
  harness.equal(type(sim:write(profile_folder).profile), "table", "profile")
  harness.contains(harness.read(profile_folder .. "/profile.csv"), "vecadd")
end)

harness.finish()

-- The CUDA library as programs see it: tests/cuda/programs/api.c checks itself.
local core = require "warpwright.core"
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

--- Returns what was printed.
local function good(part)
  local path = cuda_programs.build "api"
  local status, output = cuda_programs.run("gtx480", "--out", harness.folder() .. "/" .. part, "--capability", "7.0", "--", path, part)
  harness.equal(status, 0, output)
  harness.contains(output, part .. ": good")
  return output
end

for _, part in ipairs { "basic", "memory", "volumes", "mapped", "textures", "linear_texture", "colours", "voxel_arrays", "array_bounds", "surfaces", "removed", "threads", "children", "properties", "driver", "driver_more", "contexts", "libraries", "runtime_libraries", "pointers",
  "hints", "more_copies", "per_thread", "versions", "entry_points" } do
  harness.test("the API: " .. part, function() good(part) end)
end

for _, part in ipairs { "grows", "refused" } do
  harness.test("virtual memory of the driver API: " .. part, function()
    local path = cuda_programs.build "virtual_memory"
    local status, output = cuda_programs.run("gtx480", "--memcheck", "--out", harness.folder() .. "/" .. part, "--", path, part)
    harness.equal(status, 0, output)
    harness.contains(output, part .. ": good", "memcheck: 0 errors")
  end)
end

harness.test("the driver API: arrays, objects and references of textures and surfaces", function()
  local path = cuda_programs.build "driver_textures"
  local status, output = cuda_programs.run("gtx480", "--memcheck", "--out", harness.folder() .. "/of_textures", "--", path)
  harness.equal(status, 0, output)
  harness.contains(output, ", 0 failed", "memcheck: 0 errors")
end)

harness.test("the driver API: words of streams, parameters of functions, ranges of memory, launches step by step", function()
  local path = cuda_programs.build "driver_values"
  local status, output = cuda_programs.run("gtx480", "--out", harness.folder() .. "/of_values", "--", path)
  harness.equal(status, 0, output)
  harness.contains(output, ", 0 failed")
end)

harness.test("occupancy is that of launches, whatever the SM's registers and their unit", function()
  local path = cuda_programs.build "api"
  for _, settings in ipairs { { "sm[*].register_unit=4" }, { "sm[*].register_unit=64" }, { "sm[*].register_unit=8", "sm[*].registers=16384" },
    { "sm[*].shared=3000" }, { "sm[*].shared=6KiB", "sm[*].reserved_shared=700" } } do
    local words = { "gtx480", "--out", harness.folder() .. "/occupancy" }
    for _, setting in ipairs(settings) do table.move({ "--set", setting }, 1, 2, #words + 1, words) end
    local status, output = cuda_programs.run(table.unpack(table.move({ "--", path, "occupancy" }, 1, 3, #words + 1, words)))
    harness.equal(status, 0, output)
  end
end)

harness.test("a core clock that may change is refused, since events tell times by it", function()
  local status, output = cuda_programs.run("gtx480", "--set", "clock.core=700MHz, 600MHz to 700MHz", "--out", harness.folder() .. "/clocks",
    "--", cuda_programs.build "api", "basic")
  assert(status ~= 0, output)
  harness.contains(output, "clock.core: expected one frequency, by which the events of CUDA programs tell times, got 600000000 Hz to 700000000 Hz")
end)

harness.test("errors: what is refused is told once, and the program goes on", function()
  local output = good "errors"
  harness.contains(output, "kernel scale: expected up to 49152 bytes of dynamic shared memory per CTA, got 1048576\n")
  harness.contains(output, "kernel scale: grid.x: expected 1 to 2147483647 CTAs, got 0\n",
    "kernel scale: block.x: expected 1 to 1024 threads, got 2048\n")
  local _, extents = output:gsub("kernel scale: block%.x: expected 1 to 1024 threads", "")
  harness.equal(extents, 1, "notices of a block that is too large")
  local _, count = output:gsub("cudaIpcGetMemHandle is not supported", "")
  harness.equal(count, 1, "notices of cudaIpcGetMemHandle")
end)

harness.test("a larger heap of kernels is refused once it is there, in CUDA's words", function()
  harness.contains(good "late_heap", "cudaLimitMallocHeapSize: expected a size before the first module with malloc is loaded, or up to 8388608 bytes, got 67108864\n")
end)

harness.test("more dynamic shared memory than 48 KiB has to be asked for", function()
  local path = cuda_programs.build "api"
  local status, output = cuda_programs.run("v100", "--out", harness.folder() .. "/shared", "--", path, "dynamic_shared")
  harness.equal(status, 0, output)
  local with_reserve = { "v100", "--set", "sm[*].shared=97KiB", "--set", "sm[*].reserved_shared=1KiB", "--out",
    harness.folder() .. "/reserved", "--", path, "dynamic_shared" }
  local again, reserved = cuda_programs.run(table.unpack(with_reserve))
  harness.equal(again, 0, reserved)
  harness.contains(output, "kernel nothing: expected up to 49152 bytes of dynamic shared memory per CTA, got 49153; cudaFuncSetAttribute()",
    "kernel nothing: cudaFuncAttributeMaxDynamicSharedMemorySize: expected up to 98304 bytes, got 98305\n",
    "kernel own: cudaFuncAttributeMaxDynamicSharedMemorySize: expected up to 97280 bytes, got 98304\n")
end)

harness.test("functions that are not there: an error, told once by name", function()
  local output = good "missing"
  local _, count = output:gsub("cudaGraphConditionalHandleCreate is not supported", "")
  harness.equal(count, 1, "notices of cudaGraphConditionalHandleCreate")
  harness.contains(output, "cuGraphConditionalHandleCreate is not supported")
end)

for part, message in pairs { stray = "access out of bounds at address 0x", uneven = "misaligned access", fails = "trap" } do
  harness.test("a fault comes from the next call, and stays: " .. part, function()
    harness.contains(good(part), "kernel " .. part, message, "CTA (0, 0, 0), thread (0, 0, 0)")
  end)
end

harness.test("a fault in freed memory tells two calls, with checkpoints and without", function()
  local path = cuda_programs.build "api"
  for _, option in ipairs { "--memcheck", "--checkpoint-every=1000000" } do
    local status, output = cuda_programs.run("gtx480", option, "--bounds", "strict", "--out", harness.folder() .. "/freed", "--", path, "freed")
    harness.equal(status, 0, output)
    local made, freed = output:match "made by call (%d+) and freed by call (%d+)"
    assert(made and tonumber(made) > 1 and tonumber(freed) > tonumber(made), output)
  end
end)

harness.test("what ran before and after a fault has statistics", function()
  good "stray"
  harness.contains(harness.read(harness.folder() .. "/stray/stats.txt"), "launch[0].cycles", "launch[1].cycles", "scale (module 2): core cycles")
end)

harness.test("a launch that failed leaves no votes at a barrier behind, with timing and without", function()
  local path = cuda_programs.build "api"
  for _, launches in ipairs { "0-", "100" } do
    local status, output = cuda_programs.run("gtx480", "--launches", launches, "--out", harness.folder() .. "/votes", "--", path, "votes")
    harness.equal(status, 0, output)
  end
end)

harness.test("bounds are those of hardware; --memcheck: those of allocations", function()
  harness.contains(good "beyond", "cudaSuccess")
  local path = cuda_programs.build "api"
  local status, output = cuda_programs.run("gtx480", "--memcheck", "--out", harness.folder() .. "/out", "--", path, "beyond")
  harness.equal(status, 0, output)
  harness.contains(output, "cudaErrorIllegalAddress", "bytes past the end of the allocation")
end)

harness.test("--memcheck counts the faults that ended launches", function()
  local path, out = cuda_programs.build "api", harness.folder() .. "/faults"
  local status, output = cuda_programs.run("gtx480", "--memcheck", "--out", out, "--", path, "uneven")
  harness.equal(status, 0, output)
  harness.contains(output, "; 1 launch ended at a fault")
  harness.contains(harness.read(out .. "/memcheck.txt"), "fault: kernel uneven, PTX line ", "misaligned access", "; 1 launch ended at a fault")
end)

local printed_text = "first\nthread 0 7\nthread 1 7\nthread 2 7\nthen\nthread 0 8\nprinted: good\n"

harness.test("what kernels print is the program's output, with timing and without", function()
  local folder, path = harness.folder() .. "/printed", cuda_programs.build "api"
  for _, launches in ipairs { "0-", "100" } do
    local pipe = assert(io.popen(("'%s' cuda gtx480 --launches %s --out '%s' -- '%s' printed 2>/dev/null"):format(arg[-1], launches, folder, path)))
    harness.same_text(pipe:read "a", printed_text, "output")
    assert(pipe:close())
    harness.equal(harness.read(folder .. "/printed.txt"), "thread 0 7\nthread 1 7\nthread 2 7\nthread 0 8\n")
  end
end)

harness.test("--memcheck knows what the program has written", function()
  local path = cuda_programs.build "api"
  for _, launches in ipairs { "0-", "100" } do
    local status, output = cuda_programs.run("gtx480", "--memcheck", "--launches", launches, "--out", harness.folder() .. "/checked", "--", path, "printed")
    harness.equal(status, 0, output)
    harness.contains(output, "memcheck: 28 errors at 1 place", "read of uninitialised global memory", "thread (100, 0, 0)")
  end
end)

harness.test("the last line tells how many launches there were: one launch, four launches", function()
  local path = cuda_programs.build "api"
  for what, wanted in pairs { events = ": 1 launch, ", printed = ": 4 launches, " } do
    local status, output = cuda_programs.run("gtx480", "--out", harness.folder() .. "/told", "--", path, what)
    harness.equal(status, 0, output)
    harness.contains(output, wanted)
  end
end)

harness.test("events tell simulated time", function()
  local milliseconds = tonumber(good("events"):match "([%d.]+) ms")
  local cycles = tonumber(harness.read(harness.folder() .. "/events/stats.txt"):match "launch%[0%].cycles%s+(%d+)")
  harness.equal(("%.6f"):format(milliseconds), ("%.6f"):format(cycles / 700000), "milliseconds of the launch at 700 MHz")
end)

harness.test("a run has statistics by launch, and its policy", function()
  good "steps"
  local stats = harness.read(harness.folder() .. "/steps/stats.txt")
  harness.contains(stats, "launch[11].cycles", "scale")
  local path = cuda_programs.build "api"
  local out = harness.folder() .. "/lrr"
  harness.equal(cuda_programs.run("gtx480", "--policy", "lrr", "--set", "sm[*].l1d.size=8KiB", "--out", out, "--", path, "steps"), 0)
  harness.contains(harness.read(out .. "/provenance.txt"), "policy             lrr", "workload           api")
  assert(harness.read(out .. "/stats.txt") ~= stats, "the policy and the cache change nothing")
end)

harness.test("--launches: these have timing, the others compute the same", function()
  local path = cuda_programs.build "api"
  local out = harness.folder() .. "/some"
  local status, output = cuda_programs.run("gtx480", "--launches", "3-4,7,11-", "--out", out, "--", path, "steps")
  harness.equal(status, 0, output)
  harness.contains(output, good "steps":match "sum %d+")
  local some, all = harness.read(out .. "/stats.txt"), harness.read(harness.folder() .. "/steps/stats.txt")
  local sum = 0
  for launch = 0, 11 do
    local pattern = ("launch%%[%d%%]%%.cycles%%s+(%%d+)"):format(launch)
    local cycles, timed = tonumber(some:match(pattern)), tonumber(all:match(pattern))
    local is_timed = launch == 3 or launch == 4 or launch == 7 or launch == 11
    harness.equal(cycles > 0, is_timed, "does launch " .. launch .. " have cycles")
    assert(timed > 0)
    sum = sum + cycles
  end
  harness.equal(tonumber(some:match "run.cycles%s+(%d+)"), sum, "cycles of the run")
end)

harness.test("--sample, --launches: a program sees what its launches have written, once, and its exit status is kept", function()
  local path = cuda_programs.compile("counting", "sm_70")
  local function counts(...)
    local status, output = cuda_programs.run("gtx480", "--set", "sms=4", "--set", "partitions=2", "--out", harness.folder() .. "/counted", ...)
    harness.equal(status, 7, output)
  end
  local out = harness.folder() .. "/counted"
  for _, how in ipairs { { "windows=3", "1" }, { "windows=3", "2" } } do
    counts("--sample", how[1], "--jobs", how[2], "--", path, "800", "256", "800", "256", "800", "256")
    assert(harness.read(out .. "/provenance.txt"):find("sampled", 1, true))
    -- Launches that are too short: the third is tried as one like the others, and taken back.
    counts("--sample", how[1], "--jobs", how[2], "--", path, "1", "32", "1", "32", "1", "32", "1", "32")
  end
  counts("--launches", "0", "--", path, "10", "64", "10", "256") -- the last launch has other places for CTAs, and no timing
end)

harness.test("the exit status is the program's", function()
  local function status_of(...) return (cuda_programs.run("gtx480", "--out", harness.folder() .. "/out", "--", ...)) end
  cuda_programs.libraries()
  harness.equal(status_of("/bin/sh", "-c", "exit 7"), 7)
  harness.equal(status_of("/bin/sh", "-c", "kill -9 $$"), 128 + 9)
  harness.equal(status_of "/bin/true", 0)
end)

harness.test("input, output and words are the program's own", function()
  cuda_programs.libraries()
  local _, output = harness.run("cuda", "gtx480", "--out", harness.folder() .. "/out", "--", "/bin/sh", "-c", "echo $0-$1-$#", "a b", "", "--", "c")
  harness.contains(output, "a b--3")
end)

harness.test("a script may start several programs, one after the other", function()
  local path = cuda_programs.build "api"
  local script = ("%s basic && %s mapped && exit 4"):format(path, path)
  local status, output = cuda_programs.run("gtx480", "--out", harness.folder() .. "/out", "--", "/bin/sh", "-c", script)
  harness.equal(status, 4, output)
  harness.contains(output, "basic: good", "mapped: good")
end)

harness.test("mistakes on the command line", function()
  cuda_programs.libraries()
  harness.refused("cuda: expected CONFIG -- PROGRAM, got 0 arguments and no --", "cuda")
  harness.refused("cuda: expected CONFIG -- PROGRAM, got 1 argument and no --", "cuda", "gtx480")
  harness.refused("cannot start './no_such_program': No such file or directory", "cuda", "gtx480", "--out", harness.folder() .. "/out", "--", "./no_such_program")
  local source, program = harness.write("source.cu", ""), harness.write("bare_program", "#!/bin/sh\n")
  assert(os.execute("chmod +x " .. program))
  harness.refused(("cannot start '%s': it is a source; warpwright nvcc makes a program of it"):format(source), "cuda", "gtx480",
    "--out", harness.folder() .. "/out", "--", source)
  harness.refused(("workload: expected a workload, got '%s', a source in CUDA"):format(source), "run", "gtx480", source)
  local here = ("cd '%s' && '%s' cuda gtx480 --out out -- bare_program 2>&1"):format(harness.folder(), core.real_path(arg[-1]))
  local pipe <close> = assert(io.popen(here))
  harness.contains(pipe:read "a", "cannot start 'bare_program': No such file or directory; did you mean ./bare_program?\n")
  harness.refused("--capability: expected a compute capability, such as 8.0, got 'x'", "cuda", "gtx480", "--capability", "x", "--", "true")
  for _, launches in ipairs { "x", "3-1", "", "3--4", "-3" } do
    harness.refused("--launches: expected numbers of launches from 0 on, such as 3-7,9 or 3-, got", "cuda", "gtx480",
      "--launches=" .. launches, "--", "true")
  end
  harness.refused("cuda: unknown option '--size'", "cuda", "gtx480", "--size", "small", "--", "true")
end)

harness.test("without a simulator the library says how to get one", function()
  local path = cuda_programs.build "api"
  local pipe = assert(io.popen(("LD_LIBRARY_PATH='%s' '%s' basic 2>&1"):format(cuda_programs.libraries(), path)))
  harness.contains(pipe:read "a", "start the program with 'warpwright cuda MACHINE -- PROGRAM'")
  pipe:close()
end)

harness.test("the program is told of what it lacks: PTX", function()
  harness.contains(good "images", "expected PTX, got machine code for hardware alone; compile with PTX", "neither a fat binary nor PTX", "module 3:4: nonsense")
end)

harness.finish()

-- Programs that die, stay, or speak what is no question: the simulator neither hangs nor crashes, and says what came.
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

local function run(what, seed)
  local path = cuda_programs.build "hostile"
  return cuda_programs.run("gtx480", "--out", harness.folder() .. "/out", "--", path, what, seed or "1")
end

harness.test("what is no question closes the connection, and no more", function()
  for seed = 1, 5 do
    local status, output = run("questions", tostring(seed))
    harness.equal(status, 0, output)
    harness.contains(output, "warpwright: hostile: 0 launches", "spoke no language of ours")
  end
end)

harness.test("random bytes", function()
  for seed = 1, 5 do
    local status, output = run("garbage", tostring(seed))
    harness.equal(status, 0, output)
    harness.contains(output, "warpwright: hostile: 0 launches")
  end
end)

for what, wanted in pairs { half = 0, huge = 0, deaf = 0, two = 0, dies = 137, leaves = 9, pair = 0 } do
  harness.test("a program that is " .. what, function()
    local status, output = run(what)
    harness.equal(status, wanted, output)
    harness.contains(output, "warpwright: hostile: 0 launches")
  end)
end

harness.test("who has ended does not keep the machine, though a child of it holds the connection", function()
  local hostile, api = cuda_programs.build "hostile", cuda_programs.build "api"
  local status, output = cuda_programs.run("gtx480", "--out", harness.folder() .. "/out", "--", "/bin/sh", "-c",
    ("%s leaves; %s basic"):format(hostile, api))
  harness.equal(status, 0, output)
  harness.contains(output, "basic: good")
end)

local function killed(words, ...)
  local all = table.move(words, 1, #words, 2, { "gtx480" })
  return cuda_programs.run(table.unpack(table.move({ "--out", harness.folder() .. "/out", "--", ... }, 1, 3 + select("#", ...), #all + 1, all)))
end

for how, words in pairs { ["with timing"] = { "--max-cycles", "10000000" }, ["without timing"] = { "--launches", "7" } } do
  harness.test("who is killed in the middle of a launch " .. how .. " ends it, and the next program has a machine to itself", function()
    local api = cuda_programs.build "api"
    local status, output = killed(words, api, "killed")
    harness.equal(status, 137, output)
    harness.contains(output, "kernel spins was given up at cycle ", "api was ended by signal 9", "warpwright: api: 1 launch, ")
    status, output = killed(words, "/bin/sh", "-c", ("%s killed; %s memory"):format(api, api))
    harness.equal(status, 0, output)
    harness.contains(output, "kernel spins was given up at cycle ", "memory: good")
  end)
end

harness.test("who is killed in the middle of a launch that is sampled ends it", function()
  local status, output = killed({ "--sample", "windows=3", "--set", "sms=1" }, cuda_programs.build "api", "killed")
  harness.equal(status, 137, output)
  harness.contains(output, "kernel spins was given up at cycle ", "api was ended by signal 9")
end)

harness.test("a library path of any length comes behind the simulator's, whole", function()
  cuda_programs.libraries()
  local long = ("/a"):rep(6000)
  local status, output = harness.run_with("LD_LIBRARY_PATH=" .. long, "cuda", "gallery/bus", "--out", harness.folder() .. "/out", "--",
    "sh", "-c", 'echo "got $LD_LIBRARY_PATH"')
  harness.equal(status, 0, output)
  assert(output:find("got [^\n]+lib64:" .. long .. "\n"), "the path was cut off")
end)

local function told_of(what)
  local status, output = cuda_programs.run("gtx480", "--out", harness.folder() .. "/out", "--", cuda_programs.build "misuse", what)
  harness.equal(status, 0, output)
  harness.contains(output, " checks, 0 failed")
  return (output:gsub("0x%x+", function(address) return address == "0x0" and "NULL" or "P" end))
end

harness.test("a copy whose ends are elsewhere than its direction says, or too short, is told with what they are", function()
  harness.contains(told_of "copies",
    "warpwright: a copy with cudaMemcpyHostToDevice: expected its destination in device memory, got P, memory of the host; "
      .. "its source is P, device memory: the two are swapped, or the direction is\n",
    "a copy with cudaMemcpyDeviceToHost: expected its source in device memory, got P, memory of the host; "
      .. "its destination is P, device memory: the two are swapped, or the direction is\n",
    "a copy with cudaMemcpyDeviceToDevice: expected its source in device memory, got P, memory of the host; its destination is P, device memory\n",
    "expected its source in memory, got NULL, no memory",
    "a copy: expected a direction, cudaMemcpyHostToHost (0) to cudaMemcpyDefault (4), got 7\n",
    "a copy to P: expected up to 3096 bytes, the rest of an allocation of 4096 bytes from P, got 4096\n",
    "a fill of P: expected device memory, got memory of the host\n")
end)

harness.test("what cannot be freed, is no variable, or finds no room is told, of a program that goes on a few times", function()
  local output = told_of "blocks"
  harness.contains(output, "warpwright: a free of P: expected the beginning of an allocation, got memory of the host\n",
    "got byte 4 of one of 64 bytes\n", "got pinned memory of the host, which cudaFreeHost() frees\n",
    "got device memory, which cudaFree() frees\n", "got device memory where nothing is allocated, or no longer\n",
    'a variable by its name: expected table, got "table", as before CUDA 5\n',
    "expected a variable of the device, got P, pinned memory of the host\n", "expected a variable of the device, got P, memory of the host\n",
    "an allocation of 1125899906842624 bytes: no such room is left in device memory of 4294967296 bytes; warpwright cuda has --memory\n",
    "; no more of these are told\n")
  harness.equal(select(2, output:gsub("a free of", "")), 6)
end)

for what, name in pairs { nulls = "NULL for what is asked for is an error, and the program goes on",
  images = "images that end in the middle of what they say they hold are refused",
  handles = "handles that are none, of another kind, or of what has ended are errors",
  many_handles = "thousands of handles are known, and those that have ended are not",
  volumes = "copies and fills whose rows lie in each other, or beyond all memory, are errors" } do
  harness.test(name, function()
    local path = cuda_programs.build "misuse"
    local status, output = cuda_programs.run("gtx480", "--out", harness.folder() .. "/out", "--", "timeout", "60", path, what)
    harness.equal(status, 0, output)
    harness.contains(output, " checks, 0 failed")
  end)
end

harness.finish()

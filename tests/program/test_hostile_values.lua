-- Values that no one expects in configs, policies and scripts: an error at once, at the line of the user's file, that says what
-- is legal. Fuzzing has found each of them.
local harness = require "tests.lib.harness"

local TEXT_OF_A_MILLION <const> = '("a"):rep(1000000)'

--- A machine of which line 6 is `line`.
local function machine_with(line)
  return harness.write("machine.lua", ([[
local ww = require "warpwright"
return ww.machine("bad", function(m)
  m:clocks { core = "700MHz" }
  m:L1 ("l1", 0) { size = "16KiB", ways = 4, mshrs = 32 }
  m:L1 ("l1", 1) { size = "16KiB", ways = 4, mshrs = 32 }
  %s
end)
]]):format(line))
end

local function bad_machine(name, line, message)
  harness.test(name, function()
    local path = machine_with(line)
    harness.refused(("error: %s:6: %s"):format(path, message), "draw", path)
  end)
end

bad_machine("the path of an object has a million letters", ("m:L2 (%s) {}"):format(TEXT_OF_A_MILLION), "aaaa")
bad_machine("a port without an object", "m:join('l1[*].mem', 'x')", 'join l1[*].mem -> x: expected a port such as "l2.cpu", got \'x\'')
bad_machine("a text of a million letters for a port", ("m:wire('l1[0].mem', %s .. '[*]')"):format(TEXT_OF_A_MILLION), "wire")
bad_machine("a clock that is a table", "m:L2 'x' { clock = {} }", "x.clock: expected the name of a clock, got a table")
bad_machine("a module that is a table", "require {}", "require: expected the name of a module, got a table")
bad_machine("an error of nil", "error(nil)", "error: expected a text, got nil")
bad_machine("a class with a million letters", ("m[%s](m, 'x')"):format(TEXT_OF_A_MILLION), "m: no method or class matches 'aaaa")

harness.test("a part whose class is a function", function()
  local path = harness.write("policy.lua", [[
    return require "warpwright.policy" "p" { parts = { { class = print, name = "x", of = "SM" } } }
  ]])
  harness.refused("policy p: parts[1]: class and of: expected names of classes, got a function", "run", "gtx480", "vecadd",
    "--policy", path)
end)

harness.test("a technology whose name is a table", function()
  local path = harness.write("technology.lua", 'return require "warpwright".technology {} {}')
  harness.refused('technology: expected a name (ww.technology "name" {...}), got a table', "run", "gtx480", "vecadd", "--energy", path)
end)

harness.test("devices have no end, and are no input", function()
  local path = harness.write("device.lua", [[
    local ww = require "warpwright"
    local gpu = ww.build("gtx480", { set = { "sms=1" } }):gpu()
    print(select(2, pcall(gpu.load, gpu, "/dev/zero")))
    print(select(2, pcall(ww.file_array, "/dev/zero", "u8")))
  ]])
  local status, output = harness.run(path)
  harness.equal(status, 0, output)
  harness.contains(output, "/dev/zero: expected a file, got a folder, device or the like",
    "file_array: /dev/zero: expected a file that can be read, got none")
  harness.refused("/dev/zero: expected up to 1073741824 bytes", "ptx", "/dev/zero")
end)

harness.test("a name with a per cent sign", function()
  harness.refused("config: no config matches '50%'", "run", "50%", "vecadd")
end)

harness.test("memory that is no number of bytes is told as such", function()
  harness.refused('memory: expected bytes (128, "128B", "16KiB"), got \'lots\'', "run", "gtx480", "vecadd", "--memory", "lots")
end)

harness.test("an error that Lua finds in the library is told at the user's line", function()
  local path = harness.write("script.lua", [[
    local names = require "warpwright.names"
    names.check_indices({}, "x[a]")
  ]])
  harness.refused(("error: %s:2: "):format(path), path)
end)

harness.finish()

-- The program's own Lua, compiled at the end of a build: what a module is, and from which file, is the same with and without
-- the compiled file, with a damaged one, and after a module has been edited.
local harness = require "tests.lib.harness"

local home = harness.folder()
local program, compiled = home .. "/build/x/warpwright", home .. "/build/x/library.compiled"
local probe = home .. "/core/lua/library/warpwright/probe.lua" -- a module of this test

local function shell(command, ...) return assert(os.execute(command:format(...))) end

shell("mkdir -p %s/build/x %s/core/lua %s/scripts %s/away", home, home, home, home)
shell("cp -r core/lua/library %s/core/lua/ && cp -r configs %s/ && cp scripts/compile_library.lua %s/scripts/", home, home, home)
shell("cp '%s' %s", arg[-1], program)

--- Runs a script in `folder`; returns what it wrote.
local function run(folder, text)
  local script = harness.write("script.lua", text)
  local pipe = assert(io.popen(("cd %s && WARPWRIGHT_HOME= %s %s 2>&1"):format(folder, program, script)))
  local output = pipe:read "a"
  pipe:close()
  return output
end

local function compile() shell("WARPWRIGHT_HOME= %s %s/scripts/compile_library.lua %s", program, home, compiled) end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

--- A process loads the probe, another text takes its place, and it loads the probe again. When it has been compiled, the
-- process goes on with what it began with: "first first".
local takes_twice = ([[
local function load() package.loaded["warpwright.probe"] = nil return (require "warpwright.probe") end
local function write(text) local file = io.open("%s", "w") file:write(text) file:close() end
local first = load()
write "return 'second'"
print(first, load())
write "return 'first'"
]]):format(probe)

-- Where a module is from, the line of a function, and an error's place.
local places = [[
local load = require "warpwright.load"
local info = debug.getinfo(load.get, "S")
print(info.source, info.short_src, info.linedefined, info.what, select(2, require "warpwright.names"))
print(debug.getinfo(require "warpwright.later", "S").source)
print(require "warpwright.probe")
print(pcall(require "warpwright.json".decode, nil))
print(pcall(require, "warpwright.absent"))
print(pcall(require, "warpwrightly"))
]]

write(probe, "return 'first'")

harness.test("a module that has been compiled is not read again", function()
  harness.equal(run(home, takes_twice), "first\tsecond\n", "without a compiled file")
  compile()
  harness.equal(run(home, takes_twice), "first\tfirst\n", "with one")
end)

harness.test("a module that was edited after the build is what its text says", function()
  compile()
  write(probe, "return 'edited'")
  harness.equal(run(home, "print((require 'warpwright.probe'))"), "edited\n")
  write(probe, "return 'first'")
end)

harness.test("places in the library are the same, compiled or not, wherever the user stands", function()
  for _, folder in ipairs { home, home .. "/away", "/" } do
    os.remove(compiled)
    local text = run(folder, places)
    compile()
    harness.same_text(run(folder, places), text, "in " .. folder)
    harness.contains(text, "core/lua/library/warpwright/load.lua", "core/lua/library/warpwright/later.lua", "first")
  end
end)

harness.test("a compiled file that is damaged, cut or of something else is as good as none", function()
  compile()
  local whole, name = harness.read(compiled), "warpwright/probe.lua"
  local at = whole:find(name, 1, true) + #name
  local following = whole:find("warpwright/", at, true) - 4 -- its length
  local damaged = { "", "WW", whole:sub(1, 8), whole:sub(1, at + 10), whole:sub(1, following - 2), ("x"):rep(200), "w" .. whole:sub(2) }
  for place = at, following - 1 do
    damaged[#damaged + 1] = whole:sub(1, place - 1) .. string.char(whole:byte(place) ~ 0x10) .. whole:sub(place + 1)
  end
  for i, bytes in ipairs(damaged) do
    write(compiled, bytes)
    harness.equal(run(home, takes_twice), "first\tsecond\n", "damage " .. i)
  end
end)

harness.test("a module that is no Lua has an error with its file and line", function()
  compile()
  write(probe, "return 1 1")
  harness.contains(run(home, "print(pcall(require, 'warpwright.probe'))"), "error loading module 'warpwright.probe' from file",
    "core/lua/library/warpwright/probe.lua:1:")
end)

harness.finish()

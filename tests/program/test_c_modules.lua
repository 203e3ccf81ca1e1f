-- Modules in C for Lua 5.4: the program has Lua in itself, and they find its functions there.
local harness = require "tests.lib.harness"

local source = [[
#include <lauxlib.h>
#include <lua.h>

static int twice(lua_State *L) {
    lua_pushinteger(L, 2 * luaL_checkinteger(L, 1));
    return 1;
}

int luaopen_twice(lua_State *L) {
    lua_pushcfunction(L, twice);
    return 1;
}
]]

harness.test("a script requires a module in C", function()
  local folder = harness.folder()
  local file = harness.write("twice.c", source)
  local compile = ("cc -shared -fPIC $(pkg-config --cflags lua5.4) '%s' -o '%s/twice.so' 2>&1"):format(file, folder)
  local pipe = assert(io.popen(compile))
  local printed = pipe:read("a")
  assert(pipe:close(), printed)
  local script = harness.write("script.lua", ([[
    package.cpath = "%s/?.so"
    print(require("twice")(21), select(2, pcall(require("twice"), "many")))
  ]]):format(folder))
  local status, output = harness.run(script)
  harness.equal(status, 0, output)
  harness.contains(output, "42\t", "bad argument #1", "number expected, got string")
end)

harness.finish()

-- What luacheck looks for in our Lua: everything but what is listed here. luacheck . runs it.
std = "lua54"
self = false -- a hook need not use its instance
max_line_length = false -- the documents' rule is not the code's
exclude_files = { "build", "out", "core/lua/annotations" } -- annotations: definitions without bodies, which a script writes

-- The library takes these from Lua and gives users its own.
files["core/lua/library/warpwright/loading.lua"].globals = { "dofile", "loadfile", "require" }
files["core/lua/library/warpwright/own_state.lua"].globals = { "math", "os" }
files["core/lua/library/warpwright/command_line.lua"].globals = { "arg" }
files["core/lua/library/warpwright/machine.lua"].ignore = { "212/self" } -- Machine's call, declared with a dot
files["policies"].ignore = { "212/self" }
files["scripts/agreement.lua"].ignore = { "581" } -- not (x <= y) is true of NaN as well
files["tests/program/test_results.lua"].ignore = { "241/ballast" } -- it is there to take room

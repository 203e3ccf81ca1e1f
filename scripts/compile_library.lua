-- The last step of a build: warpwright scripts/compile_library.lua FILE compiles the program's own Lua to FILE, so that no
-- process has to. A module that is edited afterwards is read as text.
local core = require "warpwright.core"

local library <const> = core.home_path "core/lua/library/"

local places = {}

--- Adds the Lua files in a folder of the library, "" or one that ends in a slash, and in those below it.
local function add(folder)
  for _, name in ipairs(core.list_folder(library .. folder)) do
    if name:find "%.lua$" then
      places[#places + 1] = folder .. name
    else
      add(folder .. name .. "/")
    end
  end
end

add ""
core.compile_library(arg[1], places)

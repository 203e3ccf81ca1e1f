-- The last step of a build; `help` below says what it does.
local core = require "warpwright.core"
local command_line = require "scripts.lib.command_line"

local help = [[
usage: warpwright scripts/compile_library.lua FILE

Compiles the program's own Lua to FILE, so that no process has to. A module that is edited afterwards is read as text.
]]

if command_line.helped(arg, help) then return end
if #arg ~= 1 then command_line.expected_arguments("compile_library.lua", "FILE", #arg) end

local library <const> = core.home_path "core/lua/library/"

local places = {}

--- Adds the Lua files in a folder of the library, "" or one that ends in a slash, and in those
-- below it.
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

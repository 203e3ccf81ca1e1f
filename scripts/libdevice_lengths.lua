-- For scripts/libdevice; `help` below says what it does.
local core = require "warpwright.core"
local ww = require "warpwright"
local command_line = require "scripts.lib.command_line"

local help = [[
usage: warpwright scripts/libdevice_lengths.lua FOLDER

Prints how many instructions a thread executes in each kernel of FOLDER/kernels.ptx, whose names are in FOLDER/names, with
the arguments of FOLDER/typical.
]]

if command_line.helped(arg, help) then return end
if #arg ~= 1 then command_line.expected_arguments("libdevice_lengths.lua", "FOLDER", #arg) end
local folder <const> = arg[1]
local words_in <const>, words_out <const> = 4, 3

local function lines_of(path)
  local list = {}
  for line in io.lines(path) do list[#list + 1] = line end
  return list
end

local names = lines_of(folder .. "/names")
local words = core.file_array(folder .. "/typical", "i64")
local count = #words // #names // words_in
local gpu = ww.build("gtx480"):gpu()
local kernels = gpu:load(folder .. "/kernels.ptx")
local out = gpu:alloc(count * words_out * 8)
for i, name in ipairs(names) do
  local input = gpu:upload(words:slice((i - 1) * count * words_in, count * words_in))
  local cost = gpu:launch(kernels[name], { grid = count // 32, block = 32, args = { input, out } })
  gpu:free(input)
  print(name, ("%.0f"):format(cost.thread_instructions / count))
end

-- One kernel of a PTX file as a workload: `warpwright run CONFIG FILE.ptx --grid X,Y,Z --block X,Y,Z --arg SPEC ...`. The
-- words of the command line, joined by tabs, are the workload's name: a checkpoint keeps it, and a resume makes the
-- workload again.
local core = require "warpwright.core"
local names = require "warpwright.names"
local workload = require "warpwright.workload"

local run_kernel = {}

--- Options of the command line that are a launch's.
run_kernel.option_list = { "--kernel", "--grid", "--block", "--shared", "--arg", "--dump", "--expect" }

function run_kernel.is_option(name)
  for _, option in ipairs(run_kernel.option_list) do
    if option == name then return true end
  end
  return false
end

local separator <const> = "\t"

--- The name of the workload: a PTX file, and a list of { option, value }.
function run_kernel.name_of(path, launch)
  local words = { path }
  for _, entry in ipairs(launch) do
    words[#words + 1] = entry[1]
    words[#words + 1] = entry[2]
  end
  for _, word in ipairs(words) do
    if word:find "%c" then core.user_error(("run: expected options without control characters, got '%s'"):format(word:gsub("%c", "?"))) end
  end
  return table.concat(words, separator)
end

--- The same of a command line, "FILE.ptx --grid X,Y,Z --block X,Y,Z ..."; nil when it is none, but the name of a workload.
function run_kernel.name_of_line(line)
  if not line:find "%.ptx['\"]?%s" then return nil end
  local words = names.words_of_shell(line)
  if not words then names.expected("workload", "a command line, its quotes closed", line) end
  return table.concat(words, separator)
end

--- For people.
function run_kernel.shown(name) return (name:gsub(separator, " ")) end

-- Reading ----------------------------------------------------------------------------------------------------------

local function fail(where, text, ...) core.user_error(where .. ": " .. text:format(...)) end

local function whole(where, what, text)
  return math.tointeger(tonumber(text)) or fail(where, "expected %s, got '%s'", what, text)
end

--- "X", "X,Y" or "X,Y,Z"
local function read_extent(where, text)
  local extent = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    extent[#extent + 1] = math.tointeger(tonumber(word))
      or fail(where, "expected X, X,Y or X,Y,Z in whole numbers, got '%s'", text)
  end
  return extent
end

local element_types <const> = { i8 = 1, u8 = 1, i16 = 2, u16 = 2, i32 = 4, u32 = 4, i64 = 8, u64 = 8, f32 = 4, f64 = 8, f16 = 2, bf16 = 2 }
local element_list <const> = "i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, f16, bf16"

local function require_type(where, element)
  return element_types[element] and element or fail(where, "expected a type (%s), got '%s'", element_list, element)
end

--- Numbers, with commas between them.
local function read_numbers(where, text)
  local list = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    list[#list + 1] = math.tointeger(tonumber(word)) or tonumber(word) or fail(where, "expected numbers, got '%s'", text)
  end
  return list
end

--- What fills a buffer: by name, a function (array, where, text behind the colon). The first numbers have defaults.
local fillings = {
  zeros = function() end,
  fill = function(array, where, text) array:fill(read_numbers(where, text)[1]) end,
  iota = function(array, where, text)
    local from, step = table.unpack(read_numbers(where, text ~= "" and text or "0"))
    for i = 0, #array - 1 do array[i] = from + i * (step or 1) end
  end,
  random = function(array, where, text)
    local seed, lo, hi = table.unpack(read_numbers(where, text))
    if not hi or math.type(seed) ~= "integer" then fail(where, "expected random:SEED,LO,HI, got random:%s", text) end
    array:random(seed, lo, hi)
  end,
  pattern = function(array, where, text)
    local list = read_numbers(where, text)
    for i = 0, #array - 1 do array[i] = list[i % #list + 1] end
  end,
}
local filling_list <const> = "zeros, fill:X, iota, iota:FROM,STEP, random:SEED,LO,HI, pattern:X,Y,..., file:PATH"

--- TYPE[COUNT] or TYPE[COUNT]=FILLING as { element =, count = or nil, filling =, text = }; nil when it is something else.
local function read_buffer(where, text)
  local element, count, rest = text:match "^(%w+)%[(.-)%](.*)$"
  if not element then return nil end
  local filling, detail = rest:match "^=(%w+):?(.*)$"
  if rest == "" then
    filling, detail = "zeros", ""
  elseif not filling or filling ~= "file" and not fillings[filling] then
    fail(where, "expected TYPE[COUNT]=FILLING with one of %s, got '%s'", filling_list, text)
  end
  if count == "" and filling ~= "file" then fail(where, "expected TYPE[COUNT], got no count in '%s'", text) end
  local number = count ~= "" and whole(where, "a count of elements", count) or nil
  if number and number < 0 then fail(where, "expected a count of elements, got '%s'", count) end
  return { element = require_type(where, element), count = number, filling = filling, text = detail }
end

--- An argument, { name = or nil, where =, buffer = | bytes = | number = | element =, value = }.
local function read_argument(text)
  local where = ("--arg %s"):format(text)
  local name, rest = text:match "^([%a_$%%][%w_$%.]*)=(.*)$"
  local argument = { name = name, where = where }
  local spec = rest or text
  argument.buffer = read_buffer(where, spec)
  if argument.buffer then return argument end
  local kind, value = spec:match "^(%w+):(.*)$"
  if kind == "bytes" then
    if #value % 2 ~= 0 or value:find "%X" then fail(where, "expected bytes: and pairs of hexadecimal digits, got '%s'", value) end
    argument.bytes = value:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
  elseif kind == "file" then
    argument.path = value
  elseif kind then
    argument.element = require_type(where, kind)
    argument.number = tonumber(value)
  else
    argument.number = tonumber(spec)
  end
  if not argument.bytes and not argument.path and not argument.number then
    fail(where, "expected a number, TYPE:NUMBER, bytes:HEX, file:PATH or TYPE[COUNT]=FILLING, got '%s'", spec)
  end
  return argument
end

--- "ARG=FILE" as { argument =, path = }; with tolerances, of --expect, abs and rel as well.
local function read_target(option, text)
  local argument, path = text:match "^([^=]+)=(.+)$"
  if not argument then fail(option, "expected ARG=FILE, got '%s'", text) end
  local target = { option = option, argument = argument, path = path }
  while option == "--expect" do
    local before, key, value = target.path:match "^(.*),(%a+)=([^,]*)$"
    if key ~= "abs" and key ~= "rel" then break end
    target.path, target[key] = before, tonumber(value) or fail(option, "expected a number for %s, got '%s'", key, value)
  end
  return target
end

--- The launch that a name describes.
local function read_launch(words)
  local launch = { args = {}, targets = {} }
  for i = 2, #words, 2 do
    local option, value = words[i], words[i + 1]
    if option == "--grid" or option == "--block" then
      launch[option:sub(3)] = read_extent(option, value)
    elseif option == "--shared" then
      launch.shared = core.quantity(value, "bytes", option)
    elseif option == "--kernel" then
      launch.kernel = value
    elseif option == "--arg" then
      launch.args[#launch.args + 1] = read_argument(value)
    elseif option == "--dump" or option == "--expect" then
      launch.targets[#launch.targets + 1] = read_target(option, value)
    else
      fail("run", "expected an option of a launch, got '%s'", option)
    end
  end
  if not launch.grid or not launch.block then fail("run", "expected --grid and --block with a PTX file, got %s",
    launch.grid and "no --block" or launch.block and "no --grid" or "neither") end
  return launch
end

-- Running ----------------------------------------------------------------------------------------------------------

--- "a (8 bytes, integer), shape (20 bytes)": for messages.
local function describe_params(info)
  local list = {}
  for i, p in ipairs(info.params) do
    list[i] = ("%s (%d byte%s%s)"):format(p.name, p.bytes, p.bytes == 1 and "" or "s", p.type == "bits" and "" or ", " .. p.type)
  end
  return list[1] and table.concat(list, ", ") or "none"
end

local function choose_kernel(self, kernel_names, launch)
  if launch.kernel then return self.kernels[launch.kernel] end -- whose absence is an error that lists them
  if #kernel_names ~= 1 then
    fail("--kernel", "expected one of the %d kernels of %s, got nothing; available: %s", #kernel_names, self.ptx,
      table.concat(kernel_names, ", "))
  end
  return self.kernels[kernel_names[1]]
end

--- By the number of the parameter: the argument. Those with a name go to that parameter, the others to what is left, in turn.
local function match_arguments(info, args)
  local of, index = {}, {}
  for i, p in ipairs(info.params) do index[p.name] = i end
  for _, argument in ipairs(args) do
    local i = argument.name and (index[argument.name]
      or fail(argument.where, "kernel %s has no parameter '%s'; available: %s", info.name, argument.name, describe_params(info)))
    if i and of[i] then fail(argument.where, "expected one argument for %s, got two", argument.name) end
    if i then of[i] = argument end
  end
  local next_free = 1
  for _, argument in ipairs(args) do
    if not argument.name then
      while of[next_free] do next_free = next_free + 1 end
      of[next_free] = argument
    end
  end
  local given = #args
  if given ~= #info.params or next_free > #info.params + 1 then
    fail("--arg", "expected %d for kernel %s: %s; got %d", #info.params, info.name, describe_params(info), given)
  end
  return of
end

local function array_of_file(where, path, element)
  if not core.is_file(path) then fail(where, "no file matches '%s'", path) end
  return core.file_array(path, element)
end

local function make_array(where, buffer)
  if buffer.filling == "file" then
    local array = array_of_file(where, buffer.text, buffer.element)
    if not buffer.count then return array end
    if #array < buffer.count then fail(where, "expected %d elements or more in %s, got %d", buffer.count, buffer.text, #array) end
    return array:slice(0, buffer.count)
  end
  local array = core.array(buffer.element, buffer.count)
  fillings[buffer.filling](array, where, buffer.text)
  return array
end

--- What the kernel gets for a parameter; a buffer is uploaded, and noted in `buffers`.
local function value_of(gpu, info, i, argument, buffers)
  local param = info.params[i]
  if argument.buffer then
    if param.bytes ~= 8 then
      fail(argument.where, "expected a value of %d byte%s for parameter %s, got a buffer, whose address has 8 bytes", param.bytes,
        param.bytes == 1 and "" or "s", param.name)
    end
    local array = make_array(argument.where, argument.buffer)
    local buffer = { name = param.name, number = i - 1, element = array:type(), count = #array, address = gpu:upload(array) }
    buffers[#buffers + 1] = buffer
    return buffer.address
  elseif argument.bytes then
    return core.array_from("u8", argument.bytes)
  elseif argument.path then
    return array_of_file(argument.where, argument.path, "u8")
  elseif argument.element then
    return core.array(argument.element, 1):set(0, argument.number)
  end
  return math.tointeger(argument.number) and param.type ~= "float" and math.tointeger(argument.number) or argument.number
end

local function find_buffer(buffers, target)
  for _, buffer in ipairs(buffers) do
    if buffer.name == target.argument or tostring(buffer.number) == target.argument then return buffer end
  end
  local known = {}
  for i, buffer in ipairs(buffers) do known[i] = ("%d (%s)"):format(buffer.number, buffer.name) end
  fail(target.option, "no buffer matches '%s'; available: %s", target.argument, known[1] and table.concat(known, ", ") or "none")
end

--- A file that cannot be written is found before the kernel takes its time. What is no file, a pipe say, is not opened twice.
local function require_writable(option, path)
  local is_there = core.is_file(path)
  if not is_there and core.real_path(path) and not core.real_path(path .. "/.") then return end
  local file, problem = io.open(path, "ab")
  if not file then fail(option, "expected a file that can be written, got %s", problem) end
  file:close()
  if not is_there then os.remove(path) end
end

--- Finds the buffers and files of dumps and comparisons.
local function prepare_targets(launch, buffers)
  for _, target in ipairs(launch.targets) do
    local buffer = find_buffer(buffers, target)
    if target.option == "--dump" then
      require_writable(target.option, target.path)
    else
      target.expected = array_of_file(target.option, target.path, buffer.element)
    end
  end
end

--- Dumps, comparisons and digests of what the kernel left in the buffers.
local function look_at_results(self, gpu, launch, buffers)
  for _, buffer in ipairs(buffers) do buffer.array = gpu:download(buffer.element, buffer.address, buffer.count) end
  for _, buffer in ipairs(buffers) do
    print(("%-20s %s, %s[%d], digest %s"):format("argument " .. buffer.number, buffer.name, buffer.element, buffer.count,
      core.digest(buffer.array:string())))
  end
  for _, target in ipairs(launch.targets) do
    local buffer = find_buffer(buffers, target)
    if target.option == "--dump" then
      buffer.array:write(target.path)
    else
      self:check(("%s and %s"):format(buffer.name, target.path), buffer.array, target.expected, { abs = target.abs, rel = target.rel })
    end
  end
end

local function run_launch(self, gpu, launch)
  local kernel = choose_kernel(self, self.kernel_names, launch)
  local info, buffers, values = kernel:info(), {}, {}
  local of = match_arguments(info, launch.args)
  for i = 1, #info.params do values[i] = value_of(gpu, info, i, of[i], buffers) end
  prepare_targets(launch, buffers)
  gpu:launch(kernel, { grid = launch.grid, block = launch.block, shared = launch.shared, args = values })
  look_at_results(self, gpu, launch, buffers)
end

--- The workload that a name describes.
function run_kernel.workload(name)
  local words = {}
  for word in (name .. separator):gmatch "([^\t]*)\t" do words[#words + 1] = word end
  local path = words[1]
  if not core.is_file(path) then fail("run", "no PTX file matches '%s'", path) end
  local launch = read_launch(words)
  local w = workload.of_kernel(path, path:match "([^/]*)%.ptx$", launch.kernel or "kernel")
  function w:run(gpu) run_launch(self, gpu, launch) end
  return w
end

return run_kernel

-- Writes what editors know of Warpwright's Lua: annotations for the Lua language server (LuaLS),
-- from the rows of each class. With them an editor completes `self.sm.` and the parameters of m:L1,
-- and flags a misspelt knob. `scons install` puts them into share/warpwright/library: name that
-- folder in workspace.library of a project's .luarc.json.
--   warpwright scripts/annotations.lua            writes core/lua/annotations/
--   warpwright scripts/annotations.lua --check    fails when they are not current
local core = require "warpwright.core"
local names = require "warpwright.names"
local run = require "warpwright.run"

local folder = core.home_path "core/lua/annotations"
local head = "---@meta\n-- Written by scripts/annotations.lua from the rows of the classes: `warpwright scripts/annotations.lua` writes it anew.\n"

-- Types -------------------------------------------------------------------------------------------

local plain_types <const> = { whole = "integer", real = "number", flag = "boolean", text = "string", set = "integer" }

local function choice_type(choices) return '"' .. choices:gsub("|", '"|"') .. '"' end

--- What a script reads where a row has its value.
local function value_type(row) return row.choices and choice_type(row.choices) or plain_types[row.kind] end

--- What may be given for a parameter: numbers with a unit also as texts, "16KiB".
local function parameter_type(row)
  if row.unit == "bytes" or row.unit == "Hz" then return value_type(row) .. "|string" end
  return value_type(row)
end

local function with_unit(row)
  local has_unit = row.unit and row.unit ~= "" and row.unit ~= "choice" and row.unit ~= "flag"
  return row.doc .. (has_unit and (" (%s)"):format(row.unit) or "")
end

--- As a field of a class: names that are no Lua names stand in brackets.
local function field(name, optional, kind, doc)
  local plain = name:match "^[%a_][%w_]*$" and name or ("[%q]"):format(name)
  return ("---@field %s%s %s %s"):format(plain, optional and "?" or "", kind, doc)
end

local function add(lines, format, ...) lines[#lines + 1] = select("#", ...) > 0 and format:format(...) or format end

--- The rows of a class for which `is_of(row)` holds.
local function rows_of(class, is_of)
  local found = {}
  for _, row in ipairs(core.class_rows(class)) do
    if is_of(row) then found[#found + 1] = row end
  end
  return found
end

local function is_parameter(row) return row.row == "parameter" end
local function is_number(row) return row.kind ~= nil and row.kind ~= "text" end

-- Objects of policies -----------------------------------------------------------------------------

local function is_readable(row) return is_number(row) and (row.row == "statistic" or row.row == "state") end
local function is_knob(row) return is_number(row) and row.knob end

--- Parameters as both policies and machines read them.
local function add_values(lines, class)
  add(lines, "---@class warpwright.%s.Values", class.name)
  for _, row in ipairs(rows_of(class.name, is_parameter)) do
    add(lines, field(row.name, false, value_type(row), with_unit(row) .. (row.knob and ": a knob" or "")))
  end
  add(lines, "")
end

local function add_knobs(lines, class)
  add(lines, "---@class (exact) warpwright.%s.Knobs", class.name)
  for _, row in ipairs(rows_of(class.name, is_knob)) do
    local open = row.kind == "whole" and "|fun(argument: integer): integer" or ""
    add(lines, field(row.name, true, value_type(row) .. open, with_unit(row)))
  end
  add(lines, "")
end

local function parameter_doc(parameter)
  if parameter.kind == "set" then return "a set of " .. parameter.unit end
  if parameter.below then return ("0 to %s - 1"):format(parameter.below) end
  return parameter.max and ("%d to %d"):format(parameter.min, parameter.max) or ""
end

local function method_type(parameter)
  return parameter.kind == "object" and "warpwright." .. parameter.class or plain_types[parameter.kind]
end

local function add_method(lines, class, method)
  local arguments = {}
  add(lines, "---%s", method.doc)
  for i, argument in ipairs(method.arguments) do
    arguments[i] = argument.name
    add(lines, ("---@param %s %s %s"):format(argument.name, method_type(argument), parameter_doc(argument)):gsub(" +$", ""))
  end
  for _, result in ipairs(method.results) do
    add(lines, "---@return %s%s %s", method_type(result), method.may_be_nil and "?" or "", result.name)
  end
  add(lines, "function %s:%s(%s) end\n", class.name, method.name, table.concat(arguments, ", "))
end

local function add_handle(lines, class)
  add_values(lines, class)
  add_knobs(lines, class)
  add(lines, "---%s", class.doc)
  add(lines, "---@class warpwright.%s: warpwright.Handle, warpwright.%s.Values", class.name, class.name)
  for _, row in ipairs(rows_of(class.name, is_readable)) do
    add(lines, field(row.name, false, value_type(row), with_unit(row) .. (row.knob and ": a knob" or "")))
  end
  add(lines, "local %s = {}\n", class.name)
  add(lines, "---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.")
  add(lines, "---@param knobs warpwright.%s.Knobs\n---@param ... any\n---@return fun(argument?: integer)", class.name)
  add(lines, "function %s:setting(knobs, ...) end\n", class.name)
  for _, method in ipairs(core.class_methods(class.name)) do add_method(lines, class, method) end
end

local function objects()
  local lines = { head .. [[

---An object as policies hold it: values, statistics and parameters are read by name, knobs are set by name.
---@class warpwright.Handle
---@field path string "sm[3].l1d"
---@field class string
]] }
  for _, class in ipairs(core.classes()) do add_handle(lines, class) end
  return table.concat(lines, "\n") .. "\n"
end

-- Machines ----------------------------------------------------------------------------------------

local function add_parameters(lines, class)
  add(lines, "---@class (exact) warpwright.%s.Parameters", class.name)
  add(lines, field("clock", true, "string", "The object's clock; core where none is named"))
  for _, row in ipairs(rows_of(class.name, is_parameter)) do
    local default = row.default and ("; default %s"):format(row.default) or ""
    add(lines, field(row.name, row.default ~= nil, parameter_type(row), with_unit(row) .. default))
  end
  for _, row in ipairs(rows_of(class.name, function(r) return r.row == "child" end)) do
    add(lines, field(row.name, true, ("warpwright.%s.Parameters"):format(row.class), row.doc))
  end
  add(lines, "")
end

--- A port and a parameter may share a name: then it is the port.
local function add_object(lines, class)
  local of = { port = "warpwright.Port", ports = "table<integer, warpwright.Port>" }
  local members, seen = rows_of(class.name, function(row) return of[row.row] or row.row == "child" end), {}
  for _, row in ipairs(members) do seen[row.name] = true end
  add(lines, "---@class warpwright.%s.Object: warpwright.Object", class.name)
  for _, row in ipairs(members) do
    add(lines, field(row.name, false, of[row.row] or ("warpwright.%s.Object"):format(row.class), row.doc))
  end
  for _, row in ipairs(rows_of(class.name, is_parameter)) do
    if not seen[row.name] then add(lines, field(row.name, false, value_type(row), with_unit(row))) end
  end
  add(lines, "")
end

local function add_constructor(lines, class)
  local made = ("fun(parameters: warpwright.%s.Parameters): warpwright.%s.Object"):format(class.name, class.name)
  add(lines, "---%s", class.doc)
  add(lines, "---@param name string\n---@param index? integer\n---@return %s", made)
  add(lines, "---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): %s", made)
  add(lines, "function Machine:%s(name, index) end\n", class.name)
end

local machine_text <const> = [[

---@class warpwright.Port

---@class warpwright.Object
---@field path string
---@field class string
---@field [string] any objects below it

---@class (exact) warpwright.WireOptions
---@field latency? integer cycles of the sender
---@field depth? integer messages
---@field width? integer messages per cycle
---@field back? warpwright.WireOptions of the responses

---What the function of ww.machine gets.
---@class warpwright.Machine
---@field reference table<string, number|number[]> values measured on what the machine describes
local Machine = {}

---@param clocks table<string, string|number> core = "700MHz" and others
function Machine:clocks(clocks) end

---@param cycles integer of the core clock
function Machine:quantum(cycles) end

---@param file string classes that are written in Lua: a name of configs/classes, or a path
function Machine:use(file) end

---@param path string of an object that has been made
---@return table
function Machine:object(path) end

---@param a warpwright.Port|string
---@param b warpwright.Port|string
---@param options? warpwright.WireOptions
function Machine:wire(a, b, options) end

---@param a warpwright.Port|string
---@param b warpwright.Port|string
---@param options? warpwright.WireOptions
function Machine:join(a, b, options) end

---What the function of ww.variant gets.
---@class warpwright.Variant: warpwright.Machine
local Variant = {}

---@param name string
---@param frequency string|number
function Variant:clock(name, frequency) end

---@param pattern string of objects, or of wires: "port -> port"
---@param values table parameters, or options of the wires
function Variant:change(pattern, values) end

---@param pattern string of wires: "port -> port"
---@param make fun(m: warpwright.Machine, i: integer): warpwright.Port|string, warpwright.Port|string, warpwright.WireOptions?
function Variant:insert(pattern, make) end

---Builds the base; objects and wires may follow.
function Variant:base() end
]]

local function machine()
  local lines = { head .. machine_text }
  for _, class in ipairs(core.classes()) do
    add_parameters(lines, class)
    add_object(lines, class)
    add_constructor(lines, class)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Policies ----------------------------------------------------------------------------------------

--- Whose events a policy has hooks of, and what stands before the event's name in theirs.
local hooked <const> = {
  { "SM", "" }, { "L1", "l1_" }, { "L1", "texture_" }, { "L1", "constant_" }, { "LSU", "lsu_" }, { "L2", "" },
  { "MemoryController", "mc_" }, { "MemoryController", "" },
}

local function answer_type(event)
  if not event.question then return "" end
  return event.legal and ": integer?" or ": boolean?"
end

local function hook_type(event)
  local arguments = { "self: warpwright.Policy" }
  for _, name in ipairs(event.arguments) do arguments[#arguments + 1] = name .. ": integer" end
  return ("fun(%s)%s"):format(table.concat(arguments, ", "), answer_type(event))
end

--- Hooks by name; those that objects of several classes have may be of either type.
local function hooks()
  local found = {}
  for _, row in ipairs(hooked) do
    local class, prefix = row[1], row[2]
    for _, event in ipairs(core.class_events(class)) do
      local name = (event.question and "" or "on_") .. prefix .. event.name
      local hook = found[name] or { types = {}, docs = {} }
      found[name] = hook
      local kind = hook_type(event)
      if not hook.types[kind] then
        hook.types[kind] = true
        hook.types[#hook.types + 1] = kind
      end
      hook.docs[#hook.docs + 1] = ("%s: %s"):format(class, event.doc)
    end
  end
  return found
end

local policy_text <const> = [[

---@class warpwright.PolicyPart
---@field class string
---@field name string
---@field of string
---@field [string] any its parameters: values, functions of (params, object), or policy.param "name"

---@class (exact) warpwright.PolicySettings
---@field doc? string
---@field scope? "sm"|"cache"|"l2"|"mc"|"dispatcher"|"machine"|string or a class: what an instance is about
---@field params? table<string, table> { name = { default, min =, max =, doc = } }
---@field counters? table<string, string> { name = "what it counts" }
---@field period? integer|string cycles between two on_period, or the parameter that says so
---@field parts? warpwright.PolicyPart[]
---@field uses? table
---@field caches? string|table "data", "L2", a pattern of paths, or { this, when = PARAMETER }
---@field shares? table<string, table> { name = { how many numbers, doc = } }
---@field sets_classes? boolean|fun(params: table): boolean does it call sm:set_class?
---@field order? %s
---@field first? %s

---What policy "name" {...} makes, and `self` in its functions.
---@class warpwright.Policy
---@field sm warpwright.SM in scope sm
---@field l1 warpwright.L1 in scope sm; false where the load/store unit has none
---@field texture warpwright.L1
---@field constant warpwright.L1
---@field lsu warpwright.LSU
---@field l2 warpwright.L2 in scope l2
---@field mc warpwright.MemoryController in scopes l2 and mc
---@field cache warpwright.L1|warpwright.L2 in scope cache
---@field caches (warpwright.L1|warpwright.L2)[] those named by `caches`
---@field object warpwright.Handle in the scope of a class
---@field dispatcher warpwright.Dispatcher in scope dispatcher
---@field sms warpwright.SM[] in scope machine
---@field l1s warpwright.L1[]
---@field textures warpwright.L1[]
---@field constants warpwright.L1[]
---@field l2s warpwright.L2[]
---@field mcs warpwright.MemoryController[]
---@field dispatchers warpwright.Dispatcher[]
---@field params table<string, any> to be read
---@field state table all that it remembers
---@field counters table<string, integer>
---@field count fun(self: warpwright.Policy, name: string, n?: integer) adds n, or 1, to a counter
---@field cycle fun(self: warpwright.Policy): integer the present cycle of the object's clock
---@field clock fun(self: warpwright.Policy, name: string): integer, integer, integer in scope machine: Hz at present, the least, the most
---@field channel_of fun(self: warpwright.Policy, address: integer): integer?, integer?, integer?, integer? the memory channel, L2 slice, DRAM bank and row in which it lies; nil: nowhere yet
---@field set_clock fun(self: warpwright.Policy, name: string, frequency: string|number) in scope machine: from this boundary on
---@field energy fun(self: warpwright.Policy, of?: userdata, technology?: string): number, table<string, number> in scope machine: joules of the object and what is below it, or of the machine, up to now; those of each part
---@field own_l1 fun(self: warpwright.Policy) in start: ends the run unless the SM has an L1 for data to itself
---@field share fun(self: warpwright.Policy, name: string, number: integer|number, index?: integer) tells the other instances of it
---@field shared fun(self: warpwright.Policy, name: string, index?: integer): table<integer, number>, integer? what each instance has said, and the own place
---@field bind fun(self: warpwright.Policy, hook: string, setting: function|table, counter?: string)
---@field only fun(self: warpwright.Policy, hook: string, ...: table<string, integer|table<string, integer>>) in start: the hook is called where all conditions on its arguments hold, of one of the tables
---@field start? fun(self: warpwright.Policy)
---@field configure? fun(self: warpwright.Policy, class: string, path: string, params: table): table?
---@field on_period? fun(self: warpwright.Policy)
---@field on_kernel_start? fun(self: warpwright.Policy, name: string)
---@field on_kernel_end? fun(self: warpwright.Policy, name: string)
]]

local policy_end <const> = [[
---@field [string] any parts by name, own functions

---@class warpwright.PolicyModule
---@overload fun(name: string): fun(settings: warpwright.PolicySettings): warpwright.Policy
local policy = {}

---As a value in handle:setting(): the argument that the setting is called with.
---@param argument integer
---@return integer
function policy.argument(argument) end

---For a parameter of a part, or a setting of configure(): that of the policy.
---@param name string
---@return any
function policy.param(name) end

return policy
]]

local function choices_of(class, parameter)
  for _, row in ipairs(core.class_rows(class)) do
    if row.name == parameter then return value_type(row) end
  end
end

local function policy()
  local lines, found = { head .. policy_text:format(choices_of("SM", "scheduler"), choices_of("SM", "first")) }, hooks()
  lines[1] = lines[1]:gsub("\n$", "")
  for _, name in ipairs(names.sorted_keys(found)) do
    local types = found[name].types
    local kind = #types == 1 and types[1] or ("(%s)"):format(table.concat(types, ")|("))
    add(lines, field(name, true, kind, table.concat(found[name].docs, "; ")))
  end
  return table.concat(lines, "\n") .. "\n" .. policy_end
end

-- The modules -------------------------------------------------------------------------------------

local bits_text <const> = [[

---Sets as whole numbers, bit w for warp w.
local bits = { all = -1 }

---@param set integer
---@return integer how many
function bits.count(set) end

---@param set integer
---@return integer? the smallest member
function bits.lowest(set) end

---@param warp integer
---@return integer set of this warp alone
function bits.of(warp) end

---@param set integer
---@param warp integer
---@return boolean
function bits.has(set, warp) end

---@param set integer
---@return fun(): integer? in ascending order
function bits.each(set) end

return bits
]]

local module_text <const> = [[

---@class warpwright
---@field version string
local ww = {}

---@param name string
---@param options table<string, number|string|boolean|table> that overrides may change by name; a list has the legal values, the default first
---@param build fun(m: warpwright.Machine, o: table)
---@overload fun(name: string, build: fun(m: warpwright.Machine, o: table)): table
---@return table
function ww.machine(name, options, build) end

---@param name string
---@return fun(settings: warpwright.ClassSettings): table
function ww.class(name) end

---@param name string
---@param base string|table a name, a path or a machine
---@param options table<string, number|string|boolean|table> of the base, and further ones that the function reads
---@param build fun(m: warpwright.Variant, o: table)
---@overload fun(name: string, base: string|table, build: fun(m: warpwright.Variant, o: table)): table
---@return table
function ww.variant(name, base, options, build) end

---@param name string
---@return fun(definition: table): table
function ww.workload(name) end

---@param name string
---@return fun(numbers: table): table
function ww.technology(name) end

---@param options warpwright.RunOptions
---@return table result
function ww.run(options) end

---@param config any
---@param options? table
---@return table sim
function ww.build(config, options) end

---@param element string "f32" and the like
---@param length integer
---@return table
function ww.array(element, length) end

---@param element string "f32" and the like
---@param source table|string numbers, bytes, or an array
---@return table
function ww.array_from(element, source) end

---@param path string
---@param element string "f32" and the like
---@return table
function ww.file_array(path, element) end

---@param seed integer
---@return table
function ww.rng(seed) end

---@type { round: fun(x: number): number; fma: fun(a: number, b: number, c: number): number }
ww.float32 = nil

]]

local class_text <const> = [[
---@class warpwright.ClassSettings
---@field doc? string
---@field passes_on? boolean requests go through it: policies look for caches behind it
---@field ports table<string, table> { name = { "responder" or "requester", count = a parameter, optional =, doc = } }
---@field params? table<string, table> { name = { default, unit =, min =, max =, choices =, power_of_two =, timing =, doc = } }
---@field stats? table<string, table> { name = { unit =, doc = } }
---@field state? table what each object remembers, at first
---@field hears? table<string, string[]> { port = { event ... } }: on_PORT_EVENT(self, arguments)
---@field tick fun(self: warpwright.LuaObject, cycle: integer): integer|boolean|nil
---@field start? fun(self: warpwright.LuaObject)
---@field on_kernel_start? fun(self: warpwright.LuaObject, kernel: string)
---@field [string] any further functions are methods

---@class warpwright.Message
---@field kind "read"|"write"|"atomic"
---@field answer boolean
---@field hit? boolean of an answer
---@field wants_answer boolean
---@field address integer
---@field bytes integer of the segment
---@field size integer its bytes on a network, header and data
---@field sm? integer
---@field warp? integer
---@field pc integer
---@field class integer may be changed
---@field port string
---@field index? integer of an array of ports
---@field own? boolean the answer to a request of this object
---@field tag? integer

---@class warpwright.ObjectPort
---@field peek fun(self: warpwright.ObjectPort): warpwright.Message? the first message
---@field pop fun(self: warpwright.ObjectPort): warpwright.Message? takes it
---@field can_send fun(self: warpwright.ObjectPort): boolean
---@field is_wired fun(self: warpwright.ObjectPort): boolean
---@field send fun(self: warpwright.ObjectPort, message: warpwright.Message)
---@field forward fun(self: warpwright.ObjectPort, to?: warpwright.ObjectPort): boolean
---@field request fun(self: warpwright.ObjectPort, request: table) { address =, bytes =, kind =, tag =, sm =, warp =, class = }

---`self` in the functions of a class; its ports are fields.
---@class warpwright.LuaObject
---@field path string
---@field params table<string, any> to be read
---@field state table all that it remembers
---@field count fun(self: warpwright.LuaObject, name: string, n?: integer)
---@field answer fun(self: warpwright.LuaObject, request: warpwright.Message, how?: { hit: boolean })
---@field can_answer fun(self: warpwright.LuaObject, request: warpwright.Message): boolean
---@field drop fun(self: warpwright.LuaObject, request: warpwright.Message)
---@field room fun(self: warpwright.LuaObject): integer how many more messages it may hold
---@field [string] any

---@param name string
---@return fun(settings: warpwright.ClassSettings): table
local function class(name) end

return class
]]

local run_types <const> = {
  size = "string|table", policy = "string|table", set = "table", out = "string|false", threads = "integer",
  max_cycles = "integer", checkpoint_every = "integer|string", resume = "string",
}

local function module()
  local lines = { head, "---@class (exact) warpwright.RunOptions" }
  for _, name in ipairs(run.options) do add(lines, ("---@field %s? %s"):format(name, run_types[name] or "any")) end
  local text = table.concat(lines, "\n") .. "\n" .. module_text
  for _, element in ipairs { "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "f16", "bf16" } do
    text = text .. ("---@param value number\n---@return table\nfunction ww.%s(value) end\n\n"):format(element)
  end
  return text .. "return ww\n"
end

-- The files ---------------------------------------------------------------------------------------

local files <const> = {
  ["warpwright.lua"] = module, ["warpwright/bits.lua"] = function() return head .. bits_text end,
  ["warpwright/class.lua"] = function() return head .. class_text end,
  ["warpwright/machine.lua"] = machine, ["warpwright/objects.lua"] = objects, ["warpwright/policy.lua"] = policy,
}

local function read_file(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

for _, name in ipairs(names.sorted_keys(files)) do
  local path, text = folder .. "/" .. name, files[name]()
  assert(load(text, "=" .. name))
  if arg[1] == "--check" then
    if read_file(path) ~= text then
      error(path .. ": expected the annotations of today's rows, got others; warpwright scripts/annotations.lua writes them", 0)
    end
  else
    core.make_folder(path:match "^(.*)/")
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
  end
end

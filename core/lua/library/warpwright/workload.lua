-- Workloads: host programs with their kernels, input sizes, and the check of what they computed.
local core = require "warpwright.core"
local names = require "warpwright.names"
local note = require "warpwright.note"

local workload = {}

local Workload = { __name = "workload" }
Workload.__index = Workload

--- What a failed check raises: the program's exit status is 1 and not that of an error.
local Failure = {
  __tostring = function(failure) return failure.message end,
}

function workload.is_workload(value) return getmetatable(value) == Workload end
function workload.is_failure(value) return getmetatable(value) == Failure end

--- The folder of the Lua file whose function is `level` calls up, and that file.
local function folder_of_caller(level)
  local source = debug.getinfo(level + 1, "S").source
  return source:match("^@(.*/)") or "", source:match("^@(.*)")
end

--- ww.workload "name" { doc =, ptx = a file beside the workload's or PTX text, sizes = { small = {...} ... },
-- expected = { ... }: how it should behave, for scripts and tests to read }; ptx = false: the host program loads it itself
function workload.define(name)
  if type(name) ~= "string" then names.expected("ww.workload", 'a name (ww.workload "name" {...})', name) end
  local folder, file = folder_of_caller(2)
  return function(definition)
    names.check_keys("workload " .. name, definition, { "doc", "ptx", "sizes", "expected" })
    if definition.ptx ~= false and type(definition.ptx) ~= "string" then
      names.expected(("workload %s: ptx"):format(name), "a PTX file, PTX text, or false where the host program loads all that it runs",
        definition.ptx)
    end
    if type(definition.sizes) ~= "table" or not next(definition.sizes) then
      core.user_error(("workload %s: sizes: expected a table with one size or more, got %s"):format(name,
        definition.sizes and "none" or "nothing"))
    end
    for _, size in ipairs(names.sorted_keys(definition.sizes)) do
      if type(definition.sizes[size]) ~= "table" then
        names.expected(("workload %s: sizes: %s"):format(name, tostring(size)), "a table of parameters", definition.sizes[size])
      end
    end
    local ptx = definition.ptx
    local is_text = ptx and ptx:find("\n", 1, true) ~= nil
    return setmetatable({
      name = name,
      file = file,
      doc = definition.doc,
      ptx = is_text and file or ptx and (ptx:sub(1, 1) == "/" and ptx or folder .. ptx), -- where its PTX is
      ptx_text = is_text and ptx,
      sizes = definition.sizes,
      expected = definition.expected,
    }, Workload)
  end
end

--- A workload whose PTX is the file, with one size of this name.
function workload.of_kernel(path, name, size)
  return setmetatable({ name = name, file = path, ptx = path, sizes = { [size] = {} } }, Workload)
end

--- A workload of kernels that were recorded: it loads them itself. It has one size, `one`, by whichever name other workloads have
--- theirs, as checks, scripts and sweeps of several workloads ask for.
function workload.of_recorded(path, name, one)
  return setmetatable({ name = name, file = path, ptx = false, sizes = { recorded = one, small = one, medium = one, large = one },
    only_size = "recorded" }, Workload)
end

-- Sizes ------------------------------------------------------------------------------------------------------------

local function default_size(w) return w.sizes.medium and "medium" or names.sorted_keys(w.sizes)[1] end

--- "small", "medium,nodes=1000" or { "medium", nodes = 1000 } as base and list of { name, value }. Without a base, the
-- default is meant.
local function read_size(w, size)
  local base, changes, named = default_size(w), {}, nil
  if type(size) == "table" then
    base = size[1] or base
    for _, key in ipairs(names.sorted_keys(size)) do
      if key ~= 1 then changes[#changes + 1] = { key, size[key] } end
    end
    return base, changes
  end
  if size == "" then names.expected("size", "one of workload " .. w.name .. ", or NAME=VALUE", size) end
  for word in tostring(size or base):gmatch("[^,]+") do
    local key, value = word:match("^([^=]+)=(.*)$")
    if key then
      changes[#changes + 1] = { key, value }
    else
      if named then core.user_error(("size: expected one size of workload %s, got %s and %s"):format(w.name, named, word)) end
      base, named = word, word
    end
  end
  return base, changes
end

--- The parameters of a size, and its name: "medium", or "medium,nodes=1000".
function workload.resolve_size(w, size)
  local base, changes = read_size(w, size)
  local defaults = w.sizes[base]
  if not defaults then
    core.user_error(("size: no size of workload %s matches '%s'%s"):format(w.name, tostring(base),
      names.available(base, names.sorted_keys(w.sizes))))
  end
  local params, label = {}, rawget(w, "only_size") or base
  for _, key in ipairs(names.sorted_keys(defaults)) do params[key] = defaults[key] end
  for _, change in ipairs(changes) do
    local key, text = change[1], change[2]
    local default = defaults[key]
    if default == nil then
      core.user_error(("size: no parameter of workload %s matches '%s'%s"):format(w.name, tostring(key),
        names.available(key, names.sorted_keys(defaults))))
    end
    local value = type(default) == "number" and tonumber(text) or text
    if math.type(default) == "integer" then value = math.tointeger(value) end
    if type(value) ~= type(default) then
      names.expected(("size of workload %s: %s"):format(w.name, key), names.wanted(default), text)
    end
    params[key] = value
    label = ("%s,%s=%s"):format(label, key, tostring(value))
  end
  return params, label
end

-- Running ----------------------------------------------------------------------------------------------------------

--- What is said of a name that is none of the kernels. It may be that of the source: C++ puts _Z, its length and its parameters around it.
local function meant(name, kernel_names)
  local beginning = ("_Z%d%s"):format(#name, name)
  for _, kernel in ipairs(kernel_names) do
    if kernel:sub(1, #beginning) == beginning then return ("; did you mean %s?"):format(kernel) end
  end
  return names.available(name, kernel_names)
end

--- Kernels by name; unknown names are errors.
local function strict_kernels(w, kernels, kernel_names)
  return setmetatable(kernels, {
    __index = function(_, name)
      core.user_error(("%s: no kernel matches '%s'%s"):format(w.ptx, tostring(name), meant(tostring(name), kernel_names)))
    end,
  })
end

local function load_kernels(w, gpu)
  if w.ptx_text then return gpu:load { text = w.ptx_text, name = "PTX of workload " .. w.name } end
  return gpu:load(w.ptx)
end

--- The kernels that the host program can name. Those that it cannot launch are told before anything runs: it may have no use
-- for them.
local function prepare_kernels(w, gpu)
  local kernels, kernel_names, refusals = load_kernels(w, gpu)
  for _, name in ipairs(kernel_names) do
    if refusals[name] then note("kernel %s cannot be launched: %s", name, refusals[name]) end
  end
  return strict_kernels(w, kernels, kernel_names), kernel_names
end

--- What a host program has as `self`: its kernels are loaded, and its checks will be counted.
function workload.instance(w, gpu)
  if not w.run then core.user_error(("workload %s: expected a function %s:run(gpu, size), got none"):format(w.name, w.name)) end
  if w.ptx and not core.is_file(w.ptx) then core.user_error(("workload %s: ptx: no file matches '%s'"):format(w.name, w.ptx)) end
  local instance = setmetatable({ checks = 0 }, { __index = w })
  if w.ptx then instance.kernels, instance.kernel_names = prepare_kernels(w, gpu) end
  return instance
end

--- Runs the host program on a GPU; returns how many checks it passed.
function workload.execute(w, gpu, params)
  local instance = workload.instance(w, gpu)
  w.run(instance, gpu, params)
  core.end_of_host_program(gpu)
  return instance.checks
end

-- Checking ---------------------------------------------------------------------------------------------------------

local function fail(self, text, ...)
  local message = ("verification failed: %s: %s"):format(self.name, text:format(...))
  error(setmetatable({ message = message, exit_status = 1 }, Failure))
end

local function array_of_number(value) return core.array(math.type(value) == "integer" and "i64" or "f64", 1):set(0, value) end

--- Of self:check() and self:check_that().
local function require_running(self, name)
  if type(self) == "table" and math.type(self.checks) == "integer" then return end
  core.user_error(("%s: expected self:%s(...) in the workload's run, got another value in front of the colon"):format(name, name))
end

--- self:check(label, got, want, { abs =, rel = }): arrays of the same length or two numbers, equal or within
-- abs + rel * |want| of each other; NaN equals NaN.
function Workload:check(label, got, want, tolerance)
  require_running(self, "check")
  tolerance = tolerance or {}
  names.check_keys("check: tolerance", tolerance, { "abs", "rel" })
  for _, key in ipairs { "abs", "rel" } do
    local value = tolerance[key]
    if value and not (type(value) == "number" and value >= 0) then names.expected("check: tolerance: " .. key, "0 or more", value) end
  end
  if type(got) == "number" and type(want) == "number" then
    got, want = array_of_number(got), array_of_number(want)
  end
  if not core.is_array(got) or not core.is_array(want) then
    core.user_error(("check %s: expected two arrays or two numbers, got %s and %s"):format(label, names.shown(got), names.shown(want)))
  end
  if #got ~= #want then fail(self, "%s: expected %d elements, got %d", label, #want, #got) end
  local differing, first = core.compare(got, want, tolerance.abs or 0, tolerance.rel or 0)
  if differing > 0 then
    fail(self, "%s: element %d: expected %s, got %s (%d of %d differ)", label, first, tostring(want[first]),
      tostring(got[first]), differing, #got)
  end
  self.checks = self.checks + 1
end

--- self:check_that(label, condition)
function Workload:check_that(label, condition)
  require_running(self, "check_that")
  if not condition then fail(self, "%s: expected true, got false", label) end
  self.checks = self.checks + 1
end

return workload

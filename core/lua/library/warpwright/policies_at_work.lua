-- Instances of policies on a machine: one for each object that a policy is about.
local core = require "warpwright.core"
local policy_check = require "warpwright.policy_check"
local names = require "warpwright.names"
local policy = require "warpwright.policy"

local policies_at_work = {}

local classes = { sm = "SM", l2 = "L2", mc = "MemoryController" }

--- The L1s of an SM by handle, and the ports of its load/store unit that they serve.
local l1_ports = { { "l1", "mem" }, { "texture", "texture" }, { "constant", "constant" } }

local function objects_of(machine, class)
  local found = {}
  for _, object in ipairs(machine:objects()) do
    if object.class == class then found[#found + 1] = object end
  end
  return found
end

--- The parts that policies made below an object, by name.
local function add_parts(handles, machine, object, policies)
  for _, entry in ipairs(policies) do
    for _, part in ipairs(entry.definition.parts) do
      if part.of == object.class then handles[part.name] = machine:find(object.path .. "." .. part.name) end
    end
  end
end

--- or false.
local function peer_of_class(port, class)
  local peer = core.peer(port)
  return peer and peer.class == class and peer or false
end

--- What an instance about this object gets to know.
local function handles_about(machine, scope, object, policies)
  local handles = { [scope] = object }
  if scope == "sm" then
    for _, row in ipairs(l1_ports) do handles[row[1]] = peer_of_class(object.lsu[row[2]], "L1") end
    handles.lsu = machine:find(object.path .. ".lsu")
  elseif scope == "l2" then
    handles.mc = peer_of_class(object.mem, "MemoryController")
  end
  add_parts(handles, machine, object, policies)
  return handles
end

--- A coordinator knows all objects of these classes, in order, and their parts.
local function handles_of_machine(machine, policies)
  local handles = {}
  for _, scope in ipairs { "sm", "l2", "mc" } do
    local objects = objects_of(machine, classes[scope])
    handles[scope .. "s"] = objects
    for _, object in ipairs(objects) do
      local parts = {}
      add_parts(parts, machine, object, policies)
      for _, name in ipairs(names.sorted_keys(parts)) do
        handles[name .. "s"] = handles[name .. "s"] or {}
        table.insert(handles[name .. "s"], parts[name])
      end
    end
  end
  for _, row in ipairs(l1_ports) do
    local list = {}
    for i, sm in ipairs(handles.sms) do list[i] = peer_of_class(sm.lsu[row[2]], "L1") end
    handles[row[1] .. "s"] = list
  end
  return handles
end

--- Each instance loads the policy's file, which must be no script that would run once more.
local function check_file(entry)
  local script = arg and arg[0]
  if entry.path and core.is_file(entry.path) and entry.path ~= script then return end
  core.user_error(("policy %s: expected a file that returns it, from which each instance loads its functions, got %s"):format(
      entry.definition.name, tostring(entry.path or "none")))
end

--- What several instances answered would be one answer, and that by chance: an L2 slice has a controller to itself or asks
-- another.
local function check_questions(machine, definition)
  local asked = {}
  for _, event in ipairs(core.class_events "MemoryController") do
    local question = "mc_" .. event.name
    if event.question and definition.functions[question] then
      for _, l2 in ipairs(objects_of(machine, "L2")) do
        local mc = peer_of_class(l2.mem, "MemoryController")
        if mc and asked[mc.path] then
          core.user_error(("policy %s: %s: expected one answer, got those of %s and %s for %s; a policy of scope mc answers with %s")
            :format(definition.name, question, asked[mc.path], l2.path, mc.path, event.name))
        end
        if mc then asked[mc.path] = l2.path end
      end
    end
  end
end

local function attach_one(machine, entry, policies)
  local definition = entry.definition
  local specification = { path = entry.path, params = entry.params }
  check_file(entry)
  if definition.scope == "l2" then check_questions(machine, definition) end
  if definition.scope == "machine" then
    local handles = handles_of_machine(machine, policies)
    policy_check.check(definition, handles)
    core.attach_policy(machine, definition.name, machine:objects()[1], specification, handles, "the machine")
    return
  end
  local first = objects_of(machine, classes[definition.scope])[1]
  if first then policy_check.check(definition, handles_about(machine, definition.scope, first, policies)) end
  for _, object in ipairs(objects_of(machine, classes[definition.scope])) do
    core.attach_policy(machine, definition.name, object, specification,
      handles_about(machine, definition.scope, object, policies))
  end
end

--- Makes the instances of a chain; the machine is elaborated.
function policies_at_work.attach(machine, policies)
  for _, entry in ipairs(policies) do
    if policy.has_hooks(entry.definition) then
      attach_one(machine, entry, policies)
    else
      policy_check.check(entry.definition, {})
    end
  end
end

--- Rows of stats: "sm[3].ccws.vta_hits".
function policies_at_work.counters(machine, policies)
  local docs, rows = {}, {}
  for _, entry in ipairs(policies) do docs[entry.definition.name] = entry.definition.counters end
  for _, instance in ipairs(core.policy_counters(machine)) do
    for _, name in ipairs(names.sorted_keys(instance.counters)) do
      rows[#rows + 1] = {
        name = ("%s.%s.%s"):format(instance.about, instance.policy, name),
        value = instance.counters[name], unit = "events", doc = docs[instance.policy][name], of_policy = true,
      }
    end
  end
  return rows
end

--- The instances of a machine go on as those of the machine whose place it took, under the same policies.
function policies_at_work.copy_state(machine) core.copy_policy_state(machine) end

return policies_at_work

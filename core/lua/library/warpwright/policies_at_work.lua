-- Instances of policies on a machine: one for each object that a policy is about.
local caches = require "warpwright.caches"
local core = require "warpwright.core"
local policy_check = require "warpwright.policy_check"
local names = require "warpwright.names"
local note = require "warpwright.note"
local policy = require "warpwright.policy"
local simulated = require "warpwright.machine"

local all_objects <const> = simulated.all_objects

local policies_at_work = {}

--- The L1s of an SM by handle, and the ports of its load/store unit that they serve.
local l1_ports = { { "l1", "mem" }, { "texture", "texture" }, { "constant", "constant" } }

local function objects_of(machine, class) return caches.of_class(machine:objects(), class) end

--- The parts that policies made below an object, by name.
local function add_parts(handles, machine, object, policies)
  for _, entry in ipairs(policies) do
    for _, part in ipairs(entry.definition.parts) do
      if part.of == object.class or part.of == "cache" and entry.caches[object.path] then
        handles[part.name] = machine:find(object.path .. "." .. part.name)
      end
    end
  end
end

--- or false.
local function peer_of_class(port, class)
  local peer = core.peer(port)
  return peer and peer.class == class and peer or false
end

--- The first L1 behind a port of a load/store unit, or false.
local function l1_behind(port)
  local first = caches.first_behind(port)[1]
  return first and first.class == "L1" and first or false
end

--- The parts below objects, by name of the part: `self.reuses` has every one called "reuse".
local function add_parts_of_all(handles, machine, objects, policies)
  for _, object in ipairs(objects) do
    local parts = {}
    add_parts(parts, machine, object, policies)
    for _, name in ipairs(names.sorted_keys(parts)) do
      handles[name .. "s"] = handles[name .. "s"] or {}
      table.insert(handles[name .. "s"], parts[name])
    end
  end
end

--- Has the policy a hook or question of its caches?
local function listens_to_caches(definition)
  for _, name in ipairs(names.sorted_keys(definition.functions)) do
    if name:match "^on_cache_" or name:match "^cache_" then return true end
  end
  return false
end

--- The caches of the policy behind an SM that an instance about it can see in each cycle.
local function caches_behind(machine, entry, sm)
  local list, paths = {}, entry.places[sm.path].caches
  for _, path in ipairs(paths) do
    local cache = machine:find(path)
    if core.share_cluster(cache, sm) then list[#list + 1] = cache end
  end
  if not list[1] and listens_to_caches(entry.definition) then
    core.user_error(("policy %s: cache: expected caches that share a cluster with %s, got %s, which is behind a slow wire; a policy of scope cache has an instance there")
      :format(entry.definition.name, sm.path, paths[1]))
  end
  return list
end

--- What an instance about this object gets to know.
local function handles_about(machine, entry, object, policies)
  local scope = entry.definition.scope
  local handles = { [scope] = object }
  if scope == "sm" then
    for _, row in ipairs(l1_ports) do handles[row[1]] = l1_behind(object.lsu[row[2]]) end
    handles.lsu = machine:find(object.path .. ".lsu")
    if caches.acts(entry.definition, entry.params) then
      handles.caches = caches_behind(machine, entry, object)
      add_parts_of_all(handles, machine, handles.caches, policies)
    end
  elseif object.class == "L2" then
    handles.mc = peer_of_class(object.mem, "MemoryController")
  end
  add_parts(handles, machine, object, policies)
  return handles
end

local function caches_of(machine, entry)
  local list = {}
  for _, object in ipairs(machine:objects()) do
    if entry.caches[object.path] then list[#list + 1] = object end
  end
  return list
end

--- A coordinator knows all objects of these classes, in order, and their parts.
local function handles_of_machine(machine, entry, policies)
  local handles = {}
  for _, row in ipairs { { "sms", "SM" }, { "l2s", "L2" }, { "mcs", "MemoryController" }, { "dispatchers", "Dispatcher" } } do
    handles[row[1]] = objects_of(machine, row[2])
  end
  add_parts_of_all(handles, machine, machine:objects(), policies)
  for _, row in ipairs(l1_ports) do
    local list = {}
    for i, sm in ipairs(handles.sms) do list[i] = l1_behind(sm.lsu[row[2]]) end
    handles[row[1] .. "s"] = list
  end
  if caches.acts(entry.definition, entry.params) then handles.caches = caches_of(machine, entry) end
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

--- The L1s that an SM has not to itself, by path: who else uses them.
local function users_of_l1s(machine, sm)
  local users = {}
  for _, row in ipairs(l1_ports) do
    local l1 = l1_behind(sm.lsu[row[2]])
    local others = l1 and not users[l1.path] and l1.path:sub(1, #sm.path + 1) ~= sm.path .. "."
      and caches.other_users(objects_of(machine, "SM"), sm, l1) or {}
    if others[1] then users[l1.path] = others[1] end
  end
  return users
end

--- The objects that the policy has an instance for.
local function abouts(machine, entry)
  local definition = entry.definition
  local list = definition.scope == "cache" and caches_of(machine, entry) or caches.of_class(all_objects(machine), definition.class)
  if not list[1] then
    core.user_error(("policy %s: expected a machine with objects of class %s, got one without"):format(definition.name, definition.class))
  end
  return list
end

--- Its counters would be called like statistics of an object below this one.
local function check_name(machine, definition, object)
  local path = ("%s.%s"):format(object.path, definition.name)
  if next(definition.counters) and machine:find(path) then
    core.user_error(("policy %s: expected another name, or no counters, got the name of object %s, which has statistics"):format(
      definition.name, path))
  end
end

--- By path: the L2s whose parameter bypass the run sets, which a question leaves as it is.
local function with_set_bypass(machine, set)
  local paths = {}
  for _, l2 in ipairs(caches.of_class(all_objects(machine), "L2")) do
    paths[l2.path] = simulated.is_set(set, l2.path .. ".bypass") or nil
  end
  return paths
end

--- Where there are no pages, nobody asks where they lie.
local function check_pages(definition, map)
  if map.class ~= "AddressMap" or not definition.functions.place_page or map.page_size > 0 then return end
  note("policy %s: place_page is never asked: %s.page_size is 0", definition.name, map.path)
end

--- By the names of handles: the objects behind slow wires, of which an instance about `object` gets none.
local function far_from(object, handles)
  local paths = {}
  for _, name in ipairs(names.sorted_keys(handles)) do
    local handle = handles[name]
    if handle and type(handle) ~= "table" and not core.share_cluster(handle, object) then paths[name] = handle.path end
  end
  return paths
end

local function attach_one(machine, entry, policies, set)
  local definition = entry.definition
  local specification = { path = entry.path, params = entry.params, with_set_bypass = with_set_bypass(machine, set) }
  check_file(entry)
  if definition.scope == "l2" then check_questions(machine, definition) end
  if definition.scope == "machine" then
    local handles = handles_of_machine(machine, entry, policies)
    policy_check.check(definition, handles)
    local object = machine:objects()[1]
    check_name(machine, definition, object)
    core.attach_policy(machine, definition.name, object, specification, handles, "the machine")
    return
  end
  for i, object in ipairs(abouts(machine, entry)) do
    local handles = handles_about(machine, entry, object, policies)
    if i == 1 then policy_check.check(definition, handles) end
    check_pages(definition, object)
    if definition.scope == "sm" then
      specification.users = users_of_l1s(machine, object)
      specification.without_l1 = handles.l1 and "" or caches.end_of_search(object.lsu.mem)
    end
    specification.far = far_from(object, handles)
    check_name(machine, definition, object)
    core.attach_policy(machine, definition.name, object, specification, handles)
  end
end

--- Makes the instances of a chain; the machine is elaborated. `set`: the overrides of the run.
function policies_at_work.attach(machine, policies, set)
  policy.check_classes(policies)
  for _, entry in ipairs(policies) do
    if policy.has_hooks(entry.definition) then
      attach_one(machine, entry, policies, set)
    else
      policy_check.check(entry.definition, {})
    end
  end
end

--- Has the run or one of its policies said how many prefetches may wait there?
local function is_queue_given(object, policies, set)
  if simulated.is_set(set, object.path .. ".prefetch_queue") then return true end
  local params = {}
  for _, parameter in ipairs(core.parameters(object)) do params[parameter.name] = object[parameter.name] end
  for _, entry in ipairs(policies) do
    for _, setting in ipairs(policy.settings_for(entry, object.class, object.path, params)) do
      if setting.parameter == "prefetch_queue" then return true end
    end
  end
  return false
end

--- At the end, by the result: of a prefetcher without a `configure`, caches take nothing. Who has set the queue to 0 knows.
function policies_at_work.tell_of_lost_prefetches(machine, policies, set, r)
  if not policies[1] then return end
  local lost, first = 0, nil
  for _, object in ipairs(all_objects(machine)) do
    local takes_none = (object.class == "L1" or object.class == "L2") and object.prefetch_queue == 0
    local asked = takes_none and r[object.path .. ".prefetches_asked"] or 0
    local pattern = asked > 0 and object.path:gsub("%[%d+%]", "[*]")
    if pattern and (not first or pattern == first) and not is_queue_given(object, policies, set) then
      lost, first = lost + asked, pattern
    end
  end
  if first then
    note("%s takes no prefetches: all %d that policies asked for were dropped; configure() of a policy may set prefetch_queue, which is 0",
      first, lost)
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

return policies_at_work

-- Which caches a policy acts on: found by their paths, or by where they stand behind the load/store units.
local core = require "warpwright.core"

local caches = {}

local is_cache = { L1 = true, L2 = true }

--- Words for caches by where they stand; the name of a class is one, too.
local spaces = { data = "mem", texture = "texture", constant = "constant" }
caches.words = { "data", "texture", "constant", "last", "L1", "L2" }

-- Ways of requests ---------------------------------------------------------------------------------------------------

--- Objects by path, each once: { object =, path =, class =, passes_on =, behind = those behind it, once somebody has asked }. Kept
-- while a machine is looked at from each of its SMs, which share most of what is behind them.
local kept_nodes

local function node_of(nodes, object)
  local path = object.path
  local node = nodes[path]
  if not node then
    node = { object = object, path = path, class = object.class, passes_on = core.passes_on(object) }
    nodes[path] = node
  end
  return node
end

local function behind(nodes, node)
  if not node.behind then
    local list = core.behind(node.object)
    for i, object in ipairs(list) do list[i] = node_of(nodes, object) end
    node.behind = list
  end
  return node.behind
end

--- What requests come to from these objects on, the nearest first: `visit` gets the node of each once, and says whether to look
-- behind it.
local function follow(first, visit)
  local nodes, seen, waiting = kept_nodes or {}, {}, {}
  for i, object in ipairs(first) do waiting[i] = node_of(nodes, object) end
  local i = 1
  while waiting[i] do
    local node = waiting[i]
    if not seen[node] and visit(node) then
      for _, next_one in ipairs(behind(nodes, node)) do waiting[#waiting + 1] = next_one end
    end
    seen[node] = true
    i = i + 1
  end
end

--- The first caches behind a port, through objects that only pass requests on.
function caches.first_behind(port)
  local found = {}
  follow({ core.peer(port) }, function(node)
    if is_cache[node.class] then found[#found + 1] = node.object end
    return node.passes_on
  end)
  return found
end

--- Of a search for an L1 that found none: "; the search ended at sm[0].x (X), which does not pass requests on", or "".
function caches.end_of_search(port)
  local last = nil
  follow({ core.peer(port) }, function(node)
    if not node.passes_on and not is_cache[node.class] then last = last or node end
    return node.passes_on
  end)
  return last and ("; the search ended at %s (%s), which does not pass requests on"):format(last.path, last.class) or ""
end

--- What an SM's requests come to first.
local function beside(sm)
  local first = {}
  for _, name in ipairs { "data", "texture", "constant" } do first[#first + 1] = core.peer(sm.lsu[spaces[name]]) end
  first[#first + 1] = core.peer(sm.fetch)
  return first
end

--- Paths of all caches behind an SM, whatever they stand behind.
local function reached_from(sm)
  local found = {}
  follow(beside(sm), function(node)
    if is_cache[node.class] then found[#found + 1] = node.path end
    return true
  end)
  return found
end

--- The caches behind an SM from which requests come to one of `matching`, the first on their way.
local function before(sm, matching)
  local found = {}
  follow(beside(sm), function(node)
    if matching[node.path] then return false end
    if is_cache[node.class] then
      for _, next_one in ipairs(caches.first_behind(node.object.mem)) do
        if matching[next_one.path] then
          found[#found + 1] = node.path
          return false
        end
      end
    end
    return true
  end)
  return found
end

--- Is it wired to memory, not to another cache?
local function is_last(cache)
  local last = false
  follow(core.behind(cache), function(node)
    last = last or node.class == "MemoryController"
    return node.passes_on
  end)
  return last
end

-- Patterns -----------------------------------------------------------------------------------------------------------

local function of_class(objects, class)
  local found = {}
  for _, object in ipairs(objects) do
    if object.class == class then found[#found + 1] = object end
  end
  return found
end

--- "sm[*].l1d", "l2[*]", or the last name of paths: "l1d".
local function path_has(pattern, path)
  if pattern:find "[.%[]" then return core.path_matches(pattern, path) end
  return core.path_matches(pattern, (path:match "[^.]+$":gsub("%[%d+%]$", "")))
end

--- Function of an object: does it match the word or pattern?
local function matcher(objects, word)
  if spaces[word] then
    local found = {}
    for _, sm in ipairs(of_class(objects, "SM")) do
      for _, cache in ipairs(caches.first_behind(sm.lsu[spaces[word]])) do found[cache.path] = cache.class == "L1" end
    end
    return function(object) return found[object.path] end
  end
  if word == "last" then return is_last end
  if is_cache[word] then return function(object) return object.class == word end end
  return function(object) return path_has(word, object.path) end
end

--- { ["sm[0].l1d"] = { data = true } ... } of the caches among `objects` that match "data", "l15[*]", "data|last": by which
-- of the words.
function caches.matching(objects, pattern)
  local matching, any = {}, false
  for word in (pattern .. "|"):gmatch "([^|]*)|" do
    local matches = matcher(objects, word)
    for _, object in ipairs(objects) do
      if is_cache[object.class] and matches(object) then
        matching[object.path], any = matching[object.path] or {}, true
        matching[object.path][word] = true
      end
    end
  end
  return matching, any
end

--- "sm[*].l1d, l2[*]": the caches of a machine, for messages.
function caches.listed(objects)
  local patterns, seen = {}, {}
  for _, object in ipairs(objects) do
    local pattern = object.path:gsub("%[%d+%]", "[*]")
    if is_cache[object.class] and not seen[pattern] then patterns[#patterns + 1] = pattern end
    seen[pattern] = true
  end
  return patterns[1] and table.concat(patterns, ", ") or "none"
end

-- Policies ---------------------------------------------------------------------------------------------------------

--- Does the policy act on caches, with these parameters? `caches` is a word or pattern, or { it, when = a parameter that is
-- true or false }.
function caches.acts(definition, params)
  local acts = definition.settings.caches
  if not acts then return false end
  return type(acts) ~= "table" or not acts.when or params[acts.when]
end

--- Where an SM stands among the caches of a policy: its number; the paths of those behind it, the nearest first; and those
-- of the caches that its requests leave for one of them; `direct`: one that its data come from without such a cache.
local function place_of(sm, number, matching)
  local reached = {}
  for _, path in ipairs(reached_from(sm)) do
    if matching[path] then reached[#reached + 1] = path end
  end
  local place = { sm = number, caches = reached, before = before(sm, matching) }
  for _, first in ipairs(caches.first_behind(sm.lsu[spaces.data])) do place.direct = place.direct or matching[first.path] and first.path end
  return place
end

--- Does it look at each SM with the caches behind it?
local function is_about_sms(definition)
  local about = next(definition.functions, next(definition.functions) == "configure" and "configure" or nil) ~= nil
  for _, part in ipairs(definition.parts) do about = about or part.of == "SM" end
  return definition.scope == "sm" and about
end

local function no_match(entry, name, objects)
  local pattern = entry.params.cache
  local sm, space = of_class(objects, "SM")[1], spaces[pattern]
  core.user_error(("policy %s: cache: expected one of %s or a pattern that matches caches of machine %s (%s), got '%s', which matches none%s")
    :format(entry.definition.name, table.concat(caches.words, ", "), name, caches.listed(objects), pattern,
      sm and space and caches.end_of_search(sm.lsu[space]) or ""))
end

--- The caches that match, and the places of all SMs among them.
local function look(objects, pattern)
  local matching, any = caches.matching(objects, pattern)
  local places = {}
  for i, sm in ipairs(any and of_class(objects, "SM") or {}) do places[i] = { path = sm.path, place = place_of(sm, i - 1, matching) } end
  return { matching = matching, any = any, places = places }
end

local function find(chain, name, sketch)
  local objects, looked = nil, {}
  for _, entry in ipairs(chain) do
    entry.caches, entry.places = {}, {}
    if caches.acts(entry.definition, entry.params) then
      objects = objects or sketch()
      local pattern = entry.params.cache
      looked[pattern] = looked[pattern] or look(objects, pattern)
      if not looked[pattern].any then no_match(entry, name, objects) end
      entry.caches = looked[pattern].matching
      for _, row in ipairs(looked[pattern].places) do
        if not row.place.caches[1] and is_about_sms(entry.definition) then
          core.user_error(("policy %s: cache: expected a cache that matches '%s' behind the load/store unit of %s, got none"):format(
            entry.definition.name, pattern, row.path))
        end
        entry.places[row.path] = setmetatable({ policy = entry.definition.name }, { __index = row.place })
      end
    end
  end
end

--- Finds for each policy of a chain which caches of the machine it acts on: entry.caches, by path the words that they match,
-- and entry.places, by path of an SM. `sketch` makes the machine without policies.
function caches.find(chain, name, sketch)
  kept_nodes = {}
  local found, problem = pcall(find, chain, name, sketch)
  kept_nodes = nil
  if not found then error(problem, 0) end
end

--- The other SMs that use a cache, besides this one: their paths.
function caches.other_users(sms, sm, cache)
  local others = {}
  for _, other in ipairs(sms) do
    if other.path ~= sm.path then
      for _, path in ipairs(reached_from(other)) do
        if path == cache.path then others[#others + 1] = other.path end
      end
    end
  end
  return others
end

caches.of_class = of_class

return caches

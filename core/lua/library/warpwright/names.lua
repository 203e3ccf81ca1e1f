-- Names in tables and messages: sorted, checked, and the nearest to one that was misspelt.
local core = require "warpwright.core"

local tostring <const> = tostring -- of any key, also where own_state refuses those that have addresses
local names = {}

local function is_before(a, b)
  local a_is_index, b_is_index = math.type(a) == "integer", math.type(b) == "integer"
  if a_is_index ~= b_is_index then return a_is_index end
  if a_is_index then return a < b end
  return tostring(a) < tostring(b)
end

--- The keys of a table in an order that is always the same: first those of a list, in its order, then names. Patterns
-- sort before the names they match: '*' before digits and letters. `what` it is, for who gave something else.
function names.sorted_keys(t, what)
  if type(t) ~= "table" then names.expected(what or "keys", "a table", t) end
  local keys, all_names = {}, true
  for key in pairs(t) do
    keys[#keys + 1] = key
    all_names = all_names and type(key) == "string"
  end
  table.sort(keys, not all_names and is_before or nil) -- names have that order by themselves, and sooner
  return keys
end

--- Bytes that are no UTF-8, which a name of a file may have and JSON and HTML may not, each become U+FFFD.
function names.utf8(text)
  if core.is_ascii(text) then return text end -- all of them, nearly; utf8.len() takes 30 instructions for a character
  local parts, from = {}, 1
  repeat
    local count, bad = utf8.len(text, from)
    parts[#parts + 1] = count and text:sub(from) or text:sub(from, bad - 1) .. "\u{FFFD}"
    from = bad and bad + 1
  until not bad
  return table.concat(parts)
end

-- Messages ---------------------------------------------------------------------------------------------------------

local longest_shown <const>, shown_of_longer <const> = 1000, 60

--- A text, for a message: of a very long one the beginning.
function names.short(text)
  if #text <= longest_shown then return text end
  return ("%s... (%d characters)"):format(text:sub(1, shown_of_longer), #text)
end

--- A word for a command line that is shown, in quotes where a shell needs them.
function names.shell_word(text)
  return text:find "^[%w_./=,:+@%%-]+$" and text or "'" .. text:gsub("'", "'\\''") .. "'"
end

--- As a shell takes them.
function names.command_line(words)
  local quoted_words = {}
  for i, word in ipairs(words) do quoted_words[i] = names.shell_word(word) end
  return table.concat(quoted_words, " ")
end

--- What may stand behind \ within these quotes, and outside of all.
local quoted <const> = { ["'"] = "", ['"'] = '["\\]', [""] = "." }

--- The words of a command line, quoted as a shell has them; nothing in them is expanded. Nil when a quote is not closed.
function names.words_of_shell(text)
  local words, word, quote, at = {}, nil, "", 1
  while at <= #text do
    local c = text:sub(at, at)
    local behind = c == "\\" and quoted[quote] ~= "" and text:match("^" .. quoted[quote], at + 1)
    if behind then
      word, at = (word or "") .. behind, at + 1
    elseif quote == "" and quoted[c] then
      word, quote = word or "", c
    elseif c == quote then
      quote = ""
    elseif quote == "" and c:find "%s" then
      words[#words + 1], word = word, nil
    else
      word = (word or "") .. c
    end
    at = at + 1
  end
  words[#words + 1] = word
  return quote == "" and words or nil
end

--- A value, for a message: 'text', a number, true, nil, "a table".
function names.shown(value)
  local kind = type(value)
  if kind == "string" then return #value <= longest_shown and "'" .. value .. "'" or names.short(value) end
  return (kind == "number" or kind == "boolean" or kind == "nil") and tostring(value) or "a " .. kind
end

--- The user error "where: expected WHAT, got VALUE".
function names.expected(where, what, value)
  core.user_error(("%s: expected %s, got %s"):format(where, what, names.shown(value)))
end

--- Calls a function; its errors are of `place`, the line say, that changes what the line at work gives; nil: they stay as they are.
function names.at_place(place, call, ...)
  if not place then return call(...) end
  local results = table.pack(xpcall(call, core.message_handler, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local problem, here = results[2], core.location()
  if type(problem) == "string" and problem:sub(1, #here) == here then problem = place .. problem:sub(#here + 1) end
  error(problem, 0)
end

--- May the name stand for several: has it a star, or a range of indices?
function names.is_pattern(name) return name:find("*", 1, true) ~= nil or name:find "%[%d+%.%.%d+%]" ~= nil end

--- What in a path or pattern is no index, such as "[3.lsu.mem" and "[]", or nil.
function names.stray_index(pattern)
  local rest = tostring(pattern):gsub("%[[%d*]+%]", ""):gsub("%[(%d+)%.%.(%d+)%]", function(first, last)
    return tonumber(first) <= tonumber(last) and "" or nil
  end)
  return rest:match "%[[^%]]*%]?" or rest:match "%].*"
end

--- Of a path or pattern that matches nothing: an error where that is the reason.
function names.check_indices(where, pattern)
  local stray = names.stray_index(pattern)
  if stray then core.user_error(("%s: %s: expected indices as [3], [*] or [0..3], got '%s'"):format(where, pattern, stray)) end
end

--- "; did you mean a, b?" for a misspelt name and many legal ones: the `count` nearest.
function names.did_you_mean(misspelt, candidates, count)
  local nearest = names.nearest(tostring(misspelt), candidates, count)
  return nearest[1] and ("; did you mean %s?"):format(table.concat(nearest, ", ")) or ""
end

--- "; available: a, b" for a misspelt name and few legal ones, after the one that was meant if one is near.
function names.available(misspelt, legal)
  local texts = {}
  for i, name in ipairs(legal) do texts[i] = tostring(name) end
  local guess = names.guess(tostring(misspelt), texts)
  return (guess and ("; did you mean %s? Available: "):format(guess) or "; available: ")
    .. (texts[1] and table.concat(texts, ", ") or "none")
end

--- An error unless every key of `t` is one of the list `legal`.
function names.check_keys(where, t, legal)
  if type(t) ~= "table" then names.expected(where, "a table", t) end
  local known = {}
  for _, name in ipairs(legal) do known[name] = true end
  for _, key in ipairs(names.sorted_keys(t)) do
    if not known[key] then
      core.user_error(("%s: no field matches '%s'%s"):format(where, tostring(key), names.available(key, legal)))
    end
  end
end

--- An error unless these fields of the table are true, false or nil: the text "no" would be taken for yes.
function names.check_flags(t, fields, where)
  for _, field in ipairs(fields) do
    if t[field] ~= nil and type(t[field]) ~= "boolean" then names.expected((where or "") .. field, "true or false", t[field]) end
  end
end

--- The methods of a class say what is missing where one is called with a dot: sim.result() in place of sim:result().
function names.guard_methods(class, where, what)
  for _, name in ipairs(names.sorted_keys(class)) do
    local method = class[name]
    if type(method) == "function" and not name:find "^__" then
      class[name] = function(self, ...)
        if getmetatable(self) ~= class then names.expected(where .. name, what .. " in front of the colon", self) end
        return method(self, ...)
      end
    end
  end
end

--- How many characters must be inserted, deleted, replaced or exchanged with their neighbour to make `b` of `a`; nil when it is
-- more than `most`.
local function edit_distance(a, b, most)
  if math.abs(#a - #b) > most then return nil end
  local before, row, least_before = {}, {}, 0 -- the row before the last one, and the last one
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local next_row, least = { [0] = i }, i
    for j = 1, #b do
      local own, other = a:byte(i), b:byte(j)
      local distance = math.min(row[j - 1] + (own == other and 0 or 1), row[j] + 1, next_row[j - 1] + 1)
      if i > 1 and j > 1 and own == b:byte(j - 1) and a:byte(i - 1) == other then distance = math.min(distance, before[j - 2] + 1) end
      next_row[j], least = distance, math.min(least, distance)
    end
    if math.min(least, least_before + 1) > most then return nil end -- what follows is made of these two rows
    before, row, least_before = row, next_row, least
  end
  return row[#b] <= most and row[#b] or nil
end

--- What may be given where this is the default, in words: "a whole number from 1 to 8".
function names.wanted(default, min, max)
  if type(default) == "boolean" then return "true or false" end
  if type(default) == "string" then return "a text" end
  local what = math.type(default) == "integer" and "a whole number" or "a number"
  local function text(bound) return math.tointeger(bound) and ("%d"):format(bound) or ("%.14g"):format(bound) end
  if min and max then return ("%s from %s to %s"):format(what, text(min), text(max)) end
  return what .. (min and (" from %s on"):format(text(min)) or max and (" up to %s"):format(text(max)) or "")
end

--- 0: the candidate is a path that ends with all of `wanted`, 1: `wanted` is some part of it, 2: neither.
local function part(wanted, name)
  local first, last = name:find(wanted, 1, true)
  if not first then return 2 end
  return (name:sub(-#wanted - 1) == "." .. wanted or first == 1 and last == #name) and 0 or 1
end

--- The `count` candidates nearest to `wanted`, nearest first: those of which it is a part before others, since the front of
--- a path is what is left out most. A text that is longer than any name is no name misspelt, and takes long to compare.
function names.nearest(wanted, candidates, count)
  local ranked = {}
  if #wanted > longest_shown then return ranked end
  for i, name in ipairs(candidates) do
    ranked[i] = { name = name, part = part(wanted, name), distance = edit_distance(wanted, name, math.huge), rank = i }
  end
  table.sort(ranked, function(a, b)
    if a.part ~= b.part then return a.part < b.part end
    if a.distance ~= b.distance then return a.distance < b.distance end
    return a.rank < b.rank
  end)
  local nearest = {}
  for i = 1, math.min(count, #ranked) do nearest[i] = ranked[i].name end
  return nearest
end

--- The candidate that was meant, the nearest one, if it is near enough: at most `most` characters away, if that is given.
function names.guess(wanted, candidates, most)
  local guess
  local near_enough = math.min(math.max(1, #wanted // 3), most or #wanted)
  for _, name in ipairs(candidates) do
    local distance = edit_distance(wanted, name, near_enough)
    if distance then guess, near_enough = name, distance - 1 end -- of two as near, the first
  end
  return guess
end

return names

-- What clang 14 refuses, and nvcc takes. A file that is refused for such a thing is preprocessed first, and its text is changed:
--
--     __shared__ alignas(16) float tile[64];   an attribute of C++ behind one of CUDA; C's _Alignas may stand there
--     __shared__ Complex row[64];              of a class whose constructor does something, which nvcc leaves out
--     overloaded both{[](int) {}, ...};        in device code, by a deduction guide, which clang takes for a function of the host
local leniency = {}

local attributes <const>, initialization <const> = "an attribute list cannot appear here", "initialization is not supported for __shared__ variables"

local deduction <const> = "no viable constructor or deduction guide for deduction of template arguments of "

--- Are clang's messages about what can be changed?
function leniency.applies(messages)
  for _, message in ipairs { attributes, initialization, deduction } do
    if messages:find(message, 1, true) then return true end
  end
  return false
end

local memories <const> = { "shared", "device", "constant", "__shared__", "__device__", "__constant__" }

--- Preprocessed text with C's specifiers in the place of such attributes.
function leniency.change_attributes(text)
  for _, memory in ipairs(memories) do
    text = text:gsub(("(__attribute__%%(%%(%s%%)%%))(%%s+)alignas(%%s*%%()"):format(memory), "%1%2_Alignas%3")
  end
  return text
end

-- Shared objects -------------------------------------------------------------------------------------------------------------------------

--- The columns, by "file:line", of the variables that clang's messages name.
local function columns_of(messages)
  local columns = {}
  for place, column in messages:gmatch("([^\n]-:%d+):(%d+): error: " .. initialization) do
    columns[place] = columns[place] or {}
    columns[place][tonumber(column)] = true
  end
  return columns
end

--- A type, and the attributes that stand before it, such as those of its alignment.
local function split_type(text)
  local before = ""
  while true do
    local attribute, rest = text:match "^%s*(__attribute__%s*%b())(.*)$"
    if not attribute then attribute, rest = text:match "^%s*(_Alignas%s*%b())(.*)$" end
    if not attribute then return before, text:match "^%s*(.-)%s*$" end
    before, text = before .. attribute .. " ", rest
  end
end

--- `line`, where the declaration of the variable that begins at `column` has become one of bytes, and of a reference to them; nil
--- where it is another kind of declaration.
local function with_bytes(line, column)
  local start, of_type = line:sub(1, column - 1):match "^(.*__attribute__%(%(shared%)%)%s)(.*)$"
  local name, rest = line:sub(column):match "^([%a_][%w_]*)%s*(.*)$"
  if not start or not name then return nil end
  local extents = ""
  while rest:find "^%[" do
    local extent, more = rest:match "^(%b[])%s*(.*)$"
    if not extent then return nil end
    extents, rest = extents .. extent, more
  end
  local aligned, type = split_type(of_type)
  if not rest:find "^;" or type == "" or start:find "volatile" then return nil end
  return ("%s%s__attribute__((aligned(alignof(%s)))) char %s_bytes[sizeof(%s%s)]; %s (&%s)%s = *(%s (*)%s)%s_bytes%s"):format(start, aligned,
    type, name, type, extents, type, name, extents, type, extents, name, rest)
end

local function change_line(line, columns)
  local order, is_changed = {}, false
  for column in pairs(columns) do order[#order + 1] = column end
  table.sort(order, function(a, b) return a > b end)
  for _, column in ipairs(order) do
    local changed = with_bytes(line, column)
    line, is_changed = changed or line, is_changed or changed ~= nil
  end
  return line, is_changed
end

--- Preprocessed text in which the shared objects that clang's messages name have no constructors; nil where nothing can be changed.
local function change_objects(text, messages)
  local columns, lines, file, number, is_changed = columns_of(messages), {}, "", 0, false
  if not next(columns) then return nil end
  for line in text:gmatch "([^\n]*)\n" do
    local marked, path = line:match '^# (%d+) "([^"]*)"'
    if marked then
      file, number = path, tonumber(marked) - 1
    else
      number = number + 1
    end
    local here = not marked and columns[("%s:%d"):format(file, number)]
    if here then
      local changed
      line, changed = change_line(line, here)
      is_changed = is_changed or changed
    end
    lines[#lines + 1] = line
  end
  lines[#lines + 1] = ""
  return is_changed and table.concat(lines, "\n") or nil
end

-- Deduction guides -----------------------------------------------------------------------------------------------------------------------

--- Preprocessed text in which the guides of the classes that clang's messages name are of both sides; nil where there are none, or none
--- that are not in `done` already.
local function change_guides(text, messages, done)
  local is_changed = false
  for name in messages:gmatch(deduction .. "'([%w_]+)'") do
    if not done[name] then
      local changed, count = text:gsub(("%%f[%%w_]%s%%s*%%b()%%s*%%->"):format(name), "__attribute__((host)) __attribute__((device)) %0")
      text, is_changed, done[name] = changed, is_changed or count > 0, true
    end
  end
  return is_changed and text or nil
end

--- Preprocessed text with changes by clang's messages; nil where nothing can be changed. `done` is empty at first.
function leniency.change(text, messages, done)
  local changed = change_objects(text, messages)
  return change_guides(changed or text, messages, done) or changed
end

-- Commands -------------------------------------------------------------------------------------------------------------------------------

--- Words of a command that preprocessing needs, with the number of words that they take.
local of_preprocessor <const> = { ["-include"] = 2, ["-D"] = 2, ["-U"] = 2, ["-dependency-file"] = 2, ["-MT"] = 2, ["-MP"] = 1,
  ["-sys-header-deps"] = 1 }

local actions <const> = { ["-S"] = true, ["-emit-llvm"] = true, ["-emit-obj"] = true }

--- In the place of clang's own command `words` for one file: a command that preprocesses it into `path`, and one that goes on from there.
function leniency.parts(words, path)
  local first, second, i = {}, {}, 1
  while words[i] do
    local count = of_preprocessor[words[i]] or 1
    table.move(words, i, i + count - 1, #first + 1, first)
    if not of_preprocessor[words[i]] then second[#second + 1] = words[i] end
    i = i + count
  end
  for k, word in ipairs(first) do
    if actions[word] then first[k] = "-E" end
    if word == "-o" then first[k + 1] = path end
  end
  second[#second - 1], second[#second] = "cuda-cpp-output", path
  return first, second
end

return leniency

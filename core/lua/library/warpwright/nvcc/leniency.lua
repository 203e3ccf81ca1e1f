-- What clang 14 refuses, and nvcc takes. A file that is refused for such a thing is preprocessed first, and its text is changed:
--
--     __shared__ alignas(16) float tile[64];   an attribute of C++ behind one of CUDA; C's _Alignas may stand there
--     __shared__ Complex row[64];              of a class whose constructor does something, which nvcc leaves out
--     overloaded both{[](int) {}, ...};        in device code, by a deduction guide, which clang takes for a function of the host
--     asm("mov.u32 %0, %laneid;" : "=r"(i));   a register of PTX with one %, where clang wants two beside operands
--     #pragma unroll N / 4                     where that is 0, in a template: nvcc ignores it then
--     #pragma unroll  int sum = 0;             with no loop behind it: the same
--     auto index = threadIdx;                  which is no uint3 here, but reads registers; so is blockDim in `linear(blockDim)`
--     const uint *x = &threadIdx.x;            the same; an object of its own is there until the function returns
--     [u]<class T> __device__(T x) {}          which clang takes with __device__ before <class T> alone
local unroll_pragmas = require "warpwright.nvcc.unroll_pragmas"

local leniency = {}

-- clang's messages, as patterns.

local attributes <const>, initialization <const> = "an attribute list cannot appear here", "initialization is not supported for __shared__ variables"

local deduction <const> = "no viable constructor or deduction guide for deduction of template arguments of "

local escape <const>, unrolling <const> = "invalid %% escape in inline assembly string", "invalid value '%-?%d+'; must be positive"

local no_loop <const> = "expected a for, while, or do%-while loop to follow '#pragma unroll'"

local copy <const> = "call to deleted constructor of '__cuda_builtin_"

local address <const>, whole_address <const> = "address of property expression requested", "overload resolution selected deleted operator '&'"

local lambda <const> = "expected body of lambda expression"

--- Are clang's messages about what can be changed?
function leniency.applies(messages)
  for _, message in ipairs { attributes, initialization, deduction, escape, unrolling, no_loop, copy, address, whole_address, lambda } do
    if messages:find(message) then return true end
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

-- Places ---------------------------------------------------------------------------------------------------------------------------------

--- The columns, by file and line, to which clang's messages of this pattern point.
local function columns_of(messages, message)
  local columns = {}
  for file, line, column in messages:gmatch("([^\n]-):(%d+):(%d+): error: " .. message) do
    local of_file, number = columns[file] or {}, tonumber(line)
    columns[file], of_file[number] = of_file, of_file[number] or {}
    of_file[number][tonumber(column)] = true
  end
  return columns
end

local none <const> = {}

--- The places in preprocessed text of what stands in these columns.
local function places_of(text, columns)
  local places, of_file, number = {}, nil, 0
  for start, line in text:gmatch "()([^\n]*)\n" do
    local marked, path = line:match '^# (%d+) "([^"]*)"'
    if marked then
      of_file, number = columns[path], tonumber(marked) - 1
    else
      number = number + 1
      local here = of_file and of_file[number]
      for column in pairs(here or none) do places[#places + 1] = start + column - 1 end
    end
  end
  table.sort(places)
  return places
end

-- Shared objects -------------------------------------------------------------------------------------------------------------------------

local memory <const> = "__attribute__((shared))"

--- From where to where the declaration goes in which the variable at `place` is shared, from behind that attribute to its semicolon;
--- nil where it is another kind of declaration.
local function declaration_around(text, place)
  local window <const> = math.max(1, place - 4000)
  local first, at = nil, window
  while true do
    local start, finish = text:find(memory, at, true)
    if not start or start > place then break end
    first, at = finish + 1, finish + 1
  end
  local last = text:find(";", place, true)
  if not first or not last or text:sub(first, last - 1):find "[;{}]" then return nil end
  local before = text:sub(window, first - 1):match "[^;{}\n]*$"
  if before:find "volatile" then return nil end
  return first, last
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

--- The parts of a declaration that commas part, but for those within brackets.
local function parts_of(text)
  local parts, start, depth, at = {}, 1, 0, 1
  while true do
    local place = text:find("[%(%[<>,]", at)
    if not place then break end
    local sign = text:sub(place, place)
    local _, finish = text:find(sign == "(" and "^%b()" or sign == "[" and "^%b[]" or "^.", place)
    depth = depth + (sign == "<" and 1 or sign == ">" and -1 or 0)
    if sign == "," and depth == 0 then
      parts[#parts + 1], start = text:sub(start, place - 1), place + 1
    end
    at = (finish or place) + 1
  end
  parts[#parts + 1] = text:sub(start)
  return parts
end

--- What is in front of the variable that a part declares, its name, and the extents of an array; nil where it is of another kind.
local function split_variable(part)
  local extents = ""
  local rest = part:match "^(.-)%s*$"
  while true do
    local before, extent = rest:match "^(.-)%s*(%b[])$"
    if not before then break end
    rest, extents = before, extent .. extents
  end
  local before, name = rest:match "^(.-)([%a_][%w_]*)$"
  return before, name, extents
end

--- A declaration of bytes, and of a reference to them.
local function bytes_for(aligned, type, name, extents)
  return ("%s__attribute__((aligned(alignof(%s)))) char %s_bytes[sizeof(%s%s)]; %s (&%s)%s = *(%s (*)%s)%s_bytes;"):format(aligned, type,
    name, type, extents, type, name, extents, type, extents, name)
end

--- A declaration, from behind its attribute of memory, in which no variable has a constructor; nil where it is another kind.
local function with_bytes(declaration)
  local lines = select(2, declaration:gsub("\n", ""))
  local parts, all, aligned, type = parts_of(declaration:gsub("\n", " ")), {}, nil, nil
  for i, part in ipairs(parts) do
    local before, name, extents = split_variable(part)
    if not before then return nil end
    if i == 1 then
      local of_type, of_pointer = before:match "^(.-)([%s%*&]*)$"
      aligned, type = split_type(of_type)
      before = of_pointer
    end
    if type == "" or type:find "=" or before:find "[^%s%*]" then return nil end
    local is_pointer = before:find("*", 1, true)
    all[i] = is_pointer and ("%s%s %s%s%s;"):format(aligned, type, before, name, extents) or bytes_for(aligned, type, name, extents)
  end
  return " " .. table.concat(all, " " .. memory .. " ") .. ("\n"):rep(lines)
end

--- Preprocessed text in which the shared objects that clang's messages name have no constructors; nil where nothing can be changed.
local function change_objects(text, messages)
  local columns, pieces, last = columns_of(messages, initialization), {}, 0
  if not next(columns) then return nil end
  for _, place in ipairs(places_of(text, columns)) do
    local from, to = declaration_around(text, place)
    local changed = from and from > last and with_bytes(text:sub(from, to - 1))
    if changed then
      pieces[#pieces + 1] = text:sub(last + 1, from - 1) .. changed
      last = to
    end
  end
  return last > 0 and table.concat(pieces) .. text:sub(last + 1) or nil
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

-- Registers in inline assembly -----------------------------------------------------------------------------------------------------------

--- Signs of percent and what follows them: one more where that is a name, and no operand, `%r0` or `%r[x]`.
local function with_double_sign(signs, name)
  if #signs % 2 == 1 and not name:find '^["%s]*%a[%d%[]' then return "%" .. signs .. name end
end

--- A statement of assembly with such signs in its strings; a macro may leave the name to the next string.
local function with_double_signs(statement)
  local changed = statement:gsub('(%%+)("%s*"%a[%w_]*%[?)', with_double_sign)
  return (changed:gsub('"[^"\n]*"', function(characters) return (characters:gsub("(%%+)(%a[%w_]*%[?)", with_double_sign)) end))
end

--- From where to where the brackets of the statement of assembly go in which `place` is; nil where they are not found.
local function assembly_around(text, place)
  local window <const> = math.max(1, place - 4000)
  local first, last
  for after in text:sub(window, place):gmatch "%f[%w_]_*asm_*%f[^%w_]()" do
    first, last = text:find("%b()", window + after - 1)
  end
  return last and last > place and first or nil, last
end

--- Preprocessed text in which the statements of assembly to which clang's messages point have two signs in front of registers; nil where
--- nothing can be changed.
local function change_registers(text, messages)
  local pieces, last = {}, 0
  for _, place in ipairs(places_of(text, columns_of(messages, escape))) do
    local from, to = assembly_around(text, place)
    if from and from > last then
      pieces[#pieces + 1] = text:sub(last + 1, from - 1) .. with_double_signs(text:sub(from, to))
      last = to
    end
  end
  local changed = table.concat(pieces) .. text:sub(last + 1)
  return changed ~= text and changed or nil
end

-- Unrolling ------------------------------------------------------------------------------------------------------------------------------

--- Preprocessed text in which the pragmas to which clang's messages point say 1 where they would say less; nil where there are none.
local function change_unrolling(text, messages)
  local pieces, last = {}, 0
  for _, place in ipairs(places_of(text, columns_of(messages, unrolling))) do
    local finish = text:find("\n", place, true)
    local from = finish - #text:sub(math.max(1, place - 1000), finish - 1):match "[^\n]*$"
    local count, before = unroll_pragmas.split(text:sub(from, finish - 1))
    if from > last and count and not count:find "^0 < " then
      pieces[#pieces + 1] = ("%s%s 0 < (%s) ? (%s) : 1"):format(text:sub(last + 1, from - 1), before, count, count)
      last = finish - 1
    end
  end
  return last > 0 and table.concat(pieces) .. text:sub(last + 1) or nil
end

--- Preprocessed text without the pragmas in front of what clang's messages say is no loop; nil where there are none.
local function change_stray_unrolling(text, messages)
  local pieces, last = {}, 0
  for _, place in ipairs(places_of(text, columns_of(messages, no_loop))) do
    local window, from, finish = math.max(last + 1, place - 4000), nil, nil
    for start, line, after in text:sub(window, place - 1):gmatch "()([^\n]*)()\n" do
      if unroll_pragmas.split(line) then from, finish = window + start - 1, window + after - 2 end
    end
    if from then
      pieces[#pieces + 1] = text:sub(last + 1, from - 1)
      last = finish
    end
  end
  return last > 0 and table.concat(pieces) .. text:sub(last + 1) or nil
end

-- Copies of threadIdx and its like ---------------------------------------------------------------------------------------------------------

local built_in <const> = { threadIdx = "uint3", blockIdx = "uint3", blockDim = "dim3", gridDim = "dim3" }

--- Preprocessed text in which `auto` is the type that such a variable has in CUDA, and any other copy reads the same registers; nil where
--- there is nothing to change, or it is done.
local function change_copies(text, messages, done)
  if done[copy] or not messages:find(copy) then return nil end
  done[copy] = true
  for name, type in pairs(built_in) do
    text = text:gsub(("%%f[%%w_]auto(%%s+[%%a_][%%w_]*%%s*[=({]%%s*%s%%s*[;)},])"):format(name), type .. "%1")
  end
  return (text:gsub("__attribute__%(%(device%)%) (__cuda_builtin_%w+_t)%(const %1 &%) =delete;",
    "public: __attribute__((device)) %1(const %1 &) {} private:"))
end

-- Addresses of threadIdx and its like ------------------------------------------------------------------------------------------------------

--- Preprocessed text in which what clang's messages point to is the address of a copy; nil where there is nothing to change.
local function change_addresses(text, messages, done)
  local places, pieces, last = {}, {}, 0
  for _, message in ipairs { address, whole_address } do
    for _, place in ipairs(places_of(text, columns_of(messages, message))) do places[#places + 1] = place end
  end
  table.sort(places)
  for _, place in ipairs(places) do
    local name, finish, member, after = text:match("^&%s*([%a]+)()%s*%.%s*([xyz])%f[^%w_]()", place)
    if not name then name, finish = text:match("^&%s*([%a]+)()", place) end
    local type = member and "unsigned" or built_in[name]
    if built_in[name] then
      local value = member and name .. "." .. member or name
      pieces[#pieces + 1] = ("%s&(const %s &)(%s)%s"):format(text:sub(last + 1, place - 1), type, type, value)
      last = (after or finish) - 1
    end
  end
  if last == 0 then return nil end
  done[address] = true
  return table.concat(pieces) .. text:sub(last + 1)
end

-- Lambdas that are templates --------------------------------------------------------------------------------------------------------------

--- Preprocessed text in which the sides of a lambda stand before its template parameters; nil where there is nothing to change.
local function change_lambdas(text, messages)
  if not messages:find(lambda) then return nil end
  local pieces, last = {}, 1
  for before, parameters, after in text:gmatch "%]()%s*%b<>()%s*__attribute__%(%(%l+%)%)()" do
    while text:match("^%s*__attribute__%(%(%l+%)%)()", after) do after = text:match("^%s*__attribute__%(%(%l+%)%)()", after) end
    pieces[#pieces + 1] = text:sub(last, before - 1) .. " " .. text:sub(parameters, after - 1) .. text:sub(before, parameters - 1)
    last = after
  end
  return last > 1 and table.concat(pieces) .. text:sub(last) or nil
end

--- clang's command `words` as the changes need it: without marks of where copies end they are there as long as the function is.
function leniency.words(words, done)
  return done[address] and table.move(words, 3, #words, 5, { words[1], words[2], "-disable-lifetime-markers", "-Wno-dangling" }) or words
end

--- Preprocessed text with changes by clang's messages; nil where nothing can be changed. `done` is empty at first.
function leniency.change(text, messages, done)
  local changed = change_objects(text, messages) or change_registers(text, messages) or change_unrolling(text, messages)
    or change_stray_unrolling(text, messages) or change_lambdas(text, messages) or change_addresses(text, messages, done)
    or change_copies(text, messages, done)
  return change_guides(changed or text, messages, done) or changed
end

-- Commands -------------------------------------------------------------------------------------------------------------------------------

--- Words of a command that preprocessing needs, with the number of words that they take.
local of_preprocessor <const> = { ["-include"] = 2, ["-D"] = 2, ["-U"] = 2, ["-dependency-file"] = 2, ["-MT"] = 2, ["-MP"] = 1,
  ["-sys-header-deps"] = 1 }

local actions <const> = { ["-S"] = true, ["-emit-llvm"] = true, ["-emit-obj"] = true }

--- In the place of clang's own command `words` for one file: a command that preprocesses it into `path`, with the definitions of macros, and
--- one that goes on from there.
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
  table.insert(first, 3, "-dD")
  second[#second - 1], second[#second] = "cuda-cpp-output", path
  return first, second
end

return leniency

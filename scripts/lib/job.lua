-- Job files: buffers, kernel launches and what to print, one directive a line.
-- workloads/reference/README.md says what each directive means.
local job = {}

local function fail(path, line, text, ...) error(("%s:%d: "):format(path, line) .. text:format(...), 0) end

--- The words of a line up to a word that begins with '#'.
local function words_of(line)
  local words = {}
  for word in line:gmatch("%S+") do
    if word:sub(1, 1) == "#" then break end
    words[#words + 1] = word
  end
  return words
end

-- A directive reads its words through this: take(what) gives the next one, integer(what, least) as
-- a number, and fail(text, ...) names file and line.
local Line = {}
Line.__index = Line

function Line:fail(text, ...) fail(self.path, self.line, text, ...) end

function Line:take(what)
  self.at = self.at + 1
  return self.words[self.at] or self:fail("%s: expected %s, got nothing; the form is: %s", self.words[1], what, self.form)
end

function Line:integer(what, least)
  local word = self:take(what)
  local value = math.tointeger(tonumber(word))
  if not value or value < least then
    self:fail("%s: %s: expected a whole number from %d on, got '%s'", self.words[1], what, least, word)
  end
  return value
end

function Line:known_buffer(buffers, name)
  return buffers[name] and name or self:fail("%s: no buffer above this line matches '%s'", self.words[1], name)
end

-- Directives --------------------------------------------------------------------------------------

local contents = {
  zero = function() return {} end,
  raw = function() return {} end,
  f32 = function(line, bytes)
    if bytes % 4 ~= 0 then line:fail("buf: BYTES: expected a multiple of 4 for f32, got %d", bytes) end
    return { seed = line:integer("SEED", math.mininteger) }
  end,
  file = function(line) return { file = line:take "PATH" } end,
  chase = function(line, bytes)
    local stride = line:integer("STRIDE", 8)
    if stride % 8 ~= 0 or stride > bytes then
      line:fail("buf: STRIDE: expected a multiple of 8 up to the buffer's %d bytes, got %d", bytes, stride)
    end
    return { stride = stride, seed = line:integer("SEED", math.mininteger) }
  end,
}

local function argument(line, buffers, word)
  local kind, text = word:match("^([@if]):?(.*)$")
  if kind == "@" then return { buffer = line:known_buffer(buffers, word:sub(2)) } end
  local value = kind and word:sub(2, 2) == ":" and tonumber(text)
  if kind == "i" then value = value and math.tointeger(value) end
  if not value then line:fail("launch: expected an argument (@buffer, i:INTEGER, f:FLOAT), got '%s'", word) end
  return { value = kind == "f" and value + 0.0 or value }
end

local directives = {
  ptx = {
    form = "ptx FILE",
    read = function(line) return { file = line:take "FILE" } end,
  },
  buf = {
    form = "buf NAME BYTES zero | raw | f32 SEED | file PATH | chase STRIDE SEED",
    read = function(line, buffers)
      local name, bytes, kind = line:take "NAME", line:integer("BYTES", 1), line:take "the contents"
      if buffers[name] then line:fail("buf: expected a new name, got '%s', which line %d defines", name, buffers[name]) end
      if not contents[kind] then
        line:fail("buf: expected zero, raw, f32, file or chase, got '%s'", kind)
      end
      local step = contents[kind](line, bytes)
      buffers[name] = line.line
      step.name, step.bytes, step.contents = name, bytes, kind
      return step
    end,
  },
  launch = {
    form = "launch KERNEL gx gy gz bx by bz DYNAMIC-SHARED-BYTES [@buffer | i:INTEGER | f:FLOAT]...",
    read = function(line, buffers)
      local step = { kernel = line:take "KERNEL", grid = {}, block = {}, args = {} }
      for i, name in ipairs { "gx", "gy", "gz" } do step.grid[i] = line:integer(name, 1) end
      for i, name in ipairs { "bx", "by", "bz" } do step.block[i] = line:integer(name, 1) end
      step.shared = line:integer("DYNAMIC-SHARED-BYTES", 0)
      while line.words[line.at + 1] do
        step.args[#step.args + 1] = argument(line, buffers, line:take "an argument")
      end
      return step
    end,
  },
  sum = {
    form = "sum NAME",
    read = function(line, buffers) return { name = line:known_buffer(buffers, line:take "NAME") } end,
  },
  dump = {
    form = "dump NAME FILE",
    read = function(line, buffers)
      return { name = line:known_buffer(buffers, line:take "NAME"), file = line:take "FILE" }
    end,
  },
}

local function read_directive(line, buffers)
  local name = line.words[1]
  local directive = directives[name]
  if not directive then
    line:fail("expected ptx, buf, launch, sum, dump or a comment from # on, got '%s'", name)
  end
  line.form = directive.form
  local step = directive.read(line, buffers)
  if line.words[line.at + 1] then
    line:fail("%s: expected the end of the line, got '%s'; the form is: %s", name, line.words[line.at + 1], directive.form)
  end
  step.directive, step.line = name, line.line
  return step
end

--- The directives of a job file in its order: { path =, steps = { { directive =, line =, ... } ...
-- } }.
function job.read(path)
  local file, problem = io.open(path, "rb")
  local text = file and file:read "a" -- nil for a folder
  if not text then error(problem or path .. ": expected a file, got a folder", 0) end
  file:close()
  local steps, buffers, number = {}, {}, 0
  for content in (text .. "\n"):gmatch("(.-)\r?\n") do
    number = number + 1
    local words = words_of(content)
    if words[1] then
      local line = setmetatable({ path = path, line = number, words = words, at = 1 }, Line)
      steps[#steps + 1] = read_directive(line, buffers)
    end
  end
  return { path = path, steps = steps }
end

--- { kernel = registers per thread } of a file of lines `kernel N`.
function job.read_registers(path)
  local file, problem = io.open(path, "rb")
  if not file then error(problem, 0) end
  local registers, number = {}, 0
  for content in file:lines() do
    number = number + 1
    local words = words_of(content)
    if words[1] then
      local count = math.tointeger(tonumber(words[2]))
      if #words ~= 2 or not count or count < 1 then
        fail(path, number, "expected KERNEL N (its registers per thread), got '%s'", content)
      end
      registers[words[1]] = count
    end
  end
  file:close()
  return registers
end

return job

-- Macros of the command line for .cu files. clang reads its own CUDA headers and ours before anything else, and some names in
-- those are a program's to use: -DN=1024 must not change them. So these macros are defined by a file that is included behind
-- them; dependencies do not name it.
local inputs = require "warpwright.inputs"

local macros = {}

--- Names that are the C library's own, which decide what its headers declare.
local function is_reserved(name) return name:find "^_" or name == "NDEBUG" end

--- "-DNAME=text" or "-UNAME" as a line; nil when it is another option, or stays as it is.
local function line_of(word)
  local kind, name, text = word:match "^%-([DU])([%w_]+)(.*)$"
  if not kind or is_reserved(name) then return nil end
  if kind == "U" then return "#undef " .. name end
  local parameters, value = text:match "^(%b())(.*)$"
  value = value or text
  value = value:sub(1, 1) == "=" and value:sub(2) or "1"
  return ("#define %s%s %s"):format(name, parameters or "", value)
end

--- The words without such macros, which are written to `path`; with "-include path" where there were some.
function macros.split(words, path)
  local others, lines = {}, { '# 1 "<command line>"' }
  for _, word in ipairs(words) do
    local line = line_of(word)
    if line then lines[#lines + 1] = line else others[#others + 1] = word end
  end
  if lines[2] then
    inputs.write_file(path, table.concat(lines, "\n") .. "\n")
    table.move({ "-include", path }, 1, 2, #others + 1, others)
  end
  return others
end

local rule_columns <const> = 75

--- The words of a rule in lines of as many columns as clang's.
local function folded(words)
  local lines, columns = { words[1] }, #words[1]
  for i = 2, #words do
    local is_full = columns + 1 + #words[i] + #" \\" > rule_columns
    lines[#lines + 1] = (is_full and " \\\n  " or " ") .. words[i]
    columns = (is_full and 2 or columns + 1) + #words[i]
  end
  return table.concat(lines)
end

--- The rules of `file`, or none without such a file, without `paths`. Long ones are folded anew, so that lines end where they would
--- without these paths, which are not as long for each user.
function macros.clean_dependencies(file, paths)
  local text = inputs.read_file(file)
  if not text then return end
  local dropped, rules = {}, {}
  for _, path in ipairs(paths) do dropped[path], dropped[path .. ":"] = true, true end
  for rule in text:gsub("\\\n", " "):gsub("\\ ", "\0"):gmatch "[^\n]+" do
    local words = {}
    for word in rule:gmatch "[^ ]+" do
      if not dropped[word] then words[#words + 1] = word:gsub("\0", "\\ ") end
    end
    if words[1] then rules[#rules + 1] = folded(words) .. "\n" end
  end
  inputs.write_file(file, table.concat(rules))
end

return macros

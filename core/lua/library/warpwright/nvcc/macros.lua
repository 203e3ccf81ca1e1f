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

--- The rules of `file`, or none without such a file, without that path.
function macros.clean_dependencies(file, path)
  local text = inputs.read_file(file)
  if not text then return end
  local pattern = path:gsub("%p", "%%%0")
  inputs.write_file(file, (text:gsub("\n" .. pattern .. ":\n", "\n"):gsub(" ?" .. pattern, "")))
end

return macros

-- Other programs: their words, and what they print.
local child = {}

--- A word as the shell takes it literally.
function child.quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Runs a program with its arguments and returns what it printed, or nil when it failed. `input`: a
-- file to read from.
function child.output(words, input)
  local quoted = {}
  for i, word in ipairs(words) do quoted[i] = child.quoted(word) end
  local pipe = assert(io.popen(table.concat(quoted, " ") .. (input and " < " .. child.quoted(input) or "")))
  local text = pipe:read "a"
  return pipe:close() and text or nil
end

return child

-- What clang 14 refuses, and nvcc takes: `__shared__ alignas(16) float tile[64]`, an attribute of C++ behind one of CUDA. It takes C's
-- `_Alignas` there, which means the same. So a file that it refuses for this is preprocessed first, and its text is changed.
local alignment = {}

--- Is this what clang's messages are about?
function alignment.is_refused(messages) return messages:find("an attribute list cannot appear here", 1, true) ~= nil end

local memories <const> = { "shared", "device", "constant", "__shared__", "__device__", "__constant__" }

--- Preprocessed text that clang takes.
function alignment.change(text)
  for _, memory in ipairs(memories) do
    text = text:gsub(("(__attribute__%%(%%(%s%%)%%))(%%s+)alignas(%%s*%%()"):format(memory), "%1%2_Alignas%3")
  end
  return text
end

--- Words of a command that preprocessing needs, with the number of words that they take.
local of_preprocessor <const> = { ["-include"] = 2, ["-D"] = 2, ["-U"] = 2, ["-dependency-file"] = 2, ["-MT"] = 2, ["-MP"] = 1,
  ["-sys-header-deps"] = 1 }

local actions <const> = { ["-S"] = true, ["-emit-llvm"] = true, ["-emit-obj"] = true }

--- In the place of clang's own command `words` for one file: a command that preprocesses it into `path`, and one that goes on from there.
function alignment.parts(words, path)
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

return alignment

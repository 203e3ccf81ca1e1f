-- What words of -Xcompiler, which are gcc's, are for clang, which compiles the host's code of .cu files as well.
local host_words = {}

--- Beginnings of words that are for the host's code alone: processors, optimisation, what may be done to numbers, what functions of
--- the host do beside their own work.
local for_host <const> = { "-march", "-mtune", "-mavx", "-msse", "-mfma", "-mno-", "-O", "-ffast-math", "-fno-fast-math", "-funsafe-math",
  "-ffinite-math", "-fassociative-math", "-freciprocal-math", "-fno-signed-zeros", "-ffp-contract", "-fsanitize", "-fcf-protection",
  "-finstrument-functions", "-fopenmp-simd" }

--- Beginnings of words that count how often lines run, by gcc's library.
local coverage <const> = { "--coverage", "-coverage", "-fprofile-", "-ftest-coverage" }

--- Beginnings of words that clang knows, and that are for files of gcc and g++: its warnings are others, so the user has not asked for
--- errors of them; g++ cannot link what it makes of -flto.
local for_gcc <const> = { "-Werror", "-ansi", "-flto", "-ffat-lto", "-fgnu89-inline", "-fno-var-tracking", "-mfpmath", "-save-temps",
  "--save-temps", table.unpack(coverage) }

local function begins_with(word, beginnings)
  for _, beginning in ipairs(beginnings) do
    if word:sub(1, #beginning) == beginning then return true end
  end
  return false
end

--- Does the word count how often lines run?
function host_words.is_coverage(word) return begins_with(word, coverage) end

--- Which of the words clang does not know, and refuses: gcc has more options. `line_of` makes a command of a list of words.
local function unknown_to_clang(compiler, words, line_of)
  local asked, unknown = { compiler, "-###", "-fsyntax-only", "-x", "c++", "/dev/null" }, {}
  local is_one_asked = false
  for _, word in ipairs(words) do
    if word:find "^%-[fm]" then asked[#asked + 1], is_one_asked = word, true end
  end
  if not is_one_asked then return unknown end
  local pipe = assert(io.popen(line_of(asked) .. " 2>&1"))
  for line in pipe:lines() do
    local word = line:match "unknown argument:? '([^']*)'"
    if word then unknown[word] = true end
  end
  pipe:close()
  return unknown
end

--- A standard that a .cu file cannot have: one of C, or an old one of C++.
local function is_foreign_standard(word)
  local language, year = word:match "^%-std=([a-z+]+)(.*)$"
  return language and (not language:find "+" or year == "98" or year == "03")
end

--- The words for clang, which takes no level of optimisation for the host alone; its own is that of device code.
function host_words.for_clang(compiler, words, line_of)
  local taken, unknown = {}, unknown_to_clang(compiler, words, line_of)
  for _, word in ipairs(words) do
    local is_left_out = unknown[word] or is_foreign_standard(word) or word:find "^%-O[12sgz]$" or begins_with(word, for_gcc)
    if not is_left_out and begins_with(word, for_host) then taken[#taken + 1] = "-Xarch_host" end
    if not is_left_out then taken[#taken + 1] = word:gsub("^(%-std=%a+%+%+)23$", "%12b") end
  end
  return taken
end

return host_words

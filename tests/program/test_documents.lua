-- The documents: links lead somewhere, lines fit a screen, every room of the simulator says what it is.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local home <const> = core.home_path ""
local longest <const>, landing_page <const> = 100, 120

local function lines_of(command)
  local pipe, lines = assert(io.popen(command)), {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

local function found(what) return lines_of(("cd '%s' && find . -path ./build -prune -o %s | sort"):format(home, what)) end

local function read(path)
  local file = io.open(home .. path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

--- The text without blocks of code.
local function prose(text) return (("\n" .. text):gsub("\n *```.-\n *```", "\n")) end

local documents = found "-name '*.md' -print"

--- What a heading is called in a link.
local function anchors(text)
  local names = {}
  for heading in prose(text):gmatch "\n#+ ([^\n]+)" do
    names[heading:lower():gsub("[^%w_%- ]", ""):gsub(" ", "-")] = true
  end
  return names
end

harness.test("links lead to files, and to headings in them", function()
  for _, path in ipairs(documents) do
    local text = read(path)
    for link in prose(text):gmatch "%]%(([^%s%)]+)%)" do
      if not link:find "^%a+:" then
        local file, anchor = link:match "^([^#]*)#?(.*)$"
        local target = file == "" and path or path:match "^(.*/)" .. file
        local file_at_target = io.open(home .. target)
        assert(file_at_target, ("%s: no file %s"):format(path, link)):close()
        assert(anchor == "" or anchors(read(target))[anchor], ("%s: no heading %s"):format(path, link))
      end
    end
  end
end)

harness.test("lines of prose have at most 100 columns", function()
  for _, path in ipairs(documents) do
    for line in prose(read(path)):gmatch "[^\n]+" do
      local fits = utf8.len(line) <= longest or line:find "^|" or path:find "policy_reference" -- a script writes it
      assert(fits, ("%s: a line of %d columns: %s..."):format(path, utf8.len(line), line:sub(1, 60)))
    end
  end
end)

harness.test("README.md fits two screens", function()
  local _, count = read("README.md"):gsub("\n", "")
  assert(count <= landing_page, ("%d lines"):format(count))
end)

harness.test("every folder of C files has a README, itself or the folder above", function()
  for _, file in ipairs(found "-path './core/*.c' -print -o -path './mem/*.c' -print") do
    local folder = file:match "^(.*/)[^/]*$"
    local readme = read(folder .. "README.md") or read(folder .. "../README.md")
    assert(readme, folder .. ": no README.md, here or above")
  end
end)

-- What READMEs of the kernel and of the memory system say of their sources ---------------------------------------------

local sources <const> = "-path './core/sim/*.[ch]' -print -o -path './mem/*.[ch]' -print"
local readmes = found "-path './core/sim/*README.md' -print -o -path './mem/*README.md' -print"

local function note_words(text, words)
  for word in text:gmatch "[%w_]+" do words[word] = true end
end

--- Texts of all C files, by path, and the words in them.
local function c_files()
  local texts, words = {}, {}
  for _, path in ipairs(found "-path './core/*.[ch]' -print -o -path './mem/*.[ch]' -print") do
    texts[path] = read(path)
    note_words(texts[path], words)
  end
  return texts, words
end

--- The words in its blocks of code.
local function words_of_examples(text)
  local words = {}
  for block in text:gmatch "```.-```" do note_words(block, words) end
  return words
end

--- Is a function, or a macro that stands for one, defined there?
local function defines(text, name)
  text = "\n" .. text
  return text:find("\n#define " .. name .. "%f[^%w_]") or text:find("\n[%a_][^\n;]*%f[%w_]" .. name .. "%(")
    or text:find("\n%s*" .. name .. "%([^;]*{")
end

harness.test("functions that these READMEs name are there, in the file that they name", function()
  local texts, words = c_files()
  for _, path in ipairs(readmes) do
    local text, shown = prose(read(path)), words_of_examples(read(path))
    for name in text:gmatch "`([%l_%d]+)%(%)`" do
      assert(words[name] or shown[name], ("%s: no %s()"):format(path, name))
    end
    for name, file in text:gmatch "`([%l_%d]+)%(%)`%s+%(`([%w_/]+%.[ch])`" do
      local there = texts["./" .. file] or texts[path:match "^(.*/)" .. file]
      assert(there, ("%s: no file %s"):format(path, file))
      assert(defines(there, name), ("%s: no %s() in %s"):format(path, name, file))
    end
  end
end)

harness.test("each of their files has its name in a README, of its folder or the one above", function()
  for _, file in ipairs(found(sources)) do
    local folder, name = file:match "^(.*/)([^/]*)%.[ch]$"
    local texts = (read(folder .. "README.md") or "") .. (read(folder:match "^(.*/)[^/]+/$" .. "README.md") or "")
    local part = folder:match "([^/]+)/$"
    assert(texts:find(name, 1, true) or folder:find "/parts/" and texts:find(part, 1, true), file .. ": named by no README")
  end
end)

harness.finish()

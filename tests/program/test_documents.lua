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

harness.finish()

-- Precompiled headers: what clang reads in front of each .cu file, its own CUDA headers and ours, takes most of the time of a small
-- file. Each side's is compiled once for the options that it depends on, and kept in the user's cache folder. A file that does not
-- compile with it is compiled without, so messages of errors are those of the headers' text.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"

local precompiled = {}

local WRAPPER <const> = "__clang_cuda_runtime_wrapper.h"

--- Where one is: about 9 MB each.
local KEPT <const> = 48

-- Options --------------------------------------------------------------------------------------------------------------------------------

--- Options that change nothing in what is precompiled, with the number of words that they take.
local of_file <const> = { ["-o"] = 2, ["-main-file-name"] = 2, ["-dependency-file"] = 2, ["-MT"] = 2, ["-MP"] = 1, ["-sys-header-deps"] = 1,
  ["-fcuda-include-gpubinary"] = 2, ["-mlink-builtin-bitcode"] = 2, ["-disable-llvm-passes"] = 1, ["-vectorize-loops"] = 1,
  ["-vectorize-slp"] = 1 }

--- Beginnings of such options.
local of_file_too <const> = { "-fcoverage-compilation-dir=", "-fdebug-compilation-dir=", "-cuid=", "-debug-info-kind=", "-dwarf-version=",
  "-debugger-tuning=" }

--- Folders of headers, which may be one word with their path or two.
local folders <const> = { "-I", "-iquote", "-isystem", "-cxx-isystem", "-c-isystem" }

local actions <const> = { ["-S"] = true, ["-emit-llvm"] = true, ["-emit-obj"] = true }

local function is_of_file(word)
  for _, beginning in ipairs(of_file_too) do
    if word:sub(1, #beginning) == beginning then return true end
  end
  return false
end

--- The folder that the word at `i` and perhaps the next one name, and how many words these are.
local function folder_at(words, i)
  for _, option in ipairs(folders) do
    if words[i] == option then return words[i + 1], 2 end
  end
  local folder = words[i]:match "^%-I(.+)"
  return folder, 1
end

--- Words with which clang 14 does not do the same with a precompiled header: from C++20 on it takes a function of the host and one of
--- the device for one, and debug information of variables lacks what the file itself does not use.
local function refuses(word)
  local standard, debug = word:match "^%-std=%a+%+%+(%w+)$", word:match "^%-debug%-info%-kind=(.*)$"
  return word == "-include-pch" or standard and not (" 11 14 17 "):find((" %s "):format(standard), 1, true) or debug and not debug:find "^line%-"
end

--- What clang's command `words` for a file of CUDA says of the headers in front of it: words without those of the file, among them the
--- action as `false`; the user's folders; the place of the wrapper's name in `words`. nil where no precompiled header can serve.
local function parts_of(words, own)
  local kept, users, wrapper, acts, i = {}, {}, nil, 0, 1
  if words[#words - 2] ~= "-x" or words[#words - 1] ~= "cuda" then return nil end
  while i <= #words - 3 do
    local word, count = words[i], of_file[words[i]] or 1
    local folder, of_folder = folder_at(words, i)
    if word == "-include" and words[i + 1] == WRAPPER then wrapper = i end
    if refuses(word) or word == "-include" and not wrapper then return nil end
    if folder and folder:sub(1, #own) ~= own then
      users[#users + 1], count = folder, of_folder
    elseif word == "-include" and wrapper ~= i then
      count = 2
    elseif actions[word] then
      kept[#kept + 1], acts = false, acts + 1
    elseif not of_file[word] and not is_of_file(word) then
      kept[#kept + 1] = word:find "^%-O[123]$" and "-O2" or word
    end
    i = i + count
  end
  if not wrapper or acts ~= 1 then return nil end
  return kept, users, wrapper
end

-- Files ----------------------------------------------------------------------------------------------------------------------------------

--- A full path of characters that rules of dependencies have as they are?
local function is_plain(path) return path and path:find "^/[%w_./+@=,-]*$" end

--- The folder of all of them, as clang writes its path into rules; nil where there can be none.
local function folder_of_all()
  if os.getenv "CUDA_CACHE_DISABLE" == "1" then return nil end
  local cache, home = os.getenv "XDG_CACHE_HOME", os.getenv "HOME"
  if not cache or cache == "" then cache = home and home .. "/.cache" end
  return is_plain(cache) and cache:gsub("/+", "/"):gsub("/$", "") .. "/warpwright/nvcc" or nil
end

--- Folders of the system and of clang's own, in which headers are found.
local function search_folders(kept)
  local found = {}
  for i, word in ipairs(kept) do
    if word and (word:find "^%-internal%-" or word == "-isystem") then found[#found + 1] = kept[i + 1] .. "/" end
  end
  return found
end

--- Of the rules that clang wrote: a line for each header and each name by which an #include may have found it.
local function names_of(rules, kept)
  local lines, done = {}, {}
  for path in rules:gsub("\\\n", " "):gmatch "%S+" do
    for _, folder in ipairs(search_folders(kept)) do
      local name = path:sub(1, #folder) == folder and path:sub(#folder + 1)
      if name and not done[name] then
        lines[#lines + 1], done[name] = ("%s\t%s\n"):format(name, path), true
      end
    end
  end
  return table.concat(lines)
end

--- Would one of the user's folders have another file for one of these headers?
local function is_shadowed(names, users)
  for _, folder in ipairs(users) do
    for name, path in names:gmatch "([^\t\n]*)\t([^\n]*)\n" do
      local own = ("%s/%s"):format(folder, name)
      if core.is_file(own) and core.real_path(own) ~= core.real_path(path) then return true end
    end
  end
  return false
end

--- Which precompiled header serves the command: { path =, kept =, users =, wrapper = }; nil where none can.
local function of_command(words, toolkit)
  local folder = is_plain(toolkit) and folder_of_all()
  if not folder then return nil end
  local kept, users, wrapper = parts_of(words, toolkit)
  if not kept then return nil end
  local key = { "1", core.real_path(words[1]) or words[1] }
  for i, word in ipairs(kept) do key[i + 2] = word or "" end
  users[#users + 1] = "/usr/local/include" -- what is installed there later hides headers of other folders, too
  return { folder = folder, path = ("%s/%s"):format(folder, core.digest(table.concat(key, "\0"))), kept = kept, users = users, wrapper = wrapper }
end

local function is_there(header) return core.is_file(header.path .. ".pch") end

--- Was clang's error that it did not take the header, rather than a line of the program with it?
local function is_stale(messages) return messages:find "precompiled header" or messages:find "PCH file" or messages:find "AST file" end

local function quoted(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

--- The shell's line that makes a header, at a name of this process.
local function line_for(header, empty)
  local words = {}
  for i, word in ipairs(header.kept) do words[i] = quoted(word or "-emit-pch") end
  table.move({ "-fpch-instantiate-templates", "-dependency-file", quoted(header.temporary .. ".d"), "-MT", "x", "-sys-header-deps", "-o",
    quoted(header.temporary), "-x", "cuda", quoted(empty) }, 1, 11, #words + 1, words)
  return table.concat(words, " ") .. " 2> /dev/null"
end

--- Gives a header that was made its name; the names of its parts come first.
local function publish(header)
  local rules = inputs.read_file(header.temporary .. ".d")
  os.remove(header.temporary .. ".d")
  if not rules or inputs.try_to_write(header.path .. ".names", names_of(rules, header.kept)) then
    os.remove(header.temporary)
  else
    os.rename(header.temporary, header.path .. ".pch")
  end
end

--- Removes the oldest, and what killed processes have left.
local function trim(folder)
  os.execute(([[cd %s && { ls -t *.pch | tail -n +%d | sed 's/\.pch$//' | while read -r old; do rm -f "$old.pch" "$old.names"; done
    find . -name '*.tmp*' -mmin +60 -exec rm -f {} +; } 2> /dev/null]]):format(quoted(folder), KEPT + 1))
end

-- What the driver asks --------------------------------------------------------------------------------------------------------------------

--- The file that stands for the program's when a header is made: rules of dependencies name it.
function precompiled.empty_file()
  local folder = folder_of_all()
  return folder and folder .. "/empty.cu"
end

--- Makes the headers that these commands need and that are not there, side by side. Returns false when a signal, such as Ctrl-C, ended
--- that.
function precompiled.prepare(commands, toolkit)
  local lines, headers = {}, {}
  for _, words in ipairs(commands) do
    local header = of_command(words, toolkit)
    if header and not is_there(header) and not headers[header.path] and inputs.read_file(header.path .. ".names") ~= "" then
      header.temporary = inputs.temporary_of(header.path .. ".pch")
      headers[header.path], headers[#headers + 1] = true, header
    end
  end
  if not headers[1] then return true end
  local empty = precompiled.empty_file()
  if not pcall(inputs.make_folders, headers[1].folder) then return true end
  if not core.is_file(empty) and inputs.try_to_write(empty, "") then return true end
  for i, header in ipairs(headers) do lines[i] = line_for(header, empty) end
  local _, kind = os.execute(table.concat(lines, " & ") .. " & wait")
  for _, header in ipairs(headers) do
    if core.is_file(header.temporary) then publish(header) else os.remove(header.temporary .. ".d") end
  end
  trim(headers[1].folder)
  return kind ~= "signal"
end

--- The command with a precompiled header in the place of the headers' text, and the header; nil where there is none.
function precompiled.words(words, toolkit)
  local header = of_command(words, toolkit)
  local names = header and is_there(header) and inputs.read_file(header.path .. ".names")
  if not names or is_shadowed(names, header.users) then return nil end
  local changed = table.move(words, 1, #words, 1, {})
  changed[header.wrapper], changed[header.wrapper + 1] = "-include-pch", header.path .. ".pch"
  table.insert(changed, #changed - 2, "-fmodules-validate-system-headers") -- refuses it when a header has changed
  return changed, header
end

--- Removes a header with which clang refused, with these messages, what it takes without. Where it was not the header's age, none is
--- made again.
function precompiled.remove(header, messages)
  os.remove(header.path .. ".pch")
  os.remove(header.path .. ".names")
  if messages:find(": error: ", 1, true) and not is_stale(messages) then inputs.try_to_write(header.path .. ".names", "") end
end

return precompiled

-- The output folder of a run: stats.txt, stats.json, config.lua, provenance.txt. Stats depend on nothing but the inputs;
-- what belongs to one run on one computer stands in provenance.txt alone.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local later = require "warpwright.later"
local names = require "warpwright.names"

local sampled_result = later "warpwright.sampled_result"

local output = { command_line = "" }

-- Folders ------------------------------------------------------------------------------------------------------------

--- The first free out/WORD-WORD-...-N.
local function free_folder(words)
  inputs.make_folders "out"
  local stem = "out/" .. table.concat(words, "-"):gsub("[^%w%-_.,=]", "_")
  local n = 1
  while not core.make_folder(("%s-%d"):format(stem, n)) do n = n + 1 end
  return ("%s-%d"):format(stem, n)
end

local Folder = {}

--- Nobody else opens it until then.
function output.close(folder)
  if folder.lock then folder.lock:close() end
end

Folder.__close = output.close

--- `out`: a folder, false for none, nil for the first free out/WORD-WORD-...-N. Returns { path =, is_new = }, for a
-- to-be-closed variable. What cannot be written to, or is another run's, is an error.
function output.open(out, words)
  local folder = setmetatable({ path = out }, Folder)
  if out == false then return folder end
  if out ~= nil and type(out) ~= "string" or out == "" then names.expected("out", "a folder or false", out) end
  folder.is_new = out == nil or inputs.make_folders(out)[1] ~= nil
  folder.path = out or free_folder(words)
  folder.lock = core.lock_folder(folder.path)
  return folder
end

--- A kernel that hangs leaves hang.txt.
function output.want_hang_report(folder, gpu)
  if not folder.path then return end
  local path = folder.path .. "/hang.txt"
  os.remove(path) -- of a run before
  gpu:set_hang_report(path)
end

--- The run left nothing to write.
function output.discard(folder)
  if folder.path and folder.is_new then os.remove(folder.path) end
end

-- Statistics ----------------------------------------------------------------------------------------------------------

--- Which of them a run writes, the most first.
local stats_choices <const> = { "all", "packed", "summary", "none" }

--- `choice`: what a run was told, or nil.
function output.check_stats(choice)
  for _, legal in ipairs(stats_choices) do
    if choice == nil or choice == legal then return end
  end
  names.expected("stats", table.concat(stats_choices, ", "), choice)
end

--- Has a run with one choice all that a run with the other has?
function output.has_stats(choice, other)
  for _, most in ipairs(stats_choices) do
    if most == choice or most == other then return most == choice end
  end
end

function output.read_file(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

--- The text of a workload's PTX; "" where it is in no file, or its host program loads it itself.
function output.read_ptx(path) return path and core.is_file(path) and output.read_file(path) or "" end

-- stats.json ---------------------------------------------------------------------------------------------------------

local function json_string(text)
  local escaped = text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end)
  return '"' .. escaped .. '"'
end

local function json_number(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if value ~= value or value == math.huge or value == -math.huge then return "null" end
  return ("%.9g"):format(value)
end

local function json_value(value)
  if type(value) == "number" then return json_number(value) end
  if type(value) == "string" then return json_string(value) end
  return tostring(value)
end

--- An object with its keys sorted.
local function json_object(t)
  local members = {}
  for i, key in ipairs(names.sorted_keys(t)) do members[i] = ("%s: %s"):format(json_string(key), json_value(t[key])) end
  return "{" .. table.concat(members, ", ") .. "}"
end

--- Which statistics are estimates, each with the half-width of its 95% interval; "" where none is.
local function estimated_json(r)
  local widths, members = r.sampled and sampled_result.widths(r) or {}, {}
  for i, name in ipairs(names.sorted_keys(widths)) do members[i] = ("    %s: %s"):format(json_string(name), json_number(widths[name])) end
  if not members[1] then return "" end
  return (',\n  "sample": %s,\n  "estimated": {\n%s\n  }'):format(json_string(r.sampled.sample), table.concat(members, ",\n"))
end

local function stats_json(r, rows)
  local launches = {}
  for i, launch in ipairs(r.launches) do
    local counts = {}
    for name, value in pairs(launch) do counts[name] = name ~= "printed" and value or nil end
    launches[i] = "    " .. json_object(counts)
  end
  return names.utf8(table.concat {
    "{\n",
    ('  "machine": %s,\n  "workload": %s,\n  "size": %s,\n  "policy": %s,\n'):format(json_value(r.machine),
      json_value(r.workload), json_value(r.size), json_value(r.policy)),
    ('  "launches": [\n%s\n  ],\n'):format(table.concat(launches, ",\n")),
    ('  "stats": {\n%s\n  }%s\n'):format(rows:json "    ", estimated_json(r)),
    "}\n",
  })
end

-- stats.zst, live.zst: a line for each row, its fields apart by tabs ---------------------------------------------------------------

local function exact(value) return math.type(value) == "integer" and ("%d"):format(value) or ("%.17g"):format(value) end

--- `rows`: a core.stats().
function output.packed_rows(rows)
  local lines = {}
  for i = 1, #rows do
    local name, value, unit, doc, whole = rows:row(i)
    lines[i] = ("%s\t%s\t%s\t%s\t%s\n"):format(name, exact(value), whole and exact(whole) or "", unit, doc)
  end
  return core.pack(table.concat(lines))
end

local MOST_BYTES <const> = 1 << 30

--- The text of what packed_rows() gave; nil when it is damaged.
function output.unpacked_rows(packed) return core.unpacked(packed, MOST_BYTES) end

--- Every row of such a text, as visit(name, value, whole of a ratio or nil, unit, description). Ratios are floats.
function output.visit_rows(text, visit)
  for name, value, whole, unit, doc in text:gmatch "([^\t\n]*)\t([^\t\n]*)\t([^\t\n]*)\t([^\t\n]*)\t([^\n]*)\n" do
    visit(name, (tonumber(value) or 0 / 0) + (whole ~= "" and 0.0 or 0), tonumber(whole), unit, doc)
  end
end

--- The same of what packed_rows() gave. False when it is damaged.
function output.visit_packed_rows(packed, visit)
  local text = output.unpacked_rows(packed)
  if text then output.visit_rows(text, visit) end
  return text ~= nil
end

--- The same of a stats.zst.
function output.visit_packed_stats(path, visit) return output.visit_packed_rows(output.read_file(path), visit) end

--- The rows of a result that a run with this choice writes.
local function rows_of(r, choice)
  local rows = choice == "summary" and r:summary() or r.rows
  return r.sampled and sampled_result.annotated(r, rows) or rows
end

--- A stats.zst of these.
function output.packed_stats(r, choice) return output.packed_rows(rows_of(r, choice)) end

local function stats_files(r, choice)
  if choice == "none" then return {} end
  local rows = rows_of(r, choice)
  if choice == "packed" then return { { name = "stats.zst", text = output.packed_rows(rows) } } end
  return { { name = "stats.txt", text = rows:text() }, { name = "stats.json", text = stats_json(r, rows) } }
end

-- printed.txt --------------------------------------------------------------------------------------------------------

--- What kernels printed, launch by launch, those that have not ended too; nil when none did.
local function printed_text(r)
  local texts = {}
  for _, launch in ipairs(r.launches) do
    texts[#texts + 1] = launch.printed
    if launch.printed_dropped then
      texts[#texts + 1] = ("[%d messages of kernel %s were dropped]\n"):format(launch.printed_dropped, launch.kernel)
    end
  end
  texts[#texts + 1] = r.printed
  local text = table.concat(texts)
  return text ~= "" and text or nil
end

-- provenance.txt -----------------------------------------------------------------------------------------------------

local function provenance_text(r, of)
  local host = core.host()
  local size = {}
  for i, key in ipairs(names.sorted_keys(of.size)) do size[i] = ("%s = %s"):format(key, tostring(of.size[key])) end
  local lines = {}
  local function add(name, value) lines[#lines + 1] = ("%-18s %s\n"):format(name, value) end
  add("status", of.status)
  add("warpwright", ("%s, revision %s"):format(core.version, core.revision))
  add("compiler", core.compiler)
  add("build flags", core.build_flags)
  add("command line", output.command_line)
  add("date", os.date("!%Y-%m-%dT%H:%M:%SZ"))
  add("host", host.name)
  add("machine", r.machine)
  add("workload", r.workload)
  add("size", ("%s (%s)"):format(r.size, table.concat(size, ", ")))
  if of.program then add("program", of.program) end
  add("policy", r.policy)
  add("config digest", core.digest(of.config))
  add("PTX digest", core.digest(of.ptx))
  for _, file in ipairs(of.files) do add(file.path:find "%.lua" and "Lua file" or "other file", ("%s %s, %s"):format(file.digest, file.path, file.name)) end
  for _, file in ipairs(of.ptx_files) do add("PTX file", ("%s %s"):format(file.digest, file.path)) end
  if of.resumed then add("resumed from", of.resumed) end
  for _, name in ipairs { "profile from", "histograms from" } do
    if of.begun and of.begun[name] then add(name, of.begun[name]) end
  end
  if of.fast_forward then add("fast forward", of.fast_forward) end
  if of.sample then add("sampled", of.sample) end
  add("checks passed", r.checks)
  add("host seconds", ("%.3f"):format(r.seconds))
  add("cycles per second", ("%.0f"):format(r.cycles_per_second))
  add("peak memory", ("%.1f MiB"):format(host.peak_bytes / 2 ^ 20))
  return table.concat(lines)
end

-- Writing ------------------------------------------------------------------------------------------------------------

--- Returns nil, or the first problem.
local function write_files(path, files)
  for _, file in ipairs(files) do
    local problem = inputs.try_to_write(path .. "/" .. file.name, file.text)
    if problem then return problem end
  end
end

--- What results consist of, checkpoints apart, which are another run's only hope.
local result_files <const> = {
  "stats.txt", "stats.json", "stats.zst", "since.zst", "config.lua", "config.lua.zst", "provenance.txt", "sampling.txt", "printed.txt",
  "memcheck.txt", "profile.csv", "profile_warps.csv", "profile_ctas.csv", "profile_allocations.csv", "histograms.csv", "intervals.csv", "trace.txt",
  "report.html",
}

--- Is it the name of a file that a run writes into its folder or leaves there: results, checkpoints, what it shows of itself?
function output.is_of_run(name)
  for _, own in ipairs(result_files) do
    if name == own then return true end
  end
  return name == "hang.txt" or name == "run.pid" or name == "live.zst" or name == "passes" or name:find "^%d+%.ckpt$" ~= nil
end

--- A page that a command makes of results; `where`: the command and its option. Files that hold what a run or a sweep has found
--- are not written over.
function output.write_page(where, path, text)
  local name = path:match "[^/]*$"
  if name == "" then names.expected(where, "a file", path) end
  if name ~= "report.html" and (output.is_of_run(name) or name == "results.sqlite") and core.is_file(path) then
    names.expected(where, "a name that no file of a run or a sweep has", path)
  end
  local problem = inputs.try_to_write(path, names.utf8(text))
  if problem then
    core.user_error(("%s: %s: expected a file that can be written, got: %s"):format(where, path, problem:gsub("^.*: ", "")))
  end
end

--- The results of the run that had the folder before are no longer there when those of another are.
local function remove_others(path, files, has_trace)
  local written = { ["trace.txt"] = has_trace }
  for _, file in ipairs(files) do written[file.name] = true end
  for _, name in ipairs(result_files) do
    if not written[name] then os.remove(path .. "/" .. name) end
  end
end

--- A run may have taken days: where its folder cannot be written, its files go to a new folder for temporary files, and if there
-- is no room either, stats.txt goes to stdout. Returns where they are.
local function rescue(files)
  local made, path = pcall(function()
    local folder, n = os.getenv "TMPDIR" or "/tmp", 1
    while not core.make_folder(("%s/warpwright-%d"):format(folder, n)) do n = n + 1 end
    return ("%s/warpwright-%d"):format(folder, n)
  end)
  if made and not write_files(path, files) then return path end
  io.stdout:write(files[1].text)
  return files[1].name .. " was written to stdout"
end

--- Writes the folder. `of`: status =, config = text, ptx = text, ptx_files = of core.loaded_ptx(), size = parameters, files = of sources.list(), memcheck = text or nil, resumed = the
-- checkpoint that it went on from, or nil, begun = { ["profile from"] = cycle or nil, ["histograms from"] = cycle or nil } or nil,
-- stats = which, or nil, has_trace = whether trace.txt is this run's. Returns nil, or what went wrong and where the results are instead.
function output.write(folder, r, of)
  if not folder.path then return end
  local files = stats_files(r, of.stats)
  if of.stats == "packed" then
    files[#files + 1] = { name = "config.lua.zst", text = core.pack(of.config) }
  else
    files[#files + 1] = { name = "config.lua", text = of.config }
  end
  files[#files + 1] = { name = "provenance.txt", text = provenance_text(r, of) }
  if r.sampled then files[#files + 1] = { name = "sampling.txt", text = table.concat(r.sampled.lines, "\n") .. "\n" } end
  local printed = printed_text(r)
  if printed then files[#files + 1] = { name = "printed.txt", text = printed } end
  if of.memcheck then files[#files + 1] = { name = "memcheck.txt", text = of.memcheck } end
  for _, file in ipairs(of.files_beside or {}) do files[#files + 1] = file end
  if of.intervals then files[#files + 1] = { name = "intervals.csv", text = of.intervals } end
  local problem = write_files(folder.path, files)
  if not problem then remove_others(folder.path, files, of.has_trace) end
  return problem and ("%s; the results are not lost: %s"):format(problem, rescue(files))
end

return output

-- warpwright cuda: an unmodified CUDA program, whose GPU is a simulated machine.
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local cuda_home = require "warpwright.cuda_home"
local cuda_server = require "warpwright.cuda_server"
local inputs = require "warpwright.inputs"
local memcheck = require "warpwright.memcheck"
local names = require "warpwright.names"
local note = require "warpwright.note"
local workload = require "warpwright.workload"

local cuda = {}

--- What cuda.run may be told, beside what ww.run may be.
cuda.options = { "capability", "launches", "arguments" }

local default_capability <const> = "8.0"
local killed <const> = 128 -- and the signal's number: the exit status, as shells have it

-- The program's words in a checkpoint --------------------------------------------------------------------------------

local function encode(words)
  local texts = {}
  for i, word in ipairs(words) do
    texts[i] = word:gsub("[^%w_./=,:+@-]", function(c) return ("%%%02x"):format(c:byte()) end)
    if texts[i] == "" then texts[i] = "%" end
  end
  return table.concat(texts, " ")
end

local function decode(text)
  local words = {}
  for word in text:gmatch "%S+" do
    words[#words + 1] = word == "%" and "" or word:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end)
  end
  return words
end

-- The program as a workload ------------------------------------------------------------------------------------------

--- What a run of it is called, as a workload is.
function cuda.name_of(words)
  local name = words[1]:match "([^/]*)$":gsub("[^%w_.-]", "_")
  return name ~= "" and name or "program"
end

--- "8.0" as 80.
local function read_capability(text)
  local major, minor = tostring(text):match "^(%d%d?)%.(%d)$"
  if not major then names.expected("--capability", "a compute capability, such as 8.0", text) end
  return math.tointeger(major) * 10 + math.tointeger(minor)
end

--- "3-7,9" as a function of a launch's number, from 0 on: is it one of these? Without a text: yes.
local function read_launches(text)
  local ranges = {}
  for word in (text or "0-"):gmatch "[^,]+" do
    local first, last = word:match "^(%d+)%-(%d*)$"
    if not first then
      first = word:match "^%d+$"
      last = first
    end
    ranges[#ranges + 1] = { math.tointeger(first), last == "" and math.huge or math.tointeger(last) }
    if not first or not ranges[#ranges][1] or ranges[#ranges][1] > (ranges[#ranges][2] or -1) then
      names.expected("--launches", "numbers of launches from 0 on, such as 3-7,9 or 3-", text)
    end
  end
  if not ranges[1] then names.expected("--launches", "numbers of launches from 0 on, such as 3-7,9 or 3-", text) end
  return function(number)
    for _, range in ipairs(ranges) do
      if number >= range[1] and number <= range[2] then return true end
    end
    return false
  end
end

--- The file of a program, as the shell finds it; nil when there is none.
local function file_of(word)
  if word:find("/", 1, true) then return core.is_file(word) and word or nil end
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path = folder .. "/" .. word
    if core.is_file(path) then return path end
  end
end

--- An error for a program that is not there.
function cuda.check(words)
  if not file_of(words[1]) then names.expected("program", "a file, or a name in PATH", words[1]) end
  cuda_home.path "lib64"
end

cuda.check_capability, cuda.check_launches = read_capability, read_launches

--- The program, and files that its arguments name, are among what a run is made of.
function cuda.note_files(words)
  for i, word in ipairs(words) do
    local path = i == 1 and file_of(word) or core.is_file(word) and word
    if path then core.note_file(core.real_path(path), inputs.digest_of_file(path), "") end
  end
end

--- The workload whose host program is the program with these arguments; `ended` of it is the exit status, once there is one;
-- `results`: the folder of the run's, or nil.
local function program_of(words, folder, how)
  local program = workload.define(cuda.name_of(words)) { doc = "A CUDA program", ptx = false, sizes = { cuda = {} } }
  program.file = nil
  program.word, program.command_line = "cuda", names.command_line(words)
  program.choices = {
    program = encode(words), folder = encode { folder }, capability = how.capability, launches = how.launches,
  }
  local capability, is_timed = read_capability(how.capability), read_launches(how.launches)

  function program.run(_, gpu)
    core.keep_host_log(gpu, how.keeps_log)
    local server = cuda_server.new(program.sim, program.name, capability, is_timed, how.is_one_by_one, how.tells_copies)
    local channel <close> = core.cuda_start(words, cuda_home.path "lib64", gpu, folder, program.results)
    program.ptx_texts, program.faults = server.ptx, server.faults
    server:serve(channel)
    local status, signal = core.cuda_end(channel)
    program.ended = status or killed + signal
    if signal then note("%s was ended by signal %d", words[1], signal) end
  end

  return program
end

local function print_summary(r)
  note("%s: %d launch%s, %d cycles, IPC %.2f, %.0f cycles per second, %.2f s; results in %s", r.workload, #r.launches,
    #r.launches == 1 and "" or "es", r.cycles, r.ipc, r.cycles_per_second, r.seconds, tostring(r.out))
  if r.memcheck then note("%s", memcheck.summary(r.memcheck)) end
end

--- The program of a sweep's run, which can be stopped with a checkpoint whatever its options say, as a workload.
function cuda.workload(run)
  cuda_home.path "lib64" -- before anything else: nothing runs without
  local keeps_log = not run.sample
  return program_of(run.program, core.real_path ".", {
    capability = run.capability or default_capability, launches = run.timed, keeps_log = keeps_log,
    is_one_by_one = (run.sample or run.fast_forward) ~= nil, tells_copies = keeps_log,
  })
end

--- cuda.run { config =, arguments = { program, its arguments ... }, capability =, launches =, and the rest as ww.run has it }
-- -> the program's exit status
function cuda.run(options)
  options = checkpoint.of_folder(options)
  local saved = options.resume and checkpoint.read_run(options.resume) or {}
  if options.resume and not saved.program then
    core.user_error(("checkpoint %s: expected a run of a CUDA program, got workload %s"):format(options.resume,
      tostring(saved.workload_name)))
  end
  local words = options.arguments or decode(saved.program)
  if not words[1] then core.user_error "cuda: expected a program behind --, got nothing" end
  local keeps_log = (options.checkpoint_every or options.checkpoint_at or options.resume) ~= nil
  local program = program_of(words, decode(saved.folder or "")[1] or core.real_path ".", {
    capability = options.capability or saved.capability or default_capability,
    launches = options.launches or saved.launches,
    keeps_log = keeps_log,
    is_one_by_one = (options.sample or options.fast_forward or saved.sample or saved.fast_forward) ~= nil,
    tells_copies = keeps_log or options.memcheck or false,
  })
  cuda_home.path "lib64" -- before anything else: nothing runs without
  local plain = { workload = program, bounds = not options.memcheck and "hardware" or nil }
  for name, value in pairs(options) do plain[name] = value end
  for _, name in ipairs(cuda.options) do plain[name] = nil end
  print_summary(require("warpwright.run").run(plain))
  return program.ended
end

return cuda

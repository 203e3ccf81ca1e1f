-- The arguments of `warpwright nvcc`, read as nvcc reads them.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local note = require "warpwright.note"
local options = require "warpwright.nvcc.options"

local arguments = {}

local function refuse(text, ...) core.user_error("nvcc: " .. text:format(...) .. "; docs/nvcc.md lists the options") end

--- Words of a response file: apart by spaces, quotes keep them together. A backslash before a quote makes it one of the word.
local function words_of(text)
  local words, word, quote, has = {}, "", nil, false
  for backslash, c in text:gsub("\\?.", { ['\\"'] = '\1"', ["\\'"] = "\1'" }):gmatch "(\1?)(.)" do
    if backslash ~= "" then
      word, has = word .. c, true
    elseif quote then
      if c == quote then quote = nil else word = word .. c end
    elseif c == '"' or c == "'" then
      quote, has = c, true
    elseif c:find "%s" then
      if has then words[#words + 1] = word end
      word, has = "", false
    else
      word, has = word .. c, true
    end
  end
  if has then words[#words + 1] = word end
  return words
end

--- The arguments between those of the environment, as nvcc has them.
local function with_environment(args, first)
  local all, behind = words_of(os.getenv "NVCC_PREPEND_FLAGS" or ""), words_of(os.getenv "NVCC_APPEND_FLAGS" or "")
  table.move(args, first, #args, #all + 1, all)
  return table.move(behind, 1, #behind, #all + 1, all)
end

--- The arguments, with those of response files in their places.
local function expand(args)
  local words = {}
  local i = 1
  while args[i] do
    local file = args[i]:match "^@(.+)" or args[i]:match "^%-%-options%-file=(.+)" or args[i]:match "^%-optf=(.+)"
    if args[i] == "-optf" or args[i] == "--options-file" then
      i = i + 1
      file = args[i]
    end
    if file then
      local text = inputs.read_file(file) or refuse("%s: no such file of options", file)
      for _, word in ipairs(words_of(text)) do words[#words + 1] = word end
    else
      words[#words + 1] = args[i]
    end
    i = i + 1
  end
  return words
end

--- The name in our tables of an option as it is written; nil for what is none.
local function name_of(word)
  for _, name in ipairs { options.alias[word] or word, (word:gsub("^%-%-", "-")) } do
    if options.flags[name] or options.values[name] then return name end
  end
end

--- "-Ifoo" as "-I", "foo"; "--std=c++17" as "-std", "c++17"; a flag as itself; nil for what nobody knows.
local function split(word)
  local whole = name_of(word)
  if whole then return whole end
  local before, value = word:match "^(%-%-?[%w_-]+)=(.*)$"
  local name = before and name_of(before)
  if name then return name, value end
  for _, length in ipairs { 2, 3, 8 } do
    name = word:sub(1, length)
    if #word > length and options.values[name] == "joined" then return name, word:sub(length + 1) end
  end
end

--- The words of "-Wall,-O3", "-Wall -O3" and ",\"-Wall\"", as build tools write them. "\," is a comma of the word itself, and so are
--- all of "-Wl,-rpath,folder".
local function commas(value)
  if value:find "^%-W[alp]," then return { value } end
  local list = {}
  for escaped in value:gsub("\\,", "\0"):gmatch "[^,]+" do
    local part = escaped:gsub("%z", ",")
    if part:find "%s" or part:find "^[\"']" then
      for _, word in ipairs(words_of(part)) do list[#list + 1] = word end
    else
      list[#list + 1] = part
    end
  end
  return list
end

local function is_source(word) return word:match "%.(%w+)$" end

--- Lists in order: { { "-I", "include" }, { input = "a.cu" }, ... }.
local function read(words)
  local list, i, forwards = {}, 1, false
  for _, word in ipairs(words) do forwards = forwards or split(word) == "-forward" end
  while words[i] do
    local word = words[i]
    if word == "-" or word:sub(1, 1) ~= "-" then
      list[#list + 1] = { input = word }
    else
      local name, value = split(word)
      local is_passed_on = not name and (forwards or word:find "^%-W") -- to the host compiler, as many do
      if is_passed_on then
        name, value = "-Xcompiler", word
      elseif not name then
        refuse("unknown option '%s'; -Xcompiler passes options to the host compiler", word)
      end
      if options.values[name] and not value then
        i = i + 1
        value = words[i] or refuse("%s: expected a value, got nothing", word)
      end
      local is_list = options.values[name] == "comma" and not is_passed_on
      for _, part in ipairs(is_list and commas(value) or { value or true }) do list[#list + 1] = { name, part } end
    end
    i = i + 1
  end
  return list
end

-- Architectures ---------------------------------------------------------------------------------------------------------------------

local LOWEST <const>, HIGHEST <const>, DEFAULT <const> = options.architectures[1], options.architectures[#options.architectures], 75

--- All numbers in "compute_70,sm_75" and "arch=compute_80,code=[sm_80,compute_80]".
local function architectures_in(option, text, found)
  local before = #found
  if text == "native" or text:find "^all" then found[#found + 1] = 80 end
  for kind, number in text:gmatch "(%a+)_(%d+)" do
    if kind == "sm" or kind == "compute" or kind == "lto" then found[#found + 1] = math.tointeger(number) end
  end
  if #found == before then refuse("%s: expected an architecture, such as sm_80, got '%s'", option, text) end
end

--- The highest one that clang knows, since PTX for it runs wherever the others do.
local function architecture_of(found)
  local best
  for _, number in ipairs(found) do best = math.max(best or 0, number) end
  if not best then return DEFAULT end
  if best < LOWEST then return LOWEST end
  if best > HIGHEST then
    note("nvcc: sm_%d is compiled as sm_%d, the highest that clang 14 knows", best, HIGHEST)
    return HIGHEST
  end
  return best
end

-- What is wanted ----------------------------------------------------------------------------------------------------------------------

local languages <const> = {
  cu = "cuda", c = "c", cpp = "c++", cc = "c++", cxx = "c++", C = "c++", CPP = "c++", ["c++"] = "c++", o = "object", a = "object",
  so = "object", obj = "object", lib = "object",
}

local function language_of(path, given)
  return given or languages[is_source(path) or ""] or path:find "%.so[%.%d]*$" and "object" or nil
end

local modes <const> = { ["-c"] = "compile", ["-dc"] = "compile", ["-dw"] = "compile", ["-ptx"] = "ptx", ["-fatbin"] = "fatbin", ["-E"] = "preprocess",
  ["-M"] = "dependencies", ["-MM"] = "dependencies", ["-dlink"] = "device link", ["-lib"] = "archive", ["-link"] = "link",
  ["-arch-ls"] = "list architectures", ["-code-ls"] = "list architectures" }

local of_language <const> = { cu = "cuda", c = "c", ["c++"] = "c++" }

local function is_false(value) return value == "false" end

--- How each option changes `job`.
local act = {}
act["-o"] = function(job, value) job.output = value end
act["-odir"] = function(job, value) job.folder = value end
for _, name in ipairs { "-arch", "-code", "-gencode" } do
  act[name] = function(job, value) architectures_in(name, value, job.architectures) end
end
act["-std"] = function(job, value)
  local dialect, year = value:match "^([cgnu]+)%+%+(%d%d)$"
  local is_old = year == "98" or year == "03"
  if is_old then note("nvcc: -std=%s is compiled as %s++11, which the headers need", value, dialect) end
  job.standard = is_old and dialect .. "++11" or year == "23" and dialect .. "++2b" or value -- as clang 14 and g++ both name it
end
act["-m"] = function(_, value)
  if value ~= "64" then refuse("-m: expected 64, got '%s': device code is of 64 bits, and so are programs", value) end
end
act["-O"] = function(job, value) job.optimise = value == true and "1" or value end
act["-g"] = function(job) job.debug = true end
act["-G"] = function(job) job.device_debug = true end
act["-lineinfo"] = function(job) job.lines = true end
act["-rdc"] = function(job, value) job.relocatable = not is_false(value) end
act["-x"] = function(job, value) job.language = of_language[value] or refuse("-x: expected cu, c or c++, got '%s'", value) end
act["-v"] = function(job) job.tells = true end
act["--dryrun"] = function(job) job.tells, job.dry = true, true end
act["-ccbin"] = function(job, value) job.host_compiler = core.is_file(value .. "/g++") and value .. "/g++" or value end
act["-Xcompiler"] = function(job, value)
  if value == "-fopenmp" then
    job.openmp = true
  elseif value == "-static" then
    act["-static"](job)
  else
    job.host[#job.host + 1] = value
  end
end
act["-Xarchive"] = function() end
act["-Xlinker"] = function(job, value) job.link[#job.link + 1] = "-Wl," .. value end
act["-L"] = function(job, value) job.link[#job.link + 1] = "-L" .. value end
act["-shared"] = function(job) job.shared = true end
act["-static"] = function(job) job.dropped["-static"] = "the CUDA runtime is a shared library" end
act["-pg"] = function(job)
  job.host[#job.host + 1] = "-pg"
  job.link[#job.link + 1] = "-pg"
end
act["-w"] = function(job) job.both[#job.both + 1] = "-w" end
act["-Werror"] = function() end -- nvcc's takes kinds of warnings of its own
for _, name in ipairs { "-ftemplate-depth", "-ftemplate-backtrace-limit" } do
  act[name] = function(job, value) job.both[#job.both + 1] = name .. "=" .. value end
end
act["-use_fast_math"] = function(job) job.flush, job.approximate, job.rough = true, true, true end
act["-ftz"] = function(job, value) job.flush = not is_false(value) end
act["-prec-div"] = function(job, value) job.rough_division = is_false(value) end
act["-prec-sqrt"] = function(job, value) job.rough_root = is_false(value) end
act["-fmad"] = function(job, value) job.no_contraction = is_false(value) end
act["-default-stream"] = function(job, value)
  if value ~= "per-thread" then return end
  job.both[#job.both + 1] = "-D__CUDA_API_PER_THREAD_DEFAULT_STREAM" -- for our headers, as it comes before them
  job.both[#job.both + 1] = "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"
end

act["-l"] = function(job, value)
  if options.foreign_libraries[value] then refuse("-l%s: this library of NVIDIA's is not part of Warpwright", value) end
  if value == "gomp" then job.openmp = true end
  if not options.own_libraries[value] then job.link[#job.link + 1] = "-l" .. value end
end

for _, name in ipairs { "-I", "-D", "-U" } do
  act[name] = function(job, value) job.both[#job.both + 1] = name .. value end
end
for _, name in ipairs { "-include", "-isystem" } do
  act[name] = function(job, value)
    job.both[#job.both + 1] = name
    job.both[#job.both + 1] = value
  end
end
for _, name in ipairs { "-MF", "-MT", "-MQ" } do
  act[name] = function(job, value)
    job.dependencies[#job.dependencies + 1] = name
    job.dependencies[#job.dependencies + 1] = value
  end
end
for _, name in ipairs { "-MD", "-MMD", "-MP" } do
  act[name] = function(job) job.dependencies[#job.dependencies + 1] = name end
end
for _, name in ipairs { "-nostdinc", "-Wno-deprecated-declarations" } do
  act[name] = function(job) job.both[#job.both + 1] = name end
end

local function apply(job, name, value)
  if options.refused[name] then refuse("%s: %s", name, options.refused[name]) end
  if options.macros[name] then job.both[#job.both + 1] = "-D" .. options.macros[name] end
  if modes[name] then
    job.mode = modes[name]
    if name == "-M" or name == "-MM" then job.dependencies[#job.dependencies + 1] = name end
    if name == "-dc" then job.relocatable = true end
    if name == "-arch-ls" or name == "-code-ls" then job.prefix = name == "-arch-ls" and "compute_" or "sm_" end
  elseif options.dropped[name] then
    job.dropped[name] = options.dropped[name]
  elseif act[name] then
    act[name](job, value)
  elseif not options.silent[name] then
    job[name] = value
  end
end

--- arguments.read(args, first): { mode =, inputs = list of { path =, language = }, output =, ... } of what is wanted.
--- where `unknown` is the first file of which nobody knows what it is.
function arguments.read(args, first)
  local job = { mode = "link", inputs = {}, architectures = {}, host = {}, both = {}, link = {}, dependencies = {}, dropped = {} }
  local list = read(expand(with_environment(args, first)))
  for _, entry in ipairs(list) do
    if not entry.input then apply(job, entry[1], entry[2]) end
  end
  for _, entry in ipairs(list) do
    if entry.input then
      local language = language_of(entry.input, job.language)
      if not language then job.unknown = job.unknown or entry.input end
      local to = language == "object" and job.link or nil
      if to then to[#to + 1] = entry.input end
      job.inputs[#job.inputs + 1] = { path = entry.input, language = language }
    end
  end
  job.architecture = architecture_of(job.architectures)
  return job
end

return arguments

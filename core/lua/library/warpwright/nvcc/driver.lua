-- warpwright nvcc: compiles CUDA programs as nvcc would be asked to, with Debian's clang, gcc and our own toolkit.
local arguments = require "warpwright.nvcc.arguments"
local core = require "warpwright.core"
local cuda_home = require "warpwright.cuda_home"
local device_code = require "warpwright.nvcc.device_code"
local fat_binary = require "warpwright.nvcc.fat_binary"
local help = require "warpwright.help"
local hints = require "warpwright.nvcc.hints"
local host_words = require "warpwright.nvcc.host_words"
local inputs = require "warpwright.inputs"
local leniency = require "warpwright.nvcc.leniency"
local macros = require "warpwright.nvcc.macros"
local names = require "warpwright.names"
local note = require "warpwright.note"
local options = require "warpwright.nvcc.options"
local precompiled = require "warpwright.nvcc.precompiled"
local registration = require "warpwright.nvcc.registration"
local unroll_pragmas = require "warpwright.nvcc.unroll_pragmas"

local driver = {}

local COMPILER <const> = "clang++-14"

local version <const> = [[
warpwright nvcc: CUDA compiler driver of Warpwright %s, with clang 14
in the place of nvcc: NVIDIA (R) Cuda compiler driver
Cuda compilation tools, release 11.8, V11.8.0
]]

local function refuse(text, ...) core.user_error("nvcc: " .. text:format(...)) end

-- Commands ------------------------------------------------------------------------------------------------------------------------------

local function quoted(word) return word:find "^[%w_./=:+,@%%-]+$" and word or "'" .. word:gsub("'", "'\\''") .. "'" end

local function line_of(words)
  local texts = {}
  for i, word in ipairs(words) do texts[i] = quoted(word) end
  return table.concat(texts, " ")
end

--- What ends the whole: a command that failed, and has said why.
local Failed = { __tostring = function() return "nvcc: a command failed" end }

--- Runs a command; what it prints, it prints itself, but for messages that go into a file.
local function run(job, words, messages)
  local line = line_of(words)
  if job.tells then io.stderr:write("#$ ", line, "\n") end
  if job.dry then return end
  local ok, kind, status = os.execute(messages and ("%s 2> %s"):format(line, quoted(messages)) or line)
  if not ok then error(setmetatable({ exit_status = kind == "exit" and status or 1 }, Failed)) end
end

local function append(words, ...)
  for _, list in ipairs { ... } do table.move(list, 1, #list, #words + 1, words) end
  return words
end

local function stem_of(path) return (path:match "([^/]*)$":gsub("%.[^.]*$", "")) end

local function is_there(program)
  local pipe = assert(io.popen(("command -v %s"):format(quoted(program))))
  local found = pipe:read "l"
  pipe:close()
  return found ~= nil
end

--- What compiles host code, and links.
local function host_compiler(job, usual)
  local chosen = job.host_compiler
  if chosen and not is_there(chosen) then refuse("-ccbin: expected a compiler, or a folder with g++, got '%s'", chosen) end
  return chosen or usual
end

-- Compiling -----------------------------------------------------------------------------------------------------------------------------

local function macros_of(job) return job.temporary .. "/macros.h" end

--- What clang takes for errors and nvcc with gcc does not, and warnings about what was not the user's choice. Constant expressions
--- may take as many steps as gcc's, and folds may have thousands of terms, for which gcc has no limit. Without
--- -disable-noundef-analysis `int base; if (rank == 0) base = atomicAdd(...); base = group.shfl(base, 0);` adds in every lane:
--- clang concludes that no lane may pass `base` on uninitialised, so all of them must be the first.
local lenient <const> = { "-fno-strict-return", "-Wno-unknown-cuda-version", "-Wno-unknown-warning-option",
  "-Wno-ignored-optimization-argument", "-Wno-register", "-Wno-c++11-narrowing", "-Wno-overriding-t-option", "-Wno-reserved-user-defined-literal", "-Qunused-arguments",
  "-fconstexpr-steps=33554432", "-fbracket-depth=4096", "-Xclang", "-fcuda-allow-variadic-functions", "-Xclang", "-disable-noundef-analysis" }

--- As NVIDIA's compiler does, which has a register for each element of an array that loops of constant bounds go over, and keeps
--- addresses in shared, constant and local memory in 32 bits. By itself clang leaves sums of 8 x 8 elements in local memory, and
--- has a register of 64 bits for each address that it forms of an unsigned index. libdevice has no such addresses, of which clang
--- warns.
local as_nvidia_does <const> = { "-mllvm", "-unroll-threshold=1000", "-mllvm", "-unroll-full-max-count=32", "-fcuda-short-ptr", "-Wno-linker-warnings" }

local function level_of(job) return job.optimise or job.device_debug and "0" or "2" end

--- Options of clang for .cu files.
local function cuda_flags(job)
  local flags = { "--cuda-path=" .. cuda_home.path "", ("--cuda-gpu-arch=sm_%d"):format(job.architecture), "--no-cuda-version-check",
    "-std=" .. (job.standard or "gnu++17"), "-D__NVCC__", "-D__NVCC_DIAG_PRAGMA_SUPPORT__",
    ("-D__CUDA_ARCH_LIST__=%d0"):format(job.architecture), job.no_contraction and "-ffp-contract=off" or "-ffp-contract=fast" }
  append(flags, lenient, as_nvidia_does)
  flags[#flags + 1] = "-O" .. level_of(job)
  if job.debug or job.device_debug then flags[#flags + 1] = "-g" end
  if job.mode ~= "ptx" then append(flags, { "-Xarch_device", "-w" }) end -- the host's pass gives the same warnings
  if job.lines and not job.device_debug then append(flags, { "-Xarch_device", "-gline-tables-only" }) end
  if job.relocatable then flags[#flags + 1] = "-fgpu-rdc" end
  if job.flush then flags[#flags + 1] = "-fgpu-flush-denormals-to-zero" end
  if job.approximate then flags[#flags + 1] = "-fcuda-approx-transcendentals" end
  if job.rough or job.rough_division then append(flags, { "-mllvm", "-nvptx-prec-divf32=0" }) end
  if job.rough or job.rough_root then append(flags, { "-mllvm", "-nvptx-prec-sqrtf32=0" }) end
  job.clang_words = job.clang_words or host_words.for_clang(COMPILER, job.host, line_of)
  append(flags, macros.split(append({}, job.both, job.clang_words), macros_of(job)))
  if job.openmp then append(flags, { "-Xarch_host", "-fopenmp" }) end
  flags[#flags + 1] = "-Wno-unknown-pragmas" -- as those of nvcc's own
  return append(flags, { "-isystem", cuda_home.path "include/warpwright/libcudacxx" }) -- before the system's libcu++
end

--- Options of gcc and g++ for the others.
local function host_flags(job, language)
  local flags = { "-O" .. (job.optimise or "2"), "-D__NVCC__", "-isystem", cuda_home.path "include" }
  if job.debug then flags[#flags + 1] = "-g" end
  if job.standard and language == "c++" then flags[#flags + 1] = "-std=" .. job.standard end
  if job.openmp then flags[#flags + 1] = "-fopenmp" end
  return append(flags, job.both, job.host)
end

local compilers <const> = { ["c"] = "gcc", ["c++"] = "g++" }

local function command_of(job, input, words)
  if input.language == "cuda" then return append({ COMPILER, "-x", "cuda" }, cuda_flags(job), words, { input.path }) end
  return append({ host_compiler(job, compilers[input.language]), "-x", input.language }, host_flags(job, input.language), words,
    { input.path })
end

--- The words of a line such as `"clang" "-DNAME=\"text\""`.
local function unquoted(line)
  local words = {}
  local escaped = line:gsub("\\(.)", function(c) return ("\0%02x"):format(c:byte()) end)
  for word in escaped:gmatch '"([^"]*)"' do
    words[#words + 1] = word:gsub("%z(%x%x)", function(code) return string.char(tonumber(code, 16)) end)
  end
  return words
end

--- The commands of which clang says that it would run them for `words`, as lists of words, and its warnings; nil where it runs none.
local function commands_of(job, words)
  local pipe = assert(io.popen(("TMPDIR=%s %s '-###' 2>&1"):format(quoted(job.temporary), line_of(words))))
  local commands, warnings = {}, {}
  for line in pipe:lines() do
    if line:find '^ "' then commands[#commands + 1] = unquoted(line) end
    if line:find "^clang: warning:" then warnings[#warnings + 1] = line .. "\n" end
  end
  if pipe:close() and commands[1] then return commands, table.concat(warnings) end
end

local function index_of(words, wanted)
  for i, word in ipairs(words) do
    if word == wanted then return i end
  end
end

--- Runs a command. Returns whether it went well, or else the error, and what it wrote on stderr.
local function try(job, words)
  local path = job.temporary .. "/messages.txt"
  local ok, problem = pcall(run, job, words, path)
  return ok, inputs.read_file(path), problem
end

--- What `clang`'s first command of two wrote to `path`, without definitions of macros, which `#pragma unroll` no longer names.
local function read_preprocessed(job, clang, path)
  local lines, pragmas, questions = unroll_pragmas.separate(inputs.read_file(path))
  if not pragmas[1] then return unroll_pragmas.join(lines, pragmas, "") end
  local asked, answered = job.temporary .. "/questions.txt", job.temporary .. "/answers.txt"
  inputs.write_file(asked, questions)
  run(job, { clang, "-E", "-P", "-undef", "-w", "-x", "c", asked, "-o", answered })
  return unroll_pragmas.join(lines, pragmas, inputs.read_file(answered))
end

--- A pass of clang's over preprocessed text, which is changed until clang takes it or refuses what cannot be changed.
local function run_changed_pass(job, words)
  local path = job.temporary .. "/preprocessed.cui"
  local first, second = leniency.parts(words, path)
  run(job, first)
  local text, done = leniency.change_attributes(read_preprocessed(job, words[1], path)), {}
  while true do
    inputs.write_file(path, text)
    local ok, messages, problem = try(job, leniency.words(second, done))
    text = not ok and leniency.change(text, messages, done)
    if not text then
      io.stderr:write(messages)
      if ok then return end
      hints.tell_shared_objects(messages)
      error(problem, 0)
    end
  end
end

--- The same with a precompiled header in the place of the first headers; false where there is none, or clang refuses the file with it.
local function try_precompiled(job, words)
  local changed, header = precompiled.words(words, cuda_home.path "")
  if not changed then return false end
  local ok, messages = try(job, changed)
  return ok, messages, header
end

--- A pass of clang's over a file of CUDA as it is. Returns whether it went well, or else the error, and clang's messages.
local function try_as_it_is(job, words)
  local done, told, header = try_precompiled(job, words)
  if done or header and leniency.applies(told) then return done, told end
  local ok, messages, problem = try(job, words)
  if ok and header then precompiled.remove(header, told) end
  return ok, messages, problem
end

--- A pass of clang's over a file of CUDA. `job.is_changed`: clang has refused the file as it is.
local function run_pass(job, words)
  if not job.is_changed then
    local ok, messages, problem = try_as_it_is(job, words)
    job.is_changed = not ok and leniency.applies(messages)
    if not job.is_changed then io.stderr:write(messages) end
    if ok then return end
    if not job.is_changed then error(problem, 0) end
  end
  run_changed_pass(job, words)
end

--- clang's pass over device code in two parts, with the IR changed between them.
local function run_device_pass(job, input, words)
  local ir, first, second = job.temporary .. "/device.ll", append({}, words), append({}, words)
  first[index_of(words, "-S")] = "-emit-llvm"
  first[index_of(words, "-o") + 1] = ir
  table.insert(first, 3, "-disable-llvm-passes")
  run_pass(job, first)
  local text, is_wide = device_code.change(inputs.read_file(ir))
  if is_wide then
    table.move({ "-include", cuda_home.path "include/warpwright/wide_integers.h" }, 1, 2, 3, table.move(first, 3, #first, 5))
    run_pass(job, first)
    text = device_code.change(inputs.read_file(ir))
  end
  inputs.write_file(ir, text)
  second[#second - 1], second[#second] = "ir", ir
  append(second, { "-Wno-pass-failed" }) -- a loop that stays as it is: IR has no line that the warning could name
  if not job.no_contraction then append(second, { "-mllvm", "-nvptx-fma-level=2" }) end -- -ffp-contract is for C alone
  local output, made = words[index_of(words, "-o") + 1], job.temporary .. "/device.s"
  second[index_of(second, "-o") + 1] = made
  run(job, second)
  local ptx = device_code.mend(inputs.read_file(made))
  if output == "-" then io.write(ptx) else inputs.write_file(output, ptx) end
  if job["-keep"] then
    local folder = job["-keep-dir"] or "."
    inputs.make_folders(folder)
    inputs.write_file(("%s/%s.ptx"):format(folder, stem_of(input.path)), ptx)
  end
end

--- What `clang++` does for a .cu file.
local function run_clang(job, input, words)
  if job.dry then return run(job, words) end
  local commands, warnings = commands_of(job, words)
  if not commands then return run(job, words) end -- it says why itself
  io.stderr:write(warnings)
  if job.tells then io.stderr:write("#$ ", line_of(words), "\n") end
  local quiet = setmetatable({ tells = false }, { __index = job })
  if not precompiled.prepare(commands, cuda_home.path "") then error(setmetatable({ exit_status = 1 }, Failed)) end
  for _, command in ipairs(commands) do
    if index_of(command, "-fcuda-is-device") then
      run_device_pass(quiet, input, command)
    elseif index_of(command, "cuda") then
      run_pass(quiet, command)
    else
      run(quiet, command)
    end
  end
  if index_of(words, "-c") then registration.put_first(words[index_of(words, "-o") + 1]) end
end

--- One file with these further words.
local function compile(job, input, words)
  local is_device_code = input.language == "cuda" and job.mode ~= "preprocess" and job.mode ~= "dependencies"
  local command = command_of(job, input, words)
  local ok, problem = pcall(function()
    if is_device_code then run_clang(job, input, command) else run(job, command) end
  end)
  if ok then return end
  if getmetatable(problem) == Failed then
    hints.tell_foreign_headers(job, input.path)
  end
  error(problem, 0)
end

-- Rules for make ------------------------------------------------------------------------------------------------------------------------

--- Where -MD and -MMD write; -MF says it.
local function dependency_file(job, output)
  for i, word in ipairs(job.dependencies) do
    if word == "-MF" then return job.dependencies[i + 1] end
  end
  return (output:gsub("%.[^./]*$", "")) .. ".d"
end

--- Rules without the headers that the driver itself includes.
local function clean_rules(job, path)
  macros.clean_dependencies(path, { macros_of(job), precompiled.empty_file() })
end

--- Words that have the rules of a file written to `rules` while it becomes a part of `output`; none where nobody wants them.
local function words_for_rules(job, output, rules)
  if not job.dependencies[1] then return {} end
  local is_named = index_of(job.dependencies, "-MT") or index_of(job.dependencies, "-MQ")
  return append({}, job.dependencies, { "-MF", rules }, is_named and {} or { "-MQ", output })
end

--- Puts the rules of a file, where it has some, where the command line wants them: behind those of files before it, `written` by path.
local function put_rules(job, output, rules, written)
  clean_rules(job, rules)
  local text, path = inputs.read_file(rules), dependency_file(job, output)
  if not text then return end
  written[path] = (written[path] or "") .. text
  inputs.write_file(path, written[path])
end

-- Linking -------------------------------------------------------------------------------------------------------------------------------

--- The parts of relocatable device code that objects and archives have: names of the functions that want to hear of them. And the
--- variables that hold these parts.
local function relocatable_parts(objects)
  local files, parts, defined, variables = {}, {}, {}, {}
  for _, word in ipairs(objects) do
    if core.is_file(word) then files[#files + 1] = quoted(word) end
  end
  if not files[1] then return parts, variables end
  local pipe = assert(io.popen("nm " .. table.concat(files, " ") .. " 2>/dev/null"))
  for line in pipe:lines() do
    local kind, name = line:match "(%a) (__cudaRegisterLinkedBinary[%w_]*)$"
    if kind == "U" then parts[name] = true elseif kind then defined[name] = true end
    variables[#variables + 1] = line:match "%x+ [DR] (__fatbinwrap_[%w_]+)$"
  end
  pipe:close()
  for name in pairs(defined) do parts[name] = nil end
  return parts, variables
end

local declarations <const> = [[
void __cudaLinkFatBinary(void ***, void *, void (*)(void **));
void __cudaRegisterFatBinaryEnd(void **);
static void **group;
static int parts = %d;
]]

local part_text <const> = [[
void %s(void (*register_globals)(void **), void *fatbin, void *name, void (*unused)(void **));
void %s(void (*register_globals)(void **), void *fatbin, void *name, void (*unused)(void **)) {
    (void)name, (void)unused;
    __cudaLinkFatBinary(&group, fatbin, register_globals);
    if (!--parts) __cudaRegisterFatBinaryEnd(group);
}
]]

--- The archives that the linker takes for -l words, beside the objects.
local function with_archives(job, objects)
  local found, folders = append({}, objects), {}
  for _, word in ipairs(job.link) do folders[#folders + 1] = word:match "^%-L(.+)" end
  for _, word in ipairs(job.link) do
    local name = word:match "^%-l(.+)"
    for _, folder in ipairs(name and folders or {}) do
      if core.is_file(("%s/lib%s.so"):format(folder, name)) then break end
      local path = ("%s/lib%s.a"):format(folder, name)
      if core.is_file(path) then
        found[#found + 1] = path
        break
      end
    end
  end
  return found
end

--- An object that tells the runtime which parts belong together; nil when there are none. It asks for the variables of all parts, since
--- the linker leaves members of archives out of which nobody asks for anything, as of those with device functions alone.
local function link_device_code(job, objects, output)
  local found, variables = relocatable_parts(with_archives(job, objects))
  local parts = names.sorted_keys(found)
  if not parts[1] then return nil end
  local lines = { declarations:format(#parts) }
  for _, name in ipairs(parts) do lines[#lines + 1] = part_text:format(name, name) end
  for _, name in ipairs(variables) do
    lines[#lines + 1] = ("extern const char %s[];\n__attribute__((used)) static const char *const of%s = %s;\n"):format(name, name, name)
  end
  local source = job.temporary .. "/parts.c"
  inputs.write_file(source, table.concat(lines))
  run(job, { "gcc", "-O1", "-fPIC", "-c", "-o", output, source })
  return output
end

--- Compiles what is to be compiled into `folder`; returns the objects and libraries in the order of the command line, and those
-- that it made.
local function objects_of(job, folder)
  local objects, made, written, rules = {}, {}, {}, job.temporary .. "/rules.d"
  for i, input in ipairs(job.inputs) do
    if input.language == "object" then
      objects[#objects + 1] = input.path
    else
      local object, output = ("%s/%d-%s.o"):format(folder, i, stem_of(input.path)), job.output or stem_of(input.path) .. ".o"
      compile(job, input, append({ "-c", "-fPIC", "-o", object }, words_for_rules(job, output, rules)))
      put_rules(job, output, rules, written)
      objects[#objects + 1], made[#made + 1] = object, object
    end
  end
  return objects, made
end

--- What is not an input of the link already.
local function link_words(job)
  local words, is_input = {}, {}
  for _, input in ipairs(job.inputs) do is_input[input.path] = true end
  for _, word in ipairs(job.link) do
    if not is_input[word] then words[#words + 1] = word end
  end
  return words
end

--- What OpenMP code of clang and of gcc needs: clang's library has the functions of both.
local function openmp_library(job)
  if not job.openmp then return {} end
  local pipe = assert(io.popen(COMPILER .. " -print-file-name=libomp.so"))
  local path = pipe:read "l"
  pipe:close()
  if not core.is_file(path or "") then path = "/usr/lib/llvm-14/lib/libomp.so" end
  if not core.is_file(path) then refuse "-fopenmp: expected clang's libomp.so, got none; scripts/setup cuda installs it" end
  return { path }
end

local function link(job)
  local objects = objects_of(job, job.temporary)
  if not objects[1] then refuse "expected a file to compile or to link, got none; see warpwright nvcc --help" end
  local device, lib64 = link_device_code(job, objects, job.temporary .. "/parts.o"), cuda_home.path "lib64"
  local words = { host_compiler(job, cuda_home.path "bin/host_link"), "-o", job.output or "a.out" }
  if job.shared then words[#words + 1] = "-shared" end
  append(words, job.host, { device }, objects, link_words(job), { "-L" .. lib64, "-lcudart", "-Wl,-rpath," .. lib64 },
    openmp_library(job), { "-lstdc++", "-lm", "-ldl", "-lpthread" })
  run(job, words)
end

-- What can be wanted --------------------------------------------------------------------------------------------------------------------

local function for_each_source(job, ending, action)
  for _, input in ipairs(job.inputs) do
    if input.language ~= "object" then
      local folder = job.folder and job.folder .. "/" or ""
      action(input, job.output or folder .. stem_of(input.path) .. ending)
    end
  end
end

local wanted = { link = link }

function wanted.compile(job)
  if job.output and #job.inputs > 1 then refuse("-o: expected one file with -c, got %d", #job.inputs) end
  for_each_source(job, ".o", function(input, output)
    compile(job, input, append({ "-c", "-fPIC", "-o", output }, job.dependencies))
    clean_rules(job, dependency_file(job, output))
  end)
end

function wanted.ptx(job)
  for_each_source(job, ".ptx", function(input, output)
    compile(job, input, { "--cuda-device-only", "-S", "-o", output })
    if job.relocatable and core.is_file(output) then
      inputs.write_file(output, fat_binary.with_one_name(inputs.read_file(output)))
    end
  end)
end

function wanted.fatbin(job)
  for_each_source(job, ".fatbin", function(input, output)
    local ptx = job.temporary .. "/device.ptx"
    compile(job, input, { "--cuda-device-only", "-S", "-o", ptx })
    if not job.dry then inputs.write_file(output, fat_binary.of { { architecture = job.architecture, text = inputs.read_file(ptx) } }) end
  end)
end

function wanted.preprocess(job)
  for_each_source(job, "", function(input)
    compile(job, input, append({ "-E" }, input.language == "cuda" and { "--cuda-host-only" } or {}, job.output and { "-o", job.output } or {},
      job.dependencies))
  end)
end

function wanted.dependencies(job)
  for_each_source(job, "", function(input)
    local rules = job.temporary .. "/rules.d"
    local to = dependency_file(job, job.output or "")
    local words = append({}, job.dependencies, { "-MF", rules }, input.language == "cuda" and { "--cuda-host-only" } or {})
    compile(job, input, append({ "-E", "-o", "/dev/null" }, words))
    if job.dry then return end
    macros.clean_dependencies(rules, { macros_of(job) })
    local text = inputs.read_file(rules)
    local is_named = to ~= ".d" and (job.output or to)
    if is_named then inputs.write_file(is_named, text) else io.write(text) end
  end)
end

wanted["device link"] = function(job)
  local objects = objects_of(job, job.temporary)
  local output = job.output or "a_dlink.o"
  if not link_device_code(job, objects, output) then -- without relocatable device code there is nothing to link
    inputs.write_file(job.temporary .. "/parts.c", "")
    run(job, { "gcc", "-c", "-o", output, job.temporary .. "/parts.c" })
  end
end

function wanted.archive(job)
  run(job, append({ job["-arbin"] or "ar", "rcs", job.output or "a.a" }, (objects_of(job, job.temporary))))
end

wanted["list architectures"] = function(job)
  for _, number in ipairs(options.architectures) do print(job.prefix .. number) end
end

-- The command ---------------------------------------------------------------------------------------------------------------------------

local function make_temporary()
  local path = os.tmpname()
  os.remove(path)
  core.make_folder(path)
  return path
end

--- What build systems look for in the output of -v.
local function tell_places(job)
  local top = cuda_home.path ""
  for _, line in ipairs { "TOP=" .. top, "PATH=" .. (os.getenv "PATH" or ""), ("INCLUDES=\"-I%s/include\""):format(top),
    ("LIBRARIES=-L%s/lib64"):format(top), ("NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice"):format(top), ("ARCHITECTURE=-arch compute_%d"):format(job.architecture) } do
    io.stderr:write("#$ ", line, "\n")
  end
end

--- Returns the exit status.
local function build(job)
  if job.tells then tell_places(job) end
  if job.unknown then
    refuse("%s: expected a file .cu, .cpp, .cc, .cxx, .c, .o, .a or .so; -x cu says what it is; docs/nvcc.md lists the options", job.unknown)
  end
  for _, name in ipairs(names.sorted_keys(job.dropped)) do note("nvcc: %s has no effect: %s", name, job.dropped[name]) end
  local has_cuda = false
  for _, input in ipairs(job.inputs) do has_cuda = has_cuda or input.language == "cuda" end
  if has_cuda and not is_there(COMPILER) then
    refuse("expected %s, got none; scripts/setup cuda installs what CUDA programs need", COMPILER)
  end
  for _, word in ipairs(job.host) do
    if has_cuda and host_words.is_coverage(word) then note("nvcc: %s counts no lines of .cu files, which clang compiles", word) end
  end
  job.temporary = make_temporary()
  local ok, problem = pcall(wanted[job.mode], job)
  os.execute("rm -rf " .. quoted(job.temporary))
  if ok then return 0 end
  if getmetatable(problem) == Failed then return problem.exit_status end
  error(problem, 0)
end

function driver.main(args, first)
  local word = args[first]
  if word == "--fatbinary" then return fat_binary.main(args, first + 1) end
  if word == nil then
    io.stderr:write(help.of "nvcc")
    return 2
  end
  for i = first, #args do
    if args[i] == "--version" or args[i] == "-V" then
      io.write(version:format(core.version))
      return 0
    end
  end
  return build(arguments.read(args, first))
end

return driver

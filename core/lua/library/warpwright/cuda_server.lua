-- The simulator's end of a CUDA program: answers what its runtime library asks. core/cuda/runtime/protocol.h has the questions.
--
-- Each question becomes calls of the GPU, which the host log notes: so a program that is started again is answered as before.
local core = require "warpwright.core"
local cuda_image = require "warpwright.cuda_image"
local note = require "warpwright.note"

local Server = {}
Server.__index = Server

local version <const> = 6
local first_heap <const> = 8 * 1024 * 1024
local page <const> = 4096
local mapped <const> = 1
local most_block <const> = 1024
local most_together <const> = 1024
local most_in_flight <const> = 16384

local errors <const> = {
  invalid_value = 1, memory_allocation = 2, invalid_configuration = 9, invalid_symbol = 13, invalid_device_function = 98,
  no_kernel_image = 209, invalid_ptx = 218, symbol_not_found = 500, illegal_address = 700, out_of_resources = 701, timeout = 702,
  assertion = 710, misaligned = 716, invalid_pc = 718, launch_failure = 719, cooperative_too_large = 720, not_supported = 801,
}

--- A question that no library of ours asks.
local Garbage = {}

local function take(format, payload, at)
  local got = table.pack(pcall(string.unpack, "<" .. format, payload, at))
  if not got[1] then error(Garbage, 0) end
  return table.unpack(got, 2, got.n)
end

--- What the run cannot go on after: a signal, a limit, a program that does not repeat itself on resume.
local function ends_run(server, problem)
  local totals = server.gpu:totals()
  return type(problem) ~= "string" or problem:find("resume: call", 1, true) or totals.stopped
end

--- A call of the GPU that may raise an error: nil, and what went wrong.
local function attempt(server, f, ...)
  local results = table.pack(pcall(f, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  if ends_run(server, results[2]) then error(results[2], 0) end
  return nil, results[2]
end

-- Modules ------------------------------------------------------------------------------------------------------------

--- Told on stderr, and to the program, which may ask for a log.
local function refuse(code, problem)
  note("a module was refused: %s", problem)
  return code, string.pack("<s4", problem)
end

--- The texts to be loaded of what an image holds, one of each of its parts; nil, and why, when a part has none.
local function texts_of(server, list, name)
  local texts = {}
  for i, part in ipairs(list.linked or { list }) do
    local ptx = cuda_image.choose(part, server.capability)
    if not ptx then
      return nil, ("expected PTX, got %s; compile with PTX, such as -gencode arch=compute_80,code=compute_80"):format(
        part.machine_code and "machine code for hardware alone" or "nothing")
    end
    texts[i] = { text = ptx.text, name = list.linked and ("%s, part %d"):format(name, i - 1) or name, architecture = ptx.architecture }
  end
  return texts
end

--- By the number of each text that defines some: its variables by name.
local function by_text(variables)
  local parts = {}
  for _, variable in ipairs(variables) do
    parts[variable.text] = parts[variable.text] or {}
    parts[variable.text][variable.name] = variable
  end
  return parts
end

--- PTX for newer devices runs, as the machine runs all of it; a GPU would refuse it.
local function tell_newer(server, name, architecture)
  local capability = server.capability
  if server.has_told_newer or architecture <= capability then return end
  server.has_told_newer = true
  note("%s: its PTX is for sm_%d and newer; the device says that it has %d.%d, as a GPU that could not run it; --capability %d.%d says otherwise",
    name, architecture, capability // 10, capability % 10, architecture // 10, architecture % 10)
end

local function load_module(server, payload)
  local list, problem = cuda_image.read(take("s4", payload))
  if not list then return refuse(errors.invalid_ptx, problem) end
  local name = ("%s, module %d"):format(server.name, #server.modules)
  local texts, none = texts_of(server, list, name)
  if not texts or not texts[1] then return refuse(errors.no_kernel_image, none or "expected PTX, got nothing") end
  local sources = {}
  for i, text in ipairs(texts) do sources[i] = { text = text.text, name = text.name } end
  local kernels, names, refusals, variables = attempt(server, server.gpu.load, server.gpu, sources[2] and sources or sources[1])
  if not kernels then return refuse(errors.invalid_ptx, names) end
  for _, text in ipairs(texts) do
    server.ptx[#server.ptx + 1] = text.text
    tell_newer(server, name, text.architecture)
  end
  server.modules[#server.modules + 1] = { name = name, kernels = kernels, refusals = refusals, variables = variables,
    parts = by_text(variables), architecture = texts[1].architecture }
  return 0, string.pack("<I4", #server.modules - 1)
end

local function module_at(server, number) return server.modules[number + 1] or error(Garbage, 0) end

local function find_function(server, payload)
  local number, name = take("I4s4", payload)
  local module = module_at(server, number)
  local kernel = module.kernels[name]
  if not kernel then return errors.invalid_device_function end
  local details = kernel:info()
  server.functions[#server.functions + 1] = { name = name, kernel = kernel, refusal = module.refusals[name] }
  local fields = { string.pack("<I4I4I4I4I4I4I4I4I4I4", #server.functions - 1, details.registers, details.shared,
    details["local"], details.constant, details.max_threads, module.architecture, details.refusal and 1 or 0, details.param_bytes,
    #details.params) }
  for _, param in ipairs(details.params) do fields[#fields + 1] = string.pack("<I4I4", param.offset, param.bytes) end
  return 0, table.concat(fields)
end

local spaces <const> = { global = 0, const = 1, texture = 2 }

--- The variable that a part of a linked program registers by this name, or nil. Variables with internal linkage may have one name in
--- several parts. clang 14 gives `static __device__ const` ones a suffix in the host's code alone.
local function variable_of(module, part, name)
  local own = module.parts[part] or {}
  return own[name] or module.variables[name] or own[name:match "^(.*)__static__%x+$"]
end

local function find_variable(server, payload)
  local number, part, name = take("I4I4s4", payload)
  local variable = variable_of(module_at(server, number), part, name)
  if not variable then return errors.invalid_symbol end
  return 0, string.pack("<i8I8I4", variable.address, variable.bytes, spaces[variable.space])
end

-- Memory -------------------------------------------------------------------------------------------------------------

local function allocate(server, payload)
  local bytes, kind = take("i8I4", payload)
  if bytes < 0 or bytes > server.capacity then return errors.memory_allocation end
  local is_mapped = kind == mapped
  if is_mapped then bytes = (bytes + page - 1) // page * page end
  local address = attempt(server, server.gpu.alloc, server.gpu, bytes, is_mapped and page or 1)
  if not address then return errors.memory_allocation end
  server.allocations[address] = true
  if is_mapped then table.insert(server.mapped, { address = address, bytes = bytes }) end
  return 0, string.pack("<i8", address)
end

local function forget_mapped(server, address)
  for i, range in ipairs(server.mapped) do
    if range.address == address then return table.remove(server.mapped, i) end
  end
end

local function release(server, payload)
  local address = take("i8", payload)
  if not server.allocations[address] then return errors.invalid_value end
  server.allocations[address] = nil
  forget_mapped(server, address)
  server.gpu:free(address)
  return 0
end

local function wrote(server, payload)
  local address, bytes = take("i8i8", payload)
  return core.cuda_wrote(server.gpu, address, bytes) and 0 or errors.invalid_value
end

local function reads(server, payload)
  local address, bytes = take("i8i8", payload)
  return core.cuda_reads(server.gpu, address, bytes) and 0 or errors.invalid_value
end

local function memory_info(server)
  local _, capacity, allocated = core.memory(server.gpu)
  return 0, string.pack("<I8I8", capacity - allocated, capacity)
end

local function note_shared(server, payload)
  local address, bytes = take("i8i8", payload)
  if bytes < 0 or not core.cuda_reads(server.gpu, address, bytes) then return errors.invalid_value end
  table.insert(server.mapped, { address = address, bytes = bytes })
  return 0
end

local function set_limit(server, payload)
  local kind, bytes = take("I4i8", payload)
  if bytes < 0 or bytes > server.capacity then return errors.invalid_value end
  local _, problem = attempt(server, kind == 0 and server.gpu.set_print_limit or server.gpu.set_heap, server.gpu, bytes)
  if kind ~= 0 and not problem then server.heap = bytes end
  if not problem or bytes <= server.heap then return 0 end -- a heap that is there may be larger
  note("cudaLimitMallocHeapSize: expected a size before the first module with malloc is loaded, or up to %d bytes, got %d",
    server.heap, bytes)
  return errors.invalid_value
end

--- All that is left of a program that has gone. What it has left in flight is given up. Allocations go from the last address to the
--- first, since the memory's list of them, which is in order, is shortest to change at its end.
local function reset(server)
  if server.in_flight > 0 then
    local _, fault = server.gpu:wait(nil, nil, "the program that launched it has ended")
    if fault then note("%s", fault.message) end
  end
  local addresses = {}
  for address in pairs(server.allocations) do addresses[#addresses + 1] = address end
  table.sort(addresses, function(a, b) return a > b end)
  for _, address in ipairs(addresses) do server.gpu:free(address) end
  server.dead, server.in_flight, server.flying = nil, 0, {}
  server.allocations, server.mapped, server.modules, server.functions = {}, {}, {}, {}
  return 0
end

-- Launches -----------------------------------------------------------------------------------------------------------

--- The CUDA error of each kind of fault.
local faults <const> = {
  ["out of bounds"] = errors.illegal_address, misaligned = errors.misaligned, assert = errors.assertion,
  ["illegal call"] = errors.invalid_pc, timeout = errors.timeout, unsupported = errors.invalid_ptx,
}

--- What the program has written into memory that it shares with the device, and what kernels have, is noted.
local function note_mapped(server, how)
  if not server.tells_copies then return end
  for _, range in ipairs(server.mapped) do how(server.gpu, range.address, range.bytes) end
end

--- The CUDA error of a launch that never began, by its mistake.
local mistakes <const> = {
  extents = errors.invalid_configuration, resources = errors.out_of_resources, cooperative = errors.cooperative_too_large,
}

--- A kernel that failed while it ran leaves its error to all calls that follow.
local function launch_failed(server, result, fault)
  note("%s", fault.message)
  if fault.kind == "given up" then return errors.launch_failure end
  if fault.kind == "launch" then return mistakes[fault.mistake] or errors.invalid_value end
  local code = faults[fault.kind] or errors.launch_failure
  if result then
    server.dead = code
    table.insert(server.faults, fault.message)
  end
  return code
end

--- The function that a question begins with, how it is launched, and where the rest begins; nil for a block that no launch has.
local function take_launch(server, payload, at)
  local number, gx, gy, gz, bx, by, bz, shared, stack, cooperative, params, next_at = take("I4I4I4I4I4I4I4I4I4I4s4", payload, at)
  local kernel = server.functions[number + 1] or error(Garbage, 0)
  local fits = math.max(bx, by, bz) <= most_block and bx * by * bz <= most_block
  return kernel, fits and { grid = { gx, gy, gz }, block = { bx, by, bz }, shared = shared, stack = stack,
    cooperative = cooperative ~= 0 or nil, args = params }, next_at
end

--- A kernel that ran, until its end or its fault.
local function note_end(server, result)
  server.cycle = math.max(server.cycle, result.start_cycle + result.cycles)
  return string.pack("<I8s4", result.start_cycle + result.cycles, result.printed or "")
end

local function launch(server, payload)
  local kernel, how = take_launch(server, payload)
  if not how then return errors.invalid_configuration end
  how.timed = server.is_timed(server.launches)
  note_mapped(server, core.cuda_wrote)
  local result, fault = server.gpu:try_launch(kernel.kernel, how)
  if result then server.launches = server.launches + 1 end
  local reply = result and note_end(server, result)
  if fault then return launch_failed(server, result, fault), reply end
  note_mapped(server, core.cuda_reads)
  return 0, reply
end

--- May so many launches from the next one on be one of the GPU? Some have no timing, or are estimated by samples.
local function may_be_together(server, count)
  for number = server.launches, server.launches + count - 1 do
    if not server.is_timed(number) then return false end
  end
  return not server.is_one_by_one
end

--- A count and so many numbers of a question, and where the rest begins.
local function take_numbers(payload, at)
  local count, numbers = take("I4", payload, at), {}
  at = at + 4
  if count > most_in_flight then error(Garbage, 0) end
  for i = 1, count do numbers[i], at = take("I4", payload, at) end
  return numbers, at
end

--- The launches of a question, as gpu:launch_together() takes them, or gpu:launch_async(); nil where one has a block that no
-- launch has.
local function take_launches(server, payload, joins)
  local launches = {}
  local count, at = take("I4", payload)
  if count == 0 or count > most_together then error(Garbage, 0) end
  for i = 1, count do
    local kernel, how, next_at = take_launch(server, payload, at)
    if not how then return nil end
    how.kernel = kernel.kernel
    how.after, at = take_numbers(payload, next_at)
    for k, number in ipairs(how.after) do
      if number + 1 >= i or k >= i then error(Garbage, 0) end
      how.after[k] = number + 1
    end
    if joins then
      how.behind, at = take_numbers(payload, at)
      how.priority, at = take("i4", payload, at)
    end
    launches[i] = how
  end
  return launches
end

--- Another schedule than that of a run without such options has other cycles: told once.
local function tell_of_schedule(server)
  if server.has_told_of_schedule then return end
  server.has_told_of_schedule = true
  note("%s: kernels that could run side by side run one after the other, with sample, fast_forward, or launches without timing",
    server.name)
  if server.sim.sampler then server.sim.sampler.serialises = true end
end

--- Where they cannot be launched together, the program launches one after the other, and hears what is wrong with which.
local function launch_together(server, payload)
  local launches = take_launches(server, payload)
  if not launches then return errors.not_supported end
  if not may_be_together(server, #launches) then
    tell_of_schedule(server)
    return errors.not_supported
  end
  note_mapped(server, core.cuda_wrote)
  local results, fault = server.gpu:try_launch_together(launches)
  if not results then return errors.not_supported end
  local replies = {}
  server.launches = server.launches + #results
  for i, result in ipairs(results) do replies[i] = note_end(server, result) end
  if fault then return launch_failed(server, results, fault), table.concat(replies) end
  note_mapped(server, core.cuda_reads)
  return 0, table.concat(replies)
end

--- Where they cannot be in flight, the program launches them so that all end before it goes on.
local function begin(server, payload)
  local launches = take_launches(server, payload, true)
  if not launches then return errors.not_supported end
  if not may_be_together(server, #launches) then
    if launches[2] then tell_of_schedule(server) end
    return errors.not_supported
  end
  note_mapped(server, core.cuda_wrote)
  local first = attempt(server, server.gpu.try_launch_async, server.gpu, launches)
  if not first then return errors.not_supported end
  server.launches = server.launches + #launches
  server.in_flight = server.in_flight + #launches
  for i = 1, #launches do server.flying[first + i - 1] = true end
  return 0, string.pack("<I4", first)
end

local function wait(server, payload)
  local cycles = take("i8", payload)
  local numbers = take_numbers(payload, 9)
  if server.in_flight == 0 or cycles < 0 then error(Garbage, 0) end
  for _, number in ipairs(numbers) do
    if not server.flying[number] then error(Garbage, 0) end
  end
  if not server.keeps_copies then note_mapped(server, core.cuda_wrote) end -- else each query would leave all of it in the L2s again
  local ends, fault, cycle = server.gpu:wait(numbers[1] and numbers or nil, cycles > 0 and cycles or nil)
  local ended, replies = {}, {}
  for number in pairs(ends) do ended[#ended + 1] = number end
  table.sort(ended)
  server.in_flight = server.in_flight - #ended
  for i, number in ipairs(ended) do
    server.flying[number] = nil
    replies[i] = string.pack("<I4", number) .. note_end(server, ends[number])
  end
  local reply = string.pack("<i8I4", cycle, #ended) .. table.concat(replies)
  if fault then return launch_failed(server, true, fault), reply end
  note_mapped(server, core.cuda_reads)
  return 0, reply
end

-- Textures -----------------------------------------------------------------------------------------------------------

local formats <const> = { [0] = "u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32" }
local addresses <const> = { [0] = "wrap", "clamp", "mirror", "border" } -- in CUDA's order

local read_words <const> = { [0] = "element", "normalized_float", "srgb" }

--- CUDA's wrap and mirror clamp where coordinates are not normalized.
local function address_word(mode, normalized)
  return (normalized == 0 and (mode == 0 or mode == 2)) and "clamp" or addresses[mode] or "?"
end

local function make_texture(server, payload)
  local address, pitch, slice, width, height, depth, layers, format, channels, linear, x, y, z, normalized, as_float, cube =
    take("i8i8i8I4I4I4I4I4I4I4I4I4I4I4I4I4", payload)
  local handle, problem = attempt(server, server.gpu.texture, server.gpu, {
    buffer = address, pitch = pitch, slice = slice, width = width, height = math.max(height, 1), format = formats[format],
    depth = layers == 0 and cube == 0 and math.max(depth, 1) or nil, layers = layers > 0 and layers or nil, cube = cube ~= 0,
    channels = channels, filter = linear ~= 0 and "linear" or "point", normalized = normalized ~= 0,
    address = { address_word(x, normalized), address_word(y, normalized), address_word(z, normalized) },
    read = read_words[as_float] or "?",
  })
  if not handle then
    note("%s", problem)
    return errors.invalid_value
  end
  return 0, string.pack("<i8", handle)
end

local function bind_texture(server, payload)
  local number, name, handle = take("I4s4i8", payload)
  local module = module_at(server, number)
  local _, kernel = next(module.kernels)
  local variable = module.variables[name]
  if not kernel or not variable or variable.space ~= "texture" then return errors.invalid_symbol end
  local _, problem = attempt(server, server.gpu.bind_texture, server.gpu, kernel, name, handle)
  if not problem then return 0 end
  note("%s", problem)
  return errors.invalid_value
end

-- Answers ------------------------------------------------------------------------------------------------------------

local function name_missing(server, payload)
  local name = take("s4", payload):gsub("[^%w_ ]", "?"):sub(1, 64)
  if not server.missing[name] then note("%s is not supported: the program gets an error", name) end
  server.missing[name] = true
  return 0
end

local operations <const> = {
  [2] = load_module, [3] = find_function, [4] = find_variable, [5] = allocate, [6] = release, [7] = wrote, [8] = reads, [9] = launch,
  [10] = make_texture, [11] = bind_texture, [12] = memory_info, [13] = reset, [14] = name_missing, [15] = note_shared, [16] = set_limit,
  [17] = launch_together, [18] = begin, [19] = wait,
}
local hello <const>, resets <const>, missing <const> = 1, 13, 14

local function welcome(server, payload)
  if take("I4", payload) ~= version then
    note("the program's CUDA library is of another version of Warpwright")
    error(Garbage, 0)
  end
  local numbers = {}
  for i, number in ipairs(server.numbers) do numbers[i] = string.pack("<i8", number) end
  numbers[#numbers] = string.pack("<i8", server.cycle)
  core.cuda_welcome(server.channel, 0, string.pack("<i8i8I4I4", server.base, server.capacity, server.tells_copies and 1 or 0, #numbers)
    .. table.concat(numbers) .. string.pack("<s4", server.device_name))
end

--- Answers one question; whoever asks what is none is dropped.
local function answer(server, what, payload)
  local operation = operations[what] or error(Garbage, 0)
  if server.dead and what ~= missing and what ~= resets then return core.cuda_answer(server.channel, server.dead) end
  local code, reply = operation(server, payload)
  core.cuda_answer(server.channel, code, reply)
end

--- server:serve(channel): until the program has ended.
function Server:serve(channel)
  self.channel = channel
  while true do
    local what, payload = core.cuda_receive(self.gpu, channel)
    if what then
      local ok, problem = pcall(what == hello and welcome or answer, self, what == hello and payload or what, payload)
      if not ok and problem ~= Garbage then error(problem, 0) end
      if not ok then
        note("the program's channel spoke no language of ours, and was closed")
        core.cuda_drop(channel)
        reset(self)
      end
    else
      reset(self)
      if payload == "ended" then return end
    end
  end
end

-- The device -----------------------------------------------------------------------------------------------------------

-- Programs take two transfers for each cycle of memoryClockRate, as of DDR, to be what the bus can do.
local bits_of_bus_byte <const> = 8 // 2

--- The numbers of protocol.h's DeviceNumber.
local function device_numbers(sim, capability)
  local sms, l2s, mcs = sim:objects "SM", sim:objects "L2", sim:objects "MemoryController"
  local sm, l2_bytes, hertz = sms[1], 0, {}
  for _, l2 in ipairs(l2s) do l2_bytes = l2_bytes + l2.size end
  for _, clock in ipairs(sim.machine:clocks()) do hertz[clock.name] = clock.hertz end
  local first = sim.machine:clocks()[1]
  local core_hertz = first.hertz
  if first.slowest < first.fastest then
    core.user_error(("clock.%s: expected one frequency, by which the events of CUDA programs tell times, got %d Hz to %d Hz"):format(
      first.name, first.slowest, first.fastest))
  end
  return {
    capability // 10, capability % 10, #sms, sm.warps * 32, sm.ctas, sm.registers, sm.shared, l2_bytes, core_hertz // 1000,
    (hertz.dram or core_hertz) // 1000, mcs[1] and #mcs * mcs[1].bus_bytes * bits_of_bus_byte or 64, sm.schedulers, sm.register_unit,
    sm.reserved_shared, 0,
  }
end

local cuda_server = {}

--- For a program called `name` on a machine; `is_timed(number)`: has this launch, from 0 on, timing; `is_one_by_one`: none runs
-- beside another; `tells_copies`: what the program copies is noted.
function cuda_server.new(sim, name, capability, is_timed, is_one_by_one, tells_copies)
  local gpu = sim:gpu()
  local base, capacity = core.memory(gpu)
  local keeps_copies = false
  for _, l2 in ipairs(sim:objects "L2") do keeps_copies = keeps_copies or l2.host_copies end
  return setmetatable({
    sim = sim, gpu = gpu, name = name, capability = capability, base = base, capacity = capacity, cycle = 0,
    is_timed = is_timed, is_one_by_one = is_one_by_one, launches = 0, heap = first_heap, device_name = sim.name,
    tells_copies = tells_copies or keeps_copies, keeps_copies = keeps_copies, in_flight = 0, flying = {}, numbers = device_numbers(sim, capability),
    modules = {}, functions = {}, allocations = {}, mapped = {}, missing = {}, ptx = {}, faults = {},
  }, Server)
end

return cuda_server

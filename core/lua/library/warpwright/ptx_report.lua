-- `warpwright ptx FILE...`: what the kernels of PTX files need, and which can run.
local core = require "warpwright.core"
local names = require "warpwright.names"

local ptx_report = {}

local piece <const>, most_bytes <const> = 1 << 20, 1 << 30

--- All of a file, or nil and why not. Pipes have no size, and devices no end.
local function read(path)
  local file, problem = io.open(path, "rb")
  if not file then return nil, problem end
  local pieces, bytes = {}, 0
  repeat
    local text, why = file:read(piece)
    pieces[#pieces + 1], bytes, problem = text, bytes + #(text or ""), why
  until not text or bytes > most_bytes
  file:close()
  if bytes > most_bytes then return nil, ("%s: expected up to %d bytes"):format(path, most_bytes) end
  return not problem and table.concat(pieces) or nil, path .. ": cannot be read"
end

--- The report of a file: its kernels, or nil and why it cannot be loaded.
local function load(path)
  local text, problem = read(path)
  if not text then return nil, problem end
  local ok, kernels = pcall(core.ptx_report, { { text = text, name = path } })
  if ok then return kernels end
  return nil, tostring(kernels)
end

--- The opcodes, the most frequent first.
local function opcodes(kernel)
  local list = names.sorted_keys(kernel.opcodes)
  table.sort(list, function(a, b)
    local m, n = kernel.opcodes[a], kernel.opcodes[b]
    if m ~= n then return m > n end
    return a < b
  end)
  for i, opcode in ipairs(list) do list[i] = ("%s %d"):format(opcode, kernel.opcodes[opcode]) end
  return table.concat(list, ", ")
end

local function print_kernel(kernel)
  print(("  %s: %s"):format(kernel.name, kernel.refusal and "cannot run" or "can run"))
  if kernel.refusal then
    for line in kernel.refusal:gmatch "[^\n]+" do print("    " .. line) end
    return
  end
  print(("    %d registers; bytes: %d shared, %d local, %d constant, %d of parameters"):format(kernel.registers, kernel.shared,
    kernel["local"], kernel.constant, kernel.param_bytes))
  print(("    %d instructions: %s"):format(kernel.instructions, opcodes(kernel)))
end

--- Without place and statement, so that equal reasons are counted together.
local function reason_of(line)
  local text = line:gsub("^.-:%d+: ", ""):gsub("; expected .*$", "")
  return text:match "('[^']+': [^:]*)$" or text:gsub("^.*: ", "")
end

local function count(reasons, reason) reasons[reason] = (reasons[reason] or 0) + 1 end

local function print_reasons(title, reasons)
  local list = names.sorted_keys(reasons)
  if #list == 0 then return end
  table.sort(list, function(a, b)
    if reasons[a] ~= reasons[b] then return reasons[a] > reasons[b] end
    return a < b
  end)
  print(title)
  for _, reason in ipairs(list) do print(("%6d  %s"):format(reasons[reason], reason)) end
end

local function share(part, all) return ("%d of %d (%.1f%%)"):format(part, all, all > 0 and 100 * part / all or 100) end

--- One line a file, then how many load and decode, and why the others do not.
local function print_coverage(paths)
  local loaded, kernels, decoded, modules_refused, kernels_refused = 0, 0, 0, {}, {}
  for _, path in ipairs(paths) do
    local report, problem = load(path)
    local good = 0
    for _, kernel in ipairs(report or {}) do
      kernels = kernels + 1
      good = good + (kernel.refusal and 0 or 1)
      local seen = {}
      for line in (kernel.refusal or ""):gmatch "\n([^\n]+)" do
        local reason = reason_of(line)
        if not seen[reason] then count(kernels_refused, reason) end
        seen[reason] = true
      end
    end
    loaded, decoded = loaded + (report and 1 or 0), decoded + good
    if report then
      print(("%s: %d of %d kernel%s can run"):format(path, good, #report, #report == 1 and "" or "s"))
    else
      print(("%s: cannot be loaded"):format(path))
      count(modules_refused, reason_of(problem:match "[^\n]+" or ""))
    end
  end
  print(("\nmodules that load:    %s\nkernels that can run: %s"):format(share(loaded, #paths), share(decoded, kernels)))
  print_reasons("\nmodules that cannot be loaded, by reason:", modules_refused)
  print_reasons("\nkernels that cannot run, by reason:", kernels_refused)
  return loaded == #paths and decoded == kernels
end

local function print_one(path)
  local report, problem = load(path)
  if not report then core.user_error(problem) end
  print(("%s: %d kernel%s"):format(path, #report, #report == 1 and "" or "s"))
  local good = true
  for _, kernel in ipairs(report) do
    print_kernel(kernel)
    good = good and not kernel.refusal
  end
  return good
end

--- Returns whether all kernels of the files can run.
function ptx_report.print(paths)
  if #paths == 1 then return print_one(paths[1]) end
  return print_coverage(paths)
end

return ptx_report

-- What `--memcheck` found, as text.
local core = require "warpwright.core"

local memcheck = {}

local shown <const> = 10 -- on stderr; memcheck.txt has all

--- "1 access", "2 accesses", "3 frees"
local function counted(site)
  local plural = site.counted:find "s$" and "es" or "s"
  return ("%d %s%s"):format(site.count, site.counted, site.count == 1 and "" or plural)
end

local function describe(site)
  local address = site.address and (", address 0x%x"):format(site.address) or ""
  local other = site.other_place
    and ("; before, by thread %s at %s, in %s"):format(site.other_thread, site.other_place, site.other_ptx) or ""
  return ("kernel %s, %s: %s%s, CTA %s, thread %s, launch %d, cycle %d; %s; in %s%s"):format(site.kernel, site.place, site.kind,
    address, site.cta, site.thread, site.launch, site.cycle, counted(site), site.ptx, other)
end

--- { errors = number, lines = { text ... }, faults = } of a GPU, in the order of launches, cycles and SMs. `faults`: what ended launches
-- whose program went on, as text, or nil.
function memcheck.report(gpu, faults)
  local found = { errors = 0, lines = {}, faults = faults or {} }
  for i, site in ipairs(core.memcheck_sites(gpu)) do
    found.lines[i] = describe(site)
    found.errors = found.errors + site.count
  end
  return found
end

--- "memcheck: 12 errors at 3 places; 1 launch ended at a fault"
function memcheck.summary(found)
  local function many(n, word, plural) return ("%d %s"):format(n, n == 1 and word or plural) end
  local faults = found.faults[1] and ("; %s ended at a fault"):format(many(#found.faults, "launch", "launches")) or ""
  return ("memcheck: %s at %s%s"):format(many(found.errors, "error", "errors"), many(#found.lines, "place", "places"), faults)
end

--- The first of them on stderr; all in a folder's memcheck.txt, if there is one.
function memcheck.tell(found, folder)
  for i = 1, math.min(shown, #found.lines) do io.stderr:write("memcheck: ", found.lines[i], "\n") end
  if #found.lines > shown then
    io.stderr:write(("memcheck: ... %d more places%s\n"):format(#found.lines - shown, folder and "; see " .. folder .. "/memcheck.txt" or ""))
  end
end

--- As a file.
function memcheck.text(found)
  local lines = table.move(found.lines, 1, #found.lines, 1, {})
  for _, fault in ipairs(found.faults) do lines[#lines + 1] = "fault: " .. fault end
  lines[#lines + 1] = memcheck.summary(found)
  return table.concat(lines, "\n") .. "\n"
end

return memcheck

local ww = require "warpwright"
local ptx = require "workloads.micro.ptx"

local divisions <const> = 16 -- how long a CTA lives: it should be longer than handing out as many as an SM holds

-- The first thread of each CTA notes the SM, and the clock at its start and at its end.
local kernel = [[
.visible .entry occupancy(.param .u64 notes)
{
	.reg .pred	%other;
	.reg .b32	%t, %cta, %sm, %x, %y;
	.reg .b64	%notes, %start, %stop;
	mov.u64	%start, %clock64;
	ld.param.u64	%notes, [notes];
	mov.u32	%t, %tid.x;
	setp.ne.s32	%other, %t, 0;
	mov.u32	%x, 1;
	mov.u32	%y, 1;
$divisions
	@%other bra	done;
	add.s32	%y, %x, 0;
	mov.u64	%stop, %clock64;
	mov.u32	%cta, %ctaid.x;
	mov.u32	%sm, %smid;
	mad.wide.u32	%notes, %cta, 24, %notes;
	st.global.u32	[%notes], %sm;
	st.global.u64	[%notes+8], %start;
	st.global.u64	[%notes+16], %stop;
done:
	ret;
}
]]

local occupancy = ww.workload "occupancy" {
  doc = "How many CTAs an SM holds at a time, by the clocks that they note",
  ptx = ptx.module { ptx.fill(kernel, { divisions = ptx.lines(divisions, "div.s32	%x, %x, %y;") }) },
  sizes = {
    small = { ctas = 60, threads = 512, registers = 8, shared = 0 },
    medium = { ctas = 150, threads = 256, registers = 8, shared = 0 },
    large = { ctas = 300, threads = 64, registers = 8, shared = 0 },
  },
}

--- The most CTAs that were on one SM at the same time.
local function most_resident(notes)
  local events, most = {}, 0
  for _, note in ipairs(notes) do
    events[#events + 1] = { sm = note.sm, clock = note.start, change = 1 }
    events[#events + 1] = { sm = note.sm, clock = note.stop, change = -1 }
  end
  table.sort(events, function(a, b)
    if a.clock ~= b.clock then return a.clock < b.clock end
    return a.change < b.change
  end)
  local resident = {}
  for _, event in ipairs(events) do
    resident[event.sm] = (resident[event.sm] or 0) + event.change
    most = math.max(most, resident[event.sm])
  end
  return most
end

--- What the last run found; a workload returns nothing.
occupancy.resident = 0

function occupancy:run(gpu, size)
  local buffer = gpu:alloc(24 * size.ctas)
  gpu:launch(self.kernels.occupancy, {
    grid = size.ctas,
    block = size.threads,
    shared = size.shared,
    registers = size.registers,
    args = { buffer },
  })
  local words, notes, timeless = gpu:download("u64", buffer, 3 * size.ctas), {}, 0
  for i = 0, size.ctas - 1 do
    local start, stop = words[3 * i + 1], words[3 * i + 2]
    notes[i + 1] = { sm = words[3 * i] & 0xffffffff, start = start, stop = stop }
    if stop <= start then timeless = timeless + 1 end
  end
  self:check("CTAs that took no time", timeless, 0)
  occupancy.resident = most_resident(notes)
end

return occupancy

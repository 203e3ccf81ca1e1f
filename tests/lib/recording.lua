-- Writes recorded kernels (kernel-N.traceg) as text, instruction by instruction.
local recording = {}

recording.format = "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]"

--- A line of a trace: pc a number; written, read: lists of registers; behind: what stands behind the registers, "4 1 0x1000 4".
function recording.line(pc, opcode, written, read, behind, lanes)
  local function named(registers)
    local words = { #registers }
    for _, register in ipairs(registers) do words[#words + 1] = "R" .. register end
    return table.concat(words, " ")
  end
  return ("%04x %08x %s %s %s %s"):format(pc, lanes or 0xffffffff, named(written or {}), opcode, named(read or {}), behind or "0")
end

--- The text of a kernel: head { name =, grid =, block =, shared =, registers =, stream = }; warp(cta, warp) returns a list of lines, without an
-- EXIT behind them.
function recording.kernel(head, warp)
  local lines = {
    "-kernel name = " .. (head.name or "recorded"), "-kernel id = 1", ("-grid dim = (%d,1,1)"):format(head.grid or 1),
    ("-block dim = (%d,1,1)"):format(head.block or 32), "-shmem = " .. (head.shared or 0), "-nregs = " .. (head.registers or 16),
    "-binary version = 70", "-cuda stream id = " .. (head.stream or 0), "-shmem base_addr = 0x00007f0000000000",
    "-local mem base_addr = 0x00007f0002000000", "-nvbit version = 1.5.5", "-accelsim tracer version = 3", "", recording.format,
  }
  for cta = 0, (head.grid or 1) - 1 do
    lines[#lines + 1] = ("\n#BEGIN_TB\n\nthread block = %d,0,0"):format(cta)
    for w = 0, ((head.block or 32) + 31) // 32 - 1 do
      local instructions = warp(cta, w)
      instructions[#instructions + 1] = recording.line(0xff0, "EXIT")
      lines[#lines + 1] = ("\nwarp = %d\ninsts = %d"):format(w, #instructions)
      table.move(instructions, 1, #instructions, #lines + 1, lines)
    end
    lines[#lines + 1] = "\n#END_TB"
  end
  return table.concat(lines, "\n") .. "\n"
end

return recording

-- Block CTA scheduling (BCS: M. Lee et al., "Improving GPGPU Resource Utilization Through Alternative Thread Block
-- Scheduling", HPCA 2014): CTAs that follow each other share lines where a grid walks over rows, so an SM gets two at a time,
-- and waits until it has room for both. The paper's warp scheduler, which lets such a pair go on together, is not part of this.
local policy = require "warpwright.policy"

local block_cta = policy "block_cta" {
  doc = "An SM gets CTAs that follow each other, two at a time",
  order = "gto",
  params = { ctas = { 2, min = 1, max = 32, doc = "CTAs that an SM gets together" } },
}

function block_cta:configure(class)
  if class == "Dispatcher" then return { placement = "blocks", block = self.params.ctas } end
end

return block_cta

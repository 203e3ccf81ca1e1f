-- Evicted-address filter (EAF: Seshadri et al., PACT 2012), a comparison point of MeDiC (section 5), in each L2 slice: a
-- Bloom filter of as many evicted addresses as the slice has lines. A line that misses and is in it comes back soon after its
-- eviction: it enters as the most recently used. Others enter as the least recently used, 1 in 64 as the most.
--
-- So a line that was written leaves soon after, too, and writes reach memory one by one between the reads: on vecadd, which has
-- no reuse, the bus of the DRAM turns around 1.4 times as often as with LRU, for 3 % of the time.
local policy = require "warpwright.policy"

return policy "eaf" {
  doc = "Lines that come back soon after their eviction from the L2 stay, others pass through",
  params = {
    bimodal = { 64, min = 1, doc = "1 in so many lines that the filter does not know stays" },
    bits = { 8, min = 1, max = 64, doc = "Bits of the filter per line" },
    hashes = { 4, min = 1, max = 16, doc = "Bits that an address sets" },
    seed = { 1, min = 0, doc = "Of the hashes and of the draw" },
  },
  caches = "L2",
  parts = {
    { class = "EvictedAddressFilter", name = "eaf", of = "cache",
      bimodal = policy.param "bimodal", bits_per_address = policy.param "bits", hashes = policy.param "hashes",
      seed = policy.param "seed" },
  },
}

-- Why a claim is not reproduced, or partly: what an experiment showed. By figure and claim, without
-- what stands in brackets.
local sensitive <const> = "kmeans-1 has 2.53 where CCWS has 5.73; with as much as CCWS the means would be 1.42 and, of all kernels, 1.23. It stands on an edge: "
  .. "of 32,768 points the warps of an SM hit 93 % when 6 of them issue, 69 % when 8 do, 33 % with 10, and under Mascar 58 %: an owner has the memory for 132 "
  .. "cycles, so others own it while its misses are on their way (III-C: the load/store unit must stall while the re-execution queue is full). mummer (1.06) waits for rows "
  .. "of the DRAM. histo-3 (1.11) reads no counter twice. spmv loses (0.88; see Mascar over GTO). Fewer warps alone gain little on them: the best limit of each, on smaller "
  .. "inputs, 1.06 on spmv and mummer, 1.11 on histo-3, 1.20 on bfs, 1.52 on particle; with kmeans-1 as CCWS has it the mean is 1.57 (docs/results.md)"
local reexecution <const> = "spmv gains 1.04, the others nothing. Loads hit as often as under LRR, within 3 points on each kernel (measured with gtx480's network): what stood behind "
  .. "a stalled access still hits when its turn comes"
local owners <const> = "kmeans-1 gains 1.81; histo-1 loses 12 % and spmv 7 %, the other 12 gain 1 % on average. An owner has the memory for 38 cycles on spmv, for a few requests, and "
  .. "MSHRs stay free. With MP mode from 6 % free on, until 12 % are, spmv and histo-1 (smaller inputs) have 1.04 and 1.00 over LRR in place of 0.93 and 0.91, but kmeans-1 of "
  .. "32,768 points 2.06 in place of 2.89. docs/results.md has these and other readings of what an owner is"
local banks <const> = "Loads differ in what they hit, warps do not for long: 68 % of the loads of SC hit nothing and 32 % all (medic/2), and each warp has both. On the eight "
  .. "applications with requests enough the hit ratio of a warp moves from one window of 100,000 cycles to the next by about as much as two warps differ, or by more "
  .. "(medic/4). MeDiC gains where the warps that miss make a good part of the requests: on BFS it bypasses 31 % of them (1.28), on SS 12 % (1.08), "
  .. "on medic/hetero 51 % (1.18). On SC all warps hit with a third of their requests, so that all bypass and the hits are lost (0.80; 0.94 with the cut-off at "
  .. "0.2, medic/cut-offs). NN and SCP hit nothing and wait for memory. Of the others most warps hit. With samples every 20,000 cycles MeDiC "
  .. "loses nothing on SC, whose warps then seldom make the 100 requests of one (medic/sampling)"
local bypass <const> = "The L2's banks, which begin 2.4 accesses a cycle, are what limits, and who bypasses much gains, also with warps that hit: IIX makes 2.2 a cycle "
  .. "and hits with 94 % of its requests, SS 1.7 with 87 %. Random bypassing of 30 % takes the DRAM from 8 to 50 and from 12 to 42 % of its time and gains "
  .. "1.34 and 1.20; MeDiC finds 8 and 12 % to bypass. On BFS the order is the "
  .. "paper's: MeDiC 1.28, Rand 1.27, PCAL 1.22, PC-Byp 1.17. On SC PC-Byp gains 1.39: its loads differ in what they hit, its warps do not. Nor is it that too much "
  .. "fits: with an L2 of a quarter, which hits 9 to 49 %, MeDiC and PCAL gain 1.03, PC-Byp 1.10 (medic/small-l2). With one port a bank MeDiC "
  .. "gains 1.21 on eight of them, but PCAL 1.63 and Rand 1.78 (medic/one-port); with LRR it is 1.04, PCAL 1.03, Rand 1.09 (medic/lrr). Nor is it the graph: with four times the nodes, "
  .. "whose distances do not fit the L2, PC-Byp gains 1.24 on BFS, Rand 1.10 and MeDiC 0.97, on a map of roads PCAL 1.19 and MeDiC 1.08 (medic/graphs)"
local scheduling <const> = "Reads do not queue for memory where warps hit: on BFS the DRAM is busy 34 % of the time, on SS 12 %. On medic/hetero it is 70 %, but "
  .. "0.2 % of the memory requests are of warps that mostly hit. With queues of 16 requests at a controller, 4 in front of it and 8 in front of a bank it is 1.00 "
  .. "on BFS and on medic/hetero, too"
local spread <const> = "PRIC spreads the lines that fell into one set; no other fails take the place of theirs"
local associativity <const> = "What MRPB lets pass by on an associativity stall gains 7.6 times on SYRK, 6.0 on GESUMMV and twice on the conflict "
  .. "kernels, nearly all of its gain (dwt-pric/mrpb-bypass), although each holds an MSHR. On SRAD and BFS that is as good as DWT-PRIC"
local insertion <const> = "Lines of warps that mostly hit stay too long: the L2's hits fall from 60 to 53 % on BFS, from 87 to 75 % on SS and from 70 to 61 % on BP. With "
  .. "keep_uses=256 they do not (66, 86 and 70 %), and WIP has 1.00, 1.02 and 1.00 there"

return {
  ["mascar/4: all resources together"] = "The network limits: lines come to an SM at 32 B a cycle. With flits of 128 B the machine with all of it has 1.44 over the one with none (wide flits alone: 1.13)",
  ["mascar/9: OWL over LRR"] = "As GTO, OWL lets some warps run ahead, which mrig-2 and kmeans-1 need: without these two its mean is 1.04",
  ["mascar/9: Mascar over LRR"] = "Without histo-1 and spmv, which lose (see Mascar over GTO), the mean is 1.21; see the cache-sensitive kernels",
  ["mascar/9: Mascar over GTO"] = owners,
  ["mascar/9: cache-sensitive: Mascar"] = sensitive,
  ["mascar/9: cache-sensitive: re-execution alone"] = reexecution,
  ["mascar/10: Mascar: each kernel within 5 %"] = "BP-1 gains as much under GTO and has dozens of waves of CTAs. No kernel loses more than 1 %",
  ["mascar/11: stalls under Mascar"] = "In MP mode an owner's few accesses find room, and the others do not issue: only sad-2 and mrig-2 (0.4, 0.3), kmeans-1, mrig-1 and mummer (0.1 to 0.2) "
    .. "still stall. With MP mode from 6 % free on, until 12 % are, spmv, histo-1 and kmeans-1 (smaller inputs) stall 0.10, 0.09 and 0.43 of the time, 0.03, 0.01 and 0.18 as it is",
  ["mascar/13: Mascar hits more often than LRR on each"] = "histo-3 reads no counter twice: 2 % hits under both",
  ["mascar/14: saved in the others, of the total"] = "The crossbar, whose traffic falls, is at most 5 % of LRR's energy by these numbers",
  ["mascar/14: DRAM takes less on kmeans-1, particle and spmv"] = "spmv, the third, loses under Mascar here; see mascar/9, Mascar over GTO",
  ["mascar/14: DRAM takes more on srad-2, mrig-2 and lbm"] = "On mrig-2 it takes less (0.21 to 0.14 of LRR's energy), as its L1 hits more; on the other two as much",

  ["medic/4: BFS: warps keep their type"] = "From one window of 100,000 cycles to the next the hit ratio of a warp moves by 0.12 on average, and those of two warps differ by "
    .. "0.13 (same figure). So its type is that of the phase it is in, not its own: samples of 25 requests find 0.42 of the types again, of 200 0.57; with the cut-off at 0.2, "
    .. "below which few are, 0.82. The other applications are alike; on medic/hetero it is 0.03 and 0.31. Communities whose sizes follow a power law, up to 1,048,576 nodes, "
    .. "were tried: ratios of most warps lie within 30 points, since L1 keeps 3 % of the lines of edges and all warps come back for them to the L2",
  ["medic/7: WIP over the baseline"] = insertion,
  ["medic/7: WMS over the baseline"] = scheduling,
  ["medic/7: WByP over the baseline"] = banks,
  ["medic/7: MeDiC over the baseline"] = banks,
  ["medic/7: WIP over EAF"] = "Neither has an effect of more than 7 % on these applications. On medic/hetero both gain 1.16",
  ["medic/7: WByP over PCAL"] = bypass,
  ["medic/7: MeDiC over PCAL"] = bypass,
  ["medic/7: MeDiC over Rand"] = bypass,
  ["medic/7: MeDiC over PC-Byp"] = bypass,
  ["medic/7: PCAL is ahead of WByP on PVC, PVR, SS and BH"] = "BH is not bound by memory here (CHARACTER.md): whatever bypasses only loses",
  ["medic/8: MeDiC over PCAL, IPC by energy"] = bypass,

  ["ccws/1: three times as fast or more"] = "MEMC has 2.8. GC waits for an atomic exchange per reference at the L2, hit or not (CHARACTER.md); 30 % of "
    .. "the misses of BFS are left in an unbounded L1 (ccws/2)",
  ["ccws/11: BFS: intra-warp hits that are inter-thread"] = "Not the input alone: with one launch a level and degrees by a power law (bfs medium) it is 0.03, with this graph 0.08, with one of 64 communities 0.07. "
    .. "A hit counts as intra-thread here when one of its lanes had touched the line",
  ["ccws/11: BFS: inter-warp hits, CCWS over GTO"] = "CCWS hardly throttles it: it misses 3 % less than GTO, and no static limit makes it faster (ccws/5)",

  ["d2ma/12: computations in the same time"] = "More than in the paper: a transfer takes 621 cycles in place of 1225",
  ["d2ma/cudadma: CudaDMA"] = "Its transfer loads into registers while the buffer is in use, as the library documents. Where it waits for the buffer first, it gains nothing "
    .. "for any part and number of CTAs (0.99 to 1.01, d2ma/sgemv). With one CTA on an SM it gains 1.13; the paper does not say its sizes",
  ["d2ma/cudadma: D2MA"] = "1.15 is the most of d2ma/sgemv, where an SM has two CTAs and parts are short. With four a transfer takes 1108 cycles in place of 227: the engine's "
    .. "requests wait for MSHRs, which loads of A take first (section 4.2: the memory unit goes first). Without the barrier before the next transfer, as in the paper's Figure 8, "
    .. "where a slow warp reads the next part, it is 1.12; with the latencies of gtx480_dwt_pric 1.12",

  ["dwt-pric/2: VAdd is best without caches"] = "An unbounded L2 never writes the results back (0 of 260,000 writes), a third of the traffic; with the bounded one and none traffic is equal",
  ["dwt-pric/8: SYRK"] = "More than in the paper. With a sum that is loaded in each step, too, it is 28.0 (dwt-pric/sums); on gtx480 34.5 and 24.3",
  ["dwt-pric/8: GESUMMV"] = "Two sums in memory take two loads from the L2 in each step, which no policy saves: with sums in a register it is 20.2 (dwt-pric/sums)",
  ["dwt-pric/9: over CCWS"] = "KM and IIX decide (1.61, 1.38), which K_throttle = 2 throttles less than the paper's 8. It is the best mean here, and the paper says that it tuned, "
    .. "too. With 8 KM gains 3.55 in place of 2.93 and IIX 2.31 in place of 1.93, but 2DCONV and MM lose (0.50, 0.75), and DWT-PRIC over it would be 2.1 (dwt-pric/k-throttle)",
  ["dwt-pric/9: over MRPB, conflict"] = associativity,
  ["dwt-pric/9: over MRPB, both"] = associativity,
  ["dwt-pric/9: over CCWS, thrashing"] = "On BFS CCWS is better, as the paper says, and on SPMV nearly as good (0.98, 1.11); KM and IIX decide",
  ["dwt-pric/9: over MRPB, thrashing"] = "KM decides (3.55): without it the mean is 1.19",
  ["dwt-pric/10: 3DS: more than 80 %"] = "Even unbounded caches save 35 % (same figure), as the kernel keeps its column in registers; on gtx480 31 %, without the source of heat 37 %, "
    .. "and with CTAs of 32 x 8, too, 42 % (stencil3d heat=0,width=32,height=8)",
  ["dwt-pric/11: IIX"] = "Throttled to two warps its lines all fit, and hardly anything fails",
  ["dwt-pric/11: MM"] = spread,
  ["dwt-pric/11: SYRK"] = spread,
  ["dwt-pric/11: mean"] = "PRIC takes away most fails for want of a line on the conflict kernels here, where the paper's SRAD and SCLUSTER keep theirs",
  ["dwt-pric/table-3: BFS, SWT with PRIC: 5, within one"] = "The optimum is flat: beside PRIC 5 warps take 497,800 cycles, 7 475,600, all of them 482,500",
  ["dwt-pric/table-3: BFS, DWT-PRIC: 7, within one"] = "The mean of what is found in three of its 20 launches; 7 to 24 warps differ by 2 %",
  ["dwt-pric/12: over 16 ways"] = "All but SYRK, GESUMMV and SCLUSTER keep what they reuse in 16 ways of a linear index already",
  ["dwt-pric/12: over 32 ways"] = "All but SYRK, GESUMMV and SCLUSTER keep what they reuse in 16 ways of a linear index already",
  ["dwt-pric/12: over 64 ways"] = "All but SYRK, GESUMMV and SCLUSTER keep what they reuse in 16 ways of a linear index already",
}

-- The papers' sets of kernels: the name that a paper has, and the workload that stands for it here.
--
--   size      what is changed of the size that is asked for, medium unless scripts/reproduce is told otherwise
--   small     what is changed of small alone: what a version needs
--   medium    what is changed of medium alone: shorter runs of the same pattern
--   base      a size in place of medium, small_base one in place of small
--   launches  the kernels of the workload that count, a pattern of their names; all unless it is given
--   group     a part of the set for which papers give means of their own
local kernels = {}

-- The BFS of Rodinia, which Mascar, CCWS and DWT-PRIC cite: masks of bytes, two launches a level,
-- and a graph whose nodes have 2 to 10 edges each.
local masks <const> = { small = "version=masks,degrees=uniform,shortest=2,longest=10", base = "masks" }

-- Mascar, Table III: 15 memory-intensive kernels. Which seven of them are cache-sensitive is drawn
-- in Figure 9 and not named: these are those that the text names or suggests. Which kernel of the
-- histogram is which is not said either. The table's other applications are numbered in the order
-- of their launches (BP, leuko, mrig, sad, srad), and of the histogram's four kernels the prescan
-- reads an eighth of the inputs, in 5 % of the time. So histo-1 is intermediates, histo-2 main, the
-- only one of the three that the table has as compute-intensive, and histo-3 final. Instructions
-- per miss: 18, 23 and 18, in the table 15, 36 and 14; with prescan as histo-2 and main as histo-3
-- it would be 18, 65 and 23.
kernels.mascar_memory = {
  { name = "BP-2", workload = "backprop", size = "kernel=adjust", group = "insensitive" },
  { name = "histo-1", workload = "histo", size = "kernel=intermediates", group = "insensitive" },
  { name = "lbm", workload = "lbm", medium = "depth=25,steps=1", group = "insensitive" },
  { name = "leuko-1", workload = "leukocyte", base = "score", size = "kernel=score,first=uniform", group = "insensitive" },
  { name = "mrig-1", workload = "mri_gridding", size = "kernel=binning", group = "insensitive" },
  { name = "mrig-2", workload = "mri_gridding", base = "reorder", size = "kernel=reorder", group = "insensitive" },
  { name = "sad-2", workload = "sad", medium = "macroblocks=1020", size = "kernel=8x8", group = "insensitive" },
  { name = "srad-1", workload = "srad", medium = "rows=512", launches = "coefficient", group = "insensitive" },
  { name = "srad-2", workload = "srad", medium = "rows=512", launches = "update", group = "insensitive" },
  { name = "bfs", workload = "bfs", base = masks.base, small = masks.small, medium = "nodes=262144", group = "sensitive" },
  { name = "histo-3", workload = "histo", size = "kernel=final", group = "sensitive" },
  { name = "kmeans-1", workload = "kmeans_transpose", group = "sensitive" },
  { name = "mummer", workload = "mummer", group = "sensitive" },
  { name = "particle", workload = "particle", group = "sensitive" },
  { name = "spmv", workload = "spmv_jds", group = "sensitive" },
}

-- Mascar, Table III: 15 compute-intensive kernels. Where CTAs number as the input does, and four
-- times as many as the SMs hold at a time can be run, there are so many: of fewer, the last ones
-- run alone for much of the time. mri-q needs a larger image for it.
kernels.mascar_compute = {
  { name = "BP-1", workload = "backprop", size = "kernel=forward" },
  { name = "cutcp", workload = "cutcp" },
  { name = "histo-2", workload = "histo", size = "kernel=main" },
  { name = "histogram", workload = "histogram" },
  { name = "kmeans-2", workload = "kmeans_texture" },
  { name = "lavaMD", workload = "lava_md" },
  { name = "leuko-2", workload = "leukocyte", base = "dilate", size = "kernel=dilate" },
  { name = "leuko-3", workload = "leukocyte", base = "field", size = "kernel=field" },
  { name = "mrig-3", workload = "mri_gridding", base = "gridding", size = "kernel=gridding" },
  { name = "mri-q", workload = "mri_q", medium = "side=48,samples=512,per_launch=512" },
  { name = "PF", workload = "pathfinder", size = "version=plain" },
  { name = "sgemm", workload = "sgemm", small = "m=128,n=128,k=32", medium = "m=512,n=512,k=512", size = "version=registers" },
  { name = "sad-1", workload = "sad", base = "search", small_base = "search", small = "columns=64,rows=32", size = "kernel=4x4" },
  { name = "stencil", workload = "stencil_shared" },
  { name = "tpacf", workload = "tpacf" },
}

-- MeDiC, section 4: the text names eight, the others are those of its suites that later work of the
-- authors has. Shorter runs keep more data than the L2 has room for (fewer pairs, but not fewer
-- documents), but for BH, which computes.
kernels.medic = {
  { name = "NN", workload = "nearest_neighbour", medium = "records=2097152" },
  { name = "CONS", workload = "convolution", medium = "rows=1024" },
  { name = "SCP", workload = "scalar_product", medium = "pairs=256" },
  { name = "BP", workload = "backprop", medium = "inputs=65536" },
  { name = "HS", workload = "hotspot", medium = "rows=1024" },
  { name = "SC", workload = "streamcluster", medium = "points=32768" },
  { name = "IIX", workload = "inverted_index", base = "medium", medium = "lines=16384" },
  { name = "PVC", workload = "page_views", medium = "lines=16384" },
  { name = "PVR", workload = "page_view_rank" },
  { name = "SS", workload = "similarity", medium = "first=16,second=1536" },
  { name = "BFS", workload = "sssp", medium = "launches=2", size = "weights=1" },
  { name = "BH", workload = "barnes_hut", medium = "bodies=4096" },
  { name = "DMR", workload = "delaunay", medium = "side=112" },
  { name = "MST", workload = "mst", medium = "nodes=65536,edges=262144" },
  { name = "SSSP", workload = "sssp", medium = "launches=2" },
}

-- CCWS, the highly cache-sensitive ones.
kernels.ccws = {
  { name = "BFS", workload = "bfs", base = masks.base, small = masks.small },
  { name = "KMN", workload = "kmeans", base = "paper", medium = "points=30720", size = "features=34,clusters=5" },
  { name = "MEMC", workload = "keyvalue", medium = "requests=32768" },
  { name = "GC", workload = "gc_mark" },
}

-- DWT-PRIC, Table 2. Its SPMV is of a suite whose matrix is random and 1 % dense. SYRK and MM add to
-- an element in memory, and what a step has stored an optimising compiler hands to the next one.
-- GESUMMV has two sums in two arrays, which might overlap: so each is loaded again.
kernels.dwt_pric = {
  { name = "BLK", workload = "black_scholes", group = "streaming" },
  { name = "Sprod", workload = "scalar_product", group = "streaming" },
  { name = "VAdd", workload = "vecadd", medium = "n=8388608", group = "streaming" },
  { name = "FWT", workload = "fast_walsh", group = "streaming" },
  { name = "NW", workload = "needleman_wunsch", group = "streaming" },
  { name = "HS", workload = "hotspot", group = "streaming" },
  { name = "CONV", workload = "convolution", group = "streaming" },
  { name = "SRAD", workload = "srad", medium = "rows=512", group = "conflict" },
  { name = "3DS", workload = "stencil3d", group = "conflict" },
  { name = "2DCONV", workload = "conv2d", medium = "rows=1024", group = "conflict" },
  { name = "MM", workload = "mm", medium = "m=128", size = "accumulate=stored", group = "conflict" },
  { name = "SCLUSTER", workload = "streamcluster", group = "conflict" },
  { name = "SPMV", workload = "spmv", medium = "rows=16384,shortest=164,longest=164", group = "thrashing" },
  { name = "KM", workload = "kmeans", base = "paper", medium = "points=30720", size = "features=34,clusters=5", group = "thrashing" },
  { name = "BFS", workload = "bfs", base = masks.base, small = masks.small, group = "thrashing" },
  { name = "IIX", workload = "inverted_index", medium = "lines=32768", group = "thrashing" },
  { name = "SYRK", workload = "syrk", size = "accumulate=stored", group = "both" },
  { name = "GESUMMV", workload = "gesummv", base = "paper", group = "both" },
  { name = "PEst", workload = "monte_carlo_pi", group = "friendly" },
  { name = "B+tree", workload = "btree", group = "friendly" },
  { name = "BP", workload = "backprop", base = "paper", group = "friendly" },
  { name = "NN", workload = "neural_network", group = "friendly" },
}

-- D2MA, Table 2; each has a version that the threads copy for, and one that the engine does. The
-- paper gives no size of SGEMV. A thread for each row of a square matrix of some thousands makes
-- two or three CTAs for an SM, and its text says that the transfers decide: so two of them, with
-- parts as d2ma/sgemv shows.
kernels.d2ma = {
  { name = "DCT", workload = "dct8x8", launches = "_VERSION$" },
  { name = "MM", workload = "matmul", launches = "_VERSION$" },
  { name = "DWT", workload = "haar", launches = "_VERSION$" },
  { name = "TRANS1", workload = "transpose", size = "order=rows", launches = "_VERSION$" },
  { name = "TRANS2", workload = "transpose", size = "order=diagonal", launches = "_VERSION$" },
  { name = "FW", workload = "walsh", launches = "_VERSION$" },
  { name = "GAUSS", workload = "filter", size = "filter=gauss", launches = "_VERSION$" },
  { name = "MEAN", workload = "filter", size = "filter=mean", launches = "_VERSION$" },
  { name = "SOBEL", workload = "filter", size = "filter=sobel", launches = "_VERSION$" },
  { name = "PATH", workload = "pathfinder", launches = "_VERSION$" },
  { name = "SGEMV", workload = "sgemv", base = "transfers", launches = "_VERSION$" },
  { name = "LUD1", workload = "lud", size = "kernel=internal", launches = "_VERSION$" },
  { name = "LUD2", workload = "lud", size = "kernel=diagonal", launches = "_VERSION$" },
}

return kernels

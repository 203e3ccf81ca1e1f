---@meta
-- Written by scripts/annotations.lua from the rows of the classes: `warpwright scripts/annotations.lua` writes it anew.

---@class warpwright.Port

---@class warpwright.Object
---@field path string
---@field class string
---@field [string] any objects below it

---@class (exact) warpwright.WireOptions
---@field latency? integer cycles of the sender
---@field depth? integer messages
---@field width? integer messages per cycle
---@field back? warpwright.WireOptions of the responses

---What the function of ww.machine gets.
---@class warpwright.Machine
---@field reference table<string, number|number[]> values measured on what the machine describes
local Machine = {}

---@param clocks table<string, string|number> core = "700MHz" and others
function Machine:clocks(clocks) end

---@param cycles integer of the core clock
function Machine:quantum(cycles) end

---@param file string classes that are written in Lua: a name of configs/classes, or a path
function Machine:use(file) end

---@param path string of an object that has been made
---@return table
function Machine:object(path) end

---@param a warpwright.Port|string
---@param b warpwright.Port|string
---@param options? warpwright.WireOptions
function Machine:wire(a, b, options) end

---@param a warpwright.Port|string
---@param b warpwright.Port|string
---@param options? warpwright.WireOptions
function Machine:join(a, b, options) end

---What the function of ww.variant gets.
---@class warpwright.Variant: warpwright.Machine
local Variant = {}

---@param name string
---@param frequency string|number
function Variant:clock(name, frequency) end

---@param pattern string of objects, or of wires: "port -> port"
---@param values table parameters, or options of the wires
function Variant:change(pattern, values) end

---@param pattern string of wires: "port -> port"
---@param make fun(m: warpwright.Machine, i: integer): warpwright.Port|string, warpwright.Port|string, warpwright.WireOptions?
function Variant:insert(pattern, make) end

---Builds the base; objects and wires may follow.
function Variant:base() end

---@class (exact) warpwright.AddressMap.Parameters
---@field clock? string The object's clock; core where none is named
---@field channels? integer Memory channels (channels); default 6
---@field slices_per_channel? integer L2 slices of a channel: a power of two, chosen by slice_mask; or any number, which take lines of 128 B in turn (slices); default 1
---@field interleave? integer|string Consecutive bytes of one channel (bytes); default 256
---@field page_size? integer|string Pages, each of one channel, with place_page() or one after the other, when it is asked for first; 0: addresses alone say which channel (bytes); default 0
---@field row_mask? integer Row bits of the address with the channel taken out (mask); default 0x0fff0000
---@field bank_mask? integer Bank bits of the same (mask); default 0xe100
---@field column_mask? integer Column bits of the same (mask); default 0x1eff
---@field slice_mask? integer Bits of the same that choose the slice in the channel; may be bank bits (mask); default 0
---@field channel_hash? boolean Channels are turned by a hash of the address above them, so that no stride stays in one; not with page_size; default false
---@field bank_hash? boolean Lowest bits of the row are added to the bank, bit by bit: rows of a stride lie in different banks; default false
---@field channel_masks? string Address bits of which each channel bit is the parity, bit 0 first ("0x2300,0x4600"), for a power of two of channels; empty: the bits above interleave (masks); default 
---@field bank_masks? string The same of each bank bit, of the address with the channel taken out; empty: those of bank_mask (masks); default 
---@field slice_masks? string The same of each bit of the slice in the channel; empty: those of slice_mask (masks); default 

---@class warpwright.AddressMap.Object: warpwright.Object
---@field channels integer Memory channels (channels)
---@field slices_per_channel integer L2 slices of a channel: a power of two, chosen by slice_mask; or any number, which take lines of 128 B in turn (slices)
---@field interleave integer Consecutive bytes of one channel (bytes)
---@field page_size integer Pages, each of one channel, with place_page() or one after the other, when it is asked for first; 0: addresses alone say which channel (bytes)
---@field row_mask integer Row bits of the address with the channel taken out (mask)
---@field bank_mask integer Bank bits of the same (mask)
---@field column_mask integer Column bits of the same (mask)
---@field slice_mask integer Bits of the same that choose the slice in the channel; may be bank bits (mask)
---@field channel_hash boolean Channels are turned by a hash of the address above them, so that no stride stays in one; not with page_size
---@field bank_hash boolean Lowest bits of the row are added to the bank, bit by bit: rows of a stride lie in different banks
---@field channel_masks string Address bits of which each channel bit is the parity, bit 0 first ("0x2300,0x4600"), for a power of two of channels; empty: the bits above interleave (masks)
---@field bank_masks string The same of each bank bit, of the address with the channel taken out; empty: those of bank_mask (masks)
---@field slice_masks string The same of each bit of the slice in the channel; empty: those of slice_mask (masks)

---Where an address lives: channel, L2 slice, DRAM bank, row and column
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.AddressMap.Parameters): warpwright.AddressMap.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.AddressMap.Parameters): warpwright.AddressMap.Object
function Machine:AddressMap(name, index) end

---@class (exact) warpwright.BankCounters.Parameters
---@field clock? string The object's clock; core where none is named
---@field bank integer The bank that it counts, from 0 (banks)

---@class warpwright.BankCounters.Object: warpwright.Object
---@field bank integer The bank that it counts, from 0 (banks)

---Requests and row hits of one bank of a memory controller
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.BankCounters.Parameters): warpwright.BankCounters.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.BankCounters.Parameters): warpwright.BankCounters.Object
function Machine:BankCounters(name, index) end

---@class (exact) warpwright.Crossbar.Parameters
---@field clock? string The object's clock; core where none is named
---@field up integer Ports towards the SMs (ports)
---@field down integer Ports towards the L2 slices; each slice lies behind one of them (ports)
---@field flit? integer|string What a channel carries in a cycle (bytes); default 32B
---@field latency? integer From a flit's crossing to the output channel (cycles); default 1
---@field speedup? integer Flits that cross from an input to an output in a cycle (steps); default 1
---@field output_buffer? integer Buffer of each output, in which a packet has room from its crossing until it is sent: less than the latency and two packets limits the throughput (flits); default 16
---@field response_part? integer Responses cross in parts of so many, each arbitrated for like a packet; 0: as a whole (flits); default 0
---@field acknowledgements? "write"|"sector" Packets that acknowledge a write: one, or one for each sector of 32 B in which it wrote; default write
---@field arbitration? "round_robin"|"priority"|"oldest"|"age"|"class" Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; age: the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by turns; default round_robin
---@field class_priority? string arbitration = class: the priority of classes 0, 1, ..., the lowest first ("1,0,0"); of those left out, the class number (priorities); default 

---@class warpwright.Crossbar.Object: warpwright.Object
---@field up table<integer, warpwright.Port> Towards the SMs
---@field down table<integer, warpwright.Port> Towards the L2 slices
---@field flit integer What a channel carries in a cycle (bytes)
---@field latency integer From a flit's crossing to the output channel (cycles)
---@field speedup integer Flits that cross from an input to an output in a cycle (steps)
---@field output_buffer integer Buffer of each output, in which a packet has room from its crossing until it is sent: less than the latency and two packets limits the throughput (flits)
---@field response_part integer Responses cross in parts of so many, each arbitrated for like a packet; 0: as a whole (flits)
---@field acknowledgements "write"|"sector" Packets that acknowledge a write: one, or one for each sector of 32 B in which it wrote
---@field arbitration "round_robin"|"priority"|"oldest"|"age"|"class" Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; age: the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by turns
---@field class_priority string arbitration = class: the priority of classes 0, 1, ..., the lowest first ("1,0,0"); of those left out, the class number (priorities)

---Crossbar network from requesters to L2 slices: arbitration for each output, back-pressure
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.Crossbar.Parameters): warpwright.Crossbar.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.Crossbar.Parameters): warpwright.Crossbar.Object
function Machine:Crossbar(name, index) end

---@class (exact) warpwright.CtaProgress.Parameters
---@field clock? string The object's clock; core where none is named

---@class warpwright.CtaProgress.Object: warpwright.Object

---Counts the instructions of each CTA of an SM
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.CtaProgress.Parameters): warpwright.CtaProgress.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.CtaProgress.Parameters): warpwright.CtaProgress.Object
function Machine:CtaProgress(name, index) end

---@class (exact) warpwright.Dispatcher.Parameters
---@field clock? string The object's clock; core where none is named
---@field sms integer SMs that it serves (SMs)
---@field goes_on? boolean A launch begins at the SM behind the one that got the last CTA of the launch before; else at the first one; default false
---@field code_align? integer|string For instruction caches: kernels lie one behind the other and begin at multiples of this (bytes); default 256
---@field placement? "round_robin"|"least_loaded"|"depth_first"|"blocks" Which SM gets the next CTA: each in turn; the one with the fewest; the first one until it is full; each in turn, `block` CTAs that follow each other; default round_robin
---@field order? "rows"|"columns"|"tiles"|"from_the_end" Which CTA of a grid is next: x fastest, then y; y fastest, then x; x and y in tiles of tile_x by tile_y; as rows, from the last one on; default rows
---@field tile_x? integer Width of the tiles (CTAs); default 2
---@field tile_y? integer Height of the tiles (CTAs); default 2
---@field block? integer CTAs that an SM gets together with placement = blocks (CTAs); default 2
---@field sharing? "in_order"|"evenly"|"one_at_a_time" Which of the kernels that were launched together an SM without CTAs gets: the first one that has CTAs for it; the one with the fewest SMs, and SMs of a kernel that has more than its share get no more CTAs until they are empty; the first one, until it has ended. With kernels_per_sm above 1, of which an SM gets a CTA next: the first one whose CTA fits; one that has less than its share of the SM; the first one, until it has ended; default in_order
---@field kernels_per_sm? integer Kernels, of those that were launched together, of which an SM may hold CTAs at once (kernels); default 1
---@field count_by_kernel? boolean Results say of each launch what it had of SMs, caches and memory controllers; default false

---@class warpwright.Dispatcher.Object: warpwright.Object
---@field sm table<integer, warpwright.Port> One per SM
---@field sms integer SMs that it serves (SMs)
---@field goes_on boolean A launch begins at the SM behind the one that got the last CTA of the launch before; else at the first one
---@field code_align integer For instruction caches: kernels lie one behind the other and begin at multiples of this (bytes)
---@field placement "round_robin"|"least_loaded"|"depth_first"|"blocks" Which SM gets the next CTA: each in turn; the one with the fewest; the first one until it is full; each in turn, `block` CTAs that follow each other
---@field order "rows"|"columns"|"tiles"|"from_the_end" Which CTA of a grid is next: x fastest, then y; y fastest, then x; x and y in tiles of tile_x by tile_y; as rows, from the last one on
---@field tile_x integer Width of the tiles (CTAs)
---@field tile_y integer Height of the tiles (CTAs)
---@field block integer CTAs that an SM gets together with placement = blocks (CTAs)
---@field sharing "in_order"|"evenly"|"one_at_a_time" Which of the kernels that were launched together an SM without CTAs gets: the first one that has CTAs for it; the one with the fewest SMs, and SMs of a kernel that has more than its share get no more CTAs until they are empty; the first one, until it has ended. With kernels_per_sm above 1, of which an SM gets a CTA next: the first one whose CTA fits; one that has less than its share of the SM; the first one, until it has ended
---@field kernels_per_sm integer Kernels, of those that were launched together, of which an SM may hold CTAs at once (kernels)
---@field count_by_kernel boolean Results say of each launch what it had of SMs, caches and memory controllers

---Hands out the CTAs of kernels to the SMs as resources allow
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.Dispatcher.Parameters): warpwright.Dispatcher.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.Dispatcher.Parameters): warpwright.Dispatcher.Object
function Machine:Dispatcher(name, index) end

---@class (exact) warpwright.DmaEngine.Parameters
---@field clock? string The object's clock; core where none is named
---@field buffers? integer Transfers that each CTA may have in flight (buffers); default 4
---@field check? boolean Loads of shared memory wait for transfers into it; false is for experiments: they read stale data; default true

---@class warpwright.DmaEngine.Object: warpwright.Object
---@field sm warpwright.Port The SM that it is part of
---@field mem warpwright.Port Requests for segments
---@field buffers integer Transfers that each CTA may have in flight (buffers)
---@field check boolean Loads of shared memory wait for transfers into it; false is for experiments: they read stale data

---D2MA: copies tiles from global to shared memory
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.DmaEngine.Parameters): warpwright.DmaEngine.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.DmaEngine.Parameters): warpwright.DmaEngine.Object
function Machine:DmaEngine(name, index) end

---@class (exact) warpwright.EvictedAddressFilter.Parameters
---@field clock? string The object's clock; core where none is named
---@field bits_per_address? integer Bits of the filter per line of the cache (bits); default 8
---@field hashes? integer Bits that an address sets (hashes); default 4
---@field bimodal? integer One of so many lines that the filter does not know enters as the most recently used (lines); default 64
---@field seed? integer Of the hashes and of bimodal insertion; default 1

---@class warpwright.EvictedAddressFilter.Object: warpwright.Object
---@field bits_per_address integer Bits of the filter per line of the cache (bits)
---@field hashes integer Bits that an address sets (hashes)
---@field bimodal integer One of so many lines that the filter does not know enters as the most recently used (lines)
---@field seed integer Of the hashes and of bimodal insertion

---Bloom filter of addresses that a cache evicted lately, which decides where lines enter
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.EvictedAddressFilter.Parameters): warpwright.EvictedAddressFilter.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.EvictedAddressFilter.Parameters): warpwright.EvictedAddressFilter.Object
function Machine:EvictedAddressFilter(name, index) end

---@class (exact) warpwright.L1.Parameters
---@field clock? string The object's clock; core where none is named
---@field size integer|string Capacity (bytes)
---@field ways integer Lines per set (lines)
---@field line? integer|string Line size: 32, 64 or 128 B (bytes); default 128
---@field sectors? integer Parts of a line that are fetched alone, at least 32 B each (sectors); default 1
---@field index? "linear"|"xor" Set index: line number modulo sets, or parities of address bits; default linear
---@field index_masks? string For xor: a mask of address bits per index bit, bit 0 first: "0x80,0x100" (masks); default 
---@field allocate? "miss"|"fill" When a read that missed takes a line; writes that allocate do so at once; default miss
---@field mshrs integer Lines with fills in flight (entries)
---@field merges? integer Requests that one MSHR can hold, the first included (requests); default 8
---@field miss_queue? integer Queue for the memory side (messages); default 8
---@field insertion_position? string How far below the most recently used the lines of each class enter, class 0 first: "0,15,7"; 0 unless named, 255: at the least (ways); default 
---@field retention_priority? string Lines of a class with less are replaced before those with more, class 0 first; 0 unless named (ranks); default 
---@field retention_uses? integer So many uses of the cache is a step of retention_priority worth; 0: more than any number (uses); default 0
---@field replacement? "lru"|"tree_plru"|"nru"|"fifo"|"random"|"srrip"|"brrip"|"drrip"|"ship_pc" Which line of a full set is replaced; default lru
---@field rrip_bits? integer Of the prediction of a line, for srrip, brrip, drrip and ship_pc (bits); default 2
---@field brrip_throttle? integer brrip: one in so many lines, drawn at random, enters as srrip's do (lines); default 32
---@field leader_sets? integer drrip: sets that always follow srrip, and as many brrip; at most a quarter of all each (sets); default 32
---@field psel_bits? integer drrip: of the counter that says which of the two misses less (bits); default 10
---@field ship_entries? integer ship_pc: signature history counters (counters); default 16384
---@field ship_bits? integer ship_pc: of each of these counters (bits); default 3
---@field replacement_seed? integer Of random, brrip and drrip; each cache has a sequence of its own; default 1
---@field partition_by? "none"|"class"|"sm" Whose ways way_masks and the method set_ways name: those of the classes or of the SMs; default none
---@field way_masks? string Ways that the lines of each class or SM may take, 0 first: "0x00ff,0xff00"; all unless named. Hits are anywhere (masks); default 
---@field line_history? boolean Keep what line_pc and line_uses tell policies of a line; default false
---@field latency? integer From accepting a request to the response of a hit (cycles); default 1
---@field write_policy? "evict"|"through"|"none" Writes of global memory go on below and evict the line or update it; none: reads only; default evict
---@field local_allocate? boolean Writes of local memory that miss take a line; else they go on below; default true
---@field enabled? boolean false: everything bypasses, only the tags are kept up to date; default true
---@field off_reads? integer Reads in flight while enabled is false, at most bypassed_limit; 0: mshrs x merges (requests); default 0
---@field bypassed_limit? integer Writes, atomics and bypassing reads in flight (requests); default 1024
---@field bypassed_hold_mshrs? boolean Each read in flight that passed by holds an MSHR; default false
---@field saturation_free? integer Saturated when no more of the MSHRs, or of the places in the miss queue, are free (permille); default 125
---@field saturation_relief? integer No longer saturated when so many more of both are free (permille); default 125
---@field prioritization_queues? integer Prioritization buffer: FIFO queues, by the number of the warp (queues); default 48
---@field prioritization_places? integer Requests that each can hold; 0: no buffer (requests); default 0
---@field prioritization_total? integer Requests that all of them can hold; 0: what their places allow (requests); default 0
---@field bypass_line_fails? boolean Requests that find every way of their set reserved pass the cache by, and do not wait; default false
---@field keeps_lines? boolean The beginning of a kernel leaves its lines valid; default false
---@field reexecution_entries? integer Re-execution queue, for accesses that are not taken; 0: they wait at the tags (accesses); default 0
---@field reexecution? boolean Use it; default true
---@field watch_blocked_hits? boolean Count blocked_hit_cycles; default false
---@field prefetch_queue? integer Prefetches that may wait for the tags; 0: the cache takes none (prefetches); default 0
---@field prefetch_mshr_reserve? integer MSHRs that prefetches leave free for demand (entries); default 0
---@field prefetch_priority? "demand"|"oldest"|"own_port" In a cycle in which a request is at the tags: the request goes first, even one that is stopped there; which came first; a port of the tags is for prefetches; default demand
---@field prefetch_drop? "newest"|"oldest" Which prefetch goes when the queue is full; default newest

---@class warpwright.L1.Object: warpwright.Object
---@field cpu warpwright.Port From the processor side
---@field mem warpwright.Port To the memory side
---@field dma warpwright.Port From a DMA engine
---@field size integer Capacity (bytes)
---@field ways integer Lines per set (lines)
---@field line integer Line size: 32, 64 or 128 B (bytes)
---@field sectors integer Parts of a line that are fetched alone, at least 32 B each (sectors)
---@field index "linear"|"xor" Set index: line number modulo sets, or parities of address bits
---@field index_masks string For xor: a mask of address bits per index bit, bit 0 first: "0x80,0x100" (masks)
---@field allocate "miss"|"fill" When a read that missed takes a line; writes that allocate do so at once
---@field mshrs integer Lines with fills in flight (entries)
---@field merges integer Requests that one MSHR can hold, the first included (requests)
---@field miss_queue integer Queue for the memory side (messages)
---@field insertion_position string How far below the most recently used the lines of each class enter, class 0 first: "0,15,7"; 0 unless named, 255: at the least (ways)
---@field retention_priority string Lines of a class with less are replaced before those with more, class 0 first; 0 unless named (ranks)
---@field retention_uses integer So many uses of the cache is a step of retention_priority worth; 0: more than any number (uses)
---@field replacement "lru"|"tree_plru"|"nru"|"fifo"|"random"|"srrip"|"brrip"|"drrip"|"ship_pc" Which line of a full set is replaced
---@field rrip_bits integer Of the prediction of a line, for srrip, brrip, drrip and ship_pc (bits)
---@field brrip_throttle integer brrip: one in so many lines, drawn at random, enters as srrip's do (lines)
---@field leader_sets integer drrip: sets that always follow srrip, and as many brrip; at most a quarter of all each (sets)
---@field psel_bits integer drrip: of the counter that says which of the two misses less (bits)
---@field ship_entries integer ship_pc: signature history counters (counters)
---@field ship_bits integer ship_pc: of each of these counters (bits)
---@field replacement_seed integer Of random, brrip and drrip; each cache has a sequence of its own
---@field partition_by "none"|"class"|"sm" Whose ways way_masks and the method set_ways name: those of the classes or of the SMs
---@field way_masks string Ways that the lines of each class or SM may take, 0 first: "0x00ff,0xff00"; all unless named. Hits are anywhere (masks)
---@field line_history boolean Keep what line_pc and line_uses tell policies of a line
---@field latency integer From accepting a request to the response of a hit (cycles)
---@field write_policy "evict"|"through"|"none" Writes of global memory go on below and evict the line or update it; none: reads only
---@field local_allocate boolean Writes of local memory that miss take a line; else they go on below
---@field enabled boolean false: everything bypasses, only the tags are kept up to date
---@field off_reads integer Reads in flight while enabled is false, at most bypassed_limit; 0: mshrs x merges (requests)
---@field bypassed_limit integer Writes, atomics and bypassing reads in flight (requests)
---@field bypassed_hold_mshrs boolean Each read in flight that passed by holds an MSHR
---@field saturation_free integer Saturated when no more of the MSHRs, or of the places in the miss queue, are free (permille)
---@field saturation_relief integer No longer saturated when so many more of both are free (permille)
---@field prioritization_queues integer Prioritization buffer: FIFO queues, by the number of the warp (queues)
---@field prioritization_places integer Requests that each can hold; 0: no buffer (requests)
---@field prioritization_total integer Requests that all of them can hold; 0: what their places allow (requests)
---@field bypass_line_fails boolean Requests that find every way of their set reserved pass the cache by, and do not wait
---@field keeps_lines boolean The beginning of a kernel leaves its lines valid
---@field reexecution_entries integer Re-execution queue, for accesses that are not taken; 0: they wait at the tags (accesses)
---@field reexecution boolean Use it
---@field watch_blocked_hits boolean Count blocked_hit_cycles
---@field prefetch_queue integer Prefetches that may wait for the tags; 0: the cache takes none (prefetches)
---@field prefetch_mshr_reserve integer MSHRs that prefetches leave free for demand (entries)
---@field prefetch_priority "demand"|"oldest"|"own_port" In a cycle in which a request is at the tags: the request goes first, even one that is stopped there; which came first; a port of the tags is for prefetches
---@field prefetch_drop "newest"|"oldest" Which prefetch goes when the queue is full

---First-level cache: data, constant, texture or instruction
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.L1.Parameters): warpwright.L1.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.L1.Parameters): warpwright.L1.Object
function Machine:L1(name, index) end

---@class (exact) warpwright.L1Trace.Parameters
---@field clock? string The object's clock; core where none is named
---@field cache? string The L1 that it records, unless it belongs to one: by its name beside the trace, or its path (name); default l1d
---@field folder string Folder for the file, PATH.trace; made if need be (path)

---@class warpwright.L1Trace.Object: warpwright.Object
---@field cache string The L1 that it records, unless it belongs to one: by its name beside the trace, or its path (name)
---@field folder string Folder for the file, PATH.trace; made if need be (path)

---Records what an L1 is asked for into a file
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.L1Trace.Parameters): warpwright.L1Trace.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.L1Trace.Parameters): warpwright.L1Trace.Object
function Machine:L1Trace(name, index) end

---@class (exact) warpwright.L2.Parameters
---@field clock? string The object's clock; core where none is named
---@field size integer|string Capacity (bytes)
---@field ways integer Lines per set (lines)
---@field line? integer|string Line size: 32, 64 or 128 B (bytes); default 128
---@field sectors? integer Parts of a line that are fetched alone, at least 32 B each (sectors); default 1
---@field index? "linear"|"xor" Set index: line number modulo sets, or parities of address bits; default linear
---@field index_masks? string For xor: a mask of address bits per index bit, bit 0 first: "0x80,0x100" (masks); default 
---@field allocate? "miss"|"fill" When a read that missed takes a line; writes that allocate do so at once; default miss
---@field mshrs integer Lines with fills in flight (entries)
---@field merges? integer Requests that one MSHR can hold, the first included (requests); default 8
---@field miss_queue? integer Queue for the memory side (messages); default 8
---@field insertion_position? string How far below the most recently used the lines of each class enter, class 0 first: "0,15,7"; 0 unless named, 255: at the least (ways); default 
---@field retention_priority? string Lines of a class with less are replaced before those with more, class 0 first; 0 unless named (ranks); default 
---@field retention_uses? integer So many uses of the cache is a step of retention_priority worth; 0: more than any number (uses); default 0
---@field replacement? "lru"|"tree_plru"|"nru"|"fifo"|"random"|"srrip"|"brrip"|"drrip"|"ship_pc" Which line of a full set is replaced; default lru
---@field rrip_bits? integer Of the prediction of a line, for srrip, brrip, drrip and ship_pc (bits); default 2
---@field brrip_throttle? integer brrip: one in so many lines, drawn at random, enters as srrip's do (lines); default 32
---@field leader_sets? integer drrip: sets that always follow srrip, and as many brrip; at most a quarter of all each (sets); default 32
---@field psel_bits? integer drrip: of the counter that says which of the two misses less (bits); default 10
---@field ship_entries? integer ship_pc: signature history counters (counters); default 16384
---@field ship_bits? integer ship_pc: of each of these counters (bits); default 3
---@field replacement_seed? integer Of random, brrip and drrip; each cache has a sequence of its own; default 1
---@field partition_by? "none"|"class"|"sm" Whose ways way_masks and the method set_ways name: those of the classes or of the SMs; default none
---@field way_masks? string Ways that the lines of each class or SM may take, 0 first: "0x00ff,0xff00"; all unless named. Hits are anywhere (masks); default 
---@field line_history? boolean Keep what line_pc and line_uses tell policies of a line; default false
---@field rop_delay? integer From accepting a request to the tags (cycles); default 120
---@field queue_entries? integer Requests that may be inside in front of the tags, and as many that bypass them; 0: rop_delay. With fewer, not one per cycle (requests); default 0
---@field data_port? integer|string Width per cycle of the data array's two ports, one for hits and write-backs, one for fills; 128: no limit (bytes); default 128
---@field bank_busy? integer How long an access, hit or miss, has a port of the bank to itself; 0: the bank is pipelined (cycles); default 0
---@field ports? integer Of the bank: accesses at a time, while bank_busy is not 0 (ports); default 1
---@field write_miss? "fetch"|"lazy" Sectors written in part are fetched at once, or when they are read; default fetch
---@field atomic_latency? integer An atomic has the data array to itself for so long, and then for the cycle of its access (cycles); default 0
---@field host_copies? boolean Copies from the host leave their lines here; default false
---@field enabled? boolean false: everything bypasses, only the tags are kept up to date; default true
---@field bypass_delay? integer From accepting a request that bypasses to sending it on (cycles); default 1
---@field bypass? boolean Requests may go straight to memory: those of bypass_classes, bypass_rate, and what policies say; default false
---@field bypass_classes? integer Classes that bypass, but for atomics: bit n for class n (classes); default 0
---@field allocate_classes? integer Classes whose requests may take lines; others that find none are passed on (classes); default 0xffffffff
---@field bypass_rate? integer So many of 1000 requests, drawn at random, bypass; atomics do not (permille); default 0
---@field bypass_seed? integer Of that draw; each slice has a sequence of its own; default 1
---@field bypassed_limit? integer Writes, atomics and bypassing reads in flight (requests); default 256
---@field prefetch_queue? integer Prefetches that may wait for the tags; 0: the cache takes none (prefetches); default 0
---@field prefetch_mshr_reserve? integer MSHRs that prefetches leave free for demand (entries); default 0
---@field prefetch_priority? "demand"|"oldest"|"own_port" In a cycle in which a request is at the tags: the request goes first, even one that is stopped there; which came first; a port of the tags is for prefetches; default demand
---@field prefetch_drop? "newest"|"oldest" Which prefetch goes when the queue is full; default newest

---@class warpwright.L2.Object: warpwright.Object
---@field cpu warpwright.Port From the processor side
---@field mem warpwright.Port To the memory side
---@field size integer Capacity (bytes)
---@field ways integer Lines per set (lines)
---@field line integer Line size: 32, 64 or 128 B (bytes)
---@field sectors integer Parts of a line that are fetched alone, at least 32 B each (sectors)
---@field index "linear"|"xor" Set index: line number modulo sets, or parities of address bits
---@field index_masks string For xor: a mask of address bits per index bit, bit 0 first: "0x80,0x100" (masks)
---@field allocate "miss"|"fill" When a read that missed takes a line; writes that allocate do so at once
---@field mshrs integer Lines with fills in flight (entries)
---@field merges integer Requests that one MSHR can hold, the first included (requests)
---@field miss_queue integer Queue for the memory side (messages)
---@field insertion_position string How far below the most recently used the lines of each class enter, class 0 first: "0,15,7"; 0 unless named, 255: at the least (ways)
---@field retention_priority string Lines of a class with less are replaced before those with more, class 0 first; 0 unless named (ranks)
---@field retention_uses integer So many uses of the cache is a step of retention_priority worth; 0: more than any number (uses)
---@field replacement "lru"|"tree_plru"|"nru"|"fifo"|"random"|"srrip"|"brrip"|"drrip"|"ship_pc" Which line of a full set is replaced
---@field rrip_bits integer Of the prediction of a line, for srrip, brrip, drrip and ship_pc (bits)
---@field brrip_throttle integer brrip: one in so many lines, drawn at random, enters as srrip's do (lines)
---@field leader_sets integer drrip: sets that always follow srrip, and as many brrip; at most a quarter of all each (sets)
---@field psel_bits integer drrip: of the counter that says which of the two misses less (bits)
---@field ship_entries integer ship_pc: signature history counters (counters)
---@field ship_bits integer ship_pc: of each of these counters (bits)
---@field replacement_seed integer Of random, brrip and drrip; each cache has a sequence of its own
---@field partition_by "none"|"class"|"sm" Whose ways way_masks and the method set_ways name: those of the classes or of the SMs
---@field way_masks string Ways that the lines of each class or SM may take, 0 first: "0x00ff,0xff00"; all unless named. Hits are anywhere (masks)
---@field line_history boolean Keep what line_pc and line_uses tell policies of a line
---@field rop_delay integer From accepting a request to the tags (cycles)
---@field queue_entries integer Requests that may be inside in front of the tags, and as many that bypass them; 0: rop_delay. With fewer, not one per cycle (requests)
---@field data_port integer Width per cycle of the data array's two ports, one for hits and write-backs, one for fills; 128: no limit (bytes)
---@field bank_busy integer How long an access, hit or miss, has a port of the bank to itself; 0: the bank is pipelined (cycles)
---@field ports integer Of the bank: accesses at a time, while bank_busy is not 0 (ports)
---@field write_miss "fetch"|"lazy" Sectors written in part are fetched at once, or when they are read
---@field atomic_latency integer An atomic has the data array to itself for so long, and then for the cycle of its access (cycles)
---@field host_copies boolean Copies from the host leave their lines here
---@field enabled boolean false: everything bypasses, only the tags are kept up to date
---@field bypass_delay integer From accepting a request that bypasses to sending it on (cycles)
---@field bypass boolean Requests may go straight to memory: those of bypass_classes, bypass_rate, and what policies say
---@field bypass_classes integer Classes that bypass, but for atomics: bit n for class n (classes)
---@field allocate_classes integer Classes whose requests may take lines; others that find none are passed on (classes)
---@field bypass_rate integer So many of 1000 requests, drawn at random, bypass; atomics do not (permille)
---@field bypass_seed integer Of that draw; each slice has a sequence of its own
---@field bypassed_limit integer Writes, atomics and bypassing reads in flight (requests)
---@field prefetch_queue integer Prefetches that may wait for the tags; 0: the cache takes none (prefetches)
---@field prefetch_mshr_reserve integer MSHRs that prefetches leave free for demand (entries)
---@field prefetch_priority "demand"|"oldest"|"own_port" In a cycle in which a request is at the tags: the request goes first, even one that is stopped there; which came first; a port of the tags is for prefetches
---@field prefetch_drop "newest"|"oldest" Which prefetch goes when the queue is full

---Slice of the second-level cache, where atomics are performed, unless others share its addresses
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.L2.Parameters): warpwright.L2.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.L2.Parameters): warpwright.L2.Object
function Machine:L2(name, index) end

---@class (exact) warpwright.LSU.Parameters
---@field clock? string The object's clock; core where none is named
---@field shared_latency? integer Shared memory: from begin to write-back without conflicts (cycles); default 26
---@field constant_latency? integer Parameter and constant loads when no constant cache is wired (cycles); default 2
---@field entries? integer Instructions with outstanding answers (entries); default 256
---@field narrow_segments? boolean Global loads and stores: segments of at most 32 B for elements of 1 B and for .cg, 64 B for elements of 2 B, also where a vector of them is accessed; default false
---@field read_only_segment? integer|string ld.global.nc by the port texture, in segments of at most so many bytes: 32, 64 or 128, no more than the lines of the cache there; 0: as other loads (bytes); default 0

---@class warpwright.LSU.Object: warpwright.Object
---@field sm warpwright.Port Instructions from the SM
---@field mem warpwright.Port Global and local memory: an L1 or a network
---@field constant warpwright.Port Constant cache: parameters and constants
---@field texture warpwright.Port Texture cache
---@field shared_latency integer Shared memory: from begin to write-back without conflicts (cycles)
---@field constant_latency integer Parameter and constant loads when no constant cache is wired (cycles)
---@field entries integer Instructions with outstanding answers (entries)
---@field narrow_segments boolean Global loads and stores: segments of at most 32 B for elements of 1 B and for .cg, 64 B for elements of 2 B, also where a vector of them is accessed
---@field read_only_segment integer ld.global.nc by the port texture, in segments of at most so many bytes: 32, 64 or 128, no more than the lines of the cache there; 0: as other loads (bytes)

---Load/store unit: coalescing, shared-memory banks, accesses to the caches
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.LSU.Parameters): warpwright.LSU.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.LSU.Parameters): warpwright.LSU.Object
function Machine:LSU(name, index) end

---@class (exact) warpwright.LineReuse.Parameters
---@field clock? string The object's clock; core where none is named
---@field since? "last"|"first" Whose touch counts: of the last to touch the line, or of who had it brought; default last

---@class warpwright.LineReuse.Object: warpwright.Object
---@field since "last"|"first" Whose touch counts: of the last to touch the line, or of who had it brought

---Classes the hits of a cache by who touched the line before
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.LineReuse.Parameters): warpwright.LineReuse.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.LineReuse.Parameters): warpwright.LineReuse.Object
function Machine:LineReuse(name, index) end

---@class (exact) warpwright.LocalityScores.Parameters
---@field clock? string The object's clock; core where none is named
---@field base? integer Base score (points); default 100
---@field edge? "bottom"|"top" Edge of a warp's score in the stack that must lie above the cut-off to block it; default bottom

---@class warpwright.LocalityScores.Object: warpwright.Object
---@field base integer Base score (points)
---@field edge "bottom"|"top" Edge of a warp's score in the stack that must lie above the cut-off to block it

---Scores of the locality that warps have lost, and who may load under the cut-off
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.LocalityScores.Parameters): warpwright.LocalityScores.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.LocalityScores.Parameters): warpwright.LocalityScores.Object
function Machine:LocalityScores(name, index) end

---@class (exact) warpwright.MemoryController.Parameters
---@field clock? string The object's clock; core where none is named
---@field ports? integer Ports, one per L2 slice (ports); default 1
---@field queues? integer Request queues; a request's class chooses, and a posted write is of the last; low queues first (queues); default 1
---@field class_queues? string Queue of each class, class 0 first: "1,1,0"; of those left out: their own number, or the last (queues); default 
---@field queue_entries? integer Room in each queue (requests); default 64
---@field return_entries? integer Room for responses of each port (responses); default 116
---@field scheduler? "frfcfs"|"fcfs" Row hits first, then oldest; or each bank in order of arrival; default frfcfs
---@field page_policy? "open"|"closed"|"timeout" A row stays open until its bank is wanted for another; is closed by its last column command if no waiting request wants it; or when page_timeout has passed; default open
---@field page_timeout? integer With page_policy = timeout: a row is closed so long after its last column command, unless a request waits for its bank (cycles); default 100
---@field latency? integer Delay in front of the queue; the depth of the link bounds the requests in it (cycles); default 0
---@field age_cap? integer A request that waited so long goes before row hits and the bus direction; 0: never (cycles); default 4096
---@field banks? integer Banks (banks); default 16
---@field bank_groups? integer Bank groups (groups); default 4
---@field group_bits? "low"|"high" Bits of the bank number that are its group; default low
---@field bus_bytes? integer|string Data per command cycle (bytes); default 32
---@field burst_bytes? integer|string Data per column command; smaller requests take as long (bytes); default 64
---@field tCL? integer READ to its first data (cycles); default 12
---@field tWL? integer WRITE to its first data (cycles); default 4
---@field tRCD? integer ACTIVATE to READ, same bank; to WRITE tWL + 1 less (cycles); default 12
---@field tRP? integer PRECHARGE to ACTIVATE, same bank (cycles); default 12
---@field tRC? integer ACTIVATE to ACTIVATE, same bank (cycles); default 40
---@field tRAS? integer ACTIVATE to PRECHARGE, same bank (cycles); default 28
---@field tRRD? integer ACTIVATE to ACTIVATE, any banks (cycles); default 6
---@field tFAW? integer ACTIVATE to the fourth behind it, any banks: four in so long; 0: as tRRD allows (cycles); default 0
---@field tRRDL? integer ACTIVATE to ACTIVATE, same bank group; 0: as tRRD allows (cycles); default 0
---@field tCCD? integer Column command to the next of the same kind, any banks (cycles); default 2
---@field tCCDL? integer Column command to the next of the same kind, same bank group (cycles); default 3
---@field tWR? integer Last written data to PRECHARGE, same bank (cycles); default 12
---@field tCDLR? integer Last written data to READ, any banks (cycles); default 5
---@field tRTPL? integer READ to PRECHARGE, same bank (cycles); default 2
---@field tREFI? integer REFRESH of all banks to the next, or of a bank to its next; 0: there is none (cycles); default 0
---@field tRFC? integer REFRESH of all banks to ACTIVATE (cycles); default 100
---@field refresh? "all"|"bank" REFRESH of all banks at a time; or of one bank every tREFI / banks cycles, in turn, while the others go on; default all
---@field tRFCpb? integer REFRESH of one bank to its ACTIVATE (cycles); default 50
---@field check_commands? boolean Verify every command against all timings; default false

---@class warpwright.MemoryController.Object: warpwright.Object
---@field cpu table<integer, warpwright.Port> From the L2 slices
---@field ports integer Ports, one per L2 slice (ports)
---@field queues integer Request queues; a request's class chooses, and a posted write is of the last; low queues first (queues)
---@field class_queues string Queue of each class, class 0 first: "1,1,0"; of those left out: their own number, or the last (queues)
---@field queue_entries integer Room in each queue (requests)
---@field return_entries integer Room for responses of each port (responses)
---@field scheduler "frfcfs"|"fcfs" Row hits first, then oldest; or each bank in order of arrival
---@field page_policy "open"|"closed"|"timeout" A row stays open until its bank is wanted for another; is closed by its last column command if no waiting request wants it; or when page_timeout has passed
---@field page_timeout integer With page_policy = timeout: a row is closed so long after its last column command, unless a request waits for its bank (cycles)
---@field latency integer Delay in front of the queue; the depth of the link bounds the requests in it (cycles)
---@field age_cap integer A request that waited so long goes before row hits and the bus direction; 0: never (cycles)
---@field banks integer Banks (banks)
---@field bank_groups integer Bank groups (groups)
---@field group_bits "low"|"high" Bits of the bank number that are its group
---@field bus_bytes integer Data per command cycle (bytes)
---@field burst_bytes integer Data per column command; smaller requests take as long (bytes)
---@field tCL integer READ to its first data (cycles)
---@field tWL integer WRITE to its first data (cycles)
---@field tRCD integer ACTIVATE to READ, same bank; to WRITE tWL + 1 less (cycles)
---@field tRP integer PRECHARGE to ACTIVATE, same bank (cycles)
---@field tRC integer ACTIVATE to ACTIVATE, same bank (cycles)
---@field tRAS integer ACTIVATE to PRECHARGE, same bank (cycles)
---@field tRRD integer ACTIVATE to ACTIVATE, any banks (cycles)
---@field tFAW integer ACTIVATE to the fourth behind it, any banks: four in so long; 0: as tRRD allows (cycles)
---@field tRRDL integer ACTIVATE to ACTIVATE, same bank group; 0: as tRRD allows (cycles)
---@field tCCD integer Column command to the next of the same kind, any banks (cycles)
---@field tCCDL integer Column command to the next of the same kind, same bank group (cycles)
---@field tWR integer Last written data to PRECHARGE, same bank (cycles)
---@field tCDLR integer Last written data to READ, any banks (cycles)
---@field tRTPL integer READ to PRECHARGE, same bank (cycles)
---@field tREFI integer REFRESH of all banks to the next, or of a bank to its next; 0: there is none (cycles)
---@field tRFC integer REFRESH of all banks to ACTIVATE (cycles)
---@field refresh "all"|"bank" REFRESH of all banks at a time; or of one bank every tREFI / banks cycles, in turn, while the others go on
---@field tRFCpb integer REFRESH of one bank to its ACTIVATE (cycles)
---@field check_commands boolean Verify every command against all timings

---One DRAM channel with its request queue
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.MemoryController.Parameters): warpwright.MemoryController.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.MemoryController.Parameters): warpwright.MemoryController.Object
function Machine:MemoryController(name, index) end

---@class (exact) warpwright.Mux.Parameters
---@field clock? string The object's clock; core where none is named
---@field up integer Ports to be joined (ports)
---@field arbitration? "round_robin"|"priority"|"oldest"|"age"|"class" Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; age: the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by turns; default round_robin
---@field class_priority? string arbitration = class: the priority of classes 0, 1, ..., the lowest first ("1,0,0"); of those left out, the class number (priorities); default 

---@class warpwright.Mux.Object: warpwright.Object
---@field up table<integer, warpwright.Port> From the caches
---@field down warpwright.Port Towards the network
---@field arbitration "round_robin"|"priority"|"oldest"|"age"|"class" Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; age: the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by turns
---@field class_priority string arbitration = class: the priority of classes 0, 1, ..., the lowest first ("1,0,0"); of those left out, the class number (priorities)

---Joins several requesters into one network port: a message a cycle each way, whatever its bytes
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.Mux.Parameters): warpwright.Mux.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.Mux.Parameters): warpwright.Mux.Object
function Machine:Mux(name, index) end

---@class (exact) warpwright.PageWalker.Parameters
---@field clock? string The object's clock; core where none is named
---@field page? integer|string Of a page, the same in a TLB and in all TLBs and PageWalkers behind its walk (bytes); default 64KiB
---@field levels? integer Of the page table, of 9 address bits each; 0: what addresses of 48 bits need (levels); default 0
---@field walkers? integer Most at a time (walks); default 8
---@field cache_entries? integer Of the levels above the last that it remembers, those used last (entries); default 64

---@class warpwright.PageWalker.Object: warpwright.Object
---@field up warpwright.Port Requests for translations
---@field mem warpwright.Port Where it reads the page table
---@field page integer Of a page, the same in a TLB and in all TLBs and PageWalkers behind its walk (bytes)
---@field levels integer Of the page table, of 9 address bits each; 0: what addresses of 48 bits need (levels)
---@field walkers integer Most at a time (walks)
---@field cache_entries integer Of the levels above the last that it remembers, those used last (entries)

---Answers requests for translations by walks through a page table
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.PageWalker.Parameters): warpwright.PageWalker.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.PageWalker.Parameters): warpwright.PageWalker.Object
function Machine:PageWalker(name, index) end

---@class (exact) warpwright.PcBypassTable.Parameters
---@field clock? string The object's clock; core where none is named
---@field entries? integer Entries, chosen by a hash of the load's address (entries); default 128
---@field window? integer An entry that has seen so many halves its counters (loads); default 256
---@field warm_up? integer Loads of an entry before it decides (loads); default 64
---@field threshold? integer Loads with a lower hit rate bypass; 0: none (percent); default 20
---@field probe? integer One of so many loads with a low hit rate does not bypass (loads); default 32

---@class warpwright.PcBypassTable.Object: warpwright.Object
---@field entries integer Entries, chosen by a hash of the load's address (entries)
---@field window integer An entry that has seen so many halves its counters (loads)
---@field warm_up integer Loads of an entry before it decides (loads)
---@field threshold integer Loads with a lower hit rate bypass; 0: none (percent)
---@field probe integer One of so many loads with a low hit rate does not bypass (loads)

---Recent hit rates of load instructions; those with low ones bypass the cache
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.PcBypassTable.Parameters): warpwright.PcBypassTable.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.PcBypassTable.Parameters): warpwright.PcBypassTable.Object
function Machine:PcBypassTable(name, index) end

---@class (exact) warpwright.QueueDelays.Parameters
---@field clock? string The object's clock; core where none is named

---@class warpwright.QueueDelays.Object: warpwright.Object

---Distribution of the delays of requests that queue for the tags of an L2 slice
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.QueueDelays.Parameters): warpwright.QueueDelays.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.QueueDelays.Parameters): warpwright.QueueDelays.Object
function Machine:QueueDelays(name, index) end

---@class (exact) warpwright.Router.Parameters
---@field clock? string The object's clock; core where none is named
---@field up? integer Local ports towards requesters (ports); default 1
---@field down? integer Local ports towards the L2 slices (ports); default 0
---@field x? integer Its place in its row, from the west (routers); default 0
---@field y? integer Its place in its column, from the north (routers); default 0
---@field columns integer Routers in a row of the network (routers)
---@field rows? integer Routers in a column of the network (routers); default 1
---@field topology? "mesh"|"torus" torus: rows and columns are rings; of one row: a ring; default mesh
---@field routing? "dimension_order"|"adaptive" dimension_order: along the row, then along the column; adaptive: any shortest way; default dimension_order
---@field vcs? integer Virtual channels for requests, and as many for responses (channels); default 2
---@field flit? integer|string What a channel carries in a cycle (bytes); default 32B
---@field buffer? integer Buffer of each virtual channel of an input (flits); default 8
---@field output_buffer? integer Buffer of each local output (flits); default 16
---@field latency? integer From a head's arrival to its crossing (cycles); default 2
---@field arbitration? "round_robin"|"priority"|"oldest"|"age"|"class" Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; age: the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by turns; default round_robin
---@field class_priority? string arbitration = class: the priority of classes 0, 1, ..., the lowest first ("1,0,0"); of those left out, the class number (priorities); default 
---@field dateline? boolean Packets that have yet to go round the end of a ring have virtual channels of their own; false: a full ring may hang; default true

---@class warpwright.Router.Object: warpwright.Object
---@field up table<integer, warpwright.Port> From requesters
---@field down table<integer, warpwright.Port> Towards the L2 slices
---@field east warpwright.Port Channel to the router there
---@field from_east warpwright.Port Channel from the router there
---@field west warpwright.Port Channel to the router there
---@field from_west warpwright.Port Channel from the router there
---@field south warpwright.Port Channel to the router there
---@field from_south warpwright.Port Channel from the router there
---@field north warpwright.Port Channel to the router there
---@field from_north warpwright.Port Channel from the router there
---@field x integer Its place in its row, from the west (routers)
---@field y integer Its place in its column, from the north (routers)
---@field columns integer Routers in a row of the network (routers)
---@field rows integer Routers in a column of the network (routers)
---@field topology "mesh"|"torus" torus: rows and columns are rings; of one row: a ring
---@field routing "dimension_order"|"adaptive" dimension_order: along the row, then along the column; adaptive: any shortest way
---@field vcs integer Virtual channels for requests, and as many for responses (channels)
---@field flit integer What a channel carries in a cycle (bytes)
---@field buffer integer Buffer of each virtual channel of an input (flits)
---@field output_buffer integer Buffer of each local output (flits)
---@field latency integer From a head's arrival to its crossing (cycles)
---@field arbitration "round_robin"|"priority"|"oldest"|"age"|"class" Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; age: the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by turns
---@field class_priority string arbitration = class: the priority of classes 0, 1, ..., the lowest first ("1,0,0"); of those left out, the class number (priorities)
---@field dateline boolean Packets that have yet to go round the end of a ring have virtual channels of their own; false: a full ring may hang

---Router of a mesh, a torus or a ring: virtual cut-through, credits, virtual channels
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.Router.Parameters): warpwright.Router.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.Router.Parameters): warpwright.Router.Object
function Machine:Router(name, index) end

---@class (exact) warpwright.SM.Parameters
---@field clock? string The object's clock; core where none is named
---@field warps? integer Warps that can be resident (warps); default 48
---@field schedulers? integer Warp schedulers; warp w belongs to scheduler w mod schedulers (schedulers); default 2
---@field sub_cores? integer Parts of the SM with as many schedulers each, and with collectors, units, register banks and fetch of their own; warp w belongs to sub-core w mod sub_cores (sub-cores); default 1
---@field registers? integer 32-bit registers (registers); default 32768
---@field ctas? integer CTAs that can be resident (CTAs); default 8
---@field shared? integer|string Shared memory; a CTA takes pieces of 128 B of it (bytes); default 48KiB
---@field reserved_shared? integer|string Shared memory that each CTA takes beside its own, for the system (bytes); default 0
---@field scheduler? "lrr"|"gto"|"oldest"|"groups" Order of the warp schedulers; default gto
---@field first? "any"|"memory"|"compute" Kind of instruction that goes before others; default any
---@field group_size? integer Order groups: warps of a scheduler in a fetch group (warps); default 8
---@field group_order? "lrr"|"gto" Order groups: order within a fetch group and between them; default gto
---@field warp_limit? integer Warps of a scheduler that may issue, the oldest; others of a CTA may catch up to its barrier, and warps that spin, at locks, flags or mbarriers, issue and do not count (warps); default 64
---@field register_unit? integer Registers per thread are allocated in multiples of this (registers); default 4
---@field atomic_payloads? integer Warp atomics on global memory in flight (entries); default 64
---@field atomics_stall? boolean A warp issues nothing while an atomic of its own on global memory is in flight; default false
---@field shared_banks? integer Shared-memory banks of 4 B (banks); default 32
---@field shared_atomic_cycles? integer Atomics on shared memory: for each further lane on a word, its bank is taken this much longer; 0: lanes on one word share it, as loads do (cycles); default 0
---@field sp_units? integer Pipelines, of each sub-core (units); default 2
---@field sp_collectors? integer Operand collectors, of each sub-core (units); default 6
---@field sp_latches? integer Registers between issue and collectors, of each sub-core (registers); default 2
---@field sfu_units? integer Pipelines, of each sub-core (units); default 1
---@field sfu_collectors? integer Operand collectors, of each sub-core (units); default 8
---@field sfu_latches? integer Registers between issue and collectors, of each sub-core (registers); default 1
---@field int_units? integer Pipelines, of each sub-core (units); default 2
---@field int_collectors? integer Operand collectors, of each sub-core (units); default 6
---@field int_latches? integer Registers between issue and collectors, of each sub-core (registers); default 2
---@field dp_units? integer Pipelines, of each sub-core (units); default 1
---@field dp_collectors? integer Operand collectors, of each sub-core (units); default 8
---@field dp_latches? integer Registers between issue and collectors, of each sub-core (registers); default 1
---@field matrix_units? integer Pipelines, of each sub-core (units); default 1
---@field matrix_collectors? integer Operand collectors, of each sub-core (units); default 8
---@field matrix_latches? integer Registers between issue and collectors, of each sub-core (registers); default 1
---@field mem_collectors? integer Operand collectors, of each sub-core (units); default 2
---@field mem_latches? integer Registers between issue and collectors, of each sub-core (registers); default 1
---@field dispatch_cycles? integer From the read of an instruction's last operand to its unit (cycles); default 2
---@field result_cycles? integer From the end of a unit's latency to the result's write-back (cycles); default 2
---@field register_banks? integer Register banks, of each sub-core: (register + warp) mod banks (banks); default 16
---@field result_bus? integer Results written back per cycle; an instruction without one takes a place, too (results); default 2
---@field local_layout? "warp"|"word" Local memory: all words of a warp lie together, or a word's copies of all threads that run at once; default warp
---@field other_latency? integer Latency of moves, logic, shifts, compares, conversions, control (cycles); default 1
---@field other_interval? integer Initiation interval of moves, logic, shifts, compares, conversions, control (cycles); default 1
---@field other_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes moves, logic, shifts, compares, conversions, control; default sp
---@field int_add_latency? integer Latency of integer add and subtract (cycles); default 4
---@field int_add_interval? integer Initiation interval of integer add and subtract (cycles); default 1
---@field int_add_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer add and subtract; default sp
---@field int_max_latency? integer Latency of integer minimum and maximum (cycles); default 13
---@field int_max_interval? integer Initiation interval of integer minimum and maximum (cycles); default 2
---@field int_max_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer minimum and maximum; default sp
---@field int_mul_latency? integer Latency of integer multiply (cycles); default 4
---@field int_mul_interval? integer Initiation interval of integer multiply (cycles); default 2
---@field int_mul_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer multiply; default sp
---@field int_mad_latency? integer Latency of integer multiply-add (cycles); default 5
---@field int_mad_interval? integer Initiation interval of integer multiply-add (cycles); default 1
---@field int_mad_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer multiply-add; default sp
---@field int_div_latency? integer Latency of integer divide and remainder (cycles); default 145
---@field int_div_interval? integer Initiation interval of integer divide and remainder (cycles); default 8
---@field int_div_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer divide and remainder; default sfu
---@field fp_add_latency? integer Latency of single-precision add (cycles); default 4
---@field fp_add_interval? integer Initiation interval of single-precision add (cycles); default 1
---@field fp_add_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision add; default sp
---@field fp_max_latency? integer Latency of single-precision minimum and maximum (cycles); default 13
---@field fp_max_interval? integer Initiation interval of single-precision minimum and maximum (cycles); default 2
---@field fp_max_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision minimum and maximum; default sp
---@field fp_mul_latency? integer Latency of single-precision multiply (cycles); default 4
---@field fp_mul_interval? integer Initiation interval of single-precision multiply (cycles); default 1
---@field fp_mul_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision multiply; default sp
---@field fp_mad_latency? integer Latency of single-precision fused multiply-add (cycles); default 5
---@field fp_mad_interval? integer Initiation interval of single-precision fused multiply-add (cycles); default 1
---@field fp_mad_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision fused multiply-add; default sp
---@field fp_div_latency? integer Latency of single-precision divide (cycles); default 39
---@field fp_div_interval? integer Initiation interval of single-precision divide (cycles); default 4
---@field fp_div_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision divide; default sfu
---@field dp_add_latency? integer Latency of double-precision add (cycles); default 8
---@field dp_add_interval? integer Initiation interval of double-precision add (cycles); default 8
---@field dp_add_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision add; default sfu
---@field dp_max_latency? integer Latency of double-precision minimum and maximum (cycles); default 19
---@field dp_max_interval? integer Initiation interval of double-precision minimum and maximum (cycles); default 16
---@field dp_max_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision minimum and maximum; default sfu
---@field dp_mul_latency? integer Latency of double-precision multiply (cycles); default 8
---@field dp_mul_interval? integer Initiation interval of double-precision multiply (cycles); default 8
---@field dp_mul_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision multiply; default sfu
---@field dp_mad_latency? integer Latency of double-precision fused multiply-add (cycles); default 8
---@field dp_mad_interval? integer Initiation interval of double-precision fused multiply-add (cycles); default 8
---@field dp_mad_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision fused multiply-add; default sfu
---@field dp_div_latency? integer Latency of double-precision divide and square root (cycles); default 330
---@field dp_div_interval? integer Initiation interval of double-precision divide and square root (cycles); default 130
---@field dp_div_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision divide and square root; default sfu
---@field dp_roots_on_sfu? boolean Double-precision reciprocals and square roots take the SFU's latency and interval, not those of a division; default false
---@field sfu_latency? integer Latency of reciprocal, root, sine, exponential, logarithm (cycles); default 8
---@field sfu_interval? integer Initiation interval of reciprocal, root, sine, exponential, logarithm (cycles); default 8
---@field sfu_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes reciprocal, root, sine, exponential, logarithm; default sfu
---@field shuffle_latency? integer Latency of shuffles between lanes (cycles); default 32
---@field shuffle_interval? integer Initiation interval of shuffles between lanes (cycles); default 4
---@field shuffle_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes shuffles between lanes; default sp
---@field matrix_short_latency? integer Latency of mma of m16n8k8 f16 and its like: up to 16,384 bits of products (cycles); default 18
---@field matrix_short_interval? integer Initiation interval of mma of m16n8k8 f16 and its like: up to 16,384 bits of products (cycles); default 4
---@field matrix_short_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes mma of m16n8k8 f16 and its like: up to 16,384 bits of products; default sfu
---@field matrix_long_latency? integer Latency of mma of m16n8k16 f16 and its like (cycles); default 25
---@field matrix_long_interval? integer Initiation interval of mma of m16n8k16 f16 and its like (cycles); default 8
---@field matrix_long_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes mma of m16n8k16 f16 and its like; default sfu
---@field matrix_dp_latency? integer Latency of mma of f64 (cycles); default 25
---@field matrix_dp_interval? integer Initiation interval of mma of f64 (cycles); default 16
---@field matrix_dp_unit? "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes mma of f64; default sfu
---@field code_bytes? integer|string Instruction cache, when fetch is wired: capacity; an instruction takes 8 B (bytes); default 2KiB
---@field code_ways? integer Instruction cache: lines per set (lines); default 4
---@field code_line? integer|string Instruction cache: line size (bytes); default 128
---@field code_misses? integer Instruction cache: lines in flight (lines); default 2
---@field lsu? warpwright.LSU.Parameters Load/store unit

---@class warpwright.SM.Object: warpwright.Object
---@field dispatch warpwright.Port CTAs to run
---@field lsu warpwright.Port Memory instructions; wired to the child lsu when left open
---@field fetch warpwright.Port Misses of the instruction cache; left open, instructions are always there
---@field transfers warpwright.Port Transfers for a DmaEngine
---@field lsu warpwright.LSU.Object Load/store unit
---@field warps integer Warps that can be resident (warps)
---@field schedulers integer Warp schedulers; warp w belongs to scheduler w mod schedulers (schedulers)
---@field sub_cores integer Parts of the SM with as many schedulers each, and with collectors, units, register banks and fetch of their own; warp w belongs to sub-core w mod sub_cores (sub-cores)
---@field registers integer 32-bit registers (registers)
---@field ctas integer CTAs that can be resident (CTAs)
---@field shared integer Shared memory; a CTA takes pieces of 128 B of it (bytes)
---@field reserved_shared integer Shared memory that each CTA takes beside its own, for the system (bytes)
---@field scheduler "lrr"|"gto"|"oldest"|"groups" Order of the warp schedulers
---@field first "any"|"memory"|"compute" Kind of instruction that goes before others
---@field group_size integer Order groups: warps of a scheduler in a fetch group (warps)
---@field group_order "lrr"|"gto" Order groups: order within a fetch group and between them
---@field warp_limit integer Warps of a scheduler that may issue, the oldest; others of a CTA may catch up to its barrier, and warps that spin, at locks, flags or mbarriers, issue and do not count (warps)
---@field register_unit integer Registers per thread are allocated in multiples of this (registers)
---@field atomic_payloads integer Warp atomics on global memory in flight (entries)
---@field atomics_stall boolean A warp issues nothing while an atomic of its own on global memory is in flight
---@field shared_banks integer Shared-memory banks of 4 B (banks)
---@field shared_atomic_cycles integer Atomics on shared memory: for each further lane on a word, its bank is taken this much longer; 0: lanes on one word share it, as loads do (cycles)
---@field sp_units integer Pipelines, of each sub-core (units)
---@field sp_collectors integer Operand collectors, of each sub-core (units)
---@field sp_latches integer Registers between issue and collectors, of each sub-core (registers)
---@field sfu_units integer Pipelines, of each sub-core (units)
---@field sfu_collectors integer Operand collectors, of each sub-core (units)
---@field sfu_latches integer Registers between issue and collectors, of each sub-core (registers)
---@field int_units integer Pipelines, of each sub-core (units)
---@field int_collectors integer Operand collectors, of each sub-core (units)
---@field int_latches integer Registers between issue and collectors, of each sub-core (registers)
---@field dp_units integer Pipelines, of each sub-core (units)
---@field dp_collectors integer Operand collectors, of each sub-core (units)
---@field dp_latches integer Registers between issue and collectors, of each sub-core (registers)
---@field matrix_units integer Pipelines, of each sub-core (units)
---@field matrix_collectors integer Operand collectors, of each sub-core (units)
---@field matrix_latches integer Registers between issue and collectors, of each sub-core (registers)
---@field mem_collectors integer Operand collectors, of each sub-core (units)
---@field mem_latches integer Registers between issue and collectors, of each sub-core (registers)
---@field dispatch_cycles integer From the read of an instruction's last operand to its unit (cycles)
---@field result_cycles integer From the end of a unit's latency to the result's write-back (cycles)
---@field register_banks integer Register banks, of each sub-core: (register + warp) mod banks (banks)
---@field result_bus integer Results written back per cycle; an instruction without one takes a place, too (results)
---@field local_layout "warp"|"word" Local memory: all words of a warp lie together, or a word's copies of all threads that run at once
---@field other_latency integer Latency of moves, logic, shifts, compares, conversions, control (cycles)
---@field other_interval integer Initiation interval of moves, logic, shifts, compares, conversions, control (cycles)
---@field other_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes moves, logic, shifts, compares, conversions, control
---@field int_add_latency integer Latency of integer add and subtract (cycles)
---@field int_add_interval integer Initiation interval of integer add and subtract (cycles)
---@field int_add_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer add and subtract
---@field int_max_latency integer Latency of integer minimum and maximum (cycles)
---@field int_max_interval integer Initiation interval of integer minimum and maximum (cycles)
---@field int_max_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer minimum and maximum
---@field int_mul_latency integer Latency of integer multiply (cycles)
---@field int_mul_interval integer Initiation interval of integer multiply (cycles)
---@field int_mul_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer multiply
---@field int_mad_latency integer Latency of integer multiply-add (cycles)
---@field int_mad_interval integer Initiation interval of integer multiply-add (cycles)
---@field int_mad_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer multiply-add
---@field int_div_latency integer Latency of integer divide and remainder (cycles)
---@field int_div_interval integer Initiation interval of integer divide and remainder (cycles)
---@field int_div_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes integer divide and remainder
---@field fp_add_latency integer Latency of single-precision add (cycles)
---@field fp_add_interval integer Initiation interval of single-precision add (cycles)
---@field fp_add_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision add
---@field fp_max_latency integer Latency of single-precision minimum and maximum (cycles)
---@field fp_max_interval integer Initiation interval of single-precision minimum and maximum (cycles)
---@field fp_max_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision minimum and maximum
---@field fp_mul_latency integer Latency of single-precision multiply (cycles)
---@field fp_mul_interval integer Initiation interval of single-precision multiply (cycles)
---@field fp_mul_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision multiply
---@field fp_mad_latency integer Latency of single-precision fused multiply-add (cycles)
---@field fp_mad_interval integer Initiation interval of single-precision fused multiply-add (cycles)
---@field fp_mad_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision fused multiply-add
---@field fp_div_latency integer Latency of single-precision divide (cycles)
---@field fp_div_interval integer Initiation interval of single-precision divide (cycles)
---@field fp_div_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes single-precision divide
---@field dp_add_latency integer Latency of double-precision add (cycles)
---@field dp_add_interval integer Initiation interval of double-precision add (cycles)
---@field dp_add_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision add
---@field dp_max_latency integer Latency of double-precision minimum and maximum (cycles)
---@field dp_max_interval integer Initiation interval of double-precision minimum and maximum (cycles)
---@field dp_max_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision minimum and maximum
---@field dp_mul_latency integer Latency of double-precision multiply (cycles)
---@field dp_mul_interval integer Initiation interval of double-precision multiply (cycles)
---@field dp_mul_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision multiply
---@field dp_mad_latency integer Latency of double-precision fused multiply-add (cycles)
---@field dp_mad_interval integer Initiation interval of double-precision fused multiply-add (cycles)
---@field dp_mad_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision fused multiply-add
---@field dp_div_latency integer Latency of double-precision divide and square root (cycles)
---@field dp_div_interval integer Initiation interval of double-precision divide and square root (cycles)
---@field dp_div_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes double-precision divide and square root
---@field dp_roots_on_sfu boolean Double-precision reciprocals and square roots take the SFU's latency and interval, not those of a division
---@field sfu_latency integer Latency of reciprocal, root, sine, exponential, logarithm (cycles)
---@field sfu_interval integer Initiation interval of reciprocal, root, sine, exponential, logarithm (cycles)
---@field sfu_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes reciprocal, root, sine, exponential, logarithm
---@field shuffle_latency integer Latency of shuffles between lanes (cycles)
---@field shuffle_interval integer Initiation interval of shuffles between lanes (cycles)
---@field shuffle_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes shuffles between lanes
---@field matrix_short_latency integer Latency of mma of m16n8k8 f16 and its like: up to 16,384 bits of products (cycles)
---@field matrix_short_interval integer Initiation interval of mma of m16n8k8 f16 and its like: up to 16,384 bits of products (cycles)
---@field matrix_short_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes mma of m16n8k8 f16 and its like: up to 16,384 bits of products
---@field matrix_long_latency integer Latency of mma of m16n8k16 f16 and its like (cycles)
---@field matrix_long_interval integer Initiation interval of mma of m16n8k16 f16 and its like (cycles)
---@field matrix_long_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes mma of m16n8k16 f16 and its like
---@field matrix_dp_latency integer Latency of mma of f64 (cycles)
---@field matrix_dp_interval integer Initiation interval of mma of f64 (cycles)
---@field matrix_dp_unit "sp"|"sfu"|"int"|"dp"|"matrix" Unit that executes mma of f64
---@field code_bytes integer Instruction cache, when fetch is wired: capacity; an instruction takes 8 B (bytes)
---@field code_ways integer Instruction cache: lines per set (lines)
---@field code_line integer Instruction cache: line size (bytes)
---@field code_misses integer Instruction cache: lines in flight (lines)

---Streaming multiprocessor: warps, schedulers, scoreboard, operand collectors, pipelines
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.SM.Parameters): warpwright.SM.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.SM.Parameters): warpwright.SM.Object
function Machine:SM(name, index) end

---@class (exact) warpwright.ShadowTags.Parameters
---@field clock? string The object's clock; core where none is named
---@field entries? integer Tags in all (tags); default 512
---@field ways? integer Tags per set (tags); default 16

---@class warpwright.ShadowTags.Object: warpwright.Object
---@field entries integer Tags in all (tags)
---@field ways integer Tags per set (tags)

---Tags of the lines that requests which passed an L2 slice by asked for last
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.ShadowTags.Parameters): warpwright.ShadowTags.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.ShadowTags.Parameters): warpwright.ShadowTags.Object
function Machine:ShadowTags(name, index) end

---@class (exact) warpwright.TLB.Parameters
---@field clock? string The object's clock; core where none is named
---@field page? integer|string Of a page, the same in a TLB and in all TLBs and PageWalkers behind its walk (bytes); default 64KiB
---@field entries? integer Pages whose translation it holds (pages); default 64
---@field ways? integer Of a set, of which the entry used longest ago goes; 0: all are one set (entries); default 0
---@field misses? integer Most that are asked for at a time (pages); default 32
---@field requests? integer Most that wait inside for their page (requests); default 64

---@class warpwright.TLB.Object: warpwright.Object
---@field up warpwright.Port Requests to be translated, or for translations
---@field down warpwright.Port Where they go then; open where all are for translations
---@field walk warpwright.Port Where it asks for translations: a TLB or a PageWalker
---@field page integer Of a page, the same in a TLB and in all TLBs and PageWalkers behind its walk (bytes)
---@field entries integer Pages whose translation it holds (pages)
---@field ways integer Of a set, of which the entry used longest ago goes; 0: all are one set (entries)
---@field misses integer Most that are asked for at a time (pages)
---@field requests integer Most that wait inside for their page (requests)

---Holds requests up until their page's translation is there; answers other TLBs
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.TLB.Parameters): warpwright.TLB.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.TLB.Parameters): warpwright.TLB.Object
function Machine:TLB(name, index) end

---@class (exact) warpwright.TrafficSink.Parameters
---@field clock? string The object's clock; core where none is named
---@field latency? integer From taking a request to its answer (cycles); default 1
---@field interval? integer From taking a request to taking the next (cycles); default 1
---@field capacity? integer Most between taken and answered (requests); default 64

---@class warpwright.TrafficSink.Object: warpwright.Object
---@field cpu warpwright.Port Who asks
---@field latency integer From taking a request to its answer (cycles)
---@field interval integer From taking a request to taking the next (cycles)
---@field capacity integer Most between taken and answered (requests)

---Takes and answers memory requests after a fixed time
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.TrafficSink.Parameters): warpwright.TrafficSink.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.TrafficSink.Parameters): warpwright.TrafficSink.Object
function Machine:TrafficSink(name, index) end

---@class (exact) warpwright.TrafficSource.Parameters
---@field clock? string The object's clock; core where none is named
---@field rate? number Probability of a request in each cycle (requests/cycle); default 1
---@field writes? number Of the requests that are writes; the others are reads (fraction); default 0
---@field destination_share? number Of the requests that go to addresses of slice `destination`; the others go anywhere (fraction); default 0
---@field seed? integer Of the random numbers; each source has its own sequence (seed); default 1
---@field limit? integer How many to send in all; 0: no end (requests); default 0
---@field outstanding? integer Most that may wait for an answer; 0: any number (requests); default 0
---@field base? integer|string First address (bytes); default 0
---@field footprint? integer|string Addresses from there on (bytes); default 64MiB
---@field bytes? integer|string Of a request (bytes); default 128
---@field addresses? "random"|"sequential" Uniformly at random, or one after the other, again from the start at the end; default random
---@field posted? boolean Writes want no answer; default false
---@field destination? integer See destination_share (slice); default 0

---@class warpwright.TrafficSource.Object: warpwright.Object
---@field mem warpwright.Port What is driven
---@field rate number Probability of a request in each cycle (requests/cycle)
---@field writes number Of the requests that are writes; the others are reads (fraction)
---@field destination_share number Of the requests that go to addresses of slice `destination`; the others go anywhere (fraction)
---@field seed integer Of the random numbers; each source has its own sequence (seed)
---@field limit integer How many to send in all; 0: no end (requests)
---@field outstanding integer Most that may wait for an answer; 0: any number (requests)
---@field base integer First address (bytes)
---@field footprint integer Addresses from there on (bytes)
---@field bytes integer Of a request (bytes)
---@field addresses "random"|"sequential" Uniformly at random, or one after the other, again from the start at the end
---@field posted boolean Writes want no answer
---@field destination integer See destination_share (slice)

---Makes memory requests at random, to measure what serves them
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.TrafficSource.Parameters): warpwright.TrafficSource.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.TrafficSource.Parameters): warpwright.TrafficSource.Object
function Machine:TrafficSource(name, index) end

---@class (exact) warpwright.UtilityMonitor.Parameters
---@field clock? string The object's clock; core where none is named
---@field by? "sm"|"class" Who shares the cache; default sm
---@field sharers? integer SMs or classes that are monitored, from 0 on (sharers); default 2
---@field sampled_sets? integer Sets of the cache that are sampled, at most all (sets); default 32

---@class warpwright.UtilityMonitor.Object: warpwright.Object
---@field by "sm"|"class" Who shares the cache
---@field sharers integer SMs or classes that are monitored, from 0 on (sharers)
---@field sampled_sets integer Sets of the cache that are sampled, at most all (sets)

---Counts the hits that each SM or class would have with any number of ways of a cache
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.UtilityMonitor.Parameters): warpwright.UtilityMonitor.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.UtilityMonitor.Parameters): warpwright.UtilityMonitor.Object
function Machine:UtilityMonitor(name, index) end

---@class (exact) warpwright.VictimCache.Parameters
---@field clock? string The object's clock; core where none is named
---@field lines? integer Lines that it holds (lines); default 4
---@field ways? integer Of each set, a divisor of lines; 0: as lines, it is fully associative (ways); default 0

---@class warpwright.VictimCache.Object: warpwright.Object
---@field lines integer Lines that it holds (lines)
---@field ways integer Of each set, a divisor of lines; 0: as lines, it is fully associative (ways)

---Lines that an L1 has replaced, to be exchanged when they are needed again
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.VictimCache.Parameters): warpwright.VictimCache.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.VictimCache.Parameters): warpwright.VictimCache.Object
function Machine:VictimCache(name, index) end

---@class (exact) warpwright.VictimTags.Parameters
---@field clock? string The object's clock; core where none is named
---@field cache? string The L1 that it is attached to: by its name beside these tags, or its path (name); default l1d
---@field warps? integer Warps that have an array (warps); default 48
---@field entries? integer Tags of each warp (tags); default 16
---@field ways? integer Tags per set (tags); default 8
---@field sm? integer Number of the SM that it serves; 65535: all that use the cache (SM); default 65535

---@class warpwright.VictimTags.Object: warpwright.Object
---@field cache string The L1 that it is attached to: by its name beside these tags, or its path (name)
---@field warps integer Warps that have an array (warps)
---@field entries integer Tags of each warp (tags)
---@field ways integer Tags per set (tags)
---@field sm integer Number of the SM that it serves; 65535: all that use the cache (SM)

---Tags of the lines that each warp has lost from an L1
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.VictimTags.Parameters): warpwright.VictimTags.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.VictimTags.Parameters): warpwright.VictimTags.Object
function Machine:VictimTags(name, index) end

---@class (exact) warpwright.WarpSampler.Parameters
---@field clock? string The object's clock; core where none is named
---@field warm_up? integer Answers that make a sample; 0: none does (accesses); default 100
---@field gap? integer A warp that gets no answer for longer is counted from zero again; 0: it never is (cycles); default 10000
---@field merges? boolean A request for a line on its way to the second level is a hit; default true
---@field bypasses? boolean Requests that passed the second level by are counted: as hits where they would have hit; default true
---@field caches? string The caches before the second level, PATH,PATH...; empty: the L1s beside it (paths); default 
---@field sm? integer Number of the SM that it serves; 65535: all that use these caches (SM); default 65535

---@class warpwright.WarpSampler.Object: warpwright.Object
---@field warm_up integer Answers that make a sample; 0: none does (accesses)
---@field gap integer A warp that gets no answer for longer is counted from zero again; 0: it never is (cycles)
---@field merges boolean A request for a line on its way to the second level is a hit
---@field bypasses boolean Requests that passed the second level by are counted: as hits where they would have hit
---@field caches string The caches before the second level, PATH,PATH...; empty: the L1s beside it (paths)
---@field sm integer Number of the SM that it serves; 65535: all that use these caches (SM)

---Counts for each warp of an SM its requests to the second level, and those that hit there
---@param name string
---@param index? integer
---@return fun(parameters: warpwright.WarpSampler.Parameters): warpwright.WarpSampler.Object
---@overload fun(self: warpwright.Machine, parent: warpwright.Object, name: string, index?: integer): fun(parameters: warpwright.WarpSampler.Parameters): warpwright.WarpSampler.Object
function Machine:WarpSampler(name, index) end


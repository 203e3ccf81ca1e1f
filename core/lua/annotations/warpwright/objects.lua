---@meta
-- Written by scripts/annotations.lua from the rows of the classes: `warpwright scripts/annotations.lua` writes it anew.

---An object as policies hold it: values, statistics and parameters are read by name, knobs are set by name.
---@class warpwright.Handle
---@field path string "sm[3].l1d"
---@field class string

---@class warpwright.AddressMap.Values
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

---@class (exact) warpwright.AddressMap.Knobs

---Where an address lives: channel, L2 slice, DRAM bank, row and column
---@class warpwright.AddressMap: warpwright.Handle, warpwright.AddressMap.Values
local AddressMap = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.AddressMap.Knobs
---@param ... any
---@return fun(argument?: integer)
function AddressMap:setting(knobs, ...) end

---@class warpwright.BankCounters.Values
---@field bank integer The bank that it counts, from 0 (banks)

---@class (exact) warpwright.BankCounters.Knobs

---Requests and row hits of one bank of a memory controller
---@class warpwright.BankCounters: warpwright.Handle, warpwright.BankCounters.Values
---@field requests integer Served by the bank (requests)
---@field row_hits integer Found their row open (requests)
---@field row_misses integer Found the bank closed (requests)
---@field row_conflicts integer Found another row open (requests)
---@field activates integer ACTIVATE (commands)
local BankCounters = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.BankCounters.Knobs
---@param ... any
---@return fun(argument?: integer)
function BankCounters:setting(knobs, ...) end

---@class warpwright.Crossbar.Values
---@field up integer Ports towards the SMs (ports)
---@field down integer Ports towards the L2 slices; each slice lies behind one of them (ports)
---@field flit integer What a channel carries in a cycle (bytes)
---@field latency integer From a flit's crossing to the output channel (cycles)
---@field speedup integer Flits that cross from an input to an output in a cycle (steps)
---@field output_buffer integer Buffer of each output, in which a packet has room from its crossing until it is sent: less than the latency and two packets limits the throughput (flits)
---@field response_part integer Responses cross in parts of so many, each arbitrated for like a packet; 0: as a whole (flits)
---@field acknowledgements "write"|"sector" Packets that acknowledge a write: one, or one for each sector of 32 B in which it wrote
---@field arbitration "round_robin"|"priority"|"oldest"|"age"|"class" Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; age: the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by turns
---@field class_priority string arbitration = class: the priority of classes 0, 1, ..., the lowest first ("1,0,0"); of those left out, the class number (priorities)

---@class (exact) warpwright.Crossbar.Knobs

---Crossbar network from requesters to L2 slices: arbitration for each output, back-pressure
---@class warpwright.Crossbar: warpwright.Handle, warpwright.Crossbar.Values
---@field request_packets_in integer Packets that left their input (packets)
---@field request_packets_out integer Packets sent on (packets)
---@field request_flits_in integer Flits that left their input (flits)
---@field request_flits_out integer Flits sent on (flits)
---@field request_conflicts integer Packets that lost an arbitration, once for each (packets)
---@field request_blocked_cycles integer Cycles in which the next packet found no room in its output's buffer, over all outputs (cycles)
---@field request_latency_ticks integer Time from ready at the input to sent on, over all packets (ticks)
---@field response_packets_in integer Packets that left their input (packets)
---@field response_packets_out integer Packets sent on (packets)
---@field response_flits_in integer Flits that left their input (flits)
---@field response_flits_out integer Flits sent on (flits)
---@field response_conflicts integer Packets that lost an arbitration, once for each (packets)
---@field response_blocked_cycles integer Cycles in which the next packet found no room in its output's buffer, over all outputs (cycles)
---@field response_latency_ticks integer Time from ready at the input to sent on, over all packets (ticks)
local Crossbar = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.Crossbar.Knobs
---@param ... any
---@return fun(argument?: integer)
function Crossbar:setting(knobs, ...) end

---The first message of an input, nil without one: issued and came are ticks, those of its first requester's sending it and of its coming here
---@param responses boolean
---@param input integer 0 to 1023
---@return integer? class
---@return integer? sm
---@return integer? warp
---@return integer? pc
---@return boolean? write
---@return integer? issued
---@return integer? came
function Crossbar:head(responses, input) end

---@class warpwright.CtaProgress.Values

---@class (exact) warpwright.CtaProgress.Knobs

---Counts the instructions of each CTA of an SM
---@class warpwright.CtaProgress: warpwright.Handle, warpwright.CtaProgress.Values
local CtaProgress = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.CtaProgress.Knobs
---@param ... any
---@return fun(argument?: integer)
function CtaProgress:setting(knobs, ...) end

---Instructions of the CTA that is, or was last, in the slot
---@param slot integer 0 to 31
---@return integer instructions
function CtaProgress:issued(slot) end

---@class warpwright.Dispatcher.Values
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

---@class (exact) warpwright.Dispatcher.Knobs

---Hands out the CTAs of kernels to the SMs as resources allow
---@class warpwright.Dispatcher: warpwright.Handle, warpwright.Dispatcher.Values
---@field kernels integer Kernels started (kernels)
---@field ctas_dispatched integer CTAs handed out (CTAs)
local Dispatcher = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.Dispatcher.Knobs
---@param ... any
---@return fun(argument?: integer)
function Dispatcher:setting(knobs, ...) end

---The SM gets no CTA while it holds so many, in this kernel and later ones; 0: as many as fit
---@param sm integer 0 to sms - 1
---@param ctas integer 0 to 32
function Dispatcher:set_limit(sm, ctas) end

---CTAs that the SM holds, those on their way to it and back included
---@param sm integer 0 to sms - 1
---@return integer ctas
function Dispatcher:resident(sm) end

---CTAs of all kernels that have begun that no SM has got yet
---@return integer ctas
function Dispatcher:waiting() end

---CTAs of the kernel in x, y and z whose CTAs are handed out, or were last
---@return integer x
---@return integer y
---@return integer z
function Dispatcher:grid() end

---The lowest number, from first to last, of a CTA of this kernel that no SM has got yet; nil: all are handed out
---@param first integer
---@param last integer
---@return integer? cta
function Dispatcher:first_waiting(first, last) end

---Kernels of the present launch
---@return integer kernels
function Dispatcher:kernels() end

---Of one of them, numbered from 0: CTAs that no SM has got yet, and CTAs that SMs hold; 0 before it begins; its name, and its tenant. nil: there are not so many
---@param kernel integer 0 to 16383
---@return integer? waiting
---@return integer? resident
---@return string? name
---@return integer? tenant
function Dispatcher:kernel(kernel) end

---Number of the kernel whose CTAs the SM holds or held last; with kernels_per_sm above 1, of the CTA that it got last or gets next
---@param sm integer 0 to sms - 1
---@return integer kernel
function Dispatcher:kernel_of(sm) end

---CTAs of the kernel, numbered from 0, that the SM holds
---@param sm integer 0 to sms - 1
---@param kernel integer 0 to 16383
---@return integer ctas
function Dispatcher:ctas_of(sm, kernel) end

---CTAs of the kernel that fit the SM beside those that it holds, with kernels_per_sm above 1; else nil
---@param sm integer 0 to sms - 1
---@param kernel integer 0 to 16383
---@return integer? ctas
function Dispatcher:room_for(sm, kernel) end

---With count_by_kernel: what the kernel of the present launch, numbered from 0, has had so far, by a name as results have it, such as sm_warp_instructions or l2_misses; nil: there are not so many kernels. Only where everything is at rest: in on_period, and when kernels start and end
---@param kernel integer 0 to 16383
---@param name string
---@return integer? count
function Dispatcher:count_of(kernel, name) end

---The SM gets no more CTAs until it is empty; then it may get another kernel: next_kernel()
---@param sm integer 0 to sms - 1
function Dispatcher:drain(sm) end

---@class warpwright.DmaEngine.Values
---@field buffers integer Transfers that each CTA may have in flight (buffers)
---@field check boolean Loads of shared memory wait for transfers into it; false is for experiments: they read stale data

---@class (exact) warpwright.DmaEngine.Knobs

---D2MA: copies tiles from global to shared memory
---@class warpwright.DmaEngine: warpwright.Handle, warpwright.DmaEngine.Values
---@field transfers integer Transfers started (transfers)
---@field elements integer Elements fetched (elements)
---@field constants integer Elements of halos filled with the constant (elements)
---@field bytes integer Written to shared memory (bytes)
---@field requests integer Requests for segments (requests)
---@field requests_32 integer Of them, for 32 B (requests)
---@field requests_64 integer Of them, for 64 B (requests)
---@field requests_128 integer Of them, for 128 B (requests)
---@field agen_cycles integer Overhead, of complete transfers: from a start to the first request, waits for the port left out (cycles)
---@field mem_cycles integer Memory time, of complete transfers: all but the overhead (cycles)
---@field transfer_cycles integer From the start of a transfer to its completion, of complete transfers (cycles)
---@field agen_stall_cycles integer In which the address generator waited for its port; why, says L1 (cycles)
local DmaEngine = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.DmaEngine.Knobs
---@param ... any
---@return fun(argument?: integer)
function DmaEngine:setting(knobs, ...) end

---@class warpwright.EvictedAddressFilter.Values
---@field bits_per_address integer Bits of the filter per line of the cache (bits)
---@field hashes integer Bits that an address sets (hashes)
---@field bimodal integer One of so many lines that the filter does not know enters as the most recently used (lines)
---@field seed integer Of the hashes and of bimodal insertion

---@class (exact) warpwright.EvictedAddressFilter.Knobs

---Bloom filter of addresses that a cache evicted lately, which decides where lines enter
---@class warpwright.EvictedAddressFilter: warpwright.Handle, warpwright.EvictedAddressFilter.Values
---@field held integer Addresses added since it was cleared (addresses)
---@field recalled integer Lines brought in that the filter knew (lines)
---@field unknown integer Lines brought in that it did not know (lines)
---@field unknown_kept integer Of these: entered as the most recently used (lines)
---@field added integer Lines evicted (lines)
---@field clears integer It was full and was cleared (times)
local EvictedAddressFilter = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.EvictedAddressFilter.Knobs
---@param ... any
---@return fun(argument?: integer)
function EvictedAddressFilter:setting(knobs, ...) end

---@class warpwright.L1.Values
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
---@field enabled boolean false: everything bypasses, only the tags are kept up to date: a knob
---@field off_reads integer Reads in flight while enabled is false, at most bypassed_limit; 0: mshrs x merges (requests)
---@field bypassed_limit integer Writes, atomics and bypassing reads in flight (requests)
---@field bypassed_hold_mshrs boolean Each read in flight that passed by holds an MSHR
---@field saturation_free integer Saturated when no more of the MSHRs, or of the places in the miss queue, are free (permille)
---@field saturation_relief integer No longer saturated when so many more of both are free (permille)
---@field prioritization_queues integer Prioritization buffer: FIFO queues, by the number of the warp (queues)
---@field prioritization_places integer Requests that each can hold; 0: no buffer (requests)
---@field prioritization_total integer Requests that all of them can hold; 0: what their places allow (requests)
---@field bypass_line_fails boolean Requests that find every way of their set reserved pass the cache by, and do not wait: a knob
---@field keeps_lines boolean The beginning of a kernel leaves its lines valid
---@field reexecution_entries integer Re-execution queue, for accesses that are not taken; 0: they wait at the tags (accesses)
---@field reexecution boolean Use it: a knob
---@field watch_blocked_hits boolean Count blocked_hit_cycles
---@field prefetch_queue integer Prefetches that may wait for the tags; 0: the cache takes none (prefetches)
---@field prefetch_mshr_reserve integer MSHRs that prefetches leave free for demand (entries)
---@field prefetch_priority "demand"|"oldest"|"own_port" In a cycle in which a request is at the tags: the request goes first, even one that is stopped there; which came first; a port of the tags is for prefetches
---@field prefetch_drop "newest"|"oldest" Which prefetch goes when the queue is full

---@class (exact) warpwright.L1.Knobs
---@field enabled? boolean false: everything bypasses, only the tags are kept up to date
---@field may_allocate? integer|fun(argument: integer): integer Warps that may take lines; requests of others that find none bypass (warps)
---@field may_miss? integer|fun(argument: integer): integer Warps whose misses are served; those of others are refused (warps)
---@field memory_watched? integer|fun(argument: integer): integer The first of them whose access uses what lies below emits an event (warps)
---@field bypass_line_fails? boolean Requests that find every way of their set reserved pass the cache by, and do not wait
---@field reexecution? boolean Use it

---First-level cache: data, constant, texture or instruction
---@class warpwright.L1: warpwright.Handle, warpwright.L1.Values
---@field lines_used integer Of a fully associative cache with more than 64 ways: lines that were ever used (lines)
---@field accesses integer Requests accepted (accesses)
---@field hits integer All sectors were there (accesses)
---@field misses integer A sector was neither there nor in flight (accesses)
---@field merges integer What was not there was in flight (accesses)
---@field bypasses integer Sent on without asking the tags for data (accesses)
---@field read_hits integer Reads of global, constant, texture memory and code that hit (accesses)
---@field read_misses integer Reads of global, constant, texture memory and code that missed (accesses)
---@field read_merges integer Reads of global, constant, texture memory and code to sectors in flight (accesses)
---@field read_bypasses integer Reads of global, constant, texture memory and code that bypassed (accesses)
---@field write_hits integer Writes of global memory that hit (accesses)
---@field write_misses integer Writes of global memory that missed (accesses)
---@field write_merges integer Writes of global memory to sectors in flight (accesses)
---@field write_bypasses integer Writes of global memory that bypassed (accesses)
---@field local_read_hits integer Reads of local memory that hit (accesses)
---@field local_read_misses integer Reads of local memory that missed (accesses)
---@field local_read_merges integer Reads of local memory to sectors in flight (accesses)
---@field local_read_bypasses integer Reads of local memory that bypassed (accesses)
---@field local_write_hits integer Writes of local memory that hit (accesses)
---@field local_write_misses integer Writes of local memory that missed (accesses)
---@field local_write_merges integer Writes of local memory to sectors in flight (accesses)
---@field local_write_bypasses integer Writes of local memory that bypassed (accesses)
---@field atomic_hits integer Atomics that hit (accesses)
---@field atomic_misses integer Atomics that missed (accesses)
---@field atomic_merges integer Atomics to sectors in flight (accesses)
---@field atomic_bypasses integer Atomics that bypassed (accesses)
---@field line_fails integer Requests stopped at the tags: every way of the set was reserved (events)
---@field line_fail_cycles integer Cycles so stopped (cycles)
---@field mshr_entry_fails integer Requests stopped at the tags: no MSHR was free (events)
---@field mshr_entry_fail_cycles integer Cycles so stopped (cycles)
---@field mshr_merge_fails integer Requests stopped at the tags: the line's MSHR was full (events)
---@field mshr_merge_fail_cycles integer Cycles so stopped (cycles)
---@field miss_queue_fails integer Requests stopped at the tags: the miss queue was full (events)
---@field miss_queue_fail_cycles integer Cycles so stopped (cycles)
---@field bypassed_stalls integer Requests stopped at the tags: too many bypassed requests were in flight (events)
---@field bypassed_stall_cycles integer Cycles so stopped (cycles)
---@field response_stalls integer Requests stopped at the tags: the response link was taken (events)
---@field response_stall_cycles integer Cycles so stopped (cycles)
---@field data_port_stalls integer Requests stopped at the tags: the data array was busy (events)
---@field data_port_stall_cycles integer Cycles so stopped (cycles)
---@field refused_stalls integer Requests stopped at the tags: a policy refuses the warp's misses (events)
---@field refused_stall_cycles integer Cycles so stopped (cycles)
---@field reexecution_full_stalls integer Requests stopped at the tags: the re-execution queue was full (events)
---@field reexecution_full_stall_cycles integer Cycles so stopped (cycles)
---@field reexecution_order_stalls integer Requests stopped at the tags: their warp has an older instruction in it (events)
---@field reexecution_order_stall_cycles integer Cycles so stopped (cycles)
---@field evictions integer Lines replaced (lines)
---@field protected_evictions integer Replacements that spared the least recently used line, for its class (lines)
---@field low_priority_insertions integer Lines that did not enter as the most recently used, for their class (lines)
---@field write_backs integer Dirty lines written back (messages)
---@field fetches integer Lines or sectors asked for below (messages)
---@field fills integer Lines or sectors that came (messages)
---@field prefetch_reads integer Of the accesses, fetches that a cache above sent ahead of demand (accesses)
---@field data_port_cycles integer The data array's port moved what hit or was written back; of an L1: what was written (cycles)
---@field may_allocate integer Warps that may take lines; requests of others that find none bypass (warps): a knob
---@field off_hits integer While switched off: bypassing accesses whose line had a tag (accesses)
---@field off_misses integer While switched off: bypassing accesses whose line had none (accesses)
---@field off_read_hits integer Of off_hits, reads (accesses)
---@field off_read_misses integer Of off_misses, reads (accesses)
---@field dma_requests integer Of a DMA engine, each with an MSHR of its own (requests)
---@field dma_mshr_cycles integer Of MSHRs in use for them (cycles)
---@field dma_mshr_stall_cycles integer In which one of them waited for an MSHR (cycles)
---@field dma_miss_queue_stall_cycles integer In which one of them waited for the miss queue (cycles)
---@field dma_priority_stall_cycles integer In which one of them waited for the processor side (cycles)
---@field saturated integer MSHRs or miss queue are nearly full
---@field saturations integer MSHRs or miss queue became nearly full (events)
---@field saturated_cycles integer MSHRs or miss queue were nearly full (cycles)
---@field may_miss integer Warps whose misses are served; those of others are refused (warps): a knob
---@field memory_watched integer The first of them whose access uses what lies below emits an event (warps): a knob
---@field prioritization_overtakes integer Requests that left the prioritization buffer before one that had come earlier (accesses)
---@field line_fail_bypasses integer Bypasses of requests that found every way of their set reserved (accesses)
---@field reexecution_pushes integer Put into the re-execution queue (accesses)
---@field reexecution_refusals integer Of them, as misses of warps that may not (accesses)
---@field reexecution_retries integer Tries of its head (tries)
---@field hits_under_miss integer Hits while the re-execution queue held others (accesses)
---@field blocked_hit_cycles integer The request at the tags waited, and one behind it, of another warp, would have hit (cycles)
---@field prefetches_asked integer What policies asked for (prefetches)
---@field prefetches integer Of them, those that fetch (prefetches)
---@field prefetches_useful integer Of those, found there by an access before they left (prefetches)
---@field prefetches_late integer Of those, found in flight by an access (prefetches)
---@field prefetches_useless integer Of those, replaced or forgotten before an access found them (prefetches)
---@field prefetch_drops_off integer Dropped: the cache was off, or may take no line for the warp (prefetches)
---@field prefetch_drops_outside integer Dropped: in no allocation of device memory, or in another slice (prefetches)
---@field prefetch_drops_queue integer Dropped: the queue was full (prefetches)
---@field prefetch_drops_there integer Dropped: the cache had it (prefetches)
---@field prefetch_drops_in_flight integer Dropped: its line had an MSHR (prefetches)
---@field prefetch_drops_mshr integer Dropped: no MSHR was free beside the reserve (prefetches)
---@field prefetch_drops_line integer Dropped: every way of the set was reserved, or policies kept its line (prefetches)
---@field prefetch_drops_miss_queue integer Dropped: the miss queue had no room (prefetches)
local L1 = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.L1.Knobs
---@param ... any
---@return fun(argument?: integer)
function L1:setting(knobs, ...) end

---The warp of the access at the head of the re-execution queue
---@return integer? warp
function L1:reexecution_head() end

---Fetches the sector at the address ahead of demand, for a warp of an SM, unless it is dropped, as all are with prefetch_queue = 0, the default, which configure() can raise
---@param address integer
---@param warp integer 0 to 63
---@param sm integer 0 to 1023
function L1:prefetch(address, warp, sm) end

---The set of the address; nil: it does not come to this cache
---@param address integer 0 to 4503599627370495
---@return integer? set
function L1:set_of(address) end

---Where the line of the address is, also one in flight; nil: it has no way
---@param address integer 0 to 4503599627370495
---@return integer? set
---@return integer? way
function L1:find(address) end

---Lines of the class enter so many places below the most recently used
---@param class integer 0 to 31
---@param places integer 0 to 255
function L1:set_depth(class, places) end

---Lines of classes with a lower rank are replaced first
---@param class integer 0 to 31
---@param rank integer 0 to 255
function L1:set_keep(class, rank) end

---Class or SM `number`, as partition_by says, takes lines in these ways from now on
---@param number integer 0 to 65535
---@param ways integer a set of ways
function L1:set_ways(number, ways) end

---How many sets, and ways of each
---@return integer sets
---@return integer ways
function L1:sets() end

---Has this way of the set a line with data?
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return boolean valid
function L1:line_valid(set, way) end

---Must it be written back?
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return boolean dirty
function L1:line_dirty(set, way) end

---Sectors of the line, bit 0 the first, that are there, in flight, and to be written back; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? valid
---@return integer? in_flight
---@return integer? dirty
function L1:line_sectors(set, way) end

---Address of the line, also of one in flight; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? address
function L1:line_address(set, way) end

---The warp that had the line brought; nil: none
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? sm
---@return integer? warp
function L1:line_owner(set, way) end

---Class of the line; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? class
function L1:line_class(set, way) end

---PC of the request that took the line, where line_history is true; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? pc
function L1:line_pc(set, way) end

---Hits and merges of the line since then, where line_history is true; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? uses
function L1:line_uses(set, way) end

---Ways of the set whose lines must be written back and have no sector in flight
---@param set integer 0 to 16777215
---@return integer ways
function L1:dirty_ways(set) end

---Of these ways of the set the one whose line would be replaced first; nil: none has a line without a sector in flight
---@param set integer 0 to 16777215
---@param ways integer a set of ways
---@return integer? way
function L1:first_to_go(set, ways) end

---Writes the line back as its replacement in this cycle would, and keeps it; false: it is not among dirty_ways, or the miss queue has no room. Not in a question
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return boolean cleaned
function L1:clean(set, way) end

---@class warpwright.L1Trace.Values
---@field cache string The L1 that it records, unless it belongs to one: by its name beside the trace, or its path (name)
---@field folder string Folder for the file, PATH.trace; made if need be (path)

---@class (exact) warpwright.L1Trace.Knobs

---Records what an L1 is asked for into a file
---@class warpwright.L1Trace: warpwright.Handle, warpwright.L1Trace.Values
---@field records integer Accesses, fills and invalidations recorded (records)
local L1Trace = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.L1Trace.Knobs
---@param ... any
---@return fun(argument?: integer)
function L1Trace:setting(knobs, ...) end

---@class warpwright.L2.Values
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
---@field enabled boolean false: everything bypasses, only the tags are kept up to date: a knob
---@field bypass_delay integer From accepting a request that bypasses to sending it on (cycles)
---@field bypass boolean Requests may go straight to memory: those of bypass_classes, bypass_rate, and what policies say: a knob
---@field bypass_classes integer Classes that bypass, but for atomics: bit n for class n (classes): a knob
---@field allocate_classes integer Classes whose requests may take lines; others that find none are passed on (classes): a knob
---@field bypass_rate integer So many of 1000 requests, drawn at random, bypass; atomics do not (permille): a knob
---@field bypass_seed integer Of that draw; each slice has a sequence of its own
---@field bypassed_limit integer Writes, atomics and bypassing reads in flight (requests)
---@field prefetch_queue integer Prefetches that may wait for the tags; 0: the cache takes none (prefetches)
---@field prefetch_mshr_reserve integer MSHRs that prefetches leave free for demand (entries)
---@field prefetch_priority "demand"|"oldest"|"own_port" In a cycle in which a request is at the tags: the request goes first, even one that is stopped there; which came first; a port of the tags is for prefetches
---@field prefetch_drop "newest"|"oldest" Which prefetch goes when the queue is full

---@class (exact) warpwright.L2.Knobs
---@field enabled? boolean false: everything bypasses, only the tags are kept up to date
---@field bypass? boolean Requests may go straight to memory: those of bypass_classes, bypass_rate, and what policies say
---@field bypass_classes? integer|fun(argument: integer): integer Classes that bypass, but for atomics: bit n for class n (classes)
---@field allocate_classes? integer|fun(argument: integer): integer Classes whose requests may take lines; others that find none are passed on (classes)
---@field bypass_rate? integer|fun(argument: integer): integer So many of 1000 requests, drawn at random, bypass; atomics do not (permille)

---Slice of the second-level cache, where atomics are performed, unless others share its addresses
---@class warpwright.L2: warpwright.Handle, warpwright.L2.Values
---@field lines_used integer Of a fully associative cache with more than 64 ways: lines that were ever used (lines)
---@field accesses integer Requests accepted (accesses)
---@field hits integer All sectors were there (accesses)
---@field misses integer A sector was neither there nor in flight (accesses)
---@field merges integer What was not there was in flight (accesses)
---@field bypasses integer Sent on without asking the tags for data (accesses)
---@field read_hits integer Reads of global, constant, texture memory and code that hit (accesses)
---@field read_misses integer Reads of global, constant, texture memory and code that missed (accesses)
---@field read_merges integer Reads of global, constant, texture memory and code to sectors in flight (accesses)
---@field read_bypasses integer Reads of global, constant, texture memory and code that bypassed (accesses)
---@field write_hits integer Writes of global memory that hit (accesses)
---@field write_misses integer Writes of global memory that missed (accesses)
---@field write_merges integer Writes of global memory to sectors in flight (accesses)
---@field write_bypasses integer Writes of global memory that bypassed (accesses)
---@field local_read_hits integer Reads of local memory that hit (accesses)
---@field local_read_misses integer Reads of local memory that missed (accesses)
---@field local_read_merges integer Reads of local memory to sectors in flight (accesses)
---@field local_read_bypasses integer Reads of local memory that bypassed (accesses)
---@field local_write_hits integer Writes of local memory that hit (accesses)
---@field local_write_misses integer Writes of local memory that missed (accesses)
---@field local_write_merges integer Writes of local memory to sectors in flight (accesses)
---@field local_write_bypasses integer Writes of local memory that bypassed (accesses)
---@field atomic_hits integer Atomics that hit (accesses)
---@field atomic_misses integer Atomics that missed (accesses)
---@field atomic_merges integer Atomics to sectors in flight (accesses)
---@field atomic_bypasses integer Atomics that bypassed (accesses)
---@field line_fails integer Requests stopped at the tags: every way of the set was reserved (events)
---@field line_fail_cycles integer Cycles so stopped (cycles)
---@field mshr_entry_fails integer Requests stopped at the tags: no MSHR was free (events)
---@field mshr_entry_fail_cycles integer Cycles so stopped (cycles)
---@field mshr_merge_fails integer Requests stopped at the tags: the line's MSHR was full (events)
---@field mshr_merge_fail_cycles integer Cycles so stopped (cycles)
---@field miss_queue_fails integer Requests stopped at the tags: the miss queue was full (events)
---@field miss_queue_fail_cycles integer Cycles so stopped (cycles)
---@field bypassed_stalls integer Requests stopped at the tags: too many bypassed requests were in flight (events)
---@field bypassed_stall_cycles integer Cycles so stopped (cycles)
---@field response_stalls integer Requests stopped at the tags: the response link was taken (events)
---@field response_stall_cycles integer Cycles so stopped (cycles)
---@field data_port_stalls integer Requests stopped at the tags: the data array was busy (events)
---@field data_port_stall_cycles integer Cycles so stopped (cycles)
---@field refused_stalls integer Requests stopped at the tags: a policy refuses the warp's misses (events)
---@field refused_stall_cycles integer Cycles so stopped (cycles)
---@field reexecution_full_stalls integer Requests stopped at the tags: the re-execution queue was full (events)
---@field reexecution_full_stall_cycles integer Cycles so stopped (cycles)
---@field reexecution_order_stalls integer Requests stopped at the tags: their warp has an older instruction in it (events)
---@field reexecution_order_stall_cycles integer Cycles so stopped (cycles)
---@field evictions integer Lines replaced (lines)
---@field protected_evictions integer Replacements that spared the least recently used line, for its class (lines)
---@field low_priority_insertions integer Lines that did not enter as the most recently used, for their class (lines)
---@field write_backs integer Dirty lines written back (messages)
---@field fetches integer Lines or sectors asked for below (messages)
---@field fills integer Lines or sectors that came (messages)
---@field prefetch_reads integer Of the accesses, fetches that a cache above sent ahead of demand (accesses)
---@field data_port_cycles integer The data array's port moved what hit or was written back; of an L1: what was written (cycles)
---@field off_hits integer While switched off: bypassing accesses whose line had a tag (accesses)
---@field off_misses integer While switched off: bypassing accesses whose line had none (accesses)
---@field off_read_hits integer Of off_hits, reads (accesses)
---@field off_read_misses integer Of off_misses, reads (accesses)
---@field prefetches_asked integer What policies asked for (prefetches)
---@field prefetches integer Of them, those that fetch (prefetches)
---@field prefetches_useful integer Of those, found there by an access before they left (prefetches)
---@field prefetches_late integer Of those, found in flight by an access (prefetches)
---@field prefetches_useless integer Of those, replaced or forgotten before an access found them (prefetches)
---@field prefetch_drops_off integer Dropped: the cache was off, or may take no line for the warp (prefetches)
---@field prefetch_drops_outside integer Dropped: in no allocation of device memory, or in another slice (prefetches)
---@field prefetch_drops_queue integer Dropped: the queue was full (prefetches)
---@field prefetch_drops_there integer Dropped: the cache had it (prefetches)
---@field prefetch_drops_in_flight integer Dropped: its line had an MSHR (prefetches)
---@field prefetch_drops_mshr integer Dropped: no MSHR was free beside the reserve (prefetches)
---@field prefetch_drops_line integer Dropped: every way of the set was reserved, or policies kept its line (prefetches)
---@field prefetch_drops_miss_queue integer Dropped: the miss queue had no room (prefetches)
local L2 = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.L2.Knobs
---@param ... any
---@return fun(argument?: integer)
function L2:setting(knobs, ...) end

---Fetches the sector at the address ahead of demand, for a warp of an SM, unless it is dropped, as all are with prefetch_queue = 0, the default, which configure() can raise
---@param address integer
---@param warp integer 0 to 63
---@param sm integer 0 to 1023
function L2:prefetch(address, warp, sm) end

---The set of the address; nil: it does not come to this cache
---@param address integer 0 to 4503599627370495
---@return integer? set
function L2:set_of(address) end

---Where the line of the address is, also one in flight; nil: it has no way
---@param address integer 0 to 4503599627370495
---@return integer? set
---@return integer? way
function L2:find(address) end

---Lines of the class enter so many places below the most recently used
---@param class integer 0 to 31
---@param places integer 0 to 255
function L2:set_depth(class, places) end

---Lines of classes with a lower rank are replaced first
---@param class integer 0 to 31
---@param rank integer 0 to 255
function L2:set_keep(class, rank) end

---Class or SM `number`, as partition_by says, takes lines in these ways from now on
---@param number integer 0 to 65535
---@param ways integer a set of ways
function L2:set_ways(number, ways) end

---How many sets, and ways of each
---@return integer sets
---@return integer ways
function L2:sets() end

---Has this way of the set a line with data?
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return boolean valid
function L2:line_valid(set, way) end

---Must it be written back?
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return boolean dirty
function L2:line_dirty(set, way) end

---Sectors of the line, bit 0 the first, that are there, in flight, and to be written back; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? valid
---@return integer? in_flight
---@return integer? dirty
function L2:line_sectors(set, way) end

---Address of the line, also of one in flight; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? address
function L2:line_address(set, way) end

---The warp that had the line brought; nil: none
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? sm
---@return integer? warp
function L2:line_owner(set, way) end

---Class of the line; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? class
function L2:line_class(set, way) end

---PC of the request that took the line, where line_history is true; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? pc
function L2:line_pc(set, way) end

---Hits and merges of the line since then, where line_history is true; nil: the way is free
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return integer? uses
function L2:line_uses(set, way) end

---Ways of the set whose lines must be written back and have no sector in flight
---@param set integer 0 to 16777215
---@return integer ways
function L2:dirty_ways(set) end

---Of these ways of the set the one whose line would be replaced first; nil: none has a line without a sector in flight
---@param set integer 0 to 16777215
---@param ways integer a set of ways
---@return integer? way
function L2:first_to_go(set, ways) end

---Writes the line back as its replacement in this cycle would, and keeps it; false: it is not among dirty_ways, or the miss queue has no room. Not in a question
---@param set integer 0 to 16777215
---@param way integer 0 to ways - 1
---@return boolean cleaned
function L2:clean(set, way) end

---@class warpwright.LSU.Values
---@field shared_latency integer Shared memory: from begin to write-back without conflicts (cycles)
---@field constant_latency integer Parameter and constant loads when no constant cache is wired (cycles)
---@field entries integer Instructions with outstanding answers (entries)
---@field narrow_segments boolean Global loads and stores: segments of at most 32 B for elements of 1 B and for .cg, 64 B for elements of 2 B, also where a vector of them is accessed
---@field read_only_segment integer ld.global.nc by the port texture, in segments of at most so many bytes: 32, 64 or 128, no more than the lines of the cache there; 0: as other loads (bytes)

---@class (exact) warpwright.LSU.Knobs

---Load/store unit: coalescing, shared-memory banks, accesses to the caches
---@class warpwright.LSU: warpwright.Handle, warpwright.LSU.Values
---@field global_loads integer Warp loads from global memory (instructions)
---@field global_stores integer Warp stores to global memory (instructions)
---@field local_loads integer Warp loads from local memory (instructions)
---@field local_stores integer Warp stores to local memory (instructions)
---@field shared_loads integer Warp loads from shared memory, atomics included (instructions)
---@field shared_stores integer Warp stores to shared memory (instructions)
---@field constant_loads integer Warp loads of parameters and constants (instructions)
---@field texture_loads integer Warp texture fetches, and other loads by the port texture (instructions)
---@field atomics integer Warp atomics on global memory (instructions)
---@field prefetches integer Warp prefetches of global and local memory (instructions)
---@field load_accesses integer Segments requested by global and local loads (accesses)
---@field store_accesses integer Segments written by global and local stores (accesses)
---@field atomic_accesses integer Segments of atomics (accesses)
---@field prefetch_accesses integer Lines asked for by prefetches (accesses)
---@field bank_conflict_cycles integer Extra cycles for shared-memory bank conflicts (cycles)
---@field stall_cycles integer An access was ready but the memory port did not take it (cycles)
---@field load_latency_ticks integer Sum over loads of first access to last answer (ticks)
---@field loads_answered integer Loads completed, those of constants and textures included (instructions)
local LSU = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.LSU.Knobs
---@param ... any
---@return fun(argument?: integer)
function LSU:setting(knobs, ...) end

---@class warpwright.LineReuse.Values
---@field since "last"|"first" Whose touch counts: of the last to touch the line, or of who had it brought

---@class (exact) warpwright.LineReuse.Knobs
---@field kernel? integer|fun(argument: integer): integer Number of the kernel that runs (kernels)

---Classes the hits of a cache by who touched the line before
---@class warpwright.LineReuse: warpwright.Handle, warpwright.LineReuse.Values
---@field kernel integer Number of the kernel that runs (kernels): a knob
---@field intra_thread_hits integer Hits on lines that a thread of the access had touched (accesses)
---@field intra_thread_merges integer Merges on lines that a thread of the access had touched (accesses)
---@field inter_thread_hits integer Hits on lines that other threads of the warp had touched (accesses)
---@field inter_thread_merges integer Merges on lines that other threads of the warp had touched (accesses)
---@field intra_cta_hits integer Hits on lines that another warp of the CTA had touched (accesses)
---@field intra_cta_merges integer Merges on lines that another warp of the CTA had touched (accesses)
---@field intra_core_hits integer Hits on lines that another CTA on the SM had touched (accesses)
---@field intra_core_merges integer Merges on lines that another CTA on the SM had touched (accesses)
---@field inter_core_hits integer Hits on lines that another SM had touched (accesses)
---@field inter_core_merges integer Merges on lines that another SM had touched (accesses)
---@field inter_kernel_hits integer Hits on lines that an earlier kernel had touched (accesses)
---@field inter_kernel_merges integer Merges on lines that an earlier kernel had touched (accesses)
---@field other_hits integer Hits by or behind write-backs, code and copies of the host (accesses)
---@field other_merges integer Merges by or behind write-backs, code and copies of the host (accesses)
local LineReuse = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.LineReuse.Knobs
---@param ... any
---@return fun(argument?: integer)
function LineReuse:setting(knobs, ...) end

---@class warpwright.LocalityScores.Values
---@field base integer Base score (points)
---@field edge "bottom"|"top" Edge of a warp's score in the stack that must lie above the cut-off to block it

---@class (exact) warpwright.LocalityScores.Knobs

---Scores of the locality that warps have lost, and who may load under the cut-off
---@class warpwright.LocalityScores: warpwright.Handle, warpwright.LocalityScores.Values
---@field active integer Warps that have a score (warps)
---@field allowed integer All but the active warps above the cut-off (warps)
---@field cutoff integer Base score times active warps (points)
---@field raised integer Scores set above the base (scores)
---@field changes integer Times that other warps became allowed (changes)
---@field blocked_cycles integer Active warps that were not allowed to load (warps x cycles)
local LocalityScores = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.LocalityScores.Knobs
---@param ... any
---@return fun(argument?: integer)
function LocalityScores:setting(knobs, ...) end

---The warp's score from the next cycle on; below the base it is the base, above the cut-off the cut-off
---@param warp integer 0 to 63
---@param score integer
function LocalityScores:set(warp, score) end

---The same as set() where the warp's present score is lower; else nothing
---@param warp integer 0 to 63
---@param score integer
function LocalityScores:raise(warp, score) end

---Its present score; 0 when it does not take part
---@param warp integer 0 to 63
---@return integer score
function LocalityScores:get(warp) end

---The warps that have a score, with the ages that they have in the SM
---@param warps integer a set of warps
function LocalityScores:set_active(warps) end

---From now on a hit in these victim tags raises the warp's score to hits * k_throttle * cutoff // sm.warp_instructions, as raise() in on_vta_hit could
---@param vta warpwright.VictimTags
---@param k_throttle integer 0 to 1000000
function LocalityScores:update_on_hits(vta, k_throttle) end

---@class warpwright.MemoryController.Values
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

---@class (exact) warpwright.MemoryController.Knobs

---One DRAM channel with its request queue
---@class warpwright.MemoryController: warpwright.Handle, warpwright.MemoryController.Values
---@field reads integer Reads and atomics that entered a queue (requests)
---@field writes integer Writes that entered a queue (requests)
---@field posted_writes integer Of these writes: without an answer (requests)
---@field urgent integer Requests that entered a queue before the last (requests)
---@field read_bytes integer Asked for by reads (bytes)
---@field write_bytes integer Covered by writes (bytes)
---@field read_commands integer READ (commands)
---@field write_commands integer WRITE (commands)
---@field activates integer ACTIVATE (commands)
---@field precharges integer PRECHARGE (commands)
---@field refreshes integer REFRESH (commands)
---@field row_hits integer Found their row open (requests)
---@field row_misses integer Found their bank closed (requests)
---@field row_conflicts integer Found another row open (requests)
---@field turnarounds integer The data bus changed its direction (times)
---@field data_bus_cycles integer The data bus moved data (cycles)
---@field queue_full_cycles integer A request waited at a port for room in its queue (cycles)
---@field queue_entry_cycles integer Sum over cycles of the requests in the queues (requests * cycles)
---@field queue_wait_cycles integer Sum over served requests of their time in the queue (cycles)
---@field read_latency_cycles integer Sum over answered reads of the time from port to port (cycles)
---@field reads_answered integer Responses to reads and atomics (requests)
---@field writes_answered integer Responses to writes (requests)
---@field cycles integer Command clock cycles (cycles)
local MemoryController = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.MemoryController.Knobs
---@param ... any
---@return fun(argument?: integer)
function MemoryController:setting(knobs, ...) end

---Requests of the class go to this queue; lower ones are served first
---@param class integer 0 to 31
---@param queue integer 0 to queues - 1
function MemoryController:set_queue(class, queue) end

---A waiting request; rank 0 is the oldest. waited: cycles; pc: 0 of a write-back. nil when the queue holds fewer
---@param queue integer 0 to queues - 1
---@param rank integer 0 to 4294967295
---@return integer? sm
---@return integer? warp
---@return integer? class
---@return integer? bank
---@return integer? row
---@return boolean? write
---@return integer? waited
---@return integer? pc
function MemoryController:request(queue, rank) end

---The requests for this bank
---@param queue integer 0 to queues - 1
---@param bank integer 0 to banks - 1
---@return integer requests
function MemoryController:of_bank(queue, bank) end

---The requests of this SM, by its number from 0; those of a write-back are of the SM that made the line dirty
---@param queue integer 0 to queues - 1
---@param sm integer 0 to 4294967295
---@return integer requests
function MemoryController:of_sm(queue, sm) end

---The requests of this warp of an SM that are no write-backs, which are of no warp; bits.count() of them is how many are left
---@param queue integer 0 to queues - 1
---@param sm integer 0 to 4294967295
---@param warp integer 0 to 4294967295
---@return integer requests
function MemoryController:of_warp(queue, sm, warp) end

---The requests of this class; those of a write-back are of the class of its line
---@param queue integer 0 to queues - 1
---@param class integer 0 to 31
---@return integer requests
function MemoryController:of_class(queue, class) end

---The write-backs, for which nobody waits
---@param queue integer 0 to queues - 1
---@return integer requests
function MemoryController:write_backs(queue) end

---The requests whose row is open in their bank
---@param queue integer 0 to queues - 1
---@return integer requests
function MemoryController:row_hits(queue) end

---The writes
---@param queue integer 0 to queues - 1
---@return integer requests
function MemoryController:writes(queue) end

---The row that is open in the bank; nil: none
---@param bank integer 0 to banks - 1
---@return integer? row
function MemoryController:open_row(bank) end

---Closes the open row of the bank from the next cycle on, as soon as its timings allow, without a command; false: none is open. Not in a question
---@param bank integer 0 to banks - 1
---@return boolean closed
function MemoryController:close_row(bank) end

---@class warpwright.Mux.Values
---@field up integer Ports to be joined (ports)
---@field arbitration "round_robin"|"priority"|"oldest"|"age"|"class" Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; age: the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by turns
---@field class_priority string arbitration = class: the priority of classes 0, 1, ..., the lowest first ("1,0,0"); of those left out, the class number (priorities)

---@class (exact) warpwright.Mux.Knobs

---Joins several requesters into one network port: a message a cycle each way, whatever its bytes
---@class warpwright.Mux: warpwright.Handle, warpwright.Mux.Values
---@field requests integer Requests passed down (messages)
---@field responses integer Responses passed up (messages)
---@field conflicts integer Requests that were ready and lost an arbitration, once for each (messages)
---@field request_blocked_cycles integer Cycles in which a request was ready and the link down was full (cycles)
---@field response_blocked_cycles integer Cycles in which a response was ready and its link up was full (cycles)
local Mux = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.Mux.Knobs
---@param ... any
---@return fun(argument?: integer)
function Mux:setting(knobs, ...) end

---The first message of an input, nil without one: issued and came are ticks, those of its first requester's sending it and of its coming here
---@param input integer 0 to up_count - 1
---@return integer? class
---@return integer? sm
---@return integer? warp
---@return integer? pc
---@return boolean? write
---@return integer? issued
---@return integer? came
function Mux:head(input) end

---@class warpwright.PageWalker.Values
---@field page integer Of a page, the same in a TLB and in all TLBs and PageWalkers behind its walk (bytes)
---@field levels integer Of the page table, of 9 address bits each; 0: what addresses of 48 bits need (levels)
---@field walkers integer Most at a time (walks)
---@field cache_entries integer Of the levels above the last that it remembers, those used last (entries)

---@class (exact) warpwright.PageWalker.Knobs

---Answers requests for translations by walks through a page table
---@class warpwright.PageWalker: warpwright.Handle, warpwright.PageWalker.Values
---@field requests integer Walks begun (requests)
---@field answers integer Answered (requests)
---@field reads integer Entries of the page table read from memory (entries)
---@field levels_known integer Entries that walks did not read, since they were remembered (entries)
---@field walk_cycles integer From the beginning of a walk to its answer, over all answers (cycles)
---@field wait_cycles integer From when requests were ready until their walks began, over all requests (cycles)
local PageWalker = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.PageWalker.Knobs
---@param ... any
---@return fun(argument?: integer)
function PageWalker:setting(knobs, ...) end

---@class warpwright.PcBypassTable.Values
---@field entries integer Entries, chosen by a hash of the load's address (entries)
---@field window integer An entry that has seen so many halves its counters (loads)
---@field warm_up integer Loads of an entry before it decides (loads)
---@field threshold integer Loads with a lower hit rate bypass; 0: none (percent)
---@field probe integer One of so many loads with a low hit rate does not bypass (loads)

---@class (exact) warpwright.PcBypassTable.Knobs

---Recent hit rates of load instructions; those with low ones bypass the cache
---@class warpwright.PcBypassTable: warpwright.Handle, warpwright.PcBypassTable.Values
---@field learnt integer Loads that went through the cache (loads)
---@field learnt_hits integer Of these: hit (loads)
---@field bypassed integer Loads that passed the cache by (loads)
---@field probes integer Loads with a low hit rate that went through the cache all the same (loads)
local PcBypassTable = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.PcBypassTable.Knobs
---@param ... any
---@return fun(argument?: integer)
function PcBypassTable:setting(knobs, ...) end

---@class warpwright.QueueDelays.Values

---@class (exact) warpwright.QueueDelays.Knobs

---Distribution of the delays of requests that queue for the tags of an L2 slice
---@class warpwright.QueueDelays: warpwright.Handle, warpwright.QueueDelays.Values
---@field delay_0 integer Waited for nothing (requests)
---@field delay_1 integer Waited 1 cycle (requests)
---@field delay_2 integer Waited 2 to 3 cycles (requests)
---@field delay_4 integer Waited 4 to 7 cycles (requests)
---@field delay_8 integer Waited 8 to 15 cycles (requests)
---@field delay_16 integer Waited 16 to 31 cycles (requests)
---@field delay_32 integer Waited 32 to 63 cycles (requests)
---@field delay_64 integer Waited 64 to 127 cycles (requests)
---@field delay_128 integer Waited 128 to 255 cycles (requests)
---@field delay_256 integer Waited 256 to 511 cycles (requests)
---@field delay_512 integer Waited 512 to 1023 cycles (requests)
---@field delay_1024 integer Waited 1024 cycles or more (requests)
---@field requests integer Requests that the tags answered (requests)
---@field cycles integer Sum of their delays (cycles)
local QueueDelays = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.QueueDelays.Knobs
---@param ... any
---@return fun(argument?: integer)
function QueueDelays:setting(knobs, ...) end

---@class warpwright.Router.Values
---@field up integer Local ports towards requesters (ports)
---@field down integer Local ports towards the L2 slices (ports)
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

---@class (exact) warpwright.Router.Knobs

---Router of a mesh, a torus or a ring: virtual cut-through, credits, virtual channels
---@class warpwright.Router: warpwright.Handle, warpwright.Router.Values
---@field packets_in integer Packets that entered the network here (packets)
---@field packets_out integer Packets that left the network here (packets)
---@field hops integer Channels that the packets which left here have crossed (channels)
---@field latency_ticks integer Time in the network of the packets that left here (ticks)
---@field conflicts integer Packets that lost an arbitration, once for each (packets)
---@field credit_stall_cycles integer Cycles in which a virtual channel's next packet found no room behind a free channel (cycles)
---@field buffered_flits integer Flits in the buffers, summed over cycles (flits)
---@field east_flits integer Flits sent to the east (flits)
---@field west_flits integer Flits sent to the west (flits)
---@field south_flits integer Flits sent to the south (flits)
---@field north_flits integer Flits sent to the north (flits)
---@field local_flits integer Flits that crossed to local ports (flits)
local Router = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.Router.Knobs
---@param ... any
---@return fun(argument?: integer)
function Router:setting(knobs, ...) end

---The first message of an input, nil without one: issued and came are ticks, those of its first requester's sending it and of its coming here
---@param input integer 0 to 63
---@return integer? class
---@return integer? sm
---@return integer? warp
---@return integer? pc
---@return boolean? write
---@return integer? issued
---@return integer? came
function Router:head(input) end

---@class warpwright.SM.Values
---@field warps integer Warps that can be resident (warps)
---@field schedulers integer Warp schedulers; warp w belongs to scheduler w mod schedulers (schedulers)
---@field sub_cores integer Parts of the SM with as many schedulers each, and with collectors, units, register banks and fetch of their own; warp w belongs to sub-core w mod sub_cores (sub-cores)
---@field registers integer 32-bit registers (registers)
---@field ctas integer CTAs that can be resident (CTAs)
---@field shared integer Shared memory; a CTA takes pieces of 128 B of it (bytes)
---@field reserved_shared integer Shared memory that each CTA takes beside its own, for the system (bytes)
---@field scheduler "lrr"|"gto"|"oldest"|"groups" Order of the warp schedulers: a knob
---@field first "any"|"memory"|"compute" Kind of instruction that goes before others: a knob
---@field group_size integer Order groups: warps of a scheduler in a fetch group (warps): a knob
---@field group_order "lrr"|"gto" Order groups: order within a fetch group and between them: a knob
---@field warp_limit integer Warps of a scheduler that may issue, the oldest; others of a CTA may catch up to its barrier, and warps that spin, at locks, flags or mbarriers, issue and do not count (warps): a knob
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

---@class (exact) warpwright.SM.Knobs
---@field scheduler? "lrr"|"gto"|"oldest"|"groups" Order of the warp schedulers
---@field first? "any"|"memory"|"compute" Kind of instruction that goes before others
---@field group_size? integer|fun(argument: integer): integer Order groups: warps of a scheduler in a fetch group (warps)
---@field group_order? "lrr"|"gto" Order groups: order within a fetch group and between them
---@field warp_limit? integer|fun(argument: integer): integer Warps of a scheduler that may issue, the oldest; others of a CTA may catch up to its barrier, and warps that spin, at locks, flags or mbarriers, issue and do not count (warps)
---@field may_issue? integer|fun(argument: integer): integer Warps that may issue (warps)
---@field may_issue_memory? integer|fun(argument: integer): integer Warps that may issue memory instructions (warps)
---@field may_load? integer|fun(argument: integer): integer Warps that may issue loads and atomics of global and local memory (warps)
---@field preferred? integer|fun(argument: integer): integer Warps that go before the others (warps)
---@field watched? integer|fun(argument: integer): integer Watched warps: one emits an event once it waits for a load or stops, and is then no longer watched; nor is one that does not live yet, so a warp is watched from on_cta_start on (warps)

---Streaming multiprocessor: warps, schedulers, scoreboard, operand collectors, pipelines
---@class warpwright.SM: warpwright.Handle, warpwright.SM.Values
---@field live integer Warps with lanes that have not exited (warps)
---@field valid integer Warps with a decoded instruction (warps)
---@field blocked integer Warps whose next instruction waits for operands (warps)
---@field waiting integer Warps at a barrier or fence, or asleep (warps)
---@field head_memory integer Warps whose next instruction goes to the LSU (warps)
---@field head_sfu integer Warps whose next instruction goes to the SFU (warps)
---@field head_int integer Warps whose next instruction goes to the units for integers (warps)
---@field head_dp integer Warps whose next instruction goes to the units for double precision (warps)
---@field head_matrix integer Warps whose next instruction goes to the units for matrices; those of all others, to the SP (warps)
---@field loading integer Warps with loads or atomics in flight (warps)
---@field spinning integer Warps that go round in a loop, look again for what others do (a lock, a flag, an mbarrier), and find nothing new (warps)
---@field may_issue integer Warps that may issue (warps): a knob
---@field may_issue_memory integer Warps that may issue memory instructions (warps): a knob
---@field may_load integer Warps that may issue loads and atomics of global and local memory (warps): a knob
---@field preferred integer Warps that go before the others (warps): a knob
---@field watched integer Watched warps: one emits an event once it waits for a load or stops, and is then no longer watched; nor is one that does not live yet, so a warp is watched from on_cta_start on (warps): a knob
---@field saturated integer After watch_caches(): one of the L1s behind the load/store unit is nearly full of misses
---@field allowed integer Warps that may issue and are within warp_limit (warps)
---@field dma_parked integer Warps that wait for transfers (warps)
---@field warp_instructions integer Warp instructions issued (instructions)
---@field thread_instructions integer Instructions times lanes that execute them: not those that a predicate switches off, and of a branch those that jump (instructions)
---@field ctas_started integer CTAs started (CTAs)
---@field ctas_finished integer CTAs finished (CTAs)
---@field slots_issued integer Scheduler slots in which a warp issued (slots)
---@field slots_idle integer Scheduler slots without any warp (slots)
---@field slots_fetch integer Slots in which no warp had a decoded instruction (slots)
---@field slots_scoreboard integer Slots lost to arithmetic dependences (slots)
---@field slots_memory integer Slots lost waiting for loads and atomics (slots)
---@field slots_barrier integer Slots lost at barriers, fences, and to sleep (slots)
---@field slots_unit integer Slots lost because units other than the LSU took nothing (slots)
---@field slots_lsu integer Slots lost because the memory pipeline took nothing (slots)
---@field slots_policy integer Slots lost because the policy forbade the ready (slots)
---@field slots_dma integer Slots lost to instructions squashed for a transfer, or waiting for one (slots)
---@field barriers integer Warp arrivals at barriers (instructions)
---@field branches integer Warp branches (instructions)
---@field divergent_branches integer Branches at which a warp's lanes parted (instructions)
---@field fetch_hits integer Fetches that found their line in the instruction cache (fetches)
---@field fetch_misses integer Fetches that asked for their line (fetches)
---@field fetch_merges integer Fetches whose line was in flight (fetches)
---@field fetch_fails integer Fetches that found no room to ask for their line, once per cycle (fetches)
---@field sp_instructions integer Warp instructions of the SP units (instructions)
---@field sfu_instructions integer Warp instructions of the SFU (instructions)
---@field int_instructions integer Warp instructions of the units for integers (instructions)
---@field dp_instructions integer Warp instructions of the units for double precision (instructions)
---@field matrix_instructions integer Warp instructions of the units for matrices (instructions)
---@field mem_instructions integer Warp instructions of the LSU (instructions)
---@field dma_squashes integer Issues undone because a transfer was in flight (instructions)
---@field dma_parked_cycles integer Cycles of warps that waited for transfers (cycles)
---@field transfer_stall_cycles integer All resident CTAs had a transfer in flight, and no warp issued (cycles)
---@field tiles integer Tiles copied between marks (tiles)
---@field tile_agen_cycles integer Overhead: from the begin of a marked tile to its first global load, all tiles (cycles)
---@field tile_mem_cycles integer Memory time: from there to the end of the tile, all tiles (cycles)
---@field tile_cycles integer From the begin of a marked tile to its end, all tiles (cycles)
---@field tile_stall_cycles integer All resident CTAs were copying a marked tile, and no warp issued (cycles)
local SM = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.SM.Knobs
---@param ... any
---@return fun(argument?: integer)
function SM:setting(knobs, ...) end

---The n oldest warps of the set
---@param set integer a set of warps
---@param n integer
---@return integer warps
function SM:oldest(set, n) end

---The warps of the n oldest CTAs of which a warp lives
---@param n integer
---@return integer warps
function SM:oldest_ctas(n) end

---The warps of the scheduler
---@param scheduler integer 0 to schedulers - 1
---@return integer warps
function SM:warps_of(scheduler) end

---The warp that the scheduler issued last
---@param scheduler integer 0 to schedulers - 1
---@return integer warp
function SM:last(scheduler) end

---The warps of the warp's CTA
---@param warp integer 0 to warps - 1
---@return integer warps
function SM:cta_warps(warp) end

---The warps whose next instruction goes to the LSU and has its operands
---@return integer warps
function SM:memory_ready() end

---The oldest of these, or nil
---@return integer? warp
function SM:oldest_memory_ready() end

---The warp of the first of all accesses that have issued and that no L1 has taken or put into its re-execution queue, those to constants left out; or nil
---@return integer? warp
function SM:first_issued() end

---Whether an access of the warp has issued and is not yet taken by the L1 that serves it: it is in the load/store unit, before it, behind it, or in the L1
---@param warp integer 0 to warps - 1
---@return boolean holds
function SM:holds_accesses(warp) end

---From now on no event of a watched warp is emitted while it holds_accesses(), and to set `watched` has no effect on it; instead the SM watches each warp whose access an L1 takes, unless all may issue memory instructions
function SM:watch_taken() end

---From now on the SM follows the L1s behind its load/store unit: `saturated` is kept, and the events saturation and memory_access are emitted
function SM:watch_caches() end

---Of this SM among all, from 0
---@return integer number
function SM:number() end

---CTAs of the present kernel that the SM holds at once, in its slots 0, 1, ...; of any kernels, where it may hold those of several
---@return integer ctas
function SM:ctas_per_sm() end

---Warps n of a CTA of the present kernel; those of slot s are s * n to s * n + n - 1. Where the SM may hold CTAs of several kernels it is an error, and cta_warps() tells
---@return integer n
function SM:warps_per_cta() end

---What a CTA of the present kernel takes of the SM: warps, of `registers` so many, bytes of `shared`. An error where the SM may hold CTAs of several kernels
---@return integer warps
---@return integer registers
---@return integer shared
function SM:cta_needs() end

---Of the kernel whose CTA the warp is or was of: its number among the run's launches, from 0. In a question of another object, of the kernel that the SM runs; an error where it may hold CTAs of several
---@param warp integer 0 to warps - 1
---@return integer launch
function SM:launch_of(warp) end

---The tenant of this kernel, as the launch names it: 0 unless it does
---@param warp integer 0 to warps - 1
---@return integer tenant
function SM:tenant_of(warp) end

---Of the present kernel, or nil: the opcode ("ld.global.f32"), the line in the PTX, the line and the file that .loc names (0, nil: none), and where a branch goes (-1: no branch). An error where the SM may hold CTAs of several kernels
---@param pc integer 0 to 4294967295
---@return string? opcode
---@return integer? line
---@return integer? cuda_line
---@return string? cuda_file
---@return integer? target
function SM:instruction(pc) end

---The same of the kernel that launch_of() names
---@param warp integer 0 to warps - 1
---@param pc integer 0 to 4294967295
---@return string? opcode
---@return integer? line
---@return integer? cuda_line
---@return string? cuda_file
---@return integer? target
function SM:instruction_of(warp, pc) end

---Of a warp that lives, its next instruction, whether it has been fetched or not: a pc for instruction(); else nil
---@param warp integer 0 to warps - 1
---@return integer? pc
function SM:next_pc(warp) end

---The warp issues nothing for so many cycles, as by nanosleep. False where it has exited, or waits at a barrier or a fence, or sleeps; and where other lanes of it go on instead, from the end of a loop in which those that spin wait for them. From hooks only
---@param warp integer 0 to warps - 1
---@param cycles integer 1 to 1048576
---@return boolean sleeps
function SM:sleep(warp, cycles) end

---The number on all requests of these warps from now on; 0 until it is set. One policy of a run sets them
---@param warps integer a set of warps
---@param class integer 0 to 31
function SM:set_class(warps, class) end

---The number on the warp's requests
---@param warp integer 0 to 63
---@return integer class
function SM:class_of(warp) end

---The warps of the class
---@param class integer 0 to 31
---@return integer warps
function SM:warps_in(class) end

---@class warpwright.ShadowTags.Values
---@field entries integer Tags in all (tags)
---@field ways integer Tags per set (tags)

---@class (exact) warpwright.ShadowTags.Knobs

---Tags of the lines that requests which passed an L2 slice by asked for last
---@class warpwright.ShadowTags: warpwright.Handle, warpwright.ShadowTags.Values
---@field asked integer Requests that passed the cache by (accesses)
---@field found integer Of these: for a line that had a tag (accesses)
local ShadowTags = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.ShadowTags.Knobs
---@param ... any
---@return fun(argument?: integer)
function ShadowTags:setting(knobs, ...) end

---@class warpwright.TLB.Values
---@field page integer Of a page, the same in a TLB and in all TLBs and PageWalkers behind its walk (bytes)
---@field entries integer Pages whose translation it holds (pages)
---@field ways integer Of a set, of which the entry used longest ago goes; 0: all are one set (entries)
---@field misses integer Most that are asked for at a time (pages)
---@field requests integer Most that wait inside for their page (requests)

---@class (exact) warpwright.TLB.Knobs

---Holds requests up until their page's translation is there; answers other TLBs
---@class warpwright.TLB: warpwright.Handle, warpwright.TLB.Values
---@field hits integer Found their page (requests)
---@field misses integer Did not, and asked for it (requests)
---@field merges integer Did not, but it had been asked for (requests)
---@field fills integer Translations that came (pages)
---@field refused_fills integer Of these: took no entry, as policies wanted (pages)
---@field evictions integer Lost their entry to another (pages)
---@field passed integer Passed on (requests)
---@field translations integer Requests for translations that were answered (requests)
---@field responses integer Responses passed up (messages)
---@field miss_cycles integer From asking for a page until it came, over all pages (cycles)
---@field link_stalls integer Had to stay at `up`, first because the link onward was full (requests)
---@field link_stall_cycles integer From then until they went (cycles)
---@field place_stalls integer Had to stay at `up`, first because `requests` waited inside (requests)
---@field place_stall_cycles integer From then until they went (cycles)
---@field miss_stalls integer Had to stay at `up`, first because `misses` pages were asked for (requests)
---@field miss_stall_cycles integer From then until they went (cycles)
---@field walk_stalls integer Had to stay at `up`, first because the link of `walk` was full (requests)
---@field walk_stall_cycles integer From then until they went (cycles)
local TLB = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.TLB.Knobs
---@param ... any
---@return fun(argument?: integer)
function TLB:setting(knobs, ...) end

---Has the page of the address an entry?
---@param address integer
---@return boolean holds
function TLB:holds(address) end

---@class warpwright.TrafficSink.Values
---@field latency integer From taking a request to its answer (cycles)
---@field interval integer From taking a request to taking the next (cycles)
---@field capacity integer Most between taken and answered (requests)

---@class (exact) warpwright.TrafficSink.Knobs

---Takes and answers memory requests after a fixed time
---@class warpwright.TrafficSink: warpwright.Handle, warpwright.TrafficSink.Values
---@field received integer Requests taken (requests)
---@field received_bytes integer Asked for or written by them (bytes)
---@field posted_received integer Of these: want no answer (requests)
---@field answered integer Answers sent (requests)
---@field latency_ticks integer From coming into being to being taken, over all requests (ticks)
---@field longest_latency_ticks integer The longest of these times (ticks)
local TrafficSink = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.TrafficSink.Knobs
---@param ... any
---@return fun(argument?: integer)
function TrafficSink:setting(knobs, ...) end

---@class warpwright.TrafficSource.Values
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

---@class (exact) warpwright.TrafficSource.Knobs

---Makes memory requests at random, to measure what serves them
---@class warpwright.TrafficSource: warpwright.Handle, warpwright.TrafficSource.Values
---@field sent integer Requests sent (requests)
---@field sent_bytes integer Asked for or written by them (bytes)
---@field posted_sent integer Of these: want no answer (requests)
---@field answered integer Answers (requests)
---@field wait_cycles integer From coming into being to being sent, over all requests (cycles)
---@field longest_wait_cycles integer The longest of these times (cycles)
---@field latency_ticks integer From coming into being to the answer, over all answers (ticks)
---@field longest_latency_ticks integer The longest of these times (ticks)
local TrafficSource = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.TrafficSource.Knobs
---@param ... any
---@return fun(argument?: integer)
function TrafficSource:setting(knobs, ...) end

---@class warpwright.UtilityMonitor.Values
---@field by "sm"|"class" Who shares the cache
---@field sharers integer SMs or classes that are monitored, from 0 on (sharers)
---@field sampled_sets integer Sets of the cache that are sampled, at most all (sets)

---@class (exact) warpwright.UtilityMonitor.Knobs

---Counts the hits that each SM or class would have with any number of ways of a cache
---@class warpwright.UtilityMonitor: warpwright.Handle, warpwright.UtilityMonitor.Values
---@field sampled integer Accesses to sampled sets (accesses)
---@field found integer Of these: that a directory had (accesses)
local UtilityMonitor = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.UtilityMonitor.Knobs
---@param ... any
---@return fun(argument?: integer)
function UtilityMonitor:setting(knobs, ...) end

---Hits of SM or class `sharer` at this place in the order of use, 0 for the most recently used
---@param sharer integer 0 to sharers - 1
---@param place integer 0 to ways - 1
---@return integer hits
function UtilityMonitor:hits(sharer, place) end

---Its accesses that would miss with all ways, too
---@param sharer integer 0 to sharers - 1
---@return integer misses
function UtilityMonitor:missed(sharer) end

---Halves all these counts
function UtilityMonitor:halve() end

---@class warpwright.VictimCache.Values
---@field lines integer Lines that it holds (lines)
---@field ways integer Of each set, a divisor of lines; 0: as lines, it is fully associative (ways)

---@class (exact) warpwright.VictimCache.Knobs
---@field open_ways? integer|fun(argument: integer): integer Ways of each set that take lines; what the others hold is dropped. More than 64: all or none (ways)

---Lines that an L1 has replaced, to be exchanged when they are needed again
---@class warpwright.VictimCache: warpwright.Handle, warpwright.VictimCache.Values
---@field open_ways integer Ways of each set that take lines; what the others hold is dropped. More than 64: all or none (ways): a knob
---@field insertions integer Lines that the L1 has replaced (lines)
---@field exchanges integer Misses of the L1 that found their line here; a cycle each (accesses)
---@field drops integer Lines that were written below, fetched again, or in ways that were closed (lines)
local VictimCache = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.VictimCache.Knobs
---@param ... any
---@return fun(argument?: integer)
function VictimCache:setting(knobs, ...) end

---@class warpwright.VictimTags.Values
---@field cache string The L1 that it is attached to: by its name beside these tags, or its path (name)
---@field warps integer Warps that have an array (warps)
---@field entries integer Tags of each warp (tags)
---@field ways integer Tags per set (tags)
---@field sm integer Number of the SM that it serves; 65535: all that use the cache (SM)

---@class (exact) warpwright.VictimTags.Knobs

---Tags of the lines that each warp has lost from an L1
---@class warpwright.VictimTags: warpwright.Handle, warpwright.VictimTags.Values
---@field insertions integer Replaced lines whose tags were kept (lines)
---@field probes integer Misses looked up (accesses)
---@field hits integer Of them, of lines that the warp had lost (accesses)
local VictimTags = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.VictimTags.Knobs
---@param ... any
---@return fun(argument?: integer)
function VictimTags:setting(knobs, ...) end

---@class warpwright.WarpSampler.Values
---@field warm_up integer Answers that make a sample; 0: none does (accesses)
---@field gap integer A warp that gets no answer for longer is counted from zero again; 0: it never is (cycles)
---@field merges boolean A request for a line on its way to the second level is a hit
---@field bypasses boolean Requests that passed the second level by are counted: as hits where they would have hit
---@field caches string The caches before the second level, PATH,PATH...; empty: the L1s beside it (paths)
---@field sm integer Number of the SM that it serves; 65535: all that use these caches (SM)

---@class (exact) warpwright.WarpSampler.Knobs

---Counts for each warp of an SM its requests to the second level, and those that hit there
---@class warpwright.WarpSampler: warpwright.Handle, warpwright.WarpSampler.Values
---@field answers integer Answers of the second level (answers)
---@field answers_hit integer Of these: it had the data, or as merges and bypasses say (answers)
---@field answers_uncounted integer Answers to requests that passed it by, where these are not counted (answers)
---@field answers_of_class integer Of both: to requests of a class other than 0 (answers)
---@field samples integer Times that a warp reached warm_up answers (samples)
---@field gaps integer Times that a gap cleared counters (gaps)
local WarpSampler = {}

---Checks values for several knobs and returns a function that sets them; more objects and their knobs may follow.
---@param knobs warpwright.WarpSampler.Knobs
---@param ... any
---@return fun(argument?: integer)
function WarpSampler:setting(knobs, ...) end

---These warps are sampled from zero again
---@param warps integer a set of warps
function WarpSampler:restart(warps) end

---The core cycle of the second level's last answer to the warp; 0: none yet
---@param warp integer 0 to 63
---@return integer cycle
function WarpSampler:served(warp) end


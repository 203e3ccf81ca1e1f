#include "core/sass/opcodes.h"

#include <stdlib.h>
#include <string.h>

#define STEP(name, timing)                                                                                   \
    { name, SASS_STEP, timing, SPACE_NONE, 0 }
#define WIDE(name, timing)                                                                                   \
    { name, SASS_STEP, timing, SPACE_NONE, 1 }
#define ACCESS(name, action, space)                                                                          \
    { name, action, TIMING_MEM, space, 0 }

/* Of Kepler's instruction set to Blackwell's, in the order of strcmp(). What is no arithmetic and not here, such as moves, logic,
 * conversions, jumps and what works on uniform registers alone, is in `moves`. */
static const SassOpcode opcodes[] = {
    ACCESS("ATOM", SASS_ATOMIC, SPACE_GENERIC),
    ACCESS("ATOMG", SASS_ATOMIC, SPACE_GLOBAL),
    ACCESS("ATOMS", SASS_ATOMIC, SPACE_SHARED),
    {"BAR", SASS_BARRIER, TIMING_OTHER, SPACE_NONE, 0},
    STEP("BGMMA", TIMING_MATRIX_LONG),
    STEP("BMMA", TIMING_MATRIX_SHORT),
    WIDE("DADD", TIMING_DP_ADD),
    {"DEPBAR", SASS_WAIT, TIMING_OTHER, SPACE_NONE, 0},
    WIDE("DFMA", TIMING_DP_MAD),
    WIDE("DMMA", TIMING_MATRIX_DP),
    WIDE("DMNMX", TIMING_DP_MAX),
    WIDE("DMUL", TIMING_DP_MUL),
    WIDE("DSETP", TIMING_DP_ADD),
    {"EXIT", SASS_EXIT, TIMING_OTHER, SPACE_NONE, 0},
    STEP("FADD", TIMING_FP_ADD),
    WIDE("FADD2", TIMING_FP_ADD),
    STEP("FADD32I", TIMING_FP_ADD),
    STEP("FCMP", TIMING_FP_ADD),
    STEP("FFMA", TIMING_FP_MAD),
    WIDE("FFMA2", TIMING_FP_MAD),
    STEP("FFMA32I", TIMING_FP_MAD),
    STEP("FMNMX", TIMING_FP_MAX),
    STEP("FMNMX3", TIMING_FP_MAX),
    STEP("FMUL", TIMING_FP_MUL),
    WIDE("FMUL2", TIMING_FP_MUL),
    STEP("FMUL32I", TIMING_FP_MUL),
    STEP("FSET", TIMING_FP_ADD),
    STEP("FSETP", TIMING_FP_ADD),
    STEP("FSWZADD", TIMING_FP_ADD),
    STEP("HADD2", TIMING_FP_ADD),
    STEP("HADD2_32I", TIMING_FP_ADD),
    STEP("HFMA2", TIMING_FP_MAD),
    STEP("HFMA2_32I", TIMING_FP_MAD),
    STEP("HGMMA", TIMING_MATRIX_LONG),
    STEP("HMMA", TIMING_MATRIX_SHORT),
    STEP("HMNMX2", TIMING_FP_MAX),
    STEP("HMUL2", TIMING_FP_MUL),
    STEP("HMUL2_32I", TIMING_FP_MUL),
    STEP("HSET2", TIMING_FP_ADD),
    STEP("HSETP2", TIMING_FP_ADD),
    STEP("IADD", TIMING_INT_ADD),
    STEP("IADD3", TIMING_INT_ADD),
    STEP("IADD32I", TIMING_INT_ADD),
    STEP("ICMP", TIMING_INT_ADD),
    STEP("IDP", TIMING_INT_MAD),
    STEP("IDP4A", TIMING_INT_MAD),
    STEP("IGMMA", TIMING_MATRIX_LONG),
    STEP("IMAD", TIMING_INT_MAD),
    STEP("IMAD32I", TIMING_INT_MAD),
    STEP("IMMA", TIMING_MATRIX_SHORT),
    STEP("IMNMX", TIMING_INT_MAX),
    STEP("IMUL", TIMING_INT_MUL),
    STEP("IMUL32I", TIMING_INT_MUL),
    STEP("ISAD", TIMING_INT_MAD),
    STEP("ISCADD", TIMING_INT_ADD),
    STEP("ISET", TIMING_INT_ADD),
    STEP("ISETP", TIMING_INT_ADD),
    ACCESS("LD", SASS_LOAD, SPACE_GENERIC),
    ACCESS("LDG", SASS_LOAD, SPACE_GLOBAL),
    {"LDGDEPBAR", SASS_COMMIT, TIMING_OTHER, SPACE_NONE, 0},
    ACCESS("LDGSTS", SASS_COPY, SPACE_GLOBAL),
    ACCESS("LDL", SASS_LOAD, SPACE_LOCAL),
    ACCESS("LDS", SASS_LOAD, SPACE_SHARED),
    ACCESS("LDSM", SASS_ROWS, SPACE_SHARED),
    STEP("LEA", TIMING_INT_ADD),
    {"MEMBAR", SASS_FENCE, TIMING_OTHER, SPACE_NONE, 0},
    STEP("MUFU", TIMING_SFU),
    STEP("OMMA", TIMING_MATRIX_SHORT),
    STEP("QGMMA", TIMING_MATRIX_LONG),
    STEP("QMMA", TIMING_MATRIX_SHORT),
    ACCESS("RED", SASS_ATOMIC, SPACE_GLOBAL),
    ACCESS("REDG", SASS_ATOMIC, SPACE_GLOBAL),
    STEP("RRO", TIMING_SFU),
    STEP("SHFL", TIMING_SHUFFLE),
    ACCESS("ST", SASS_STORE, SPACE_GENERIC),
    ACCESS("STG", SASS_STORE, SPACE_GLOBAL),
    ACCESS("STL", SASS_STORE, SPACE_LOCAL),
    ACCESS("STS", SASS_STORE, SPACE_SHARED),
    ACCESS("STSM", SASS_STORED_ROWS, SPACE_SHARED),
    STEP("UFADD", TIMING_FP_ADD),
    STEP("UFFMA", TIMING_FP_MAD),
    STEP("UFMUL", TIMING_FP_MUL),
    STEP("UFSETP", TIMING_FP_ADD),
    STEP("UIADD3", TIMING_INT_ADD),
    STEP("UIMAD", TIMING_INT_MAD),
    STEP("UIMNMX", TIMING_INT_MAX),
    STEP("UISETP", TIMING_INT_ADD),
    STEP("ULEA", TIMING_INT_ADD),
    STEP("UVIADD", TIMING_INT_ADD),
    STEP("UVIMNMX", TIMING_INT_MAX),
    STEP("VABSDIFF", TIMING_INT_MAD),
    STEP("VABSDIFF4", TIMING_INT_MAD),
    STEP("VHMNMX", TIMING_FP_MAX),
    STEP("VIADD", TIMING_INT_ADD),
    STEP("VIADDMNMX", TIMING_INT_ADD),
    STEP("VIMNMX", TIMING_INT_MAX),
    STEP("VIMNMX3", TIMING_INT_MAX),
    STEP("XMAD", TIMING_INT_MAD),
};

/* The same order. Loads of constants, textures and surfaces are among them: traces do not have their addresses. */
static const char *const moves[] = {
    "ACQBULK",       "ARRIVES",     "B2R",
    "BFE",           "BFI",         "BMOV",
    "BMSK",          "BPT",         "BRA",
    "BREAK",         "BREV",        "BRK",
    "BRX",           "BRXU",        "BSSY",
    "BSYNC",         "CAL",         "CALL",
    "CCTL",          "CCTLL",       "CCTLT",
    "CGAERRBAR",     "CONT",        "CREATEPOLICY",
    "CREDUX",        "CS2R",        "CS2UR",
    "CSET",          "CSETP",       "ELECT",
    "ENDCOLLECTIVE", "ERRBAR",      "F2F",
    "F2FP",          "F2I",         "F2IP",
    "FCHK",          "FENCE",       "FLO",
    "FRND",          "FSEL",        "I2F",
    "I2FP",          "I2I",         "I2IP",
    "IABS",          "JCAL",        "JMP",
    "JMX",           "JMXU",        "KILL",
    "LDC",           "LDCU",        "LDTM",
    "LDTRAM",        "LEPC",        "LONGJMP",
    "LOP",           "LOP3",        "LOP32I",
    "MATCH",         "MOV",         "MOV32I",
    "MOVM",          "NANOSLEEP",   "NOP",
    "P2R",           "PBK",         "PCNT",
    "PEXIT",         "PLONGJMP",    "PLOP3",
    "POPC",          "PREEXIT",     "PRET",
    "PRMT",          "PSET",        "PSETP",
    "QSPC",          "R2B",         "R2P",
    "R2UR",          "REDAS",       "REDUX",
    "RET",           "RPCMOV",      "RTT",
    "S2R",           "S2UR",        "SEL",
    "SETCTAID",      "SETLMEMBASE", "SGXT",
    "SHF",           "SHL",         "SHR",
    "SSY",           "STAS",        "STTM",
    "SUATOM",        "SULD",        "SURED",
    "SUST",          "SYNC",        "SYNCS",
    "TEX",           "TEXS",        "TLD",
    "TLD4",          "TLD4S",       "TLDS",
    "TMML",          "TXD",         "TXQ",
    "UBLKCP",        "UBLKPF",      "UBLKRED",
    "UBMSK",         "UBREV",       "UCGABAR_ARV",
    "UCGABAR_WAIT",  "UCLEA",       "UF2F",
    "UF2FP",         "UF2I",        "UFLO",
    "UFRND",         "UFSEL",       "UGETNEXTWORKID",
    "UI2F",          "UI2FP",       "UI2I",
    "UI2IP",         "ULDC",        "ULEPC",
    "ULOP",          "ULOP3",       "ULOP32I",
    "UMOV",          "UP2UR",       "UPLOP3",
    "UPOPC",         "UPRMT",       "UPSETP",
    "UR2UP",         "USEL",        "USETMAXREG",
    "USETSHMSZ",     "USGXT",       "USHF",
    "USHL",          "USHR",        "UTCATOMSWS",
    "UTCBAR",        "UTCCP",       "UTCHMMA",
    "UTCIMMA",       "UTCOMMA",     "UTCQMMA",
    "UTCSHIFT",      "UTMACCTL",    "UTMACMDFLUSH",
    "UTMALDG",       "UTMAPF",      "UTMAREDG",
    "UTMASTG",       "UVIRTCOUNT",  "VOTE",
    "VOTEU",         "WARPGROUP",   "WARPGROUPSET",
    "WARPSYNC",      "YIELD",
};

static const SassOpcode other = STEP("", TIMING_OTHER);

typedef struct {
    const char *text;
    size_t length;
} Name;

static int compare_name(const Name *name, const char *with) {
    size_t length = strlen(with);
    int order = memcmp(name->text, with, name->length < length ? name->length : length);
    return order ? order : (name->length > length) - (name->length < length);
}

static int compare_opcode(const void *name, const void *opcode) {
    return compare_name(name, ((const SassOpcode *)opcode)->name);
}

static int compare_move(const void *name, const void *move) {
    return compare_name(name, *(const char *const *)move);
}

const SassOpcode *sass_opcode(const char *text, size_t length) {
    const char *dot = memchr(text, '.', length);
    Name name = {text, dot ? (size_t)(dot - text) : length};
    const SassOpcode *found = bsearch(&name, opcodes, sizeof opcodes / sizeof *opcodes, sizeof *opcodes,
                                      compare_opcode);
    if (found) return found;
    return bsearch(&name, moves, sizeof moves / sizeof *moves, sizeof *moves, compare_move) ? &other : NULL;
}

const SassOpcode *sass_other(void) {
    return &other;
}

TimingClass sass_timing(const SassOpcode *opcode, const char *text) {
    static const char *const large[] = {".16816", ".16832", ".16864", ".168128", ".168256"};
    if (opcode->timing != TIMING_MATRIX_SHORT) return (TimingClass)opcode->timing;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        if (strstr(text, large[i])) return TIMING_MATRIX_LONG;
    return TIMING_MATRIX_SHORT;
}

bool sass_has_modifier(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = strchr(text, '.'); at; at = strchr(at + 1, '.'))
        if (!strncmp(at + 1, word, length) && (at[length + 1] == '.' || !at[length + 1])) return true;
    return false;
}

/* The first modifier of digits alone: 16816 is 16 x 8 x 16. False: there is none. */
static bool find_shape(const char *text, uint32_t *m, uint32_t *n, uint32_t *k) {
    for (const char *at = strchr(text, '.'); at; at = strchr(at + 1, '.')) {
        const char *rows = at + 1, *columns = rows + (rows[0] == '1' ? 2 : 1);
        size_t digits = strspn(rows, "0123456789");
        if (digits < 3 || digits > 6 || (rows[digits] && rows[digits] != '.')) continue;
        *m = rows[0] == '1' ? 16 : 8;
        *n = 8;
        *k = (uint32_t)strtoul(columns + 1, NULL, 10);
        return columns[0] == '8' && *k && *k <= 256;
    }
    return false;
}

static uint32_t element_bits(const SassOpcode *opcode, const char *text) {
    if (opcode->timing == TIMING_MATRIX_DP) return 64;
    if (opcode->name[0] == 'B') return 1;
    if (opcode->name[0] == 'O') return 4;
    if (opcode->name[0] == 'H') return sass_has_modifier(text, "TF32") ? 32 : 16;
    return sass_has_modifier(text, "S4") || sass_has_modifier(text, "U4") ? 4 : 8;
}

static uint32_t registers_of(uint32_t elements, uint32_t bits) {
    uint32_t registers = elements * bits / (32 * 32);
    return registers ? registers : 1;
}

/* The lanes of a warp share the elements of each matrix evenly. A step of Volta's HMMA.884 has two registers of each. */
MatrixRegisters sass_matrix_registers(const SassOpcode *opcode, const char *text) {
    MatrixRegisters none = {{0}, 0}, steps = {{2, 2, 2}, 2};
    bool is_matrix = opcode->timing == TIMING_MATRIX_SHORT || opcode->timing == TIMING_MATRIX_DP;
    uint32_t m, n, k;
    if (!is_matrix || !find_shape(text, &m, &n, &k)) return none;
    if (opcode->name[0] == 'H' && k == 4 && m == 8) return steps;
    uint32_t bits = element_bits(opcode, text), of_sum = 32;
    if (bits == 64) of_sum = 64;
    if (strchr("HQ", opcode->name[0]) && !sass_has_modifier(text, "F32")) of_sum = 16;
    uint32_t stored = sass_has_modifier(text, "SP") ? k / 2 : k; /* of a sparse matrix half of its elements */
    uint32_t sums = registers_of(m * n, of_sum);
    return (MatrixRegisters){{registers_of(m * stored, bits), registers_of(k * n, bits), sums}, sums};
}

uint32_t sass_row_matrices(const char *text) {
    return sass_has_modifier(text, "4") ? 4 : sass_has_modifier(text, "2") ? 2 : 1;
}

CacheOp sass_cache_op(const char *text) {
    if (strstr(text, ".STRONG") || strstr(text, ".BYPASS")) return CACHE_GLOBAL;
    return strncmp(text, "LDG", 3) == 0 && sass_has_modifier(text, "CONSTANT") ? CACHE_READ_ONLY
                                                                               : CACHE_DEFAULT;
}

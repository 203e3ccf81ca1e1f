#include "core/sass/opcodes.h"

#include <stdlib.h>
#include <string.h>

#define STEP(name, timing)                                                                                   \
    { name, SASS_STEP, timing, SPACE_NONE, 0 }
#define WIDE(name, timing)                                                                                   \
    { name, SASS_STEP, timing, SPACE_NONE, 1 }
#define ACCESS(name, action, space)                                                                          \
    { name, action, TIMING_MEM, space, 0 }

/* Of Kepler's instruction set to Ampere's, in the order of strcmp(). What is no arithmetic and not here, such as moves, logic,
 * conversions, jumps and what works on uniform registers alone, is in `moves`. */
static const SassOpcode opcodes[] = {
    ACCESS("ATOM", SASS_ATOMIC, SPACE_GENERIC),
    ACCESS("ATOMG", SASS_ATOMIC, SPACE_GLOBAL),
    ACCESS("ATOMS", SASS_ATOMIC, SPACE_SHARED),
    {"BAR", SASS_BARRIER, TIMING_OTHER, SPACE_NONE, 0},
    STEP("BMMA", TIMING_MATRIX_SHORT),
    WIDE("DADD", TIMING_DP_ADD),
    WIDE("DFMA", TIMING_DP_MAD),
    WIDE("DMMA", TIMING_MATRIX_DP),
    WIDE("DMNMX", TIMING_DP_MAX),
    WIDE("DMUL", TIMING_DP_MUL),
    WIDE("DSETP", TIMING_DP_ADD),
    {"EXIT", SASS_EXIT, TIMING_OTHER, SPACE_NONE, 0},
    STEP("FADD", TIMING_FP_ADD),
    STEP("FADD32I", TIMING_FP_ADD),
    STEP("FCMP", TIMING_FP_ADD),
    STEP("FFMA", TIMING_FP_MAD),
    STEP("FFMA32I", TIMING_FP_MAD),
    STEP("FMNMX", TIMING_FP_MAX),
    STEP("FMUL", TIMING_FP_MUL),
    STEP("FMUL32I", TIMING_FP_MUL),
    STEP("FSET", TIMING_FP_ADD),
    STEP("FSETP", TIMING_FP_ADD),
    STEP("FSWZADD", TIMING_FP_ADD),
    STEP("HADD2", TIMING_FP_ADD),
    STEP("HADD2_32I", TIMING_FP_ADD),
    STEP("HFMA2", TIMING_FP_MAD),
    STEP("HFMA2_32I", TIMING_FP_MAD),
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
    ACCESS("LDGSTS", SASS_COPY, SPACE_GLOBAL),
    ACCESS("LDL", SASS_LOAD, SPACE_LOCAL),
    ACCESS("LDS", SASS_LOAD, SPACE_SHARED),
    ACCESS("LDSM", SASS_LOAD, SPACE_SHARED),
    STEP("LEA", TIMING_INT_ADD),
    {"MEMBAR", SASS_FENCE, TIMING_OTHER, SPACE_NONE, 0},
    STEP("MUFU", TIMING_SFU),
    ACCESS("RED", SASS_ATOMIC, SPACE_GLOBAL),
    STEP("RRO", TIMING_SFU),
    STEP("SHFL", TIMING_SHUFFLE),
    ACCESS("ST", SASS_STORE, SPACE_GENERIC),
    ACCESS("STG", SASS_STORE, SPACE_GLOBAL),
    ACCESS("STL", SASS_STORE, SPACE_LOCAL),
    ACCESS("STS", SASS_STORE, SPACE_SHARED),
    STEP("UIADD3", TIMING_INT_ADD),
    STEP("UIMAD", TIMING_INT_MAD),
    STEP("UISETP", TIMING_INT_ADD),
    STEP("ULEA", TIMING_INT_ADD),
    STEP("VABSDIFF", TIMING_INT_MAD),
    STEP("XMAD", TIMING_INT_MAD),
};

/* The same order. Loads of constants, textures and surfaces are among them: traces do not have their addresses. */
static const char *const moves[] = {
    "B2R",        "BFE",       "BFI",     "BMOV",   "BMSK",  "BPT",    "BRA",    "BREAK",    "BREV",
    "BRK",        "BRX",       "BRXU",    "BSSY",   "BSYNC", "CAL",    "CALL",   "CCTL",     "CCTLL",
    "CCTLT",      "CONT",      "CS2R",    "CSET",   "CSETP", "DEPBAR", "ERRBAR", "F2F",      "F2FP",
    "F2I",        "F2IP",      "FCHK",    "FLO",    "FRND",  "FSEL",   "I2F",    "I2FP",     "I2I",
    "I2IP",       "IABS",      "JCAL",    "JMP",    "JMX",   "JMXU",   "KILL",   "LDC",      "LDGDEPBAR",
    "LDTRAM",     "LEPC",      "LONGJMP", "LOP",    "LOP3",  "LOP32I", "MATCH",  "MOV",      "MOV32I",
    "MOVM",       "NANOSLEEP", "NOP",     "P2R",    "PBK",   "PCNT",   "PEXIT",  "PLONGJMP", "PLOP3",
    "POPC",       "PRET",      "PRMT",    "PSET",   "PSETP", "QSPC",   "R2B",    "R2P",      "R2UR",
    "REDUX",      "RET",       "RPCMOV",  "RTT",    "S2R",   "S2UR",   "SEL",    "SETCTAID", "SETLMEMBASE",
    "SGXT",       "SHF",       "SHL",     "SHR",    "SSY",   "SUATOM", "SULD",   "SURED",    "SUST",
    "SYNC",       "TEX",       "TEXS",    "TLD",    "TLD4",  "TLD4S",  "TLDS",   "TMML",     "TXD",
    "TXQ",        "UBMSK",     "UBREV",   "UCLEA",  "UF2FP", "UFLO",   "ULDC",   "ULOP",     "ULOP3",
    "ULOP32I",    "UMOV",      "UP2UR",   "UPLOP3", "UPOPC", "UPRMT",  "UPSETP", "UR2UP",    "USEL",
    "USETMAXREG", "USGXT",     "USHF",    "USHL",   "USHR",  "VOTE",   "VOTEU",  "WARPSYNC", "YIELD",
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

CacheOp sass_cache_op(const char *text) {
    return strstr(text, ".STRONG") ? CACHE_GLOBAL : CACHE_DEFAULT;
}

/* mov: copies, packing, unpacking. */
#include "tests/conformance/reference.h"

#include <string.h>

static void apply_copy(const Job *job, const uint64_t *in, Result *out) {
    put(out, low_bits(in[0], job->bits));
}

/* The signature says how many parts there are on each side. */
static void apply_parts(const Job *job, const uint64_t *in, Result *out) {
    uint64_t whole = 0;
    int part = job->bits / job->lanes;
    if (job->from_bits) {
        for (int k = 0; k < job->lanes; k++)
            whole |= low_bits(in[k], part) << part * k;
        put(out, whole);
    } else {
        for (int k = 0; k < job->lanes; k++)
            put(&out[k], low_bits(in[0] >> part * k, part));
    }
}

bool move_reference(Job *job) {
    Form *form = &job->form;
    if (strcmp(form->opcode, "mov") != 0 && strcmp(form->opcode, "mov{pack}") != 0 &&
        strcmp(form->opcode, "mov{unpack}") != 0 && strcmp(form->opcode, "mov{pack4}") != 0 &&
        strcmp(form->opcode, "mov{unpack4}") != 0)
        return false;
    if (form->type_count != 1 || !only_types(form))
        return job_refused(job, UNKNOWN_FORM, "no reference of these types"), true;
    const char *type = form->types[0];
    job->bits = type_bits(type);
    if (job->bits == 128) return job_refused(job, ELSEWHERE, "ld.b128, st.b128"), true;
    if (strchr(form->opcode, '{')) {
        job->from_bits = form->opcode[4] == 'p';
        job->lanes = form->opcode[strlen(form->opcode) - 2] == '4' ? 4 : 2;
        job_done(job, "mov", apply_parts, NULL);
        int part = job->bits / job->lanes;
        const char *const four[] = {"i%d:i%d,i%d,i%d,i%d d0, {s0, s1, s2, s3}",
                                    "i%d,i%d,i%d,i%d:i%d {d0, d1, d2, d3}, s0"};
        const char *const two[] = {"i%d:i%d,i%d d0, {s0, s1}", "i%d,i%d:i%d {d0, d1}, s0"};
        bool pack = job->from_bits;
        if (job->lanes == 4)
            add_signature(job, four[!pack], pack ? job->bits : part, part, part, part,
                          pack ? part : job->bits);
        else
            add_signature(job, two[!pack], pack ? job->bits : part, part, pack ? part : job->bits);
        return true;
    }
    job_done(job, "mov", apply_copy, NULL);
    if (strcmp(type, "pred") == 0) {
        add_signature(job, "p:p");
    } else if (strstr(type, "bf16") || strcmp(type, "f16") == 0) {
        add_signature(job, "i16:i16");
    } else {
        add_signature(job, "i%d:i%d", job->bits, job->bits);
    }
    return true;
}

/*
 * Instructions that store, each made once to plain memory, by the processor, and once to a doorbell
 * register, where strict mode stores in their place: both must hold the same bytes, and the general
 * registers the same values. Prints how many forms this processor has.
 */
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The registers that instructions below use as addresses, and that strings move. */
struct moved {
    char *to;
    const char *from;
    unsigned long count;
};

static const char pattern[256] __attribute__((aligned(64))) = {
#define EIGHT(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define ALL(n) EIGHT(n), EIGHT(n + 8), EIGHT(n + 16), EIGHT(n + 24), EIGHT(n + 32), EIGHT(n + 40), EIGHT(n + 48), EIGHT(n + 56)
    ALL(1), ALL(65), ALL(-127), ALL(-63)
};

/*
 * NAME(features that the processor must have, instructions): RDI is the target, RSI a pattern, RCX
 * 2.
 */
#define FORMS(F)                                                                                                        \
    F(mov8, "", "mov (%%rsi), %%rax; mov %%al, (%%rdi); mov %%ah, 9(%%rdi); mov (%%rsi), %%r9; mov %%r9b, 17(%%rdi)")    \
    F(mov8rex, "", "mov %%rsi, %%rbx; mov (%%rsi), %%rsi; mov %%sil, (%%rdi); mov %%rbx, %%rsi")                          \
    F(mov16, "", "mov (%%rsi), %%rdx; mov %%dx, 2(%%rdi, %%rcx, 4)")                                                     \
    F(mov32, "", "mov 8(%%rsi), %%r12; mov %%r12d, 4(%%rdi)")                                                            \
    F(mov64, "", "mov 16(%%rsi), %%rax; mov %%rax, (%%rdi)")                                                             \
    F(mov64base, "", "mov 16(%%rsi), %%r15; mov %%rdi, %%r12; mov %%r15, 8(%%r12); mov %%rdi, %%r13; mov %%r15, (%%r13)") \
    F(mov64sib, "", "mov 24(%%rsi), %%rbp; lea -256(%%rdi), %%r13; mov %%rbp, 256(%%r13, %%rcx, 8)")                      \
    F(mov64index, "", "mov 24(%%rsi), %%r8; lea (, %%rcx, 4), %%r14; mov %%r8, -8(%%rdi, %%r14, 2)")                      \
    F(mov64nobase, "", "mov 24(%%rsi), %%r8; mov %%rdi, %%rbx; shr $3, %%rbx; mov %%r8, 0x10(, %%rbx, 8)")                \
    F(immediate8, "", "movb $-3, 3(%%rdi)")                                                                              \
    F(immediate16, "", "movw $0x1234, 6(%%rdi)")                                                                         \
    F(immediate32, "", "movl $0x12345678, 8(%%rdi)")                                                                     \
    F(immediate64, "", "movq $-5, 16(%%rdi); mov %%rdi, %%r11; movq $7, 0x20(%%r11)")                                    \
    F(movnti, "", "mov (%%rsi), %%rax; movnti %%eax, (%%rdi); movnti %%rax, 8(%%rdi)")                                   \
    F(movbe, "movbe", "mov (%%rsi), %%r10; movbe %%r10, (%%rdi); movbe %%r10d, 8(%%rdi); movbe %%r10w, 16(%%rdi)")        \
    F(segment, "", "mov (%%rsi), %%rax; .byte 0x3e; mov %%rax, (%%rdi)")                                                 \
    F(movups, "", "movups (%%rsi), %%xmm1; movups %%xmm1, (%%rdi)")                                                      \
    F(movaps, "", "movups 5(%%rsi), %%xmm9; movaps %%xmm9, 16(%%rdi)")                                                   \
    F(movupd, "", "movups 5(%%rsi), %%xmm15; movupd %%xmm15, (%%rdi); movapd %%xmm15, 32(%%rdi)")                        \
    F(movss, "", "movups 7(%%rsi), %%xmm0; movss %%xmm0, (%%rdi); movsd %%xmm0, 8(%%rdi)")                               \
    F(movlps, "", "movups 7(%%rsi), %%xmm8; movlps %%xmm8, (%%rdi); movhps %%xmm8, 8(%%rdi)")                            \
    F(movlpd, "", "movups 9(%%rsi), %%xmm7; movlpd %%xmm7, 16(%%rdi); movhpd %%xmm7, 24(%%rdi)")                         \
    F(movntps, "", "movups 9(%%rsi), %%xmm3; movntps %%xmm3, (%%rdi); movntpd %%xmm3, 16(%%rdi); movntdq %%xmm3, 32(%%rdi)") \
    F(movdqa, "", "movups 9(%%rsi), %%xmm4; movdqa %%xmm4, (%%rdi); movdqu %%xmm4, 16(%%rdi)")                           \
    F(movd, "", "movups 9(%%rsi), %%xmm11; movd %%xmm11, (%%rdi); movq %%xmm11, 8(%%rdi)")                               \
    F(movq, "", "movups 9(%%rsi), %%xmm11; .byte 0x66, 0x4c, 0x0f, 0x7e, 0x1f")                                          \
    F(pextr, "sse4.1", "movups 9(%%rsi), %%xmm12; pextrd $3, %%xmm12, (%%rdi); pextrq $1, %%xmm12, 8(%%rdi); extractps $2, %%xmm12, 16(%%rdi)") \
    F(vmovups, "avx", "vmovups 3(%%rsi), %%ymm2; vmovups %%ymm2, (%%rdi); vmovups %%xmm2, 32(%%rdi)")                    \
    F(vmovaps, "avx", "vmovups 3(%%rsi), %%ymm13; vmovaps %%ymm13, (%%rdi); mov %%rdi, %%r9; vmovapd %%ymm13, 32(%%r9)") \
    F(vmovdqu, "avx", "vmovups 3(%%rsi), %%ymm14; vmovdqu %%ymm14, -32(%%rdi, %%rcx, 8)")                                \
    F(vmovdqa, "avx", "vmovups 3(%%rsi), %%ymm5; mov %%rcx, %%r10; vmovdqa %%ymm5, 16(%%rdi, %%r10, 8)")                 \
    F(vmovnt, "avx", "vmovups 3(%%rsi), %%ymm6; vmovntdq %%ymm6, (%%rdi); vmovntps %%ymm6, 32(%%rdi)")                   \
    F(vscalar, "avx", "vmovups 3(%%rsi), %%ymm6; vmovss %%xmm6, (%%rdi); vmovsd %%xmm6, 8(%%rdi); vmovd %%xmm6, 16(%%rdi); vmovq %%xmm6, 24(%%rdi)") \
    F(vhalves, "avx", "vmovups 3(%%rsi), %%ymm6; vmovlps %%xmm6, (%%rdi); vmovhps %%xmm6, 8(%%rdi); vpextrq $1, %%xmm6, 16(%%rdi)") \
    F(vextract, "avx2", "vmovups 3(%%rsi), %%ymm6; vextractf128 $1, %%ymm6, (%%rdi); vextracti128 $0, %%ymm6, 16(%%rdi)") \
    F(vzeroed, "avx", "vmovups 3(%%rsi), %%ymm6; vmovups %%xmm6, %%xmm6; vmovups %%ymm6, (%%rdi)")                       \
    F(evex, "avx512f", "vmovups 3(%%rsi), %%zmm1; vmovups %%zmm1, (%%rdi)")                                              \
    F(evexhigh, "avx512f", "vmovups 3(%%rsi), %%zmm29; vmovdqa64 %%zmm29, (%%rdi); vmovdqu32 %%zmm29, 64(%%rdi)")        \
    F(evexnt, "avx512f", "vmovups 3(%%rsi), %%zmm16; mov %%rdi, %%r8; vmovntdq %%zmm16, 0x80(%%r8)")                     \
    F(evexshort, "avx512vl", "vmovups 3(%%rsi), %%zmm23; vmovdqu64 %%ymm23, 32(%%rdi); vmovdqu64 %%xmm23, 16(%%rdi, %%rcx, 8)") \
    F(evexbytes, "avx512bw", "vmovups 3(%%rsi), %%zmm31; vmovdqu8 %%zmm31, (%%rdi); vmovdqu16 %%zmm31, 64(%%rdi)")       \
    F(evexscalar, "avx512f", "vmovups 3(%%rsi), %%zmm18; vmovss %%xmm18, 12(%%rdi); vmovsd %%xmm18, 24(%%rdi); vmovq %%xmm18, 32(%%rdi); vmovhps %%xmm18, 40(%%rdi)") \
    F(evexextract, "avx512f", "vmovups 3(%%rsi), %%zmm20; vextracti32x4 $3, %%zmm20, (%%rdi); vextracti64x4 $1, %%zmm20, 32(%%rdi)") \
    F(movdiri, "movdiri", "mov (%%rsi), %%rax; movdiri %%rax, (%%rdi)")                                                  \
    F(movsb, "", "movsb; movsw; movsl; movsq")                                                                           \
    F(repmovsb, "", "mov $77, %%ecx; rep movsb")                                                                         \
    F(repmovsq, "", "mov $16, %%ecx; rep movsq")                                                                         \
    F(repmovsdown, "", "add $120, %%rdi; add $120, %%rsi; mov $16, %%ecx; std; rep movsq; cld")                          \
    F(repnone, "", "xor %%ecx, %%ecx; movb $1, (%%rdi); rep movsq")                                                      \
    F(stos, "", "mov $0x1122334455667788, %%rax; stosb; stosw; stosl; stosq")                                            \
    F(repstos, "", "mov $0x1122334455667788, %%rax; mov $5, %%ecx; rep stosq; mov $3, %%ecx; rep stosw")

#define DEFINE(name, needs, text)                                                                                       \
    static struct moved name(char *to)                                                                                  \
    {                                                                                                                   \
        struct moved m = { to, pattern, 2 };                                                                            \
        asm volatile("lea -128(%%rsp), %%rsp; push %%rbp; " text "; pop %%rbp; lea 128(%%rsp), %%rsp"                         \
                     : "+D"(m.to), "+S"(m.from), "+c"(m.count)                                                          \
                     :                                                                                                  \
                     : "memory", "cc", "rax", "rbx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",       \
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",         \
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                                    \
        m.to -= (uintptr_t)to;                                                                                          \
        return m;                                                                                                       \
    }
FORMS(DEFINE)

static int has(const char *feature)
{
    if (!*feature)
        return 1;
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192], word[64];
    int found = 0;
    snprintf(word, sizeof word, " %s ", feature);
    char *digits = strchr(word, '.');
    if (digits)
        *digits = '_';
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = ' ';
        found = !strncmp(line, "flags", 5) && strstr(line, word);
    }
    if (file)
        fclose(file);
    return found;
}

static int differ(const char *name, struct moved (*form)(char *), volatile char *reg, char *plain)
{
    memcpy(plain, (const char *)reg, 256);
    struct moved a = form(plain), b = form((char *)reg);
    /* Rings the next buffer, and waits: the device has taken the stores before. */
    *(volatile uint64_t *)(reg + 256) = 0;
    if (a.to == b.to && a.from == b.from && a.count == b.count && !memcmp(plain, (const char *)reg, 256))
        return 0;
    fprintf(stderr, "%s: not as the processor does it\n", name);
    return 1;
}

int main(void)
{
    static char plain[256] __attribute__((aligned(64)));
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
    struct ibv_td_init_attr none = { 0 };
    struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
    struct ibv_td *td = context ? ibv_alloc_td(context, &none) : NULL;
    struct ibv_parent_domain_init_attr parent = { .pd = pd, .td = td };
    struct ibv_pd *both = td ? ibv_alloc_parent_domain(context, &parent) : NULL;
    struct ibv_cq *cq = both ? ibv_create_cq(context, 8, NULL, NULL, 0) : NULL;
    struct ibv_qp_init_attr init = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
    };
    struct ibv_qp *qp = cq ? ibv_create_qp(both, &init) : NULL;
    struct mlx5dv_qp dv = { 0 };
    struct mlx5dv_obj object = { .qp = { .in = qp, .out = &dv } };
    if (!qp || mlx5dv_init_obj(&object, MLX5DV_OBJ_QP))
        return 1;
    int forms = 0, wrong = 0;
#define TRY(name, needs, text)                                 \
    if (has(needs)) {                                          \
        forms++;                                               \
        wrong += differ(#name, name, dv.bf.reg, plain);        \
    }
    FORMS(TRY)
    printf("%d forms, %d wrong\n", forms, wrong);
    return 0;
}

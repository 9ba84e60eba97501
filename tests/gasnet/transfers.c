// Puts, gets, values and fills of every kind, size and alignment, with every way to wait.
// run: np=1,2,3,4 mode=seq,par
// run: np=2 mode=parsync
// run: np=3 mode=seq launcher=hydra
#include "check.h"

enum { ROOM = 1 << 18 };

static unsigned char own[ROOM], back[ROOM];

static void puts_and_gets(uint32_t node, size_t bytes, size_t offset, unsigned round)
{
    unsigned char *const here = own + offset % 8, *const there = at(node, offset);
    gasnet_handle_t handle;
    switch (round % 6) {
    case 0: fill(here, bytes, me, round); gasnet_put(node, there, here, bytes); break;
    case 1: fill(here, bytes, me, round); gasnet_put_bulk(node, there, here, bytes); break;
    case 2:
        fill(here, bytes, me, round);
        handle = gasnet_put_nb(node, there, here, bytes);
        memset(here, 0xee, bytes); /* the source is free on return */
        gasnet_wait_syncnb(handle);
        break;
    case 3:
        fill(here, bytes, me, round);
        handle = gasnet_put_nb_bulk(node, there, here, bytes);
        while (gasnet_try_syncnb(handle) == GASNET_ERR_NOT_READY) continue;
        break;
    case 4:
        fill(here, bytes, me, round);
        gasnet_put_nbi(node, there, here, bytes);
        memset(here, 0xee, bytes);
        gasnet_wait_syncnbi_puts();
        break;
    default:
        fill(here, bytes, me, round);
        gasnet_put_nbi_bulk(node, there, here, bytes);
        while (gasnet_try_syncnbi_puts() == GASNET_ERR_NOT_READY) continue;
    }
    unsigned char *const place = back + (offset + round) % 8;
    memset(back, 0xdd, bytes + 16);
    switch (round % 6) {
    case 0: gasnet_get(place, node, there, bytes); break;
    case 1: gasnet_get_bulk(place, node, there, bytes); break;
    case 2: gasnet_wait_syncnb(gasnet_get_nb(place, node, there, bytes)); break;
    case 3:
        handle = gasnet_get_nb_bulk(place, node, there, bytes);
        while (gasnet_try_syncnb(handle) == GASNET_ERR_NOT_READY) continue;
        break;
    case 4:
        gasnet_get_nbi(place, node, there, bytes);
        gasnet_wait_syncnbi_gets();
        break;
    default:
        gasnet_get_nbi_bulk(place, node, there, bytes);
        while (gasnet_try_syncnbi_all() == GASNET_ERR_NOT_READY) continue;
    }
    CHECK(is_filled(place, bytes, me, round));
    CHECK(place[bytes] == 0xdd && (place == back || place[-1] == 0xdd));
}

/* Tries transfers of no bytes, which may be at any address. */
static void nothing(uint32_t node)
{
    unsigned char here = 1;
    gasnet_put(node, NULL, &here, 0);
    gasnet_get(&here, node, NULL, 0);
    gasnet_put_bulk(node, NULL, NULL, 0);
    gasnet_memset(node, NULL, 7, 0);
    gasnet_wait_syncnb(gasnet_put_nb(node, NULL, &here, 0));
    gasnet_wait_syncnb(gasnet_get_nb(&here, node, NULL, 0));
    gasnet_wait_syncnb(gasnet_memset_nb(node, NULL, 7, 0));
    gasnet_put_nbi(node, NULL, &here, 0);
    gasnet_get_nbi(&here, node, NULL, 0);
    gasnet_memset_nbi(node, NULL, 7, 0);
    gasnet_wait_syncnbi_all();
    CHECK(here == 1);
}

static void values(uint32_t node, size_t base)
{
    const gasnet_register_value_t value = 0x8877665544332211u + me;
    for (size_t bytes = 1; bytes <= sizeof value; bytes++) {
        const gasnet_register_value_t expected = bytes == 8 ? value : value & (((uint64_t)1 << bytes * 8) - 1);
        unsigned char *const there = at(node, base + 16 * bytes);
        gasnet_put_val(node, there, value, bytes);
        CHECK(gasnet_get_val(node, there, bytes) == expected);
        gasnet_put_val(node, there, 0, bytes);
        gasnet_wait_syncnb(gasnet_put_nb_val(node, there, value, bytes));
        CHECK(gasnet_wait_syncnb_valget(gasnet_get_nb_val(node, there, bytes)) == expected);
        gasnet_put_val(node, there, 0, bytes);
        gasnet_put_nbi_val(node, there, value, bytes);
        gasnet_wait_syncnbi_all();
        CHECK(gasnet_get_val(node, there, bytes) == expected);
        /* Nothing behind it is touched. */
        CHECK(gasnet_get_val(node, there + bytes, 1) == 0);
    }
}

static void fills(uint32_t node, size_t base)
{
    static const size_t sizes[] = {1, 8, 100, 5000};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *const there = at(node, base + i);
        gasnet_memset(node, there, 0x1a5, sizes[i]);
        gasnet_get(back, node, there, sizes[i] + 1);
        for (size_t k = 0; k < sizes[i]; k++) CHECK(back[k] == 0xa5);
        CHECK(back[sizes[i]] == (i ? back[sizes[i]] : 0));
        gasnet_wait_syncnb(gasnet_memset_nb(node, there, 0, sizes[i]));
        gasnet_memset_nbi(node, there, 7, sizes[i]);
        gasnet_wait_syncnbi_puts();
        gasnet_get(back, node, there, sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++) CHECK(back[k] == 7);
        gasnet_memset(node, there, 0, sizes[i] + 1);
    }
}

int main(int argc, char **argv)
{
    set_up(&argc, &argv, NULL, 0);
    static const size_t sizes[] = {1, 2, 3, 4, 8, 15, 64, 1000, 4096, 20001, 100000};
    for (uint32_t turn = 0; turn < nodes; turn++) {
        const uint32_t node = (me + turn) % nodes;
        const size_t base = (SEGMENT / 4) * me; /* each node has its quarter of a segment */
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (unsigned round = 0; round < 6; round++)
                puts_and_gets(node, sizes[i], base + (round * 3 + i) % 9, round);
        values(node, base + 200000);
        nothing(node);
        fills(node, base + 210000);
        gasnet_put(node, at(node, base), own, 0);
        gasnet_get(own, node, at(node, base), 0);
        meet();
    }
    gasnet_exit(0);
}

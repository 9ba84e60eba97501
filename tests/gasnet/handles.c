// Many operations under way: arrays of handles, and access regions.
// run: np=1,2,3,4 mode=seq,par
// run: np=2 mode=parsync
#include "check.h"

enum { MANY = 300 };

static uint64_t own[MANY], back[MANY];
static gasnet_handle_t handles[MANY];

static int are_left(void)
{
    int left = 0;
    for (int i = 0; i < MANY; i++) left += handles[i] != GASNET_INVALID_HANDLE;
    return left;
}

static uint64_t word(uint32_t node, int i, unsigned round) { return node * 1000000u + (unsigned)i * 10 + round; }

static void start_puts(uint32_t node, unsigned round)
{
    for (int i = 0; i < MANY; i++) {
        own[i] = word(me, i, round);
        handles[i] = i % 7 == 3 ? GASNET_INVALID_HANDLE
                                : gasnet_put_nb_bulk(node, at(node, ((size_t)me * MANY + (size_t)i) * 8), &own[i], 8);
        if (i % 7 == 3) gasnet_put(node, at(node, ((size_t)me * MANY + (size_t)i) * 8), &own[i], 8);
    }
}

static void check_puts(uint32_t node, unsigned round)
{
    memset(back, 0, sizeof back);
    for (int i = 0; i < MANY; i++) handles[i] = gasnet_get_nb(&back[i], node, at(node, ((size_t)me * MANY + (size_t)i) * 8), 8);
    gasnet_wait_syncnb_all(handles, MANY);
    CHECK(are_left() == 0);
    for (int i = 0; i < MANY; i++) CHECK(back[i] == word(me, i, round));
}

int main(int argc, char **argv)
{
    set_up(&argc, &argv, NULL, 0);
    for (uint32_t turn = 0; turn < nodes; turn++) {
        const uint32_t node = (me + turn) % nodes;
        start_puts(node, 1);
        gasnet_wait_syncnb_all(handles, MANY);
        CHECK(are_left() == 0);
        check_puts(node, 1);

        start_puts(node, 2);
        while (gasnet_try_syncnb_all(handles, MANY) != GASNET_OK) continue;
        CHECK(are_left() == 0);
        check_puts(node, 2);

        start_puts(node, 3);
        for (int before = are_left(); before > 0;) {
            gasnet_wait_syncnb_some(handles, MANY);
            const int left = are_left();
            CHECK(left < before);
            before = left;
        }
        check_puts(node, 3);

        start_puts(node, 4);
        for (int before = are_left(); before > 0;) {
            const int result = gasnet_try_syncnb_some(handles, MANY), left = are_left();
            CHECK(result == GASNET_OK ? left < before : left == before && result == GASNET_ERR_NOT_READY);
            before = left;
        }
        check_puts(node, 4);
        /* None, and none that is valid: there is nothing to wait for. */
        gasnet_wait_syncnb_some(handles, MANY);
        gasnet_wait_syncnb_all(handles, 0);
        GOOD(gasnet_try_syncnb_some(handles, MANY));
        GOOD(gasnet_try_syncnb_all(handles, 0));
        gasnet_wait_syncnb(GASNET_INVALID_HANDLE);
        GOOD(gasnet_try_syncnb(GASNET_INVALID_HANDLE));

        /* Operations of a region have one handle, and those before it another fate. */
        for (int i = 0; i < MANY; i++) own[i] = word(me, i, 5);
        gasnet_put_nbi_bulk(node, at(node, (size_t)me * MANY * 8), &own[0], 8);
        gasnet_begin_nbi_accessregion();
        for (int i = 1; i < MANY; i++)
            gasnet_put_nbi_bulk(node, at(node, ((size_t)me * MANY + (size_t)i) * 8), &own[i], 8);
        gasnet_handle_t region = gasnet_end_nbi_accessregion();
        gasnet_wait_syncnbi_puts();
        gasnet_wait_syncnb(region);
        check_puts(node, 5);
        gasnet_begin_nbi_accessregion();
        CHECK(gasnet_end_nbi_accessregion() == GASNET_INVALID_HANDLE);
        memset(back, 0, sizeof back);
        gasnet_begin_nbi_accessregion();
        for (int i = 0; i < MANY; i++) gasnet_get_nbi(&back[i], node, at(node, ((size_t)me * MANY + (size_t)i) * 8), 8);
        region = gasnet_end_nbi_accessregion();
        while (gasnet_try_syncnb(region) != GASNET_OK) continue;
        for (int i = 0; i < MANY; i++) CHECK(back[i] == word(me, i, 5));
        meet();
    }
    gasnet_exit(0);
}

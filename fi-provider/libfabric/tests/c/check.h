// Checks of the programs here: one that fails tells where, and ends the process.
#pragma once
#include <stdio.h>
#include <stdlib.h>

#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #it);                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == 0)

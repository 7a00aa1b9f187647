#ifndef TESSERA_TESTS_C_CALLER_H
#define TESSERA_TESTS_C_CALLER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 + 2 + ... + count by as many tasks of an engine that a C program sets up; negative: something was wrong. */
int64_t sumOfAddersFromC(int64_t count);

#ifdef __cplusplus
}
#endif
#endif

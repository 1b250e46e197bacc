/* Where libFuzzer comes in; --tell FILE.. tells what inputs do, and runs nothing else. */
#include "target.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE 65536u

static bool telling, asked_to_tell;
static const uint8_t *input;
static size_t input_count;

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

bool target_telling(void) { return telling; }

void target_say(const char *format, ...)
{
    va_list values;
    if (!telling) {
        return;
    }
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

void target_broken(const char *promise, const char *what)
{
    if (!telling) {
        telling = true;
        target_run(input, input_count); /* comes back to here */
    }
    fprintf(stderr, "%s broken: %s\n", promise, what);
    if (asked_to_tell) {
        exit(1);
    }
    abort();
}

static void tell_file(const char *name)
{
    static uint8_t bytes[LARGEST_FILE];
    FILE *file = fopen(name, "rb");
    size_t count = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
    if (file == NULL || ferror(file)) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(2);
    }
    fclose(file);
    telling = asked_to_tell = true;
    input = bytes;
    input_count = count;
    target_run(bytes, count);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    if (*count > 1 && strcmp((*arguments)[1], "--tell") == 0) {
        for (int i = 2; i < *count; i++) {
            tell_file((*arguments)[i]);
        }
        exit(0);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    input = bytes;
    input_count = count;
    target_run(bytes, count);
    return 0;
}

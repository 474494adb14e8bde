/* Takes memory as fast as C can, at most 4 GiB. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static char line[65536];
    size_t block = 16UL << 20;

    if (!fgets(line, sizeof line, stdin))
        return 1;
    puts("{\"type\":\"ready\"}");
    fflush(stdout);
    do {
        if (!fgets(line, sizeof line, stdin))
            return 1;
    } while (!strstr(line, "\"act\""));
    for (int i = 0; i < 256; i++) {
        char *taken = malloc(block);
        if (!taken)
            return 2;
        memset(taken, 1, block);
    }
    puts("{\"action\":\"keep\",\"report\":{}}");
    return 0;
}

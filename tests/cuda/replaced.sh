#!/usr/bin/env bash
# replaced.sh HEDDLE: libraries that Heddle has too and that the loader does not find in our folder: inside the program, at a path in the
# program, opened by a path. Stand-ins return a status that no library has.
set -euo pipefail
heddle=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

cat >"$work/stand_in.c" <<'END_OF_FILE'
int curandCreateGenerator(void **generator, int type) { return generator && type ? 77 : 78; }
int curandGetVersion(int *version) { return version ? 77 : 78; }
END_OF_FILE
cat >"$work/program.c" <<'END_OF_FILE'
#include <dlfcn.h>
int curandCreateGenerator(void **generator, int type);
int curandGetVersion(int *version);
int main(int argc, char **argv) {
    int version = 0;
    void *generator;
#ifdef OPENS
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    int (*get)(int *) = (int (*)(int *))dlsym(library, "curandGetVersion");
    int (*create)(void **, int) = (int (*)(void **, int))dlsym(library, "curandCreateGenerator");
#else
    int (*get)(int *) = curandGetVersion, (*create)(void **, int) = curandCreateGenerator;
    (void)argv;
#endif
    if (get(&version) || create(&generator, 101))
        return 9;
    return argc && version / 1000 == 10 ? 0 : 8;
}
END_OF_FILE
mkdir "$work/lib"
"$cc" -shared -fPIC -Wl,-soname,libcurand.so.10 "$work/stand_in.c" -o "$work/lib/libcurand.so.10"
"$cc" "$work/program.c" "$work/stand_in.c" -o "$work/static" -ldl
"$cc" "$work/program.c" "$work/lib/libcurand.so.10" -o "$work/path" -ldl -Wl,--disable-new-dtags,-rpath,"$work/lib"
"$cc" -DOPENS "$work/program.c" -o "$work/opens" -ldl
"$heddle" run -q --functional "$work/static"
"$heddle" run -q --functional "$work/path"
"$heddle" run -q --functional "$work/opens" -- "$work/lib/libcurand.so.10"

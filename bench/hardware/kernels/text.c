/* The kernels' PTX, which nvcc made of the files of the same name (see README.md). */
#define KERNELS(name, file)                                                                                            \
    __asm__(".section .rodata\n.global kernels_" #name "\nkernels_" #name ":\n.incbin \"" file                         \
            "\"\n.byte 0\n.previous\n")

KERNELS(memory, KERNELS_FOLDER "/memory.ptx");
KERNELS(together, KERNELS_FOLDER "/together.ptx");
KERNELS(alone, KERNELS_FOLDER "/alone.ptx");
KERNELS(science, KERNELS_FOLDER "/science.ptx");
KERNELS(data, KERNELS_FOLDER "/data.ptx");
KERNELS(layers, KERNELS_FOLDER "/layers.ptx");
KERNELS(suites, KERNELS_FOLDER "/suites.ptx");
KERNELS(courses, KERNELS_FOLDER "/courses.ptx");

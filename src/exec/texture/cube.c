/* Cube maps: the face that a direction points to and the position on it, and the texels on the other side of an edge.
 * From the table of the CUDA C++ Programming Guide ("Cubemap Textures"): the largest component chooses the face, and
 * the other two, divided by the largest, determine the position. */
#include "exec/texture/texture.h"

#include <math.h>

uint32_t exec_cube_face(const float direction[3], float on_face[2]) {
    float x = direction[0], y = direction[1], z = direction[2];
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), s, t, m;
    uint32_t face;
    if (az >= ax && az >= ay) {
        face = z < 0 ? 5 : 4;
        m = az;
        s = z < 0 ? -x : x;
        t = -y;
    } else if (ay >= ax) {
        face = y < 0 ? 3 : 2;
        m = ay;
        s = x;
        t = y < 0 ? -z : z;
    } else {
        face = x < 0 ? 1 : 0;
        m = ax;
        s = x < 0 ? z : -z;
        t = -y;
    }
    on_face[0] = (s / m + 1) / 2;
    on_face[1] = (t / m + 1) / 2;
    return face;
}

/* Coordinates of a face's texels are odd numbers from 1 - size to size - 1, and the face is at `size` along its axis.
 */
struct on_cube {
    int64_t along[3];
};

static struct on_cube point_on(uint32_t face, int64_t size, int64_t s, int64_t t) {
    switch (face) {
    case 0:
        return (struct on_cube){{size, -t, -s}};
    case 1:
        return (struct on_cube){{-size, -t, s}};
    case 2:
        return (struct on_cube){{s, size, t}};
    case 3:
        return (struct on_cube){{s, -size, -t}};
    case 4:
        return (struct on_cube){{s, -t, size}};
    default:
        return (struct on_cube){{-s, -t, -size}};
    }
}

uint32_t exec_cube_neighbour(uint32_t face, uint32_t size, int64_t *x, int64_t *y) {
    struct on_cube at = point_on(face, size, 2 * *x + 1 - (int64_t)size, 2 * *y + 1 - (int64_t)size);
    unsigned axis = face / 2, beyond = axis;
    for (unsigned k = 0; k < 3; k++)
        if (k != axis && (at.along[k] > size || at.along[k] < -(int64_t)size))
            beyond = k;
    bool is_low = at.along[beyond] < 0;
    at.along[beyond] = is_low ? -(int64_t)size : size;
    at.along[axis] += at.along[axis] < 0 ? 1 : -1; /* half a texel from the edge */
    uint32_t neighbour = 2 * beyond + is_low;
    int64_t a = at.along[0], b = at.along[1], c = at.along[2];
    const int64_t place[6][2] = {{-c, -b}, {c, -b}, {a, c}, {a, -c}, {a, -b}, {-a, -b}};
    *x = (place[neighbour][0] + size - 1) / 2;
    *y = (place[neighbour][1] + size - 1) / 2;
    return neighbour;
}

/* Cube maps: the face that a direction points to, and where on it. From the table of the CUDA C++ Programming Guide
 * ("Cubemap Textures"): the largest component chooses the face, the two others divided by it the place. */
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

/* Texels in memory: their formats, and the values that a read returns. */
#include "exec/float_bits.h"
#include "exec/texture/texture.h"

static unsigned channel_bytes(enum exec_texel texel) {
    switch (texel) {
    case EXEC_TEXEL_U8:
    case EXEC_TEXEL_S8:
        return 1;
    case EXEC_TEXEL_U16:
    case EXEC_TEXEL_S16:
    case EXEC_TEXEL_F16:
        return 2;
    default:
        return 4;
    }
}

unsigned exec_texel_bytes(const struct exec_texture *t) { return channel_bytes(t->texel) * t->channels; }

uint32_t exec_level_size(uint32_t size, unsigned level) { return size >> level ? size >> level : 1; }

bool exec_reads_float(const struct exec_texture *t) {
    return t->texel == EXEC_TEXEL_F16 || t->texel == EXEC_TEXEL_F32 || t->reads_normalized;
}

/* Returns a channel's value as the bits of a 32-bit register. */
static uint32_t channel_value(const struct exec_texture *t, const unsigned char *p) {
    uint32_t raw = 0;
    memcpy(&raw, p, channel_bytes(t->texel));
    bool is_normalized = t->reads_normalized;
    switch (t->texel) {
    case EXEC_TEXEL_U8:
        return is_normalized ? exec_float_bits((float)raw / 255.0f) : raw;
    case EXEC_TEXEL_U16:
        return is_normalized ? exec_float_bits((float)raw / 65535.0f) : raw;
    case EXEC_TEXEL_S8: {
        int8_t value = (int8_t)raw;
        return is_normalized ? exec_float_bits(fmaxf((float)value / 127.0f, -1.0f)) : (uint32_t)(int32_t)value;
    }
    case EXEC_TEXEL_S16: {
        int16_t value = (int16_t)raw;
        return is_normalized ? exec_float_bits(fmaxf((float)value / 32767.0f, -1.0f)) : (uint32_t)(int32_t)value;
    }
    case EXEC_TEXEL_F16:
        return exec_float_bits(exec_half_to_float((uint16_t)raw));
    default:
        return raw;
    }
}

struct exec_value exec_texel_border(const struct exec_texture *t) {
    bool is_signed = t->texel == EXEC_TEXEL_S8 || t->texel == EXEC_TEXEL_S16;
    struct exec_value value = {{0}};
    for (unsigned k = 0; k < t->channels; k++) {
        float colour = t->border[k];
        if (t->reads_normalized)
            colour = fminf(fmaxf(colour, is_signed ? -1 : 0), 1);
        value.channel[k] = exec_reads_float(t) ? exec_float_bits(colour) : (uint32_t)(int64_t)colour;
    }
    return value;
}

/* Returns the linear value of a byte on the sRGB curve, with 8 significant bits, as on an H200. */
static uint32_t from_srgb(unsigned char byte) {
    double c = byte / 255.0, exact = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    int exponent = exact > 0 ? ilogb(exact) - 7 : 0;
    return exec_float_bits((float)ldexp(round(ldexp(exact, -exponent)), exponent));
}

static uint64_t texel_address(const struct exec_texture *t, unsigned level, struct exec_texel_place place) {
    struct exec_level lines = {t->address, t->pitch, t->slice};
    if (level > 0)
        lines = t->level[level];
    return lines.address + place.z * lines.slice + place.y * lines.pitch + (uint64_t)place.x * exec_texel_bytes(t);
}

bool exec_texel_read(struct exec_context *cx, const struct exec_texture *t, unsigned level,
                     struct exec_texel_place place, unsigned lane, struct exec_value *value) {
    unsigned size = channel_bytes(t->texel);
    uint64_t address = texel_address(t, level, place);
    const unsigned char *p = exec_global(cx, address, exec_texel_bytes(t), lane);
    if (!cx->address[lane])
        cx->address[lane] = address;
    *value = (struct exec_value){{0}};
    if (p && size == sizeof *value->channel) { /* of 32 bits: as they are */
        memcpy(value->channel, p, t->channels * sizeof *value->channel);
        return true;
    }
    for (unsigned k = 0; p && k < t->channels; k++)
        value->channel[k] = t->is_srgb && k < 3 ? from_srgb(p[k]) : channel_value(t, p + (size_t)k * size);
    return p != NULL;
}

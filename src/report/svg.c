/* Writes the SVG shapes that figures need. */
#define _GNU_SOURCE
#include "report/svg.h"

#include <stdlib.h>

void report_svg_begin(struct report_svg *svg, FILE *file, double width, double height) {
    svg->file = file;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%.0f\" "
            "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n",
            width, height, width, height);
    report_svg_rectangle(svg, 0, 0, width, height, "#ffffff");
}

void report_svg_end(struct report_svg *svg) { fputs("</svg>\n", svg->file); }

void report_svg_rectangle(struct report_svg *svg, double x, double y, double width, double height, const char *color) {
    fprintf(svg->file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x, y, width,
            height, color);
}

void report_svg_line(struct report_svg *svg, double x1, double y1, double x2, double y2, const char *color,
                     double thickness) {
    fprintf(svg->file, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
            x1, y1, x2, y2, color, thickness);
}

/* Escapes the characters that are special in XML. */
static void write_escaped(FILE *file, const char *text) {
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        default:
            fputc(*text, file);
        }
}

void report_svg_text(struct report_svg *svg, double x, double y, double size, enum report_anchor anchor, double turn,
                     const char *text) {
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(svg->file, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.0f\" text-anchor=\"%s\"", x, y, size,
            anchors[anchor]);
    if (turn != 0)
        fprintf(svg->file, " transform=\"rotate(%.0f %.2f %.2f)\"", turn, x, y);
    fputc('>', svg->file);
    write_escaped(svg->file, text);
    fputs("</text>\n", svg->file);
}

/* RFC 4648, section 4. */
static void write_base64(FILE *file, const unsigned char *byte, size_t n) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned have = n - i < 3 ? (unsigned)(n - i) : 3;
        unsigned bits = (unsigned)byte[i] << 16 | (have > 1 ? (unsigned)byte[i + 1] << 8 : 0) |
                        (have > 2 ? (unsigned)byte[i + 2] : 0);
        for (unsigned k = 0; k < 4; k++)
            fputc(k <= have ? digit[bits >> (18 - 6 * k) & 63] : '=', file);
    }
}

void report_svg_image(struct report_svg *svg, double x, double y, double width, double height,
                      const struct report_image *image) {
    char *bytes = NULL;
    size_t n = 0;
    FILE *png = open_memstream(&bytes, &n);
    if (!png)
        abort();
    report_write_png(png, image);
    fclose(png);
    fprintf(svg->file,
            "<image x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" preserveAspectRatio=\"none\" "
            "style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,",
            x, y, width, height);
    write_base64(svg->file, (const unsigned char *)bytes, n);
    fputs("\"/>\n", svg->file);
    free(bytes);
}

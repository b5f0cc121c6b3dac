/* Two parallel joints in float, one sample: closed form, sines and cosines as polynomials. */

#include "single.h"

SINGLE
{
    const float first = cosine(in[0] + 1.57079633f * QUARTERS_A);
    const float both = cosine(in[0] + in[1] + 1.57079633f * QUARTERS_B);
    const float mass = MASS_D + MASS_B * near_cosine(in[1]), turn = MASS_B * near_sine(in[1]);
    const float u = in[2], w = u + in[3], uu = u * u, r1 = in[4], r2 = in[5];
    const float weight = WEIGHT_B * both;
    out[0] = mass * (r1 + r1 + r2) + MASS_A * r1 + turn * (uu - w * w) + WEIGHT_A * first + weight;
    out[1] = mass * r1 + MASS_E * r2 + turn * uu + weight;
}

/* Two parallel joints in 8-bit fixed point for microcontrollers: what one writes by hand.

   An angle is a 16-bit phase, which wraps as the joint does; its upper byte looks waves up. Speeds
   and accelerations are bytes, so that every product is one of signed bytes, an instruction of an
   AVR. Sums are in units of range 1 / 2^15: the torques' words are their upper bits. Nothing
   saturates: torques lie within their ranges. Inertia and Coriolis tables share an entry.

       T1 = M (2 r1 + r2) + A r1 + S (u^2 - (u + v)^2) + Ga cos(q1 + a) + Gb cos(q1 + q2 + b)
       T2 = M r1 + E r2 + S u^2 + Gb cos(q1 + q2 + b)        M = D + B cos q2, S = B sin q2

   Tables and constants (WEIGHT_A .. SHIFT_2) come from a header that boolcomp writes for a robot. */

#include "two_link_mcu.h"

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define READ(place) pgm_read_word(place)
#define PLACED PROGMEM
#else
#define READ(place) (*(place))
#define PLACED
#endif

static const uint16_t weight_a[256] PLACED = {WEIGHT_A}; /* and half of both words */
static const uint16_t weight_b[256] PLACED = {WEIGHT_B};
static const uint16_t mass_turn[256] PLACED = {MASS_TURN}; /* M below, S above */

void two_link_mcu(const two_link_mcu_inputs *given, two_link_mcu_outputs *made)
{
    const uint16_t q1 = (uint16_t)given->q1, q2 = (uint16_t)given->q2;
    const int8_t u = (int8_t)given->qd1, v = (int8_t)given->qd2;
    const int8_t r1 = (int8_t)given->qdd1, r2 = (int8_t)given->qdd2;
    const uint16_t both = READ(&weight_b[(uint8_t)((uint16_t)(q1 + q2) >> 8)]);
    const uint16_t pair = READ(&mass_turn[(uint8_t)(q2 >> 8)]);
    const int8_t mass = (int8_t)pair, turn = (int8_t)(pair >> 8);
    const int8_t sum = (int8_t)(u + v), rates = (int8_t)(r1 + r1 + r2);
    const int16_t square = (int16_t)(u * u);
    const int8_t one = (int8_t)((uint16_t)(square - sum * sum) >> 8);
    const int8_t two = (int8_t)((uint16_t)square >> 8);
    uint16_t first = (uint16_t)(READ(&weight_a[(uint8_t)(q1 >> 8)]) + both);
    uint16_t second = both;
    first = (uint16_t)(first + (uint16_t)(mass * rates));
    first = (uint16_t)(first + (uint16_t)((int8_t)OWN_1 * r1));
    first = (uint16_t)(first + (uint16_t)(turn * one));
    second = (uint16_t)(second + (uint16_t)(mass * r1));
    second = (uint16_t)(second + (uint16_t)((int8_t)OWN_2 * r2));
    second = (uint16_t)(second + (uint16_t)(turn * two));
    made->tau1 = (uint8_t)(first >> 8);
    made->tau2 = (uint8_t)((uint16_t)(second << SHIFT_2) >> 8);
}

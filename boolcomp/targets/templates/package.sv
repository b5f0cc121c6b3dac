/* verilator lint_off UNUSEDPARAM */
// words of @name@, value = OFFSET + SCALE * number
// the number is the word as its type; in other codes than natural binary and two's complement, its cell
package @name@;
    @lines@
endpackage
/* verilator lint_on UNUSEDPARAM */

"""A program on a board: a top module with registers that are read and written over a UART.

A request holds the bits of all inputs in the order of ports, most significant bit first, after
zeros that fill up whole bytes. The answer holds the bits of all outputs likewise. The line has
115,200 baud, eight bits, no parity, one stop bit. The next request may begin after the answer.
After about 10 ms of silence a new request begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.benches import bundle
from boolcomp.targets.target import vectors

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Gates

BAUD = 115_200
TOP, BENCH = "boolcomp_top", "boolcomp_bench"
TRIED = 6  # requests of the bench, before one with a falsified answer


def _sizes(gates: Gates) -> tuple[int, int, int, int]:
    """Return the bits of requests and answers, then the bytes of these."""
    given, made = (sum(pin.port.bits for pin in pins) for pins in (gates.inputs, gates.outputs))
    return given, made, -(-given // 8), -(-made // 8)


def top(gates: Gates, hertz: int) -> str:
    """Return the top module: receiver, core, transmitter."""
    given, made, request, answer = _sizes(gates)
    wires = [*bundle(gates.inputs, "given", given), *bundle(gates.outputs, "made", made)]
    return _TOP.format(
        top=TOP, core=gates.module, divide=round(hertz / BAUD), silence=hertz // 100,
        wait=gates.stages + 2, given=8 * request, made=8 * answer, bits=made,
        last=request - 1, answer=answer, wires=", ".join(wires), baud=BAUD, request=request,
        shifted=f"{{given[{8 * request - 9}:0], byte_in}}" if request > 1 else "byte_in",
        fill=f"{8 * answer - made}'d0, " if made % 8 else "",
        idle=f"    wire unused = &{{1'b0, given[{8 * request - 1}:{given}], valid}};"
        if given % 8 else "    wire unused = &{1'b0, valid};",
    )  # fmt: skip


def bench(program: Program, load: float | None, gates: Gates, hertz: int) -> str:
    """Return a bench for the top module; its last expected answer is wrong."""
    _, _, request, answer = _sizes(gates)
    found = vectors(program, load, gates, 32)
    honest = [k for k in range(len(found.given)) if k != found.falsified][:TRIED]
    rows = []
    for place, k in enumerate([*honest, found.falsified]):
        rows.append(f"        given[{place}] = {8 * request}'b{found.given[k]};")
        rows.append(f"        wanted[{place}] = {8 * answer}'b{found.expected[k]};")
    return _BENCH.format(
        bench=BENCH, top=TOP, given=8 * request, made=8 * answer,
        request=request, answer=answer, count=len(honest) + 1, last=len(honest),
        period=2 * (round(hertz / BAUD)), rows="\n".join(rows),
    )  # fmt: skip


_TOP = """\
// registers over a UART of {baud} baud, 8N1
// {request} bytes of inputs, then {answer} bytes of outputs back
module {top} (
    input wire clk,
    input wire rx,
    output wire tx
);
    reg [1:0] line = 2'b11;
    reg [15:0] pace = 16'd0;
    reg [3:0] place = 4'd0;
    reg [7:0] byte_in = 8'd0;
    reg received = 1'b0;
    reg [{given}-1:0] given = {given}'d0;
    reg [7:0] count = 8'd0;
    reg [23:0] silence = 24'd0;
    reg [7:0] wait_for = 8'd0;
    wire [{bits}-1:0] made;
    wire valid;
    reg [{made}-1:0] answer = {made}'d0;
    reg [7:0] left = 8'd0;
    reg [15:0] pace_out = 16'd0;
    reg [3:0] place_out = 4'd0;
    reg [9:0] frame = 10'h3ff;
    {core} core (.clock(clk), .enable(1'b1), .valid_in(1'b1), .valid_out(valid), {wires});
{idle}
    assign tx = frame[0];
    always @(posedge clk) begin
        line <= {{line[0], rx}};
        received <= 1'b0;
        if (place == 4'd0) begin
            if (!line[1]) begin
                place <= 4'd1;
                pace <= 16'd{divide} / 16'd2;
            end
        end else if (pace != 16'd0) pace <= pace - 16'd1;
        else begin
            pace <= 16'd{divide} - 16'd1;
            if (place == 4'd1) place <= line[1] ? 4'd0 : 4'd2;
            else if (place <= 4'd9) begin
                byte_in <= {{line[1], byte_in[7:1]}};
                place <= place + 4'd1;
            end else begin
                place <= 4'd0;
                received <= line[1];
            end
        end
        silence <= place != 4'd0 ? 24'd0 : silence + {{23'd0, silence != 24'd{silence}}};
        if (silence == 24'd{silence}) count <= 8'd0;
        if (wait_for != 8'd0) wait_for <= wait_for - 8'd1;
        if (received) begin
            given <= {shifted};
            count <= count == 8'd{last} ? 8'd0 : count + 8'd1;
            if (count == 8'd{last}) wait_for <= 8'd{wait};
        end
        if (wait_for == 8'd1) begin
            answer <= {{{fill}made}};
            left <= 8'd{answer};
        end else if (pace_out != 16'd0) pace_out <= pace_out - 16'd1;
        else if (place_out != 4'd0) begin
            pace_out <= 16'd{divide} - 16'd1;
            place_out <= place_out - 4'd1;
            frame <= {{1'b1, frame[9:1]}};
        end else if (left != 8'd0) begin
            pace_out <= 16'd{divide} - 16'd1;
            place_out <= 4'd10;
            frame <= {{1'b1, answer[{made}-1:{made}-8], 1'b0}};
            answer <= answer << 8;
            left <= left - 8'd1;
        end
    end
endmodule
"""

_BENCH = """\
// talks to {top} as a computer would; the last answer expected is wrong on purpose
module {bench};
    reg [{given}-1:0] given [0:{last}];
    reg [{made}-1:0] wanted [0:{last}];
    reg [{given}-1:0] request;
    reg [{made}-1:0] answer;
    reg [7:0] letter;
    reg clk;
    reg rx;
    wire tx;
    integer k, j, i, caught, differ;
    {top} dut (.clk(clk), .rx(rx), .tx(tx));
    always #1 clk = ~clk;
    initial begin
        clk = 1'b0;
        rx = 1'b1;
        caught = 0;
        differ = 0;
{rows}
        #{period};
        for (k = 0; k < {count}; k = k + 1) begin
            request = given[k];
            fork
                for (j = {request} - 1; j >= 0; j = j - 1) begin
                    rx = 1'b0;
                    #{period};
                    for (i = 0; i < 8; i = i + 1) begin
                        rx = request[8 * j + i];
                        #{period};
                    end
                    rx = 1'b1;
                    #{period};
                end
                begin : listen
                    integer m, n;
                    for (m = 0; m < {answer}; m = m + 1) begin
                        @(negedge tx);
                        #({period} / 2);
                        for (n = 0; n < 8; n = n + 1) begin
                            #{period};
                            letter[n] = tx;
                        end
                        answer = {{answer, letter}};
                        #({period} / 2);
                    end
                end
            join
            #{period};
            if (answer !== wanted[k]) begin
                caught = caught + 1;
                differ = k;
            end
        end
        if (caught == 1 && differ == {last})
            $display("PASS: {last} answers hold, the wrong one differs");
        else $display("FAIL: %0d answers differ, the last is %0d", caught, differ);
        $finish;
    end
    initial begin
        #200000000;
        $display("FAIL: no answer");
        $finish;
    end
endmodule
"""

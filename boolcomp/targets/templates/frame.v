module @name@ (input wire clock, input wire bit_in, input wire take,
    output wire bit_out);
    reg [@given_high@:0] given;
    wire [@made_high@:0] made;
    reg [@made_high@:0] taken, out;
    @core@ core (@wires@);
    always @(posedge clock) begin
@if given_high
        given <= {given[@given_next@:0], bit_in};
@end
@unless given_high
        given <= bit_in;
@end
        taken <= made;
@if made_high
        out <= take ? taken : {out[@made_next@:0], 1'b0};
@end
@unless made_high
        out <= taken;
@end
    end
    assign bit_out = out[@made_high@];
endmodule

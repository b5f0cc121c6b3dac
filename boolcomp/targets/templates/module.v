@head@
module @name@ (
    @ports@
);
    @declared@
@body@
@if idle
    wire unused = &{1'b0, @idle@};
@end
@if stages
    reg @span@valid;
    initial valid = @stages@'b0;
    always @(posedge clock)
        if (enable) begin
            @moves@
        end
    assign valid_out = valid@top@;
@end
    @ends@
endmodule
@tables@

/* verilator lint_off DECLFILENAME */
// with one of these macros the cell of an FPGA: @macros@
module @name@ (
    output wire made,
    @ports@
);
    parameter [@high@:0] INIT = @size@'h0;
@cells@
`else
    assign made = INIT[{@letters@}];
`endif
endmodule

@head@
module @name@ (
    input wire aclk,
    input wire aresetn,
    input wire [@given@:0] s_axis_tdata,
    input wire s_axis_tlast,
    input wire s_axis_tvalid,
    output wire s_axis_tready,
    output wire [@made@:0] m_axis_tdata,
    output wire m_axis_tlast,
    output wire m_axis_tvalid,
    input wire m_axis_tready
);
    // tvalid and tlast of every stage, of the input first
    wire [@stages@:0] valids;
    wire [@stages@:0] lasts;
    // tlast and outputs of the core, of the skid buffer, of the port
    wire [@bits@:0] made;
    reg [@bits@:0] skid;
    reg [@bits@:0] sent;
    reg skid_valid;
    reg sent_valid;
    assign valids[0] = s_axis_tvalid;
    assign lasts[0] = s_axis_tlast;
    assign s_axis_tready = ~skid_valid;
@if stages
    reg [@stages@:1] valid;
    reg [@stages@:1] last;
    assign valids[@stages@:1] = valid;
    assign lasts[@stages@:1] = last;
    wire core_valid;
@end
    @core@ core (
        @wires@
    );
    assign made[@bits@] = lasts[@stages@];
    wire unused = &{1'b0, @idle@};
    always @(posedge aclk) begin
@if stages
        if (~skid_valid) begin
            valid <= valids[@before@:0];
            last <= lasts[@before@:0];
        end
@end
        if (~skid_valid) skid <= made;
        if (m_axis_tready | ~sent_valid) begin
            sent <= skid_valid ? skid : made;
            sent_valid <= skid_valid | valids[@stages@];
            skid_valid <= 1'b0;
        end else skid_valid <= skid_valid | valids[@stages@];
        if (~aresetn) begin
@if stages
            valid <= @stages@'b0;
@end
            sent_valid <= 1'b0;
            skid_valid <= 1'b0;
        end
    end
    assign m_axis_tvalid = sent_valid;
    assign m_axis_tlast = sent[@bits@];
    @ends@
endmodule
/* verilator lint_off DECLFILENAME */

// registers over a UART of @baud@ baud, 8N1
// @request@ bytes of inputs, then @answer@ bytes of outputs back
module @top@ (
    input wire clk,
    input wire rx,
    output wire tx
);
    reg [1:0] line = 2'b11;
    reg [15:0] pace = 16'd0;
    reg [3:0] place = 4'd0;
    reg [7:0] byte_in = 8'd0;
    reg received = 1'b0;
    reg [@given@-1:0] given = @given@'d0;
    reg [7:0] count = 8'd0;
    reg [23:0] silence = 24'd0;
    reg [7:0] wait_for = 8'd0;
    wire [@bits@-1:0] made;
    wire valid;
    reg [@made@-1:0] answer = @made@'d0;
    reg [7:0] left = 8'd0;
    reg [15:0] pace_out = 16'd0;
    reg [3:0] place_out = 4'd0;
    reg [9:0] frame = 10'h3ff;
    @core@ core (.clock(clk), .enable(1'b1), .valid_in(1'b1), .valid_out(valid), @wires@);
    wire unused = &{1'b0, @idle@valid};
    assign tx = frame[0];
    always @(posedge clk) begin
        line <= {line[0], rx};
        received <= 1'b0;
        if (place == 4'd0) begin
            if (!line[1]) begin
                place <= 4'd1;
                pace <= 16'd@divide@ / 16'd2;
            end
        end else if (pace != 16'd0) pace <= pace - 16'd1;
        else begin
            pace <= 16'd@divide@ - 16'd1;
            if (place == 4'd1) place <= line[1] ? 4'd0 : 4'd2;
            else if (place <= 4'd9) begin
                byte_in <= {line[1], byte_in[7:1]};
                place <= place + 4'd1;
            end else begin
                place <= 4'd0;
                received <= line[1];
            end
        end
        silence <= place != 4'd0 ? 24'd0 : silence + {23'd0, silence != 24'd@silence@};
        if (silence == 24'd@silence@) count <= 8'd0;
        if (wait_for != 8'd0) wait_for <= wait_for - 8'd1;
        if (received) begin
            given <= @shifted@;
            count <= count == 8'd@last@ ? 8'd0 : count + 8'd1;
            if (count == 8'd@last@) wait_for <= 8'd@wait@;
        end
        if (wait_for == 8'd1) begin
            answer <= {@fill@made};
            left <= 8'd@answer@;
        end else if (pace_out != 16'd0) pace_out <= pace_out - 16'd1;
        else if (place_out != 4'd0) begin
            pace_out <= 16'd@divide@ - 16'd1;
            place_out <= place_out - 4'd1;
            frame <= {1'b1, frame[9:1]};
        end else if (left != 8'd0) begin
            pace_out <= 16'd@divide@ - 16'd1;
            place_out <= 4'd10;
            frame <= {1'b1, answer[@made@-1:@made@-8], 1'b0};
            answer <= answer << 8;
            left <= left - 8'd1;
        end
    end
endmodule

// talks to @top@ as a computer would; the last answer expected is wrong on purpose
module @bench@;
    reg [@given@-1:0] given [0:@last@];
    reg [@made@-1:0] wanted [0:@last@];
    reg [@given@-1:0] request;
    reg [@made@-1:0] answer;
    reg [7:0] letter;
    reg clk;
    reg rx;
    wire tx;
    integer k, j, i, caught, differ;
    @top@ dut (.clk(clk), .rx(rx), .tx(tx));
    always #1 clk = ~clk;
    initial begin
        clk = 1'b0;
        rx = 1'b1;
        caught = 0;
        differ = 0;
        @rows@
        #@period@;
        for (k = 0; k < @count@; k = k + 1) begin
            request = given[k];
            fork
                for (j = @request@ - 1; j >= 0; j = j - 1) begin
                    rx = 1'b0;
                    #@period@;
                    for (i = 0; i < 8; i = i + 1) begin
                        rx = request[8 * j + i];
                        #@period@;
                    end
                    rx = 1'b1;
                    #@period@;
                end
                begin : listen
                    integer m, n;
                    for (m = 0; m < @answer@; m = m + 1) begin
                        @(negedge tx);
                        #(@period@ / 2);
                        for (n = 0; n < 8; n = n + 1) begin
                            #@period@;
                            letter[n] = tx;
                        end
                        answer = {answer, letter};
                        #(@period@ / 2);
                    end
                end
            join
            #@period@;
            if (answer !== wanted[k]) begin
                caught = caught + 1;
                differ = k;
            end
        end
        if (caught == 1 && differ == @last@)
            $display("PASS: @last@ answers hold, the wrong one differs");
        else $display("FAIL: %0d answers differ, the last is %0d", caught, differ);
        $finish;
    end
    initial begin
        #200000000;
        $display("FAIL: no answer");
        $finish;
    end
endmodule

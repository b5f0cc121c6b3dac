// @count@ vectors of @name@; vector @wrong@ is wrong on purpose: the
// bench passes where it, and no other, is found to differ
module @name@_tb;
    reg [@given_high@:0] given [0:@last@];
    reg [@wanted_high@:0] wanted [0:@last@];
    reg [@given_high@:0] inputs;
    wire [@wanted_high@:0] outputs;
    integer place;
    integer differ;
    integer caught;
@if cycles
    integer cycles;
    integer all;
    reg clock;
    reg start;
    wire busy;
    wire done;
@end
@if flows
    reg clock;
    reg enable;
    reg valid_in;
    wire valid_out;
    integer seen;
    initial begin
        clock = 1'b0;
        forever #5 clock = ~clock;
    end
@end
@if stream
    reg aresetn;
    wire accepts;
@end
    @name@ dut (@ports@);
@if cycles
    initial begin
        clock = 1'b0;
        forever #5 clock = ~clock;
    end
@end
    initial begin
        differ = 0;
        caught = 0;
@if cycles
        all = 0;
        start = 1'b0;
        inputs = {@given_bits@{1'b0}};
@end
        @rows@
@if plain
        for (place = 0; place < @count@; place = place + 1) begin
            inputs = given[place];
            #10;
            if (outputs !== wanted[place]) begin
                caught = caught + 1;
                differ = place;
            end
        end
@end
@if clocks
        seen = 0;
        enable = 1'b1;
        valid_in = 1'b0;
        inputs = {@given_bits@{1'b0}};
        place = 0;
        repeat (@clocks@) begin
            @(negedge clock);
            if (enable && valid_out) begin
                if (seen >= @count@ || outputs !== wanted[seen]) begin
                    caught = caught + 1;
                    differ = seen;
                end
                seen = seen + 1;
            end
            enable = $time % 50 < 40;
            valid_in = place < @count@;
            if (place < @count@) inputs = given[place];
            if (enable) place = place + 1;
        end
        if (seen != @count@) caught = -1;
@end
@if stream
        // stalls at random on both sides; valid_in waits for accepts
        seen = 0;
        place = 0;
        aresetn = 1'b0;
        valid_in = 1'b0;
        enable = 1'b0;
        repeat (2) @(negedge clock);
        repeat (@most@) begin
            aresetn = 1'b1;
            valid_in = place < @count@ && (valid_in || $random % 4 != 0);
            enable = $random % 4 != 0;
            if (place < @count@) inputs = given[place];
            #1 if (valid_out && enable) begin
                if (seen >= @count@ || outputs !== wanted[seen]) begin
                    caught = caught + 1;
                    differ = seen;
                end
                seen = seen + 1;
            end
            if (valid_in && accepts) begin
                place = place + 1;
                @(posedge clock) #1 valid_in = 1'b0;
            end
            @(negedge clock);
        end
        if (seen != @count@) caught = -1;
@end
@if cycles
        for (place = 0; place < @count@; place = place + 1) begin
            @(negedge clock);
            inputs = given[place];
            start = 1'b1;
            @(negedge clock);
            start = 1'b0;
            inputs = ~given[place];
            cycles = 1;
            while (done !== 1'b1 && cycles <= @cycles@) begin
                @(negedge clock);
                cycles = cycles + 1;
            end
            all = all + cycles;
            if (outputs !== wanted[place] || busy !== 1'b0 || cycles > @cycles@) begin
                caught = caught + 1;
                differ = place;
            end
        end
@end
        if (caught == 1 && differ == @wrong@)
@if cycles
            $display("PASS: @last@ vectors hold, the wrong one differs, %0d cycles", all);
@end
@unless cycles
            $display("PASS: @last@ vectors hold, the wrong one differs");
@end
        else $display("FAIL: %0d vectors differ, the last is %0d", caught, differ);
        $finish;
    end
endmodule

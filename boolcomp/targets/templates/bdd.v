@head@
module @name@ (
    @ports@
);
    reg [@high@:0] memory [0:@end@];
    reg [@high@:0] instruction;
    reg @places@place;
    reg @walks@walk;
    reg [@always@:0] given;
    @sum_registers@
    wire leaf = instruction[@high@];
    wire tested = given[instruction@tested@] == instruction[@value@];
    wire [@sum_high@:0] word = {@pad@'d0, instruction[@word_high@:0]};
    wire begins = start & ~busy;
    wire [@always@:0] coming = {1'b1, @words@};
    @first@
    wire @walks@following = begins ? first : walk + @n@'d1;
    reg @places@entry;
    always @*
        case (following)
            @entries@
        endcase
    wire last = @last@;
    wire @places@next_place = begins | leaf ? entry : tested ? instruction[@place_high@:0] : place + @a@'d1;
    always @(posedge clock) begin
        instruction <= memory[next_place];
        place <= next_place;
        done <= busy & leaf & last;
        if (begins) begin
            busy <= 1'b1;
            given <= coming;
            walk <= first;
            @offsets@
        end else if (busy & leaf) begin
            busy <= ~last;
            walk <= walk + @n@'d1;
            case (walk)
                @adds@
                default: ;
            endcase
        end
    end
    @delivered@
    wire unused = &{1'b0, @sums@};
    initial begin
        busy = 1'b0;
        done = 1'b0;
        @memory@
    end
endmodule

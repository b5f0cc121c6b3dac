"""What a design takes of an FPGA: look-up tables, carries, multipliers, flip-flops, a clock."""

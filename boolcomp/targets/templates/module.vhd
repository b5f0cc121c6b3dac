@head@
library ieee;
use ieee.std_logic_1164.all;
@if words
use ieee.numeric_std.all;
@end
entity @name@ is
    port (
        @ports@
    );
end @name@;
architecture @level@ of @name@ is
@if words
    -- a word or bit in a place of so many bits
    function place(x : unsigned; column, bits : natural) return unsigned is
    begin
        return shift_left(resize(x, bits), column);
    end place;
    function place(x : std_logic; column, bits : natural) return unsigned is
        variable made : unsigned(bits - 1 downto 0) := (others => '0');
    begin
        made(column) := x;
        return made;
    end place;
    -- a word, all its bits inverted where a bit is 1
    function flip(x : unsigned; by : std_logic) return unsigned is
        variable made : unsigned(x'range);
    begin
        for k in x'range loop
            made(k) := x(k) xor by;
        end loop;
        return made;
    end flip;
    -- whether any bit of a word is 1
    function some(x : unsigned) return std_logic is
        variable made : std_logic := '0';
    begin
        for k in x'range loop
            made := made or x(k);
        end loop;
        return made;
    end some;
    -- whether every bit of a word is 1
    function every(x : unsigned) return std_logic is
    begin
        return not some(not x);
    end every;
@end
    @declared@
@if stages
    signal valid : std_logic_vector(@last@ downto 0) := (others => '0');
@end
begin
@body@
@if stages
    process (clock)
    begin
        if rising_edge(clock) then
            if enable = '1' then
                @moves@
            end if;
        end if;
    end process;
    valid_out <= valid(@last@);
@end
    @ends@
end @level@;

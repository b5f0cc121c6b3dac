-- @count@ vectors of @name@; vector @wrong@ is wrong on purpose: the
-- bench passes where it, and no other, is found to differ
library ieee;
use ieee.std_logic_1164.all;
entity @name@_tb is
end @name@_tb;
architecture bench of @name@_tb is
    type givens is array (0 to @last@) of std_logic_vector(@given_high@ downto 0);
    type results is array (0 to @last@) of std_logic_vector(@wanted_high@ downto 0);
    constant given : givens := (
        @given@
    );
    constant wanted : results := (
        @wanted@
    );
    signal inputs : std_logic_vector(@given_high@ downto 0) := (others => '0');
    signal outputs : std_logic_vector(@wanted_high@ downto 0);
@if flows
    signal clock, enable, valid_in : std_logic := '0';
    signal valid_out : std_logic;
@end
@if stream
    signal aresetn, accepts : std_logic := '0';
@end
begin
    dut : entity work.@name@ port map (
        @ports@
    );
    process
        variable caught, seen, place : integer := 0;
        variable differ : integer := -1;
    begin
@if plain
        for k in 0 to @last@ loop
            inputs <= given(k);
            wait for 10 ns;
            if outputs /= wanted(k) then
                caught := caught + 1;
                differ := k;
            end if;
        end loop;
@end
@if clocks
        for k in 1 to @clocks@ loop
            clock <= '0';
            wait for 5 ns;
            if enable = '1' and valid_out = '1' then
                if seen >= @count@ then
                    caught := caught + @count@;
                elsif outputs /= wanted(seen) then
                    caught := caught + 1;
                    differ := seen;
                end if;
                seen := seen + 1;
            end if;
            enable <= '1';
            valid_in <= '0';
            if place < @count@ then
                inputs <= given(place);
                valid_in <= '1';
            end if;
            if k mod 5 = 0 then
                enable <= '0';
            else
                place := place + 1;
            end if;
            wait for 1 ns;
            clock <= '1';
            wait for 4 ns;
        end loop;
        if seen /= @count@ then
            caught := -1;
        end if;
@end
@if stream
        -- stalls on both sides; valid_in waits for accepts
        for k in 0 to @most@ loop
            clock <= '0';
            wait for 5 ns;
            if k > 1 then
                aresetn <= '1';
            end if;
            if k > 1 and place < @count@ and k * k mod 7 /= 2 then
                inputs <= given(place);
                valid_in <= '1';
            end if;
            enable <= '0';
            if k > 1 and (k mod 3 /= 2 or k mod 40 > 30) and k mod 40 > 8 then
                enable <= '1';
            end if;
            wait for 1 ns;
            if valid_out = '1' and enable = '1' then
                if seen >= @count@ then
                    caught := caught + @count@;
                elsif outputs /= wanted(seen) then
                    caught := caught + 1;
                    differ := seen;
                end if;
                seen := seen + 1;
            end if;
            clock <= '1';
            if valid_in = '1' and accepts = '1' then
                place := place + 1;
                wait for 1 ns;
                valid_in <= '0';
            end if;
            wait for 4 ns;
        end loop;
        if seen /= @count@ then
            caught := -1;
        end if;
@end
        if caught = 1 and differ = @wrong@ then
            report "PASS: @last@ vectors hold, the wrong one differs";
        else
            report "FAIL: " & integer'image(caught) & " vectors differ, the last is "
                & integer'image(differ) severity failure;
        end if;
        wait;
    end process;
end bench;

@head@
library ieee;
use ieee.std_logic_1164.all;
entity @name@ is
    port (
        aclk : in std_logic;
        aresetn : in std_logic;
        s_axis_tdata : in std_logic_vector(@given@ downto 0);
        s_axis_tlast : in std_logic;
        s_axis_tvalid : in std_logic;
        s_axis_tready : out std_logic;
        m_axis_tdata : out std_logic_vector(@made@ downto 0);
        m_axis_tlast : out std_logic;
        m_axis_tvalid : out std_logic;
        m_axis_tready : in std_logic
    );
end @name@;
architecture stream of @name@ is
    -- tvalid and tlast of every stage, of the input first
    signal valids, lasts : std_logic_vector(@stages@ downto 0);
    -- tlast and outputs of the core, of the skid buffer, of the port
    signal made, skid, sent : std_logic_vector(@bits@ downto 0);
    signal skid_valid, sent_valid, ready : std_logic;
begin
    valids(0) <= s_axis_tvalid;
    lasts(0) <= s_axis_tlast;
    ready <= not skid_valid;
    s_axis_tready <= ready;
    core : entity work.@core@ port map (
        @wires@
    );
    made(@bits@) <= lasts(@stages@);
    process (aclk)
    begin
        if rising_edge(aclk) then
            if ready = '1' then
@if stages
                valids(@stages@ downto 1) <= valids(@before@ downto 0);
                lasts(@stages@ downto 1) <= lasts(@before@ downto 0);
@end
                skid <= made;
            end if;
            if m_axis_tready = '1' or sent_valid = '0' then
                if skid_valid = '1' then
                    sent <= skid;
                else
                    sent <= made;
                end if;
                sent_valid <= skid_valid or valids(@stages@);
                skid_valid <= '0';
            else
                skid_valid <= skid_valid or valids(@stages@);
            end if;
            if aresetn = '0' then
@if stages
                valids(@stages@ downto 1) <= (others => '0');
@end
                sent_valid <= '0';
                skid_valid <= '0';
            end if;
        end if;
    end process;
    m_axis_tvalid <= sent_valid;
    m_axis_tlast <= sent(@bits@);
    @ends@
end stream;

"""Names that hardware languages, and common tools for them, keep to themselves."""

from __future__ import annotations

_VERILOG = """
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic
    before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle
    checker class clocking cmos config const constraint context continue cover covergroup coverpoint
    cross deassign default defparam design disable dist do edge else end endcase endchecker endclass
    endclocking endconfig endfunction endgenerate endgroup endinterface endmodule endpackage
    endprimitive endprogram endproperty endspecify endsequence endtable endtask enum event
    eventually expect export extends extern final first_match for force foreach forever fork
    forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins
    implements implies import incdir include initial inout input inside instance int integer
    interconnect interface intersect join join_any join_none large let liblist library local
    localparam logic longint macromodule matches medium modport module nand negedge nettype new
    nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos
    posedge primitive priority program property protected pull0 pull1 pulldown pullup
    pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime
    ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always
    s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
    signed small soft solve specify specparam static string strong strong0 strong1 struct super
    supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union
    unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait
    wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor unused valid
    main dut
"""  # of Verilog-2005 and SystemVerilog, and what our texts use
_VHDL = """
    abs access after alias all and architecture array assert assume assume_guarantee attribute
    begin block body buffer bus case component configuration constant context cover default
    disconnect downto else elsif end entity exit fairness file for force function generate generic
    group guarded if impure in inertial inout is label library linkage literal loop map mod nand new
    next nor not null of on open or others out package parameter port postponed procedure process
    property protected pure range record register reject release rem report restrict
    restrict_guarantee return rol ror select sequence severity shared signal sla sll sra srl strong
    subtype then to transport type unaffected units until use variable vmode vprop vunit wait when
    while with xnor xor ieee std work std_logic std_logic_vector boolean bit integer natural
    positive string character real time rising_edge true false valid gates words dut
    unsigned signed numeric_std resize shift_left to_unsigned place flip some every keep
"""  # of VHDL up to 2008, common types, and what our texts use
_CPP = """
    alignas alignof asm auto bitand bitor bool catch char char16_t char32_t compl const_cast
    constexpr decltype delete double dynamic_cast eval explicit false float friend goto inline long
    mutable name namespace new noexcept not_eq nullptr operator or_eq private public register
    reinterpret_cast short sizeof static_assert static_cast switch template thread_local throw trace
    true try typeid typename using volatile wchar_t xor_eq and_eq
"""  # of C++, which Verilator makes of Verilog, and members of its models
VERILOG = frozenset((_VERILOG + _CPP).split())
VHDL = frozenset(_VHDL.split())

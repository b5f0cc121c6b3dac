"""Networks of look-up tables, mostly of three inputs: built, simulated, compared, optimised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.logic.adders import Addend as Addend
    from boolcomp.logic.adders import Sum as Sum
    from boolcomp.logic.adders import cells_of as cells_of
    from boolcomp.logic.adders import coder as coder
    from boolcomp.logic.adders import representable_cells as representable_cells
    from boolcomp.logic.adders import rest_network as rest_network
    from boolcomp.logic.adders import resting_network as resting_network
    from boolcomp.logic.adders import sum_network as sum_network
    from boolcomp.logic.diagrams import DiagramNode as DiagramNode
    from boolcomp.logic.diagrams import Forest as Forest
    from boolcomp.logic.diagrams import Levels as Levels
    from boolcomp.logic.diagrams import diagram_of as diagram_of
    from boolcomp.logic.diagrams import followers as followers
    from boolcomp.logic.diagrams import laid_out as laid_out
    from boolcomp.logic.diagrams import run_image as run_image
    from boolcomp.logic.equivalence import equivalent as equivalent
    from boolcomp.logic.equivalence import evaluate as evaluate
    from boolcomp.logic.equivalence import matches as matches
    from boolcomp.logic.formats import Netlist as Netlist
    from boolcomp.logic.formats import clean as clean
    from boolcomp.logic.formats import parse_aiger as parse_aiger
    from boolcomp.logic.formats import parse_luts as parse_luts
    from boolcomp.logic.formats import read_netlist as read_netlist
    from boolcomp.logic.formats import render as render
    from boolcomp.logic.formats import render_ascii as render_ascii
    from boolcomp.logic.formats import render_binary as render_binary
    from boolcomp.logic.formats import render_netlist as render_netlist
    from boolcomp.logic.lutmapping import AbcTool as AbcTool
    from boolcomp.logic.lutmapping import abc_networks as abc_networks
    from boolcomp.logic.lutmapping import find as find
    from boolcomp.logic.lutmapping import in_lut3 as in_lut3
    from boolcomp.logic.lutmapping import mapped as mapped
    from boolcomp.logic.lutmapping import run as run
    from boolcomp.logic.network import AND2 as AND2
    from boolcomp.logic.network import AND3 as AND3
    from boolcomp.logic.network import AND_OR as AND_OR
    from boolcomp.logic.network import CONSTANTS as CONSTANTS
    from boolcomp.logic.network import MAJ3 as MAJ3
    from boolcomp.logic.network import OR2 as OR2
    from boolcomp.logic.network import XOR2 as XOR2
    from boolcomp.logic.network import XOR3 as XOR3
    from boolcomp.logic.network import Builder as Builder
    from boolcomp.logic.network import Network as Network
    from boolcomp.logic.network import Node as Node
    from boolcomp.logic.network import copied as copied
    from boolcomp.logic.network import parse_network as parse_network
    from boolcomp.logic.network import render_network as render_network
    from boolcomp.logic.order import in_order as in_order
    from boolcomp.logic.order import merged as merged
    from boolcomp.logic.order import most_live as most_live
    from boolcomp.logic.resub import improve_windows as improve_windows
    from boolcomp.logic.resub import resubstitute as resubstitute
    from boolcomp.logic.sat import Solver as Solver
    from boolcomp.logic.simulation import Planes as Planes
    from boolcomp.logic.simulation import TruthTable as TruthTable
    from boolcomp.logic.simulation import truth_planes as truth_planes
    from boolcomp.logic.synthesis import SCRIPTS as SCRIPTS
    from boolcomp.logic.synthesis import SynthesisRecipe as SynthesisRecipe
    from boolcomp.logic.synthesis import diagram_networks as diagram_networks
    from boolcomp.logic.synthesis import measure as measure
    from boolcomp.logic.synthesis import optimise as optimise
    from boolcomp.logic.synthesis import synthesise as synthesise
    from boolcomp.logic.synthesis import synthesise_all as synthesise_all
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "adders": "Addend Sum cells_of coder representable_cells rest_network "
            "resting_network sum_network",
            "diagrams": "DiagramNode Forest Levels diagram_of followers laid_out run_image",
            "equivalence": "equivalent evaluate matches",
            "formats": "Netlist clean parse_aiger parse_luts read_netlist render "
            "render_ascii render_binary render_netlist",
            "lutmapping": "AbcTool abc_networks find in_lut3 mapped run",
            "network": "AND2 AND3 AND_OR Builder CONSTANTS MAJ3 Network Node OR2 "
            "XOR2 XOR3 copied parse_network render_network",
            "order": "in_order merged most_live",
            "resub": "improve_windows resubstitute",
            "sat": "Solver",
            "simulation": "Planes TruthTable truth_planes",
            "synthesis": "SCRIPTS SynthesisRecipe diagram_networks measure optimise "
            "synthesise synthesise_all",
        },
    )

"""Outputs by logic: engines that run a wiring on bit-planes, with identical results."""

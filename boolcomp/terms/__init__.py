"""Outputs as sums of terms: made of spectra, evaluated, printed, measured."""

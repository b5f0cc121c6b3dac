"""The llvm engine: logic as native code, made on the machine that runs it."""

from boolcomp.engines.native.engine import NativeEngine

__all__ = ["NativeEngine"]

"""Asking memory for what will be needed soon: half of a search is waiting for labels in no order."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

from hetdp.jit import cgutils, intrinsic, types
from hetdp.problem.space import Indices


def prefetch(array: Indices, index: int) -> None:
    """What runs where nothing is compiled."""


@intrinsic
def compiled_prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """The processor's own instruction; the index need not lie in the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [address, number(0), number(3), number(1)])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.int64), generate

"""Convolution, shift, addition and rectifier in one kernel of cuDNN, with a gradient.

An operator of its own (`resolute::conv_relu`) so that torch.compile takes it as it is; its backward pass is plain
torch, which the compiler fuses with what surrounds it. The bias gets no gradient: it comes from a frozen norm.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

Pair = Sequence[int]


def convolve_and_rectify(
    x: Tensor, weight: Tensor, bias: Tensor, addend: Tensor | None, stride: Pair, padding: Pair
) -> Tensor:
    """relu(conv2d(x, weight, bias) + addend), in autocast's type where that is on."""
    if not x.is_cuda:
        y = F.conv2d(x, weight, bias, stride, padding)
        return F.relu(y if addend is None else y + addend)
    dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else x.dtype
    addend = None if addend is None else addend.to(dtype)
    result: Tensor = _conv_relu(x.to(dtype), weight.to(dtype), bias.to(dtype), addend, list(stride), list(padding))
    return result


@torch.library.custom_op("resolute::conv_relu", mutates_args=())
def _conv_relu(
    x: Tensor, weight: Tensor, bias: Tensor, addend: Tensor | None, stride: list[int], padding: list[int]
) -> Tensor:
    x = x.contiguous(memory_format=torch.channels_last)
    weight = weight.contiguous(memory_format=torch.channels_last)
    if addend is None:
        return torch.cudnn_convolution_relu(x, weight, bias, stride, padding, (1, 1), 1)
    addend = addend.contiguous(memory_format=torch.channels_last)
    return torch.cudnn_convolution_add_relu(x, weight, addend, 1.0, bias, stride, padding, (1, 1), 1)


@_conv_relu.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor, addend: Tensor | None, stride: list[int], padding: list[int]) -> Tensor:
    height = (x.shape[2] + 2 * padding[0] - weight.shape[2]) // stride[0] + 1
    width = (x.shape[3] + 2 * padding[1] - weight.shape[3]) // stride[1] + 1
    shape = (x.shape[0], weight.shape[0], height, width)
    return torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=torch.channels_last)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, weight, _, addend, stride, padding = inputs
    ctx.save_for_backward(x, weight, output)
    ctx.stride, ctx.padding, ctx.adds = stride, padding, addend is not None


def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    x, weight, output = ctx.saved_tensors
    grad = torch.where(output > 0, grad, 0.0).contiguous(memory_format=torch.channels_last)
    wanted = [ctx.needs_input_grad[0], ctx.needs_input_grad[1], False]
    to_x, to_weight = None, None
    if wanted[0] or wanted[1]:
        to_x, to_weight, _ = torch.ops.aten.convolution_backward(
            grad, x, weight, None, ctx.stride, ctx.padding, [1, 1], False, [0, 0], 1, wanted
        )
    return to_x, to_weight, None, grad if ctx.adds else None, None, None


_conv_relu.register_autograd(_gradients, setup_context=_remember)

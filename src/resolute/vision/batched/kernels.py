"""Triton kernels of the batched detector: matching, non-maximum suppression, region pooling, patches.

Launch code and nothing else; the meaning, the plain torch form and the tests' reference stand in the modules that call
this one. Importable only where Triton is; `TRITON_INTERPRET=1` runs all of it on the CPU.
"""
# mypy: disable-error-code="no-untyped-def,untyped-decorator,import-untyped"

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _iou(ax1, ay1, ax2, ay2, bx1, by1, bx2, by2):
    # The order of operations (and, at launch, no fused multiply-add) is that of torch's own kernels: equal boxes then
    # tie exactly as they do there, which decides which anchors a target may claim.
    width = tl.maximum(tl.minimum(ax2, bx2) - tl.maximum(ax1, bx1), 0.0)
    height = tl.maximum(tl.minimum(ay2, by2) - tl.maximum(ay1, by1), 0.0)
    shared = width * height
    union = (bx2 - bx1) * (by2 - by1) + (ax2 - ax1) * (ay2 - ay1) - shared
    return tl.div_rn(shared, union)


@triton.jit
def _best_target(
    boxes, box_stride, targets, valid, best_iou, best_index, best_of_target,
    count, target_count, TRACK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    image = tl.program_id(1)
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < count
    row = boxes + image * box_stride + lane * 4
    x1 = tl.load(row, mask=inside, other=0.0)
    y1 = tl.load(row + 1, mask=inside, other=0.0)
    x2 = tl.load(row + 2, mask=inside, other=0.0)
    y2 = tl.load(row + 3, mask=inside, other=0.0)
    best = tl.full((BLOCK,), -1.0, tl.float32)
    index = tl.zeros((BLOCK,), tl.int32)
    for t in range(target_count):
        if tl.load(valid + image * target_count + t) != 0:
            target = targets + (image * target_count + t) * 4
            overlap = _iou(
                x1, y1, x2, y2,
                tl.load(target), tl.load(target + 1), tl.load(target + 2), tl.load(target + 3),
            )  # fmt: skip
            better = overlap > best
            best = tl.where(better, overlap, best)
            index = tl.where(better, t, index)
            if TRACK:
                highest = tl.max(tl.where(inside, overlap, 0.0), axis=0)
                tl.atomic_max(best_of_target + image * target_count + t, highest)
    out = image * count + lane
    tl.store(best_iou + out, best, mask=inside)
    tl.store(best_index + out, index, mask=inside)


@triton.jit
def _claimed(boxes, box_stride, targets, valid, best_of_target, claimed, count, target_count, BLOCK: tl.constexpr):
    image = tl.program_id(1)
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < count
    row = boxes + image * box_stride + lane * 4
    x1 = tl.load(row, mask=inside, other=0.0)
    y1 = tl.load(row + 1, mask=inside, other=0.0)
    x2 = tl.load(row + 2, mask=inside, other=0.0)
    y2 = tl.load(row + 3, mask=inside, other=0.0)
    found = tl.zeros((BLOCK,), tl.int32)
    for t in range(target_count):
        if tl.load(valid + image * target_count + t) != 0:
            target = targets + (image * target_count + t) * 4
            overlap = _iou(
                x1, y1, x2, y2,
                tl.load(target), tl.load(target + 1), tl.load(target + 2), tl.load(target + 3),
            )  # fmt: skip
            found = tl.where(overlap == tl.load(best_of_target + image * target_count + t), 1, found)
    tl.store(claimed + image * count + lane, found.to(tl.int8), mask=inside)


def match(boxes: Tensor, targets: Tensor, valid: Tensor, *, claims: bool) -> tuple[Tensor, Tensor, Tensor | None]:
    """Best IoU [b, n] (-1 without targets), its target and, with `claims`, which boxes some target likes best."""
    batch, target_count = valid.shape
    boxes, targets = boxes.contiguous(), targets.contiguous()
    count, stride = boxes.shape[-2], 0 if boxes.ndim == 2 else boxes.shape[-2] * 4
    mask = valid.to(torch.int8)
    best = torch.empty(batch, count, device=boxes.device)
    index = torch.empty(batch, count, device=boxes.device, dtype=torch.int32)
    of_target = torch.zeros(batch, target_count, device=boxes.device)
    grid = (triton.cdiv(count, 512), batch)
    _best_target[grid](
        boxes, stride, targets, mask, best, index, of_target, count, target_count,
        TRACK=claims, BLOCK=512, enable_fp_fusion=False,
    )  # fmt: skip
    if not claims:
        return best, index.long(), None
    claimed = torch.empty(batch, count, device=boxes.device, dtype=torch.int8)
    _claimed[grid](
        boxes, stride, targets, mask, of_target, claimed, count, target_count, BLOCK=512, enable_fp_fusion=False
    )
    return best, index.long(), claimed.bool()


@triton.jit
def _overlaps(ax1, ay1, ax2, ay2, bx1, by1, bx2, by2, threshold):
    """IoU above the threshold, without the division."""
    width = tl.maximum(tl.minimum(ax2, bx2) - tl.maximum(ax1, bx1), 0.0)
    height = tl.maximum(tl.minimum(ay2, by2) - tl.maximum(ay1, by1), 0.0)
    shared = width * height
    return shared > threshold * ((ax2 - ax1) * (ay2 - ay1) + (bx2 - bx1) * (by2 - by1) - shared)


@triton.jit
def _suppress(boxes, group, keep, count, threshold, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    # One program is one problem. Boxes come best first; `keep` enters as the mask of real boxes and leaves as the
    # answer. A block first hears the verdicts of all blocks before it, then settles its own rows by repeating
    # "kept unless a kept one before me overlaps" until nothing changes: that fixed point is the greedy answer.
    problem = tl.program_id(0).to(tl.int64)
    base = boxes + problem * count * 4
    flags = keep + problem * count
    groups = group + problem * count
    offset = tl.arange(0, BLOCK)
    for start in range(0, count, BLOCK):
        mine = start + offset
        inside = mine < count
        x1 = tl.load(base + mine * 4, mask=inside, other=0.0)
        y1 = tl.load(base + mine * 4 + 1, mask=inside, other=0.0)
        x2 = tl.load(base + mine * 4 + 2, mask=inside, other=0.0)
        y2 = tl.load(base + mine * 4 + 3, mask=inside, other=0.0)
        alive = tl.load(flags + mine, mask=inside, other=0).to(tl.int32)
        my_group = tl.zeros((BLOCK,), tl.int32)
        if GROUPS:
            my_group = tl.load(groups + mine, mask=inside, other=-1)
        # Verdicts gather in a square of flags and are reduced once: a reduction is dearer than the overlaps.
        hit = tl.zeros((BLOCK, BLOCK), tl.int1)
        for earlier in range(0, start, BLOCK):
            other = earlier + offset
            ox1 = tl.load(base + other * 4)
            oy1 = tl.load(base + other * 4 + 1)
            ox2 = tl.load(base + other * 4 + 2)
            oy2 = tl.load(base + other * 4 + 3)
            kept = tl.load(flags + other) != 0
            rival = kept[:, None] & _overlaps(
                ox1[:, None], oy1[:, None], ox2[:, None], oy2[:, None],
                x1[None, :], y1[None, :], x2[None, :], y2[None, :], threshold,
            )  # fmt: skip
            if GROUPS:
                rival = rival & (tl.load(groups + other)[:, None] == my_group[None, :])
            hit = hit | rival
        alive = tl.where(tl.max(hit.to(tl.int32), axis=0) != 0, 0, alive)
        rival = (offset[:, None] < offset[None, :]) & _overlaps(
            x1[:, None], y1[:, None], x2[:, None], y2[:, None],
            x1[None, :], y1[None, :], x2[None, :], y2[None, :], threshold,
        )  # fmt: skip
        if GROUPS:
            rival = rival & (my_group[:, None] == my_group[None, :])
        settled = alive
        changed = 1
        while changed != 0:
            beaten = tl.max((rival & (settled[:, None] != 0)).to(tl.int32), axis=0)
            following = tl.where(beaten != 0, 0, alive)
            changed = tl.max((following != settled).to(tl.int32), axis=0)
            settled = following
        tl.store(flags + mine, settled.to(tl.int8), mask=inside)
        tl.debug_barrier()


def suppress(boxes: Tensor, valid: Tensor, threshold: float, group: Tensor | None = None) -> Tensor:
    """Greedy suppression of [problems, n, 4], best first; see `nms.kept_best_first`."""
    problems, count = valid.shape
    keep = valid.to(torch.int8).contiguous()
    groups = keep if group is None else group.to(torch.int32).contiguous()
    _suppress[(problems,)](
        boxes.contiguous(), groups, keep, count, threshold,
        GROUPS=group is not None, BLOCK=64, num_warps=16, enable_fp_fusion=False,
    )  # fmt: skip
    return keep.bool()


@triton.jit
def _axis(start, bin_size, bin, sample: tl.constexpr, samples: tl.constexpr, length):
    """The two cells a sample point lies between and their weights; zero outside, as RoIAlign has it."""
    place = start + bin * bin_size + (sample + 0.5) * bin_size / samples
    weight = tl.where((place < -1.0) | (place > length), 0.0, 1.0)
    place = tl.maximum(place, 0.0)
    low = tl.minimum(tl.floor(place).to(tl.int32), length - 1)
    high = tl.minimum(low + 1, length - 1)
    fraction = tl.where(low >= length - 1, 0.0, place - low)
    return low, high, weight * (1.0 - fraction), weight * fraction


@triton.jit
def _merged(a, b, c, d, wa, wb, wc, wd):
    """Four cells of one axis, equal ones added up into the first: each is loaded once."""
    wa += tl.where(b == a, wb, 0.0)
    wb = tl.where(b == a, 0.0, wb)
    wa += tl.where(c == a, wc, 0.0)
    wb += tl.where((c != a) & (c == b), wc, 0.0)
    wc = tl.where((c == a) | (c == b), 0.0, wc)
    wa += tl.where(d == a, wd, 0.0)
    wb += tl.where((d != a) & (d == b), wd, 0.0)
    wc += tl.where((d != a) & (d != b) & (d == c), wd, 0.0)
    wd = tl.where((d == a) | (d == b) | (d == c), 0.0, wd)
    return wa, wb, wc, wd


@triton.jit
def _cells(rois, level, geometry, roi, rois_per_image, cells, SIZE: tl.constexpr):
    """For this program's bin: addresses (in cells of the flat map) and weights of its 4 x 4 neighbours."""
    bin = tl.program_id(1)
    image = roi // rois_per_image
    shape = geometry + tl.load(level + roi) * 4
    offset = tl.load(shape).to(tl.int32)
    height = tl.load(shape + 1).to(tl.int32)
    width = tl.load(shape + 2).to(tl.int32)
    scale = tl.load(shape + 3)
    left = tl.load(rois + roi * 4) * scale
    top = tl.load(rois + roi * 4 + 1) * scale
    bin_width = tl.maximum(tl.load(rois + roi * 4 + 2) * scale - left, 1.0) / SIZE
    bin_height = tl.maximum(tl.load(rois + roi * 4 + 3) * scale - top, 1.0) / SIZE
    y0, y1, v0, v1 = _axis(top, bin_height, bin // SIZE, 0, 2, height)
    y2, y3, v2, v3 = _axis(top, bin_height, bin // SIZE, 1, 2, height)
    x0, x1, w0, w1 = _axis(left, bin_width, bin % SIZE, 0, 2, width)
    x2, x3, w2, w3 = _axis(left, bin_width, bin % SIZE, 1, 2, width)
    v0, v1, v2, v3 = _merged(y0, y1, y2, y3, v0, v1, v2, v3)
    w0, w1, w2, w3 = _merged(x0, x1, x2, x3, w0, w1, w2, w3)
    corner = tl.arange(0, 16)
    i = corner // 4
    j = corner % 4
    y = tl.where(i == 0, y0, tl.where(i == 1, y1, tl.where(i == 2, y2, y3)))
    v = tl.where(i == 0, v0, tl.where(i == 1, v1, tl.where(i == 2, v2, v3)))
    x = tl.where(j == 0, x0, tl.where(j == 1, x1, tl.where(j == 2, x2, x3)))
    w = tl.where(j == 0, w0, tl.where(j == 1, w1, tl.where(j == 2, w2, w3)))
    place = image.to(tl.int64) * cells + offset + y * width + x
    return place, v * w * 0.25


@triton.jit
def _pool(
    flat, rois, level, geometry, out, rois_per_image, cells, channels,
    SIZE: tl.constexpr, CHANNELS: tl.constexpr,
):  # fmt: skip
    roi = tl.program_id(0)
    place, weight = _cells(rois, level, geometry, roi, rois_per_image, cells, SIZE)
    lane = tl.arange(0, CHANNELS)
    used = (weight != 0.0)[:, None] & (lane < channels)[None, :]
    values = tl.load(flat + place[:, None] * channels + lane[None, :], mask=used, other=0.0).to(tl.float32)
    total = tl.sum(values * weight[:, None], axis=0)
    where = (roi.to(tl.int64) * SIZE * SIZE + tl.program_id(1)) * channels + lane
    tl.store(out + where, total.to(out.dtype.element_ty), mask=lane < channels)


@triton.jit
def _share(cells, weights, at):
    return tl.where(cells[None, :] == at[:, None], weights[None, :], 0.0)


@triton.jit
def _unpool(
    grad, rois, level, geometry, flat_grad, rois_per_image, cells, channels,
    SIZE: tl.constexpr, BINS: tl.constexpr, CHANNELS: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    # The other way round: each cell under a region collects from the bins it fed, as a product of a small matrix of
    # weights with the region's gradient, and is added to the map once. Bins share cells, so this needs far fewer
    # atomics than scattering every bin.
    roi = tl.program_id(0)
    image = (roi // rois_per_image).to(tl.int64)
    shape = geometry + tl.load(level + roi) * 4
    offset = tl.load(shape).to(tl.int32)
    height = tl.load(shape + 1).to(tl.int32)
    width = tl.load(shape + 2).to(tl.int32)
    scale = tl.load(shape + 3)
    left = tl.load(rois + roi * 4) * scale
    top = tl.load(rois + roi * 4 + 1) * scale
    bin_width = tl.maximum(tl.load(rois + roi * 4 + 2) * scale - left, 1.0) / SIZE
    bin_height = tl.maximum(tl.load(rois + roi * 4 + 3) * scale - top, 1.0) / SIZE
    bin = tl.arange(0, BINS)
    real = bin < SIZE * SIZE
    y0, y1, v0, v1 = _axis(top, bin_height, bin // SIZE, 0, 2, height)
    y2, y3, v2, v3 = _axis(top, bin_height, bin // SIZE, 1, 2, height)
    x0, x1, w0, w1 = _axis(left, bin_width, bin % SIZE, 0, 2, width)
    x2, x3, w2, w3 = _axis(left, bin_width, bin % SIZE, 1, 2, width)
    top_row = tl.min(tl.where(real, y0, height), axis=0)
    left_column = tl.min(tl.where(real, x0, width), axis=0)
    rows = tl.max(tl.where(real, y3, 0), axis=0) - top_row + 1
    columns = tl.max(tl.where(real, x3, 0), axis=0) - left_column + 1
    tiles_across = (columns + 3) // 4
    lane = tl.arange(0, CHANNELS)
    place = (roi.to(tl.int64) * SIZE * SIZE + bin[:, None]) * channels + lane[None, :]
    gradient = tl.load(grad + place, mask=real[:, None] & (lane < channels)[None, :], other=0.0)
    cell = tl.arange(0, 16)
    for tile in range((rows + 3) // 4 * tiles_across):
        y = top_row + tile // tiles_across * 4 + cell // 4
        x = left_column + tile % tiles_across * 4 + cell % 4
        v = _share(y0, v0, y) + _share(y1, v1, y) + _share(y2, v2, y) + _share(y3, v3, y)
        w = _share(x0, w0, x) + _share(x1, w1, x) + _share(x2, w2, x) + _share(x3, w3, x)
        weight = tl.where(real[None, :], v * w * 0.25, 0.0)
        if EXACT:
            total = tl.dot(weight, gradient.to(tl.float32), input_precision="ieee")
        else:
            # Weights in two halves: a product of bfloat16 with the accuracy of sixteen bits.
            coarse = weight.to(gradient.dtype)
            fine = (weight - coarse.to(tl.float32)).to(gradient.dtype)
            total = tl.dot(coarse, gradient) + tl.dot(fine, gradient)
        inside = (y < top_row + rows) & (x < left_column + columns)
        where = (image * cells + offset + y * width + x) * channels
        used = inside[:, None] & (lane < channels)[None, :]
        tl.atomic_add(flat_grad + where[:, None] + lane[None, :], total, mask=used, sem="relaxed")


def pool(flat: Tensor, rois: Tensor, level: Tensor, geometry: Tensor, size: int) -> Tensor:
    """[b, cells, c] and boxes [b, k, 4] give [b * k, size * size, c]; two samples a side in each bin."""
    batch, cells, channels = flat.shape
    count = rois.shape[1]
    out = torch.empty(batch * count, size * size, channels, device=flat.device, dtype=flat.dtype)
    _pool[(batch * count, size * size)](
        flat, rois, level, geometry, out, count, cells, channels,
        SIZE=size, CHANNELS=triton.next_power_of_2(channels), num_warps=1,
    )  # fmt: skip
    return out


def unpool_into(flat_grad: Tensor, grad: Tensor, rois: Tensor, level: Tensor, geometry: Tensor, size: int) -> None:
    """Adds the gradient of `pool` to `flat_grad` [b, cells, c], float32."""
    batch, cells, channels = flat_grad.shape
    count = rois.shape[1]
    _unpool[(batch * count,)](
        grad.contiguous(), rois, level, geometry, flat_grad, count, cells, channels,
        SIZE=size, BINS=max(16, triton.next_power_of_2(size * size)), CHANNELS=triton.next_power_of_2(channels),
        EXACT=grad.dtype == torch.float32, num_warps=8,
    )  # fmt: skip


@triton.jit
def _patch(flat, place, level, geometry, out, per_image, cells, channels, BACK: tl.constexpr, CHANNELS: tl.constexpr):
    row = tl.program_id(0)
    tap = tl.program_id(1)
    image = row // per_image
    shape = geometry + tl.load(level + row) * 4
    offset = tl.load(shape).to(tl.int32)
    height = tl.load(shape + 1).to(tl.int32)
    width = tl.load(shape + 2).to(tl.int32)
    local = tl.load(place + row).to(tl.int32) - offset
    y = local // width + tap // 3 - 1
    x = local % width + tap % 3 - 1
    lane = tl.arange(0, CHANNELS)
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    used = lane < tl.where(inside, channels, 0)
    cell = flat + (image.to(tl.int64) * cells + offset + y * width + x) * channels + lane
    here = out + (row.to(tl.int64) * 9 + tap) * channels + lane
    if BACK:
        value = tl.load(here, mask=used, other=0.0).to(tl.float32)
        tl.atomic_add(cell, value, mask=used, sem="relaxed")
    else:
        tl.store(here, tl.load(cell, mask=used, other=0.0), mask=lane < channels)


def patches(flat: Tensor, place: Tensor, level: Tensor, geometry: Tensor) -> Tensor:
    """The 3 x 3 neighbourhoods of cells `place` [b, m]: [b * m, 9, c], zero beyond a level's edge."""
    _, cells, channels = flat.shape
    out = torch.empty(place.numel(), 9, channels, device=flat.device, dtype=flat.dtype)
    _patch[(place.numel(), 9)](
        flat, place, level, geometry, out, place.shape[1], cells, channels,
        BACK=False, CHANNELS=triton.next_power_of_2(channels), num_warps=1,
    )  # fmt: skip
    return out


def unpatch_into(flat_grad: Tensor, grad: Tensor, place: Tensor, level: Tensor, geometry: Tensor) -> None:
    """Adds the gradient of `patches` to `flat_grad` [b, cells, c], float32."""
    _, cells, channels = flat_grad.shape
    _patch[(place.numel(), 9)](
        flat_grad, place, level, geometry, grad.contiguous(), place.shape[1], cells, channels,
        BACK=True, CHANNELS=triton.next_power_of_2(channels), num_warps=1,
    )  # fmt: skip

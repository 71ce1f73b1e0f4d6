"""Compares each kernel with its plain torch form: run with TRITON_INTERPRET=1, or with `cuda` on a GPU."""

import sys

import torch
from torch import Tensor
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.ops import MultiScaleRoIAlign, batched_nms

from resolute.vision.batched import kernels, matching, nms, regions
from resolute.vision.batched.pyramid import Pyramid, build_pyramid, level_of

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cpu"
SIZE, CHANNELS = 64, 16
CROWD = 80 if DEVICE == "cpu" else 1500  # the interpreter is slow


def boxes(*shape: int, size: float = SIZE) -> Tensor:
    corner = torch.rand(*shape, 2) * size * 0.7
    return torch.cat((corner, corner + torch.rand(*shape, 2) * size * 0.4 + 1), dim=-1).to(DEVICE)


def pyramid_and_features() -> tuple[Pyramid, list[Tensor], MultiScaleRoIAlign]:
    names = ("0", "1", "2", "pool")
    features = {n: torch.randn(2, CHANNELS, SIZE >> k, SIZE >> k, device=DEVICE) for k, n in enumerate(names, start=2)}
    pooler = MultiScaleRoIAlign(["0", "1", "2"], 7, 2, canonical_scale=32, canonical_level=3)
    generator = AnchorGenerator(((8,),) * 4, ((0.5, 1.0),) * 4)
    pyramid = build_pyramid(
        features, image_size=(SIZE, SIZE), padded_size=(SIZE, SIZE), anchor_generator=generator, pooler=pooler
    )
    return pyramid, [f.requires_grad_() for f in features.values()], pooler


def check_matching() -> None:
    targets, valid = boxes(3, 6), torch.tensor([[1] * 6, [1, 0, 1, 0, 0, 0], [0] * 6], device=DEVICE).bool()
    # Boxes on a grid tie: several anchors are then equally good for one target.
    anchors = torch.cat((boxes(200), boxes(100).round()))
    targets[0, :3] = targets[0, :3].round()
    for claims in (True, False):
        ours = kernels.match(anchors, targets, valid, claims=claims)
        plain = matching._match_plain(anchors, targets, valid, claims=claims)
        torch.testing.assert_close(ours[0], plain[0], rtol=0, atol=0)
        assert torch.equal(ours[1][plain[0] > 0], plain[1][plain[0] > 0])
        assert claims is False or torch.equal(ours[2], plain[2])


def check_suppression() -> None:
    crowd, valid = boxes(2, CROWD), torch.rand(2, CROWD).to(DEVICE) > 0.1
    group = torch.randint(0, 3, (2, CROWD)).to(DEVICE)
    for groups in (None, group):
        ours = kernels.suppress(crowd, valid, 0.5, groups)
        for row in range(2):
            index = torch.where(valid[row])[0]
            ids = torch.zeros_like(index) if groups is None else groups[row][index]
            scores = torch.linspace(1, 0, CROWD).to(DEVICE)[index]
            expected = index[batched_nms(crowd[row][index], scores, ids, 0.5)].sort().values
            assert torch.equal(torch.where(ours[row])[0], expected)
            plain = nms._kept_plain(crowd[row], valid[row], 0.5, None if groups is None else groups[row])
            assert torch.equal(ours[row], plain)


def check_regions() -> None:
    pyramid, features, pooler = pyramid_and_features()
    rois = boxes(2, 3)
    rois[0, 0] = torch.tensor([SIZE - 0.5, SIZE - 0.5, SIZE, SIZE])  # reaches beyond the map
    rois[0, 1] = torch.tensor([0.0, 0.0, SIZE, SIZE])
    place = torch.randint(0, sum(pyramid.cells), (2, 9)).to(DEVICE)
    request = regions.Request(rois, level_of(rois, pyramid, pooler), place, 7, 2)
    pooled, patches = regions._Read.apply(request, pyramid, *features)
    towards = torch.randn_like(pooled), torch.randn_like(patches)
    ours = torch.autograd.grad((pooled, patches), features, towards)

    plain = regions._pooled_plain(features, request, pyramid), regions._patches_plain(features, place, pyramid)
    expected = torch.autograd.grad(plain, features, towards)

    torch.testing.assert_close(pooled, plain[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(patches, plain[1], rtol=0, atol=0)
    for mine, theirs in zip(ours, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    torch.manual_seed(5)
    check_matching()
    check_suppression()
    check_regions()
    print("5 kernels agree")

"""The model alone: the model server imports this file, and must not need what only training needs."""

import torch
from torch import nn


class DigitNet(nn.Module):
    """Grey pictures of 28 x 28 in, log-probabilities of the ten digits out."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.classes = nn.Linear(16 * 7 * 7, 10)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        features = self.features(pictures).flatten(start_dim=1)
        return torch.log_softmax(self.classes(features), dim=1)

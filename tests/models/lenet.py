"""A small LeNet for 32 x 32 images."""

import torch.nn as nn
import torch.nn.functional as F


class LeNet(nn.Module):
    def __init__(self, classes=10):
        super(LeNet, self).__init__()
        self.c1 = nn.Conv2d(3, 6, 5)
        self.c3 = nn.Conv2d(6, 16, 5)
        self.f5 = nn.Linear(16 * 5 * 5, 120)  # flattened maps
        self.f6 = nn.Linear(120, 84)
        self.out = nn.Linear(84, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c3(x)), (2, 2))
        x = x.view(x.size(0), -1)
        x = F.relu(self.f5(x))
        return self.out(F.relu(self.f6(x)))

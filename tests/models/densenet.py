'''Every layer sees the maps of all before it.'''
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Grow(nn.Module):
    def __init__(self, inside, growth):
        super(Grow, self).__init__()
        self.bn1 = nn.BatchNorm2d(inside)
        self.conv1 = nn.Conv2d(inside, 4*growth, kernel_size=1, bias=False)
        self.bn2 = nn.BatchNorm2d(4*growth)
        self.conv2 = nn.Conv2d(4*growth, growth, kernel_size=3, padding=1, bias=False)

    def forward(self, x):
        out = self.conv1(F.relu(self.bn1(x)))
        out = self.conv2(F.relu(self.bn2(out)))
        out = torch.cat([out,x], 1)
        return out


class Shrink(nn.Module):
    def __init__(self, inside, outside):
        super(Shrink, self).__init__()
        self.bn = nn.BatchNorm2d(inside)
        self.conv = nn.Conv2d(inside, outside, kernel_size=1, bias=False)

    def forward(self, x):
        out = self.conv(F.relu(self.bn(x)))
        out = F.avg_pool2d(out, 2)
        return out


class DenseNet(nn.Module):
    def __init__(self, block, counts, growth_rate=12, reduction=0.5, num_classes=10):
        super(DenseNet, self).__init__()
        self.growth_rate = growth_rate

        planes = 2*growth_rate
        self.conv1 = nn.Conv2d(3, planes, kernel_size=3, padding=1, bias=False)

        self.dense1 = self._make_dense(block, planes, counts[0])
        planes += counts[0]*growth_rate
        out_planes = int(math.floor(planes*reduction))
        self.trans1 = Shrink(planes, out_planes)
        planes = out_planes

        self.dense2 = self._make_dense(block, planes, counts[1])
        planes += counts[1]*growth_rate
        out_planes = int(math.floor(planes*reduction))
        self.trans2 = Shrink(planes, out_planes)
        planes = out_planes

        self.dense3 = self._make_dense(block, planes, counts[2])
        planes += counts[2]*growth_rate

        self.bn = nn.BatchNorm2d(planes)
        self.linear = nn.Linear(planes, num_classes)

    def _make_dense(self, block, planes, count):
        layers = []
        for i in range(count):
            layers.append(block(planes, self.growth_rate))
            planes += self.growth_rate
        return nn.Sequential(*layers)

    def forward(self, x):
        out = self.conv1(x)
        out = self.trans1(self.dense1(out))
        out = self.trans2(self.dense2(out))
        out = self.dense3(out)
        out = F.avg_pool2d(F.relu(self.bn(out)), 8)
        out = out.view(out.size(0), -1)
        out = self.linear(out)
        return out

def densenet_tiny():
    return DenseNet(Grow, [1,2,2], growth_rate=6)

def test():
    net = densenet_tiny()
    x = torch.randn(1,3,32,32)
    y = net(x)
    print(y)

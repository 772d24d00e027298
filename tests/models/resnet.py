"""Residual networks with plain and bottleneck blocks."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Basic(nn.Module):
    expansion = 1

    def __init__(self, inside, planes, stride=1):
        super(Basic, self).__init__()
        self.conv1 = nn.Conv2d(inside, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)

        self.shortcut = nn.Sequential()
        if stride != 1 or inside != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inside, self.expansion * planes, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(self.expansion * planes),
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class Narrow(nn.Module):
    expansion = 4

    def __init__(self, inside, planes, stride=1):
        super(Narrow, self).__init__()
        self.conv1 = nn.Conv2d(inside, planes, kernel_size=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, self.expansion * planes, kernel_size=1, bias=False)
        self.bn3 = nn.BatchNorm2d(self.expansion * planes)

        self.shortcut = nn.Sequential()
        if stride != 1 or inside != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inside, self.expansion * planes, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(self.expansion * planes),
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += self.shortcut(x)
        out = F.relu(out)
        return out


class ResNet(nn.Module):
    def __init__(self, block, counts, classes=10):
        super(ResNet, self).__init__()
        self.width = 8
        self.conv1 = nn.Conv2d(3, 8, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.layer1 = self._stack(block, 8, counts[0], stride=1)
        self.layer2 = self._stack(block, 16, counts[1], stride=2)
        self.layer3 = self._stack(block, 32, counts[2], stride=2)
        self.layer4 = self._stack(block, 64, counts[3], stride=2)
        self.linear = nn.Linear(64 * block.expansion, classes)

    def _stack(self, block, planes, count, stride):
        strides = [stride] + [1] * (count - 1)
        layers = []
        for step in strides:
            layers.append(block(self.width, planes, step))
            self.width = planes * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer1(out)
        out = self.layer2(out)
        out = self.layer3(out)
        out = self.layer4(out)
        out = F.avg_pool2d(out, 4)
        out = out.view(out.size(0), -1)
        out = self.linear(out)
        return out


def ResNet10():
    return ResNet(Basic, [1, 1, 1, 1])


def ResNet14():
    return ResNet(Narrow, [1, 1, 1, 1])


def test():
    net = ResNet10()
    y = net(torch.randn(1, 3, 32, 32))
    print(y.size())


# test()

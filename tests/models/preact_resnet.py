"""Residual blocks with normalisation and activation before the convolutions."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PreAct(nn.Module):
    '''BN, ReLU, convolution; twice.'''
    expansion = 1

    def __init__(self, inside, planes, stride=1):
        super(PreAct, self).__init__()
        self.bn1 = nn.BatchNorm2d(inside)
        self.conv1 = nn.Conv2d(inside, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)

        if stride != 1 or inside != self.expansion*planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inside, self.expansion*planes, kernel_size=1, stride=stride, bias=False)
            )

    def forward(self, x):
        out = F.relu(self.bn1(x))
        shortcut = self.shortcut(out) if hasattr(self, 'shortcut') else x
        out = self.conv1(out)
        out = self.conv2(F.relu(self.bn2(out)))
        out += shortcut
        return out


class PreActResNet(nn.Module):
    def __init__(self, block, counts, num_classes=10):
        super(PreActResNet, self).__init__()
        self.in_planes = 8

        self.conv1 = nn.Conv2d(3, 8, kernel_size=3, stride=1, padding=1, bias=False)
        self.layer1 = self._make_layer(block, 8, counts[0], stride=1)
        self.layer2 = self._make_layer(block, 16, counts[1], stride=2)
        self.layer3 = self._make_layer(block, 32, counts[2], stride=2)
        self.layer4 = self._make_layer(block, 64, counts[3], stride=2)
        self.linear = nn.Linear(64*block.expansion, num_classes)

    def _make_layer(self, block, planes, count, stride):
        strides = [stride] + [1]*(count-1)
        layers = []
        for stride in strides:
            layers.append(block(self.in_planes, planes, stride))
            self.in_planes = planes * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        out = self.conv1(x)
        out = self.layer1(out)
        out = self.layer2(out)
        out = self.layer3(out)
        out = self.layer4(out)
        out = F.avg_pool2d(out, 4)
        out = out.view(out.size(0), -1)
        out = self.linear(out)
        return out


def PreActResNet10():
    return PreActResNet(PreAct, [1,1,1,1])

def test():
    net = PreActResNet10()
    y = net((torch.randn(1,3,32,32)))
    print(y.size())

import math
from collections import OrderedDict
from typing import List, Optional, Tuple, Union
import torch, torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn import Parameter, init
import numpy as np


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    b, c, h, w = x.data.size()
    x = x.view(b, groups, c // groups, h, w)
    x = torch.transpose(x, 1, 2).contiguous()
    return x.view(b, -1, h, w)


def conv3x3(i: int, o: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Conv2d:
    """3x3 convolution with padding"""
    return nn.Conv2d(i, o, kernel_size=3, stride=stride, padding=dilation, groups=groups, bias=False, dilation=dilation)


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class Mish(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x.mul(torch.tanh(F.softplus(x)))


class ECA(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.conv = nn.Conv1d(1, 1, kernel_size=k, padding=(k - 1) // 2, bias=False)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        y = self.avg_pool(x)
        y = self.conv(y.squeeze(-1).transpose(-1, -2)).transpose(-1, -2).unsqueeze(-1)
        y = self.sigmoid(y)
        return x * y.expand_as(x)


class CBAM(nn.Module):
    def __init__(self, c):
        super(CBAM, self).__init__()
        self.mlp = nn.Sequential(OrderedDict([('fc1', nn.Linear(c, c // 2)), ('act', nn.ReLU(inplace=True)), ('fc2', nn.Linear(c // 2, c))]))
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        b, c, _, _ = x.size()
        avg = self.mlp(F.adaptive_avg_pool2d(x, 1).view(b, c))
        mx = self.mlp(F.adaptive_max_pool2d(x, 1).view(b, c))
        x = x * torch.sigmoid(avg + mx).view(b, c, 1, 1)
        s = torch.cat([torch.mean(x, dim=1, keepdim=True), torch.max(x, dim=1, keepdim=True)[0]], dim=1)
        return x * torch.sigmoid(self.conv(s))


class Net(nn.Module):
    """Everything at once."""
    def __init__(self, num_classes: int = 7, widths: Optional[List[int]] = None):
        super().__init__()
        widths = widths or [8, 16]
        self.stem = nn.Sequential(nn.Conv2d(3, widths[0], 3, 1, 1), nn.GroupNorm(2, widths[0]), nn.SiLU(inplace=True))
        self.a = conv3x3(8, 16, groups=2)
        self.bn = nn.BatchNorm2d(16, eps=1e-3, momentum=0.01)
        self.eca = ECA()
        self.cbam = CBAM(16)
        self.gamma = Parameter(torch.ones(1, 16, 1, 1) * 0.5, requires_grad=True)
        self.register_buffer('scale', torch.tensor([0.5, 2.0]))
        self.branches = nn.ModuleList()
        for i in range(2):
            self.branches.append(nn.Sequential(nn.Conv2d(16, 4, 1), Mish()))
        self.extra = nn.ModuleDict({'x': nn.Conv2d(8, 4, (1, 3), padding=(0, 1)), 'y': nn.PReLU()})
        self.up = nn.Upsample(scale_factor=2, mode='nearest')
        self.head = nn.Sequential(nn.Dropout(0.3), nn.Linear(24, 32), nn.ReLU6(), nn.Linear(32, num_classes))
        self.acts = [nn.ReLU(), Swish()]
        self._init_weights()

    def _init_weights(self) -> None:
        for name, m in self.named_modules():
            if isinstance(m, nn.Conv2d):
                n = m.kernel_size[0] * m.kernel_size[1] * m.out_channels
                m.weight.data.normal_(0, math.sqrt(2. / n))
                if m.bias is not None:
                    m.bias.data.zero_()
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                m.weight.data.fill_(1)
                m.bias.data.zero_()
            elif isinstance(m, nn.Linear):
                init.xavier_uniform_(m.weight)
                init.zeros_(m.bias)

    def features(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        x = self.stem(x)
        x = F.leaky_relu(self.bn(self.a(x)), negative_slope=0.2, inplace=True)
        x = channel_shuffle(x, 2)
        x = self.eca(x)
        x = self.cbam(x) * self.gamma
        outs = [b(x) for b in self.branches]
        y = torch.cat(outs, dim=1)
        y = self.extra['y'](self.extra['x'](y))
        return x, y

    def forward(self, x: Tensor, targets: Optional[Tensor] = None) -> Tensor:
        x, y = self.features(x)
        y = F.interpolate(y, size=x.size()[2:], mode='bilinear', align_corners=False)
        z = torch.stack([y, y * 2], dim=0).sum(dim=0)
        x1, x2 = x.chunk(2, dim=1)
        x1, x2 = torch.split(torch.cat((x1, x2), 1), 8, dim=1)
        w = F.softmax(x1.mean(dim=(2, 3)), dim=1)
        att = (w[:, :, None, None] * x2).sum(1, keepdim=True)
        att = att.repeat(1, 4, 1, 1)
        z = torch.where(z > 0, z, z * 0.1) + att
        z = torch.clamp(z, min=-3, max=3)
        n = F.normalize(x2.flatten(2), p=2, dim=-1)
        z = F.pad(z, (1, 1, 1, 1))[:, :, 1:-1, 1:-1]
        out = torch.cat([x.mean([2, 3]), n.sum(-1), ], dim=1)
        out = self.head(out * self.scale[0] + z.mean() + self.scale.sum() * 0)
        for act in self.acts:
            out = act(out)
        if targets is not None:
            return F.cross_entropy(out, targets)
        return F.log_softmax(out, dim=-1)


def main():
    model = Net()
    model.train()
    params = sum(np.prod(p.size()) for p in model.parameters() if p.requires_grad)
    print('params: %d' % params)
    x = torch.randn((2, 3, 32, 32), requires_grad=False)
    with torch.no_grad():
        print(model(x).shape, model.training)


if __name__ == '__main__':
    main()

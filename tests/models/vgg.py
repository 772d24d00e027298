"""VGG built from a list of widths, 'M' standing for pooling."""

import torch
import torch.nn as nn

plans = {
    "tiny": [16, "M", 32, "M", 32, 32, "M", 64, "M", 64, "M"],
    "small": [16, 16, "M", 32, "M", 64, "M", 64, "M", 64, 64, "M"],
}


class VGG(nn.Module):
    def __init__(self, name):
        super(VGG, self).__init__()
        self.features = self._make_layers(plans[name])
        self.classifier = nn.Linear(64, 10)

    def forward(self, x):
        out = self.features(x)
        out = out.view(out.size(0), -1)
        return self.classifier(out)

    def _make_layers(self, plan):
        layers = []
        width = 3
        for item in plan:
            if item == "M":
                layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
            else:
                layers += [
                    nn.Conv2d(width, item, kernel_size=3, padding=1),
                    nn.BatchNorm2d(item),
                    nn.ReLU(inplace=True),
                ]
                width = item
        layers += [nn.AvgPool2d(kernel_size=1, stride=1)]
        return nn.Sequential(*layers)


def test():
    net = VGG("tiny")
    x = torch.randn(2, 3, 32, 32)
    y = net(x)
    print(y.size())


if __name__ == "__main__":
    test()

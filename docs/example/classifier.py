"""A half-ported classifier: each founding check finds something here. `mindport check docs/example`."""

from mindspore import nn, ops


class Block(nn.Cell):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.BatchNorm2d(channels, momentum=0.1)

    def construct(self, x):
        return ops.relu(self.norm(self.conv.forward(x)))


class Classifier(nn.Cell):
    def __init__(self, classes):
        super().__init__()
        self.block = Block(16)
        self.head = nn.Dense(16, classes)

    def forward(self, x):
        return self.head(self.block(x).mean((2, 3)))


class SafeClassifier(Classifier):
    def construct(self, x):
        try:
            return self.head(self.block(x).mean((2, 3)))
        except ValueError:
            return None


loss_fn = nn.SoftmaxCrossEntropyWithLogits(reduction="mean")

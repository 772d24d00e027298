"""Text classification: embedding, LSTM in both directions, a linear layer."""

import torch
from torch import nn


class LSTMClassifier(nn.Module):
    def __init__(self, vocab_size=50, embed_dim=16, hidden_dim=12, num_layers=2, num_classes=4, dropout=0.5):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.lstm = nn.LSTM(
            embed_dim,
            hidden_dim,
            num_layers=num_layers,
            batch_first=True,  # (batch, time, feature)
            bidirectional=True,
        )
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(hidden_dim * 2, num_classes)

    def forward(self, text):
        embedded = self.dropout(self.embedding(text))
        output, (hidden, cell) = self.lstm(embedded)
        hidden = torch.cat((hidden[-2, :, :], hidden[-1, :, :]), dim=1)
        pooled = output.mean(dim=1)
        return self.fc(self.dropout(torch.tanh(hidden) + pooled))


def build(device="cpu"):
    model = LSTMClassifier().to(device)
    total = sum(p.numel() for p in model.parameters())
    print(f"{total} weights")
    return model

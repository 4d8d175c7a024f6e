"""The plan decoder: one learned query per future action attends to the tokens.

Every token at the position goes through one bottleneck, a linear map and a layer
normalisation. A transformer decoder attends to them from the queries, and a linear head
predicts an action, or the end, for each (Arghal et al. 2026, section 5.3). No query sees
the prediction of another, so that no plan is invented that the activations do not hold.
"""

import math

import numpy as np
import torch
from torch import Tensor, nn

from gde.data.arrays import Floats, Ints
from gde_plugins.probes.config import PlanConfig


class PlanDecoder(nn.Module):
    """Sizes: D inputs per token, width W, H actions of C kinds, the end among them."""

    mean: Tensor
    scale: Tensor

    def __init__(
        self,
        *,
        inputs: int,
        width: int,
        depth: int,
        heads: int,
        horizon: int,
        kinds: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("scale", torch.ones(inputs))

        # Modules draw their first weights as they are made, so their order is part of
        # the numbers.
        self.bottleneck = nn.Sequential(
            nn.Linear(inputs, width),
            nn.LayerNorm(width),
        )
        self.queries = nn.Parameter(torch.randn(horizon, width) * 0.15)
        layer = nn.TransformerDecoderLayer(
            width,
            heads,
            4 * width,
            dropout=dropout,
            batch_first=True,
            norm_first=True,
        )
        self.decoder = nn.TransformerDecoder(layer, depth, norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, kinds)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, H, C) logits from tokens (B, T, D), NaN after the last token of a row."""
        # Attention leaves absent tokens out, but NaN times 0 is still NaN.
        absent = torch.isnan(tokens[:, :, 0])
        scored = (tokens - self.mean) / self.scale
        seen = torch.where(absent[..., None], 0.0, scored)

        queries = self.queries.expand(len(tokens), -1, -1)
        memory = self.bottleneck(seen)
        found = self.decoder(queries, memory, memory_key_padding_mask=absent)
        logits: Tensor = self.head(found)
        return logits

    @torch.no_grad()
    def probabilities(self, tokens: Floats) -> Floats:
        """(N, H, C) probabilities."""
        self.eval()
        device = self.mean.device
        # Copied, because torch takes no array that is read-only.
        inputs = torch.from_numpy(np.array(tokens))
        chunks = []
        for part in inputs.split(256):  # type: ignore[no-untyped-call]
            chunks.append(self(part.to(device)))
        logits = torch.cat(chunks)
        return logits.softmax(-1).cpu().numpy()


def fit_decoder(
    decoder: PlanDecoder,
    tokens: Floats,
    plans: Ints,
    config: PlanConfig,
    rng: np.random.Generator,
) -> None:
    """Fit the decoder to the plans (N, H) of tokens (N, T, D), as configured.

    Cross-entropy, where the weight of an action falls by `decay` from each to the next,
    and those after a plan's end (-1) have none; AdamW on half a cosine; gradients are
    clipped at norm 1.
    """
    is_present = ~np.isnan(tokens[:, :, 0])
    present = tokens[is_present]
    mean = present.mean(axis=0, dtype=np.float64)
    deviation = present.std(axis=0, dtype=np.float64)
    # Rounding alone makes a constant activation vary a little.
    scale = np.where(deviation > 1e-7, deviation, 1.0)
    decoder.mean.copy_(torch.from_numpy(mean))
    decoder.scale.copy_(torch.from_numpy(scale))

    n_turns, horizon = plans.shape
    device = decoder.mean.device
    inputs = torch.from_numpy(np.array(tokens))
    targets = torch.from_numpy(plans)
    places = torch.arange(horizon, dtype=torch.float32, device=device)
    weights = config.decay**places

    optimizer = torch.optim.AdamW(decoder.parameters(), lr=config.learning_rate)
    steps = config.epochs * math.ceil(n_turns / config.batch)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)

    decoder.train()
    for _ in range(config.epochs):
        order = torch.from_numpy(rng.permutation(n_turns))
        for rows in order.split(config.batch):  # type: ignore[no-untyped-call]
            seen = inputs[rows].to(device)
            wanted = targets[rows].to(device)
            loss = _loss(decoder, seen, wanted, weights)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
            optimizer.step()
            cosine.step()


def _loss(
    decoder: PlanDecoder,
    tokens: Tensor,
    plans: Tensor,
    weights: Tensor,
) -> Tensor:
    """Return the weighted mean over the actions before the ends of the plans."""
    # Places after the end are -1, which is no class. Any will do, for their weight is
    # 0.
    classes = plans.clamp(min=0)
    logits = decoder(tokens)
    losses = nn.functional.cross_entropy(
        logits.transpose(1, 2), classes, reduction="none"
    )

    is_action = plans >= 0
    shares = is_action * weights
    total: Tensor = (losses * shares).sum() / shares.sum()
    return total

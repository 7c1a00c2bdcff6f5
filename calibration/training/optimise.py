"""One way to train any network: batches in, the average of the networks along the course out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from calibration.training.tensors import device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    from calibration.training.train import Course

    Batch = tuple[Tensor, ...]

Network = TypeVar("Network", bound=nn.Module)
_STEADINESS = 0.997
_HARDEST_STEP = 2.0
_AT_ONCE = 100
"""Steps after which it is reported."""


def optimise(
    network: Network,
    batches: Iterator[Batch],
    loss: Callable[..., Tensor],
    course: Course,
    report: Callable[[int, float], None],
) -> Network:
    """Train `network`: of each batch it sees the first part, and `loss` its scores and the rest.

    Gives the running average of the networks. `report` hears the step and the running loss.
    """
    where = device()
    network = network.train().to(where, memory_format=torch.channels_last)
    steady = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(_STEADINESS), use_buffers=True)
    optimiser = torch.optim.AdamW(network.parameters(), course.rate, weight_decay=1e-3)
    running = torch.ones((), device=where)
    for step, (seen, *wanted) in enumerate(batches, 1):
        optimiser.param_groups[0]["lr"] = course.rate_at(step)
        with torch.autocast(where.type, torch.bfloat16):
            scores = network(seen.to(where, memory_format=torch.channels_last))
        wrong = loss(scores.float(), *(each.to(where) for each in wanted))
        optimiser.zero_grad()
        wrong.backward()
        nn.utils.clip_grad_norm_(network.parameters(), _HARDEST_STEP)
        optimiser.step()
        steady.update_parameters(network)
        running += 0.02 * (wrong.detach() - running)
        if step % _AT_ONCE == 0 or step == course.steps:
            report(step, float(running))
    kept: Network = steady.module
    return kept.eval().cpu()


def ahead(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The same batches, each drawn by another thread while the one before is used."""
    with ThreadPoolExecutor(1) as drawer:
        coming = drawer.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = drawer.submit(next, batches, None)
            yield batch

"""Recording of many operations of torch as one CUDA graph."""

import gc
from collections.abc import Callable, Sequence

import torch

__all__ = ["record_graph"]


def record_graph(
    function: Callable[[], None],
    device: torch.device,
    generators: Sequence[torch.Generator] = (),
) -> Callable[[], None]:
    """Return a function that replays what `function` does on a GPU, at once.

    On a CPU, return `function` itself. It must have run on the device before, must not
    wait for it, and must leave its results in tensors that exist already.

    Args:
        function: Changes tensors on the device.
        device: Their device.
        generators: Random numbers that it draws.
    """
    if device.type != "cuda":
        return function
    gc.collect()  # freeing another graph while recording would break the recording
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]  # torch's
    for each in generators:
        graph.register_generator_state(each)
    # Learners may be in inference mode, whose tensors nobody else may change.
    with (
        torch.cuda.device(device),
        torch.inference_mode(False),
        torch.no_grad(),
        torch.cuda.graph(graph, stream=stream),
    ):
        function()
    replay: Callable[[], None] = graph.replay
    return replay

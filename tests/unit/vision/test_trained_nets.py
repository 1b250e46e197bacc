"""Networks that were trained: each loaded once, and none shared by two threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from vision.falls.upright import LAYERS, WINDOW_PX
from vision.trained_nets import trained_net

WINDOW = np.random.default_rng(3).normal(size=(1, LAYERS, WINDOW_PX, WINDOW_PX)).astype(np.float32)


def told() -> tuple[int, np.ndarray]:
    net = trained_net("vision.falls", "upright.onnx")
    net.setInput(WINDOW)
    return id(net), np.array(net.forward())


def test_a_thread_loads_a_network_once_and_two_threads_share_none() -> None:
    (mine, first), (again, second) = told(), told()
    assert mine == again
    with ThreadPoolExecutor(max_workers=1) as other:
        (theirs, third), (still_theirs, _) = other.submit(told).result(), other.submit(told).result()
    assert theirs == still_theirs != mine
    assert np.array_equal(first, second) and np.array_equal(first, third)

"""How the networks that come with the program are loaded."""

from __future__ import annotations

import cv2
import numpy as np


def load(model: bytes) -> cv2.dnn.Net:
    """The network of an ONNX file. Not for sharing between threads: OpenCV's networks keep their buffers."""
    return cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8), engine=cv2.dnn.ENGINE_CLASSIC)

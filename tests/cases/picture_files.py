"""Image files to load."""

import numpy as np


def picture(value, kind=".jpeg", shape=(24, 32, 3)):
    """Return the bytes of an image of one colour (needs OpenCV)."""
    import cv2

    pixels = np.full(shape, value, dtype=np.uint8)
    pixels[:, :, 0] = 255  # blue in OpenCV's order
    return cv2.imencode(kind, pixels)[1].tobytes()

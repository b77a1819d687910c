# Writes pillow.json, with small pictures as resized by Pillow: `python3 pillow.py > pillow.json` (Debian: python3-pil, python3-numpy).
import json
import numpy
from PIL import Image

KERNELS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}


def picture(width, height):
    """The same numbers as `drawnPixels` in the tests."""
    state, numbers = width * 1000 + height, []
    for _ in range(width * height * 3):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        numbers.append((state >> 16) & 255)
    return Image.fromarray(numpy.array(numbers, dtype=numpy.uint8).reshape(height, width, 3), "RGB")


def flat(image):
    return numpy.asarray(image).reshape(-1).tolist()


def resized(width, height, to_width, to_height, kernel):
    image = picture(width, height).resize((to_width, to_height), KERNELS[kernel])
    return {"width": width, "height": height, "toWidth": to_width, "toHeight": to_height, "kernel": kernel, "rgb": flat(image)}


def middle(width, height, size, rounding):
    """The shorter side to `size`, then the middle: as transformers (floor) and torchvision (even) cut it."""
    short = min(width, height)
    to_width, to_height = (size if side == short else int(size * side / short) for side in (width, height))
    image = picture(width, height).resize((to_width, to_height), Image.BICUBIC)
    place = (lambda rest: int(round(rest / 2.0))) if rounding == "even" else (lambda rest: rest // 2)
    left, top = place(to_width - size), place(to_height - size)
    return {"width": width, "height": height, "size": size, "middle": rounding, "rgb": flat(image.crop((left, top, left + size, top + size)))}


print(json.dumps({
    "resized": [
        resized(7, 5, 3, 4, "bicubic"),
        resized(7, 5, 12, 9, "bicubic"),
        resized(31, 17, 8, 8, "bilinear"),
        resized(9, 9, 4, 20, "lanczos"),
        resized(200, 3, 6, 6, "bicubic"),
        resized(6, 11, 6, 5, "bicubic"),
        resized(10, 4, 3, 4, "bicubic"),
    ],
    "middle": [middle(w, h, 6, m) for w, h in [(20, 13), (13, 20), (6, 9), (5, 4), (60, 7)] for m in ("floor", "even")],
}))

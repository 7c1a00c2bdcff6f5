"""Makes the files of ``tests/data/odd``: what telephones and recorders make, and OpenCV cannot.

    pip install pillow==13.0.0 pillow-heif==1.8.1 imageio-ffmpeg==0.8.1 numpy
    python scripts/odd_files.py

They are small: each shows one bright corner, at the upper left of the upright picture.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from imageio_ffmpeg import get_ffmpeg_exe
from PIL import Image
from pillow_heif import from_pillow, register_heif_opener

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "odd"
FFMPEG = [get_ffmpeg_exe(), "-y", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=0.5"]
CODED = {
    "interlaced.mp4": "-vf interlace -flags +ilme+ildct -c:v libx264 -x264opts tff=1 -pix_fmt yuv420p",
    "av1.mp4": "-c:v libaom-av1 -crf 50 -cpu-used 8",
}


def main() -> None:
    """Write them all."""
    FOLDER.mkdir(exist_ok=True)
    register_heif_opener()
    upright = np.full((48, 64, 3), 40, np.uint8)
    upright[:24, :32] = 220
    for orientation, lies in ((2, np.fliplr(upright)), (5, upright.transpose(1, 0, 2)), (6, np.rot90(upright))):
        told = Image.Exif()
        told[0x112] = orientation
        picture = Image.fromarray(np.ascontiguousarray(lies))
        for kind in ("avif", "heic"):
            picture.save(FOLDER / f"turned-{orientation}.{kind}", exif=told.tobytes(), quality=90)
    for name, more in (("several.heic", upright), ("small-copy.heic", upright[::4, ::4])):
        both = from_pillow(Image.fromarray(upright))
        both.add_from_pillow(Image.fromarray(np.ascontiguousarray(more)))
        both.save(FOLDER / name, quality=90)
    for name, how in CODED.items():
        subprocess.run([*FFMPEG, *how.split(), str(FOLDER / name)], check=True)  # noqa: S603 (the words above)


if __name__ == "__main__":
    main()

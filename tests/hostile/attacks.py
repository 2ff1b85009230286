"""What is done to the files of a study."""

from contextlib import contextmanager


def chunk_files(folder):
    """Return the files of all chunks below a folder."""
    return sorted(
        path
        for path in folder.rglob("c/**/*")
        if path.is_file() and path.name != "zarr.json"
    )


def fill_of(array):
    return array.fill_value


@contextmanager
def flip_bit(file, rng):
    """Flip a random bit of a file within this block."""
    content = file.read_bytes()
    damaged = bytearray(content)
    damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
    file.write_bytes(damaged)
    try:
        yield
    finally:
        file.write_bytes(content)

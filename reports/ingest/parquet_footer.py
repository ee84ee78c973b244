"""What the end of a Parquet file says of it: whether it is whole, and how much there is to read.

Its size on disk says little: records of one suite are so alike that a hundredth of their lines' size holds them.
"""

from reports.ingest.filesystems import FileSystem

MAGIC = b"PAR1"
TAIL_BYTES = 4 + len(MAGIC)
"""The footer's length, and the magic number behind it. Source: apache/parquet-format README.md."""
VALUE_BYTES = 16
"""What a value takes in lines of JSON, its name included: 9 in the bundled suite's events, 19 in its runs."""


def parquet_problem(uri: str, size_bytes: int, files: FileSystem) -> str:
    """Why a file cannot be Parquet: what was cut off lacks its end. Empty where nothing is wrong with it so far."""
    if size_bytes < TAIL_BYTES + len(MAGIC):
        return "no Parquet file: it is too short"
    if files.read(uri, last_bytes=len(MAGIC)) != MAGIC:
        return "no whole Parquet file: its end is missing, as when writing or copying it was interrupted"
    return ""


def decoded_bytes(uri: str, size_bytes: int, files: FileSystem) -> int:
    """About what the file's records would take as lines; its size on disk where the footer cannot be read."""
    import pyarrow as pa  # takes longer to import than all else that is done before Java starts
    import pyarrow.parquet as pq

    length = int.from_bytes(files.read(uri, last_bytes=TAIL_BYTES)[:4], "little")
    try:
        footer = pq.read_metadata(pa.BufferReader(files.read(uri, last_bytes=length + TAIL_BYTES)))
    except (pa.ArrowException, OSError):
        return size_bytes  # Spark says what is wrong with it
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    values: int = sum(group.column(number).num_values for group in groups for number in range(group.num_columns))
    return VALUE_BYTES * values

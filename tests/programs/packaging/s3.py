"""Scores rows of a bucket into a bucket, on a server of S3 in this machine, and compares them with a local run.

    make s3

The server is moto's, in an environment of its own: it would bring fifteen packages into the project's.
"""

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import pyarrow.parquet as pq
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.ray_run import RayRun
from genqa_metrics.scale.run import Run
from pyarrow import fs

from tests.factories.files import made_rows, save

from .requirements import environment

PORT, FILES, ROWS = 5567, 4, 500
ADDRESS = f"http://127.0.0.1:{PORT}"
ASKED = f"?endpoint_override={quote(ADDRESS, safe='')}&region=us-east-1&scheme=http"
METRICS = {"metrics": ["aev"], "columns": {"references": "references"}}


@contextlib.contextmanager
def server(folder: Path) -> Iterator[None]:
    """Run moto's server, installed into a folder, until it is no longer needed."""
    command = [str(environment(folder, "moto[server]").with_name("moto_server")), "-p", str(PORT)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(120):
                with contextlib.suppress(OSError), urlopen(ADDRESS):
                    break
                time.sleep(0.5)
            else:
                raise SystemExit(f"no server at {ADDRESS} after a minute")
            yield
        finally:
            process.terminate()


def found(table) -> dict[tuple, float]:
    """Return the score of every row, by the last part of its file's name and its line."""
    rows = table.to_pylist()
    return {(row["file"].partition("?")[0].rpartition("/")[2], row["line"]): row["aev"] for row in rows}


def main() -> None:
    """Score on both ways; SystemExit if a row or a number differs."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "RAY_USAGE_STATS_ENABLED": "0"}
    with tempfile.TemporaryDirectory() as name, server(Path(name, "server")):
        folder = Path(name)
        bucket = fs.S3FileSystem(endpoint_override=ADDRESS, region="us-east-1", allow_bucket_creation=True)
        bucket.create_dir("bucket")
        files = [save(folder / f"{i}.jsonl", made_rows(ROWS, i * ROWS)) for i in range(FILES)]
        for path in files:
            with bucket.open_output_stream(f"bucket/rows/{path.name}") as stream:
                stream.write(path.read_bytes())
        Run([str(path) for path in files], ScoreOptions(output=str(folder / "local.parquet"), **METRICS)).score()
        RayRun([f"s3://bucket/rows/{ASKED}"], ScoreOptions(output=f"s3://bucket/scores/{ASKED}", **METRICS)).score()
        local = found(pq.read_table(folder / "local.parquet"))
        remote = found(pq.read_table("bucket/scores", filesystem=bucket))
    if len(local) != FILES * ROWS or local != remote:
        raise SystemExit(f"{len(local)} rows locally, {len(remote)} in the bucket; expected {FILES * ROWS} equal ones")
    print(f"{len(remote):,} rows from S3 to S3, each once, with the numbers of a local run")


if __name__ == "__main__":
    main()

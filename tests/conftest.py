"""Settings that must stand before `evaluate` or `transformers` is imported: no network, a cache of its own."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tests.loopback_hub import client, hub  # noqa: F401

_cache = tempfile.TemporaryDirectory(prefix="genqa-metrics-tests-", ignore_cleanup_errors=True)
os.environ["HF_HOME"] = _cache.name  # evaluate's module cache ignores text after '#', so an old copy must not be found
os.environ["HF_EVALUATE_OFFLINE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_UPDATE_DOWNLOAD_COUNTS"] = "0"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("steady", deadline=None, derandomize=True)  # a slow machine is no failure; same runs twice
settings.load_profile("steady")

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the real data sets, named by GENQA_DATA."""
    folder = os.environ.get("GENQA_DATA")
    if not folder:
        pytest.skip("GENQA_DATA is not set: the real data sets are not part of the repository")
    return Path(folder)

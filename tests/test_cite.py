"""What the citation file and the page on citing say is what the package says of itself."""

import re
from importlib import import_module

import genqa_metrics
import pytest
import yaml

URL = "https://github.com/genqa-metrics/genqa-metrics"


def test_the_citation_file_is_complete(repository):
    cited = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))
    version = re.search(r"^version = (.+)$", (repository / "setup.cfg").read_text(), re.MULTILINE)[1]
    for said in (cited, cited["preferred-citation"]):
        assert said["version"] == version
        assert said["url"] == URL
        assert said["title"]
        assert said["authors"]
        assert said["license"] == "Apache-2.0"
    papers = {re.sub(r"\W", "", paper["title"].lower()) for paper in cited["references"]}
    for metric in genqa_metrics.METRICS:
        entry = import_module(f"genqa_metrics.{metric}.{metric}")._CITATION
        assert re.sub(r"\W", "", re.search('title = "(.+)"', entry)[1].lower()) in papers


@pytest.mark.parametrize("metric", ["aev", "ava", "f_meta", "kpqa"])
def test_the_page_has_the_entry_of_every_metric_and_of_the_package(repository, metric):
    page = (repository / "spaces/docs/pages/reference/cite.md").read_text(encoding="utf-8")
    assert import_module(f"genqa_metrics.{metric}.{metric}")._CITATION in page
    version = re.search(r"^version = (.+)$", (repository / "setup.cfg").read_text(), re.MULTILINE)[1]
    assert f'version = "{version}"' in page
    assert f'url = "{URL}"' in page

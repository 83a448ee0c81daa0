"""The check of prose finds phrases of the word list in pages and in strings of Python, and not in code."""

from tests.programs import prose


def test_pages_without_their_code(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "REPOSITORY", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "One.\n\n```python\nmend = 1\n```\n\nA label mends\nthe estimate, for\nnothing.\n", encoding="utf-8"
    )
    assert [line.partition(": write")[0] for line in prose.found(page)] == [
        "page.md:8: 'for nothing'",
        "page.md:7: 'mends'",
    ]


def test_docstrings_messages_and_comments_of_python(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "REPOSITORY", tmp_path)
    file = tmp_path / "code.py"
    file.write_text('"""Sane numbers only."""\nmend = 2  # no news\nprint("it mends this")\n', encoding="utf-8")
    assert [line.partition(" ")[0] for line in prose.found(file)] == ["code.py:1:", "code.py:2:", "code.py:3:"]


def test_a_recommendation_is_no_idiom(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "REPOSITORY", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("We recommend amendments.\n", encoding="utf-8")
    assert list(prose.found(page)) == []

"""`requirements.lock`: the versions of constraints.txt, each with a hash, and no address of an index."""

import re


def test_the_lock_has_the_versions_of_the_constraints(repository):
    text = (repository / "requirements.lock").read_text()
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", text, flags=re.M))
    constraints = dict(re.findall(r"^([\w.-]+)==(\S+)", (repository / "constraints.txt").read_text(), flags=re.M))
    locked, constraints = ({name.lower().replace("_", "-"): v for name, v in d.items()} for d in (locked, constraints))
    common = {name for name in locked if name in constraints}
    assert len(common) > 100
    assert {name: locked[name] for name in common} == {name: constraints[name] for name in common}, "run make lock"
    assert "torch" not in locked


def test_every_package_has_a_hash_and_none_an_address(repository):
    text = (repository / "requirements.lock").read_text()
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.M)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"https?:|--index|--find-links|file:", text)

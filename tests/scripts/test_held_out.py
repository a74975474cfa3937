import json

import pytest
from firstpage.scripts.held_out import facts
from firstpage.train import guard


def test_the_shipped_list_says_what_the_data_say(data, monkeypatch, tmp_path):
    pytest.importorskip("yaml")
    listed = json.loads(guard._FILE.read_bytes())
    monkeypatch.setattr(
        "firstpage.scripts.held_out.find_repositories", lambda _, names: dict.fromkeys(names, tmp_path)
    )

    class NoStore:
        def __init__(self, place):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def log(self, *_):
            return ""

    monkeypatch.setattr("firstpage.scripts.held_out.GitStore", NoStore)
    told = facts(data, tmp_path)
    for about in listed["repositories"].values():
        assert about.pop("roots")
    for about in told["repositories"].values():
        assert about.pop("roots") == []
    assert told == listed

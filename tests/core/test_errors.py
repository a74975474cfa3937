import pickle

from firstpage.core.errors import MissingExtraError


def test_a_missing_extra_says_how_to_get_it_also_from_another_process():
    error = pickle.loads(pickle.dumps(MissingExtraError("the report", "eval")))
    assert str(error) == "the report needs an optional part: pip install 'firstpage[eval]'"

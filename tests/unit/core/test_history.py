"""What ran before, as a context sees it."""

import copy
import pickle

from permitry.core.history import History, Ran

FIRST, SECOND = Ran(1.0, "bash", "main", "d1"), Ran(2.0, "grep", "main", "d2")


def test_a_history_tells_the_newest_first() -> None:
    """Rules look at what was last."""
    assert list(History.of([FIRST, SECOND]).latest()) == [SECOND, FIRST]
    assert list(History().latest()) == []


def test_a_history_does_not_grow_with_its_log() -> None:
    """It looks at a list that others append to, and never changes."""
    log = [FIRST]
    history = History(log)
    log.append(SECOND)
    assert (len(history), list(history.latest())) == (1, [FIRST])


def test_histories_go_by_content() -> None:
    """Equal runs make equal histories, whatever list they look at."""
    log = [FIRST]
    history = History(log)
    log.append(SECOND)
    assert history == History.of([FIRST]) != History.of([FIRST, SECOND])
    assert hash(history) == hash(History.of([FIRST]))
    assert history != (FIRST,)


def test_a_copy_holds_what_the_history_held() -> None:
    """A copy takes along no later run, and shares no list."""
    log = [FIRST]
    history = History(log)
    log.append(SECOND)
    assert pickle.loads(pickle.dumps(history)) == history == copy.deepcopy(history)  # noqa: S301 -- our own bytes

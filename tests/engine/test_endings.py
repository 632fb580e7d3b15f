from datetime import timedelta

from habilis.engine.endings import Ending, find_ending, keep_ending

ENDING = Ending(title="Connected", text="Our blog is signed in.", status=200)


def test_an_ending_is_found_under_its_id_for_ten_minutes(world):
    name = keep_ending(world.home, ENDING, world.outside)

    assert find_ending(world.home, name, world.outside) == ENDING
    world.clock.move(timedelta(minutes=10))
    assert find_ending(world.home, name, world.outside) is None


def test_nothing_is_found_under_an_id_that_was_never_given(world):
    assert find_ending(world.home, "../../sign-ins/x", world.outside) is None


def test_endings_that_are_over_are_swept(world):
    keep_ending(world.home, ENDING, world.outside)
    world.clock.move(timedelta(minutes=10))

    keep_ending(world.home, ENDING, world.outside)

    assert len(list((world.home.private / ".state" / "sign-in-endings").iterdir())) == 1

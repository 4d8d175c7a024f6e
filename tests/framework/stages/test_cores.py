from gde.stages.cores import cores


def test_there_is_at_least_one_core() -> None:
    assert cores() >= 1

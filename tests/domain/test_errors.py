from horae.domain import errors


def all_errors():
    found = [errors.HoraeError]
    for error in found:
        found += error.__subclasses__()
    return found


def test_every_error_stands_in_the_drawn_tree_with_its_code():
    for error in all_errors()[1:]:
        assert f"{error.__name__} " in errors.__doc__
        assert error.code in errors.__doc__


def test_codes_are_unique_and_carry_their_status():
    codes = [error.code for error in all_errors() if "code" in vars(error)]
    assert len(codes) == len(set(codes))
    for error in all_errors():
        assert error.code.startswith(f"SCH_{error.status}_")


def test_the_seeds_codes_exist():
    codes = {error.code for error in all_errors()}
    assert {"SCH_409_DUPLICATE", "SCH_429_RETRY_LIMITED", "SCH_503_DISPATCHER_DOWN"} <= codes

from uuid import UUID

from horae.domain.tokens import completion, proves

INSTANCE, OTHER, TOKEN = (UUID(int=number) for number in (1, 2, 3))


def test_a_completion_token_proves_its_own_attempt_only():
    given = completion(INSTANCE, 1, TOKEN)
    assert proves(given, INSTANCE, 1, TOKEN)
    assert not proves(given, INSTANCE, 2, TOKEN)
    assert not proves(given, OTHER, 1, TOKEN)
    assert not proves(given, INSTANCE, 1, OTHER)
    assert not proves("", INSTANCE, 1, TOKEN)


def test_the_rows_token_cannot_be_read_from_it():
    assert str(TOKEN) not in completion(INSTANCE, 1, TOKEN)

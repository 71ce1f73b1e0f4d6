"""People and their tokens: what opens the door, for how long, and who may change whom."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from resolute.domain.errors import AlreadyExists, Forbidden, InvalidInput, NotFound, Unauthenticated
from resolute.domain.user import User
from resolute.engine.access.accounts import (
    LONGEST_TOKEN_LIFE,
    SESSION_LIFE,
    TOKEN_LIFE,
    UserChanges,
    Whereabouts,
    access_tokens,
    add_user,
    authenticate,
    change_access_token,
    change_user,
    client_form,
    create_access_token,
    ensure_default_users,
    has_admin_with_password,
    login,
    logout,
    require_admin,
    users_without_password,
)
from resolute.engine.jobs.fencing import hash_token
from resolute.engine.platform import Platform

PASSWORD = "correct horse"


@pytest.fixture
def admin(world: Any) -> User:
    return by_name(world, "admin")


def by_name(world: Any, name: str) -> User:
    with world.platform.store.read() as tx:
        user = tx.users.by_name(name)
    assert isinstance(user, User)
    return user


def enter(platform: Platform, name: str, password: str = "", *, local: bool = True) -> str:
    token, _ = login(
        platform, name, password, is_hashed=False, by=Whereabouts.OWN_ACCOUNT if local else Whereabouts.ELSEWHERE
    )
    return token


def new_user(world: Any, admin: User, name: str = "ann", **fields: Any) -> User:
    user = User(id=0, username=name, modified_at=world.clock(), **fields)
    return add_user(world.platform, by=admin, user=user, password=client_form(PASSWORD, is_hashed=False))


# --------------------------------------------------------------------------------------------------------------- log in


FIRST_RUN = "only-in-the-home"


@pytest.fixture
def shared(world: Any) -> Platform:
    """A platform on loopback of a machine with other accounts."""
    return replace(world.platform, config=replace(world.platform.config, first_run_token=FIRST_RUN))


@pytest.mark.parametrize("name", ["admin", "determined", "nobody-has-this"])
def test_another_account_of_the_machine_does_not_come_in_without_a_password(shared: Platform, name: str) -> None:
    with pytest.raises(Forbidden, match=r"lets in the account of this machine that runs the master.*first-run\.token"):
        login(shared, name, "", is_hashed=False, by=Whereabouts.ON_THIS_MACHINE)


@pytest.mark.parametrize("by", [Whereabouts.OWN_ACCOUNT, Whereabouts.ON_THIS_MACHINE])
@pytest.mark.parametrize("is_hashed", [False, True])
def test_the_token_of_the_first_run_opens_who_has_no_password(
    shared: Platform, by: Whereabouts, is_hashed: bool
) -> None:
    given = client_form(FIRST_RUN, is_hashed=False) if is_hashed else FIRST_RUN

    _, user = login(shared, "admin", given, is_hashed=is_hashed, by=by)

    assert user.username == "admin"


def test_the_token_of_the_first_run_opens_nothing_else(world: Any, shared: Platform, admin: User) -> None:
    new_user(world, admin)
    remote = User(id=0, username="sso", is_remote=True, modified_at=world.clock())
    add_user(shared, by=admin, user=remote, password="")
    on_network = replace(shared, config=replace(shared.config, is_local=False))

    for platform, name, by in (
        (shared, "ann", Whereabouts.ON_THIS_MACHINE),
        (shared, "sso", Whereabouts.ON_THIS_MACHINE),
        (shared, "admin", Whereabouts.ELSEWHERE),
        (on_network, "admin", Whereabouts.OWN_ACCOUNT),
        (world.platform, "admin", Whereabouts.ON_THIS_MACHINE),
    ):
        with pytest.raises(Unauthenticated, match="invalid credentials"):
            login(platform, name, FIRST_RUN, is_hashed=False, by=by)


def test_a_session_knows_its_user_until_it_ends(world: Any, admin: User) -> None:
    token = enter(world.platform, "determined")

    user, session = authenticate(world.platform, hash_token(token))
    logout(world.platform, token)

    assert (user.username, session.is_access_token) == ("determined", False)
    with pytest.raises(Unauthenticated, match="unknown, expired or revoked"):
        authenticate(world.platform, hash_token(token))


def test_a_session_lasts_a_week_to_the_second(world: Any) -> None:
    token = enter(world.platform, "determined")

    world.clock.forward(SESSION_LIFE.total_seconds() - 1)
    authenticate(world.platform, hash_token(token))
    world.clock.forward(1)

    with pytest.raises(Unauthenticated):
        authenticate(world.platform, hash_token(token))


def test_no_token_is_stored_only_its_hash(world: Any) -> None:
    token = enter(world.platform, "determined")

    with world.platform.store.read() as tx:
        (session,) = tx.users.sessions()
    assert token not in session.token_hash
    assert enter(world.platform, "determined") != token


def test_logging_in_is_remembered_with_its_time(world: Any) -> None:
    world.clock.forward(100)

    enter(world.platform, "determined")

    assert by_name(world, "determined").last_auth_at == world.clock()


def test_ending_a_session_that_is_none_changes_nothing(world: Any) -> None:
    logout(world.platform, "no such token")


@pytest.mark.parametrize(
    ("name", "password"),
    [("ann", "wrong"), ("ann", ""), ("nobody", PASSWORD), ("nobody", ""), ("", "")],
)
def test_every_refusal_reads_the_same(world: Any, admin: User, name: str, password: str) -> None:
    new_user(world, admin)

    with pytest.raises(Unauthenticated) as refusal:
        enter(world.platform, name, password)

    assert str(refusal.value) == "invalid credentials"


def test_a_password_opens_plain_or_as_clients_hash_it(world: Any, admin: User) -> None:
    new_user(world, admin)

    enter(world.platform, "ann", PASSWORD)
    hashed = client_form(PASSWORD, is_hashed=False)
    login(world.platform, "ann", hashed, is_hashed=True, by=Whereabouts.ELSEWHERE)

    with pytest.raises(Unauthenticated):
        enter(world.platform, "ann", hashed)


def test_the_empty_password_opens_nothing_from_elsewhere(world: Any) -> None:
    public = replace(world.platform, config=replace(world.platform.config, is_local=False))

    for platform, local in ((world.platform, False), (public, True), (public, False)):
        with pytest.raises(Unauthenticated):
            enter(platform, "determined", local=local)


@pytest.mark.parametrize("change", [UserChanges(is_active=False), UserChanges(is_remote=True)])
def test_who_is_away_or_comes_from_elsewhere_opens_nothing_with_a_password(
    world: Any, admin: User, change: UserChanges
) -> None:
    ann = new_user(world, admin)
    change_user(world.platform, ann.id, change, by=admin)

    with pytest.raises((Unauthenticated, Forbidden)):
        enter(world.platform, "ann", PASSWORD)


# --------------------------------------------------------------------------------------------------------------- users


def test_the_first_start_makes_two_users_and_later_ones_none(world: Any) -> None:
    ensure_default_users(world.platform)

    with world.platform.store.read() as tx:
        users = tx.users.all()
    assert [(user.username, user.is_admin) for user in users] == [("admin", True), ("determined", False)]
    assert {user.username for user in users_without_password(world.platform)} == {"admin", "determined"}
    assert not has_admin_with_password(world.platform)


def test_passwords_given_at_the_start_go_to_those_who_have_none(world: Any, admin: User) -> None:
    ensure_default_users(world.platform, admin_password="a", initial_password="b")
    ensure_default_users(world.platform, admin_password="c", initial_password="d")

    enter(world.platform, "admin", "a", local=False)
    enter(world.platform, "determined", "b", local=False)
    assert users_without_password(world.platform) == []
    assert has_admin_with_password(world.platform)


def test_only_administrators_make_users(world: Any) -> None:
    with pytest.raises(Forbidden, match="Only administrators may create users; 'determined' is not one"):
        new_user(world, world.user)


@pytest.mark.parametrize("name", ["ADMIN", "admin", "Determined"])
def test_a_name_is_taken_whatever_its_case(world: Any, admin: User, name: str) -> None:
    with pytest.raises(AlreadyExists, match=r"exists already\. Choose another name than"):
        new_user(world, admin, name)


def test_a_remote_user_has_no_password_whatever_is_sent(world: Any, admin: User) -> None:
    assert new_user(world, admin, is_remote=True).password_hash == ""


def test_people_change_their_own_password_and_that_ends_their_other_logins(world: Any, admin: User) -> None:
    ann = new_user(world, admin)
    old = enter(world.platform, "ann", PASSWORD)
    kept, _ = create_access_token(world.platform, by=ann, user_id=ann.id, description="", life=None)

    change_user(
        world.platform, ann.id, UserChanges(password=client_form("next", is_hashed=False), display_name="Ann"), by=ann
    )

    enter(world.platform, "ann", "next")
    authenticate(world.platform, hash_token(kept))
    with pytest.raises(Unauthenticated):
        authenticate(world.platform, hash_token(old))


@pytest.mark.parametrize(
    "change",
    [
        UserChanges(username="anna"),
        UserChanges(is_admin=True),
        UserChanges(is_active=False),
        UserChanges(is_remote=True),
    ],
)
def test_names_and_rights_are_changed_by_administrators_alone(world: Any, admin: User, change: UserChanges) -> None:
    ann = new_user(world, admin)

    with pytest.raises(Forbidden, match="Only administrators may change other users, or names and rights"):
        change_user(world.platform, ann.id, change, by=ann)
    with pytest.raises(Forbidden):
        change_user(world.platform, ann.id, UserChanges(display_name="x"), by=world.user)

    assert by_name(world, "ann") == ann


def test_who_is_deactivated_is_out_at_once_with_every_token(world: Any, admin: User) -> None:
    ann = new_user(world, admin)
    session = enter(world.platform, "ann", PASSWORD)
    token, _ = create_access_token(world.platform, by=ann, user_id=ann.id, description="", life=None)

    change_user(world.platform, ann.id, UserChanges(is_active=False), by=admin)

    for each in (session, token):
        with pytest.raises(Unauthenticated):
            authenticate(world.platform, hash_token(each))


@pytest.mark.parametrize("change", [UserChanges(is_admin=False), UserChanges(is_active=False)])
def test_the_last_administrator_stays_one(world: Any, admin: User, change: UserChanges) -> None:
    with pytest.raises(InvalidInput, match=r"the last active administrator\. Make another user"):
        change_user(world.platform, admin.id, change, by=admin)

    assert by_name(world, "admin") == admin


def test_one_of_two_administrators_may_go(world: Any, admin: User) -> None:
    change_user(world.platform, world.user.id, UserChanges(is_admin=True), by=admin)

    change_user(world.platform, admin.id, UserChanges(is_admin=False), by=admin)

    assert not by_name(world, "admin").is_admin


def test_an_empty_password_is_refused_where_others_can_reach_the_master(world: Any, admin: User) -> None:
    public = replace(world.platform, config=replace(world.platform.config, is_local=False))

    with pytest.raises(InvalidInput, match="The password is empty, and this master can be reached over the network"):
        change_user(public, admin.id, UserChanges(password=""), by=admin)


def test_renaming_to_a_name_of_ones_own_in_another_case_is_fine(world: Any, admin: User) -> None:
    ann = new_user(world, admin)

    assert change_user(world.platform, ann.id, UserChanges(username="Ann"), by=admin).username == "Ann"
    with pytest.raises(AlreadyExists):
        change_user(world.platform, ann.id, UserChanges(username="ADMIN"), by=admin)


def test_a_user_who_is_not_there_is_not_found(world: Any, admin: User) -> None:
    with pytest.raises(NotFound):
        change_user(world.platform, 99, UserChanges(display_name="x"), by=admin)


def test_an_administrator_may_do_what_only_they_may(admin: User) -> None:
    require_admin(admin, "anything")


# --------------------------------------------------------------------------------------------------------------- tokens


def test_an_access_token_lives_a_month_unless_told_otherwise(world: Any) -> None:
    plain, session = create_access_token(
        world.platform, by=world.user, user_id=world.user.id, description="ci", life=None
    )
    short, _ = create_access_token(
        world.platform, by=world.user, user_id=world.user.id, description="", life=timedelta(hours=1)
    )
    world.clock.forward(3601)

    assert (session.description, session.expires_at) == ("ci", world.started_at + TOKEN_LIFE)
    authenticate(world.platform, hash_token(plain))
    with pytest.raises(Unauthenticated):
        authenticate(world.platform, hash_token(short))


@pytest.mark.parametrize("life", [timedelta(0), timedelta(days=-1), LONGEST_TOKEN_LIFE + timedelta(seconds=1)])
def test_a_life_without_sense_is_refused(world: Any, life: timedelta) -> None:
    with pytest.raises(InvalidInput, match="A token may live from 1 hour to 3650 days"):
        create_access_token(world.platform, by=world.user, user_id=world.user.id, description="", life=life)


def test_tokens_for_others_are_made_by_administrators(world: Any, admin: User) -> None:
    with pytest.raises(Forbidden, match="create access tokens for other users"):
        create_access_token(world.platform, by=world.user, user_id=admin.id, description="", life=None)

    token, _ = create_access_token(world.platform, by=admin, user_id=world.user.id, description="", life=None)
    assert authenticate(world.platform, hash_token(token))[0].id == world.user.id


def test_people_see_and_revoke_their_own_and_administrators_all(world: Any, admin: User) -> None:
    own, session = create_access_token(world.platform, by=world.user, user_id=world.user.id, description="a", life=None)
    _, foreign = create_access_token(world.platform, by=admin, user_id=admin.id, description="b", life=None)
    enter(world.platform, "determined")

    assert [each.id for each in access_tokens(world.platform, by=world.user)] == [session.id]
    assert {each.id for each in access_tokens(world.platform, by=admin)} == {session.id, foreign.id}
    with pytest.raises(NotFound, match=f"access token not found: {foreign.id}"):
        change_access_token(world.platform, foreign.id, by=world.user, description=None, revoke=True)

    change_access_token(world.platform, session.id, by=admin, description="c", revoke=True)
    with pytest.raises(Unauthenticated):
        authenticate(world.platform, hash_token(own))


def test_a_revoked_token_stays_revoked(world: Any) -> None:
    _, session = create_access_token(world.platform, by=world.user, user_id=world.user.id, description="a", life=None)
    change_access_token(world.platform, session.id, by=world.user, description=None, revoke=True)

    changed = change_access_token(world.platform, session.id, by=world.user, description="still", revoke=False)

    assert (changed.description, changed.is_revoked) == ("still", True)


def test_a_session_is_no_access_token_and_is_not_changed_as_one(world: Any) -> None:
    enter(world.platform, "determined")
    with world.platform.store.read() as tx:
        (session,) = tx.users.sessions()

    with pytest.raises(NotFound):
        change_access_token(world.platform, session.id, by=world.user, description="x", revoke=False)


def test_logging_out_leaves_access_tokens(world: Any) -> None:
    token, _ = create_access_token(world.platform, by=world.user, user_id=world.user.id, description="", life=None)

    logout(world.platform, token)

    authenticate(world.platform, hash_token(token))

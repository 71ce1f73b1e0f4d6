"""People and their tokens: login, users, access tokens, settings.

Only hashes are stored: scrypt of what the client sent for a password, SHA-256 of a token. The empty password exists so
that a laptop needs no setup: it opens nothing unless the master listens on loopback and the caller is there too.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import TypeVar

from resolute.domain.agent_account import AgentAccount
from resolute.domain.change import Action
from resolute.domain.errors import AlreadyExists, Forbidden, InvalidInput, NotFound, Unauthenticated
from resolute.domain.user import Session, User
from resolute.domain.user_names import alike, checked_display_name, checked_username
from resolute.engine.jobs.fencing import hash_token
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import Flow, flow

T = TypeVar("T")

SESSION_LIFE = timedelta(days=7)
TOKEN_LIFE = timedelta(days=30)
LONGEST_TOKEN_LIFE = timedelta(days=3650)
DEFAULT_USERS = (("admin", True), ("determined", False))

# Clients that hash before sending do it with this prefix; a plain password is brought to the same form.
_CLIENT_SALT = "GubPEmmotfiK9TMD6Zdw"
# Checked when there is no password to check, so that the answer takes as long.
_NOBODY = "scrypt$00000000000000000000000000000000$" + "0" * 128


@dataclass(frozen=True, slots=True)
class UserChanges:
    """None: leave as it is."""

    username: str | None = None
    display_name: str | None = None
    password: str | None = None
    """As hashed by the client; empty for the empty password."""
    is_admin: bool | None = None
    is_active: bool | None = None
    is_remote: bool | None = None
    agent_account: AgentAccount | None = None
    clears_agent_account: bool = False

    @property
    def needs_admin(self) -> bool:
        for_admins = (self.username, self.is_admin, self.is_active, self.is_remote, self.agent_account)
        return self.clears_agent_account or any(value is not None for value in for_admins)


# ----------------------------------------------------------------------------------------------------------- login


class Whereabouts(Enum):
    """Where somebody logs in from, as far as the system vouches for it."""

    OWN_ACCOUNT = 1
    """The account of this machine that runs the master."""
    ON_THIS_MACHINE = 2
    """Another one, or one that cannot be known."""
    ELSEWHERE = 3


_NOT_YOU = (
    "An empty password lets in the account of this machine that runs the master, and no other. Give a user's password, "
    "or as one the token in first-run.token of the master's home."
)


def login(platform: Platform, username: str, password: str, *, is_hashed: bool, by: Whereabouts) -> tuple[str, User]:
    """A new session's token and its user. Every refusal reads the same and takes as long, so that names cannot be
    guessed; only who knows the password learns that the user was deactivated."""
    with platform.store.read() as tx:
        user = tx.users.by_name(username)
    given = client_form(password, is_hashed=is_hashed)
    by = by if platform.config.is_local else Whereabouts.ELSEWHERE
    if user is None or not _opens(user, given, by, platform.config.first_run_token):
        if user is None:
            verify_password(_NOBODY, given)
        _note_failed_login(platform, user)
        if by is Whereabouts.ON_THIS_MACHINE and not given:
            raise Forbidden(_NOT_YOU)
        raise Unauthenticated("invalid credentials")
    if not user.is_active:
        _note_failed_login(platform, user)
        raise Forbidden("user is not active")
    token = secrets.token_urlsafe(32)
    with flow(platform) as current:
        current.tx.users.add_session(_session(user, token, current.now, SESSION_LIFE))
        user = replace(user, last_auth_at=current.now)
        current.tx.users.save(user)
        current.actor = replace(current.actor, user_id=user.id, name=user.username)
        current.record(Action.LOGGED_IN, "user", user.id)
    return token, user


def _note_failed_login(platform: Platform, user: User | None) -> None:
    """A name that nobody has is not kept: people type passwords into the wrong field."""
    with flow(platform) as current:
        known = {} if user is None else {"username": user.username}
        current.record(Action.LOGIN_FAILED, "user", "" if user is None else user.id, **known)


def _opens(user: User, password: str, by: Whereabouts, first_run_token: str) -> bool:
    """Remote users never log in with a password: whoever vouches for them does it elsewhere."""
    is_open = by is not Whereabouts.ELSEWHERE and not user.password_hash and not user.is_remote
    if is_open and by is Whereabouts.OWN_ACCOUNT and not password:
        return True
    is_right = verify_password(user.password_hash or _NOBODY, password)
    if is_open and first_run_token:
        return hmac.compare_digest(password, client_form(first_run_token, is_hashed=False))
    return is_right and not user.is_remote


def logout(platform: Platform, token: str) -> None:
    """End the session of `token`. Access tokens stay: they are revoked by id."""
    with flow(platform) as current:
        session = current.tx.users.session_by_token_hash(hash_token(token))
        if session is not None and not session.is_access_token:
            current.tx.users.save_session(replace(session, is_revoked=True))
            current.record(Action.LOGGED_OUT, "user", session.user_id)


def authenticate(platform: Platform, token_hash: str) -> tuple[User, Session]:
    """The user behind the token of a log-in or an access token, and what is known of it. Raises Unauthenticated."""
    with platform.store.read() as tx:
        session = tx.users.session_by_token_hash(token_hash)
        if session is None or session.is_revoked or session.expires_at <= platform.clock():
            raise Unauthenticated("This token is unknown, expired or revoked. Log in again.")
        user = tx.users.get(session.user_id)
    if not user.is_active:
        raise Unauthenticated(f"User {user.username!r} has been deactivated. Ask an administrator.")
    return user, session


# ------------------------------------------------------------------------------------------------------- passwords


def client_form(password: str, *, is_hashed: bool) -> str:
    """A password as clients send it: empty stays empty, everything else is a salted SHA-512."""
    if is_hashed or not password:
        return password
    return hashlib.sha512((_CLIENT_SALT + password).encode()).hexdigest()


def hash_password(password: str) -> str:
    """What is stored for a password in client form. The empty password is stored as it is."""
    if not password:
        return ""
    salt = secrets.token_hex(16)
    return f"scrypt${salt}${_scrypt(password, salt)}"


def verify_password(stored: str, password: str) -> bool:
    """Whether `password`, in client form, is the one behind `stored`. Takes as long for the empty password."""
    _, salt, expected = stored.split("$")
    return hmac.compare_digest(_scrypt(password, salt), expected)


def _scrypt(password: str, salt: str) -> str:
    return hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), n=2**14, r=8, p=1).hex()


def users_without_password(platform: Platform) -> list[User]:
    """Those who would log in with a password and have none."""
    with platform.store.read() as tx:
        return [user for user in tx.users.all() if _lacks_password(user)]


def has_admin_with_password(platform: Platform) -> bool:
    with platform.store.read() as tx:
        return any(u.is_admin and u.is_active and not u.is_remote and u.password_hash for u in tx.users.all())


def _lacks_password(user: User) -> bool:
    return user.is_active and not user.is_remote and not user.password_hash


def ensure_default_users(
    platform: Platform, *, admin_password: str | None = None, initial_password: str | None = None
) -> None:
    """On an empty store, create `admin` and `determined`. `admin_password` goes to `admin` and `initial_password` to
    everybody else, where a user still has none."""
    with flow(platform) as current:
        for username, is_admin in DEFAULT_USERS if not current.tx.users.all() else ():
            current.add(User(id=0, username=username, is_admin=is_admin, modified_at=current.now))
        for user in filter(_lacks_password, current.tx.users.all()):
            given = (admin_password if user.username == "admin" else None) or initial_password
            if given:
                password_hash = hash_password(client_form(given, is_hashed=False))
                current.change(user, replace(user, password_hash=password_hash), reason="given at the master's start")


# ----------------------------------------------------------------------------------------------------------- users


def add_user(platform: Platform, *, by: User, user: User, password: str) -> User:
    """`password` in client form. Raises AlreadyExists, and Forbidden unless `by` is an administrator."""
    require_admin(by, "create users")
    user = replace(
        user,
        username=checked_username(user.username),
        display_name=checked_display_name(user.display_name),
        password_hash="" if user.is_remote else hash_password(password),
        modified_at=platform.clock(),
    )
    with flow(platform) as current:
        _require_free(current.tx, user.username)
        return current.add(user)


def change_user(platform: Platform, user_id: int, changes: UserChanges, *, by: User) -> User:
    """Administrators change everybody; others change their own password and display name. A new password ends all
    other logins of that user."""
    if by.id != user_id or changes.needs_admin:
        require_admin(by, "change other users, or names and rights")
    changes = _checked(platform, changes)
    # Hashed here: it takes a while, and others wait for the transaction.
    password_hash = None if changes.password is None else hash_password(changes.password)
    with flow(platform) as current:
        tx = current.tx
        user = tx.users.get(user_id)
        changed = _apply(user, changes, password_hash, current.now)
        if changed.username != user.username:
            _require_free(tx, changed.username, but=user_id)
        if user.is_admin and not (changed.is_admin and changed.is_active):
            _keep_an_admin(tx, user_id)
        current.change(user, changed)
        if changes.password is not None:
            _revoke(current, (s for s in tx.users.sessions(user_id) if not s.is_access_token))
        if not changed.is_active:
            _revoke(current, tx.users.sessions(user_id))
        return changed


def _checked(platform: Platform, changes: UserChanges) -> UserChanges:
    if changes.password == "" and not platform.config.is_local:
        raise InvalidInput(
            "The password is empty, and this master can be reached over the network. Choose a password, or have an "
            "administrator deactivate the user."
        )
    return replace(
        changes,
        username=None if changes.username is None else checked_username(changes.username),
        display_name=None if changes.display_name is None else checked_display_name(changes.display_name),
    )


def _apply(user: User, changes: UserChanges, password_hash: str | None, now: datetime) -> User:
    return replace(
        user,
        username=_or(changes.username, user.username),
        display_name=_or(changes.display_name, user.display_name),
        is_admin=_or(changes.is_admin, user.is_admin),
        is_active=_or(changes.is_active, user.is_active),
        is_remote=_or(changes.is_remote, user.is_remote),
        password_hash=_or(password_hash, user.password_hash),
        agent_account=None if changes.clears_agent_account else _or(changes.agent_account, user.agent_account),
        modified_at=now,
    )


def _require_free(tx: Transaction, username: str, *, but: int | None = None) -> None:
    for user in tx.users.all():
        if user.id != but and alike(user.username, username):
            raise AlreadyExists(f"User {user.username!r} exists already. Choose another name than {username!r}.")


def _keep_an_admin(tx: Transaction, leaving: int) -> None:
    if not any(u.is_admin and u.is_active and u.id != leaving for u in tx.users.all()):
        raise InvalidInput("This is the last active administrator. Make another user an administrator first.")


def require_admin(user: User, deed: str) -> None:
    if not user.is_admin:
        raise Forbidden(f"Only administrators may {deed}; {user.username!r} is not one.")


# ---------------------------------------------------------------------------------------------------------- tokens


def create_access_token(
    platform: Platform, *, by: User, user_id: int, description: str, life: timedelta | None
) -> tuple[str, Session]:
    """A token that outlives logins. `life` None: 30 days. Administrators may make them for others."""
    if user_id != by.id:
        require_admin(by, "create access tokens for other users")
    life = TOKEN_LIFE if life is None else life
    if not timedelta(0) < life <= LONGEST_TOKEN_LIFE:
        raise InvalidInput(f"A token may live from 1 hour to {LONGEST_TOKEN_LIFE.days} days; {life} was asked for.")
    token = secrets.token_urlsafe(32)
    with flow(platform) as current:
        session = _session(current.tx.users.get(user_id), token, current.now, life)
        return token, current.add(replace(session, is_access_token=True, description=description))


def access_tokens(platform: Platform, *, by: User) -> list[Session]:
    """Administrators see everybody's, others their own."""
    with platform.store.read() as tx:
        sessions = tx.users.sessions(None if by.is_admin else by.id)
    return [session for session in sessions if session.is_access_token]


def change_access_token(
    platform: Platform, token_id: int, *, by: User, description: str | None, revoke: bool
) -> Session:
    with flow(platform) as current:
        for session in current.tx.users.sessions():
            if session.id == token_id and session.is_access_token and (by.is_admin or session.user_id == by.id):
                changed = replace(
                    session,
                    description=_or(description, session.description),
                    is_revoked=session.is_revoked or revoke,
                )
                return current.change(session, changed)
    raise NotFound(f"access token not found: {token_id}")


def _session(user: User, token: str, now: datetime, life: timedelta) -> Session:
    return Session(id=0, user_id=user.id, token_hash=hash_token(token), created_at=now, expires_at=now + life)


def _revoke(current: Flow, sessions: Iterable[Session]) -> None:
    """Log-ins just end; of an access token that ends people may want to know."""
    for session in sessions:
        revoked = replace(session, is_revoked=True)
        if session.is_access_token:
            current.change(session, revoked)
        elif not session.is_revoked:
            current.tx.users.save_session(revoked)


def _or(changed: T | None, kept: T) -> T:
    return kept if changed is None else changed

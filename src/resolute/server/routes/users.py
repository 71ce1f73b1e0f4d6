"""Login, accounts, settings and access tokens."""

from datetime import timedelta
from typing import Annotated

from fastapi import Body, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from resolute.domain import needs
from resolute.domain.errors import InvalidInput, NotFound, ResoluteError
from resolute.domain.user import User
from resolute.engine.access import accounts
from resolute.engine.access.accounts import UserChanges, client_form
from resolute.server.addresses import address_of, network_of
from resolute.server.auth import Caller, PlatformOf
from resolute.server.paging import Order, Paging, is_descending, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.users import given_account, token_message, user_message
from resolute.server.state import StateOf
from resolute.spec.wire import users as wire
from resolute.spec.wire.base import Empty
from resolute.spec.wire.enums import OrderBy

router = Resource(tags=["users"])
_MAX_DIGITS = 9
"""Of a number of hours: far more than any token may live, and few enough to count with."""


@router.post("/api/v1/auth/login", needs=needs.PUBLIC)
async def login(
    body: wire.LoginRequest, request: Request, response: Response, platform: PlatformOf, state: StateOf
) -> wire.LoginResponse:
    address = address_of(request)
    by = await run_in_threadpool(state.whereabouts, request)
    token, user = await state.logins.run(
        lambda: accounts.login(platform, body.username, body.password, is_hashed=body.is_hashed, by=by),
        username=body.username,
        address=network_of(address),
        clock=platform.clock,
    )
    response.set_cookie(
        "auth",
        token,
        max_age=int(accounts.SESSION_LIFE.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return wire.LoginResponse(token=token, user=user_message(user))


@router.post("/api/v1/auth/logout", needs=needs.SIGNED_IN)
def logout(response: Response, platform: PlatformOf, caller: Caller, state: StateOf) -> Empty:
    accounts.logout(platform, caller.token)
    state.tokens.forget()
    response.delete_cookie("auth")
    return Empty()


@router.get("/api/v1/me", needs=needs.SIGNED_IN.or_any_task)
def get_me(caller: Caller) -> wire.UserResponse:
    return wire.UserResponse(user=user_message(caller.user))


@router.get("/api/v1/auth/user", needs=needs.SIGNED_IN.or_any_task)
def current_user(caller: Caller) -> wire.UserResponse:
    return wire.UserResponse(user=user_message(caller.user))


@router.get("/api/v1/permissions/summary", needs=needs.SIGNED_IN)
def get_permissions_summary() -> wire.GetPermissionsSummaryResponse:
    return wire.GetPermissionsSummaryResponse()


# ----------------------------------------------------------------------------------------------------------- users


@router.get("/api/v1/users", needs=needs.SIGNED_IN)
def get_users(
    platform: PlatformOf,
    page: Paging,
    name: str = "",
    active: bool | None = None,
    admin: bool | None = None,
    order_by: Order = OrderBy.UNSPECIFIED,
) -> wire.GetUsersResponse:
    with platform.store.read() as tx:
        users = tx.users.all()
    found = [
        user
        for user in users
        if name.lower() in f"{user.username} {user.display_name}".lower()
        and active in (None, user.is_active)
        and admin in (None, user.is_admin)
    ]
    found.sort(key=lambda user: user.id, reverse=is_descending(order_by))
    cut = page.cut(found)
    return wire.GetUsersResponse(users=[user_message(u) for u in cut.items], pagination=pagination(cut, page))


@router.post("/api/v1/users", needs=needs.ADMINISTRATE_USERS)
def post_user(body: wire.PostUserRequest, platform: PlatformOf, caller: Caller) -> wire.UserResponse:
    user = User(
        id=0,
        username=body.user.username,
        is_admin=body.user.admin,
        is_active=body.user.active,
        is_remote=body.user.remote,
        display_name=body.user.display_name,
        agent_account=given_account(platform, body.user.agent_user_group),
        modified_at=platform.clock(),
    )
    password = client_form(body.password, is_hashed=body.is_hashed)
    return wire.UserResponse(
        user=user_message(accounts.add_user(platform, by=caller.acting, user=user, password=password))
    )


@router.patch("/api/v1/users", needs=needs.ADMINISTRATE_USERS)
def patch_users(
    body: wire.PatchUsersRequest, platform: PlatformOf, caller: Caller, state: StateOf
) -> wire.PatchUsersResponse:
    """Activate or deactivate several."""
    results = []
    for user_id in body.user_ids:
        try:
            accounts.change_user(platform, user_id, UserChanges(is_active=body.activate), by=caller.acting)
            results.append(wire.UserActionResult(id=user_id))
        except ResoluteError as error:
            results.append(wire.UserActionResult(id=user_id, error=str(error)))
    state.tokens.forget()
    return wire.PatchUsersResponse(results=results)


@router.post("/api/v1/users/activity", needs=needs.SIGNED_IN)
def post_user_activity() -> Empty:
    """Accepted and not kept."""
    return Empty()


@router.get("/api/v1/users/setting", needs=needs.SIGNED_IN)
def get_user_setting(platform: PlatformOf, caller: Caller) -> wire.GetUserSettingResponse:
    with platform.store.read() as tx:
        stored = tx.users.settings(caller.user.id)
    return wire.GetUserSettingResponse(settings=[_setting(path, value) for path, value in sorted(stored.items())])


@router.post("/api/v1/users/setting", needs=needs.SIGNED_IN)
def post_user_setting(body: wire.PostUserSettingRequest, platform: PlatformOf, caller: Caller) -> Empty:
    given = [*body.settings, *([body.setting] if body.setting else [])]
    with platform.store.write() as tx:
        settings = dict(tx.users.settings(caller.user.id))
        for each in given:
            path = f"{each.storage_path}/{each.key}"
            if each.value:
                settings[path] = each.value
            else:
                settings.pop(path, None)
        tx.users.save_settings(caller.user.id, settings)
    return Empty()


@router.post("/api/v1/users/setting/reset", needs=needs.SIGNED_IN)
def reset_user_setting(platform: PlatformOf, caller: Caller) -> Empty:
    with platform.store.write() as tx:
        tx.users.save_settings(caller.user.id, {})
    return Empty()


def _setting(path: str, value: str) -> wire.UserWebSetting:
    storage, _, key = path.rpartition("/")
    return wire.UserWebSetting(key=key, storage_path=storage, value=value)


@router.get("/api/v1/users/{username}/by-username", needs=needs.SIGNED_IN)
def get_user_by_username(username: str, platform: PlatformOf) -> wire.UserResponse:
    with platform.store.read() as tx:
        user = tx.users.by_name(username)
    if user is None:
        raise NotFound(f"user not found: {username}")
    return wire.UserResponse(user=user_message(user))


@router.get("/api/v1/users/{user_id}", needs=needs.SIGNED_IN)
def get_user(user_id: int, platform: PlatformOf) -> wire.UserResponse:
    with platform.store.read() as tx:
        return wire.UserResponse(user=user_message(tx.users.get(user_id)))


@router.patch("/api/v1/users/{user_id}", needs=needs.SIGNED_IN)
def patch_user(
    user_id: int, body: wire.PatchUser, platform: PlatformOf, caller: Caller, state: StateOf
) -> wire.UserResponse:
    account = given_account(platform, body.agent_user_group)
    changes = UserChanges(
        username=body.username,
        display_name=body.display_name,
        password=None if body.password is None else client_form(body.password, is_hashed=body.is_hashed),
        is_admin=body.admin,
        is_active=body.active,
        is_remote=body.remote,
        agent_account=account,
        clears_agent_account=body.agent_user_group is not None and account is None,
    )
    user = accounts.change_user(platform, user_id, changes, by=caller.acting)
    state.tokens.forget()
    return wire.UserResponse(user=user_message(user))


@router.post("/api/v1/users/{user_id}/password", needs=needs.SIGNED_IN)
def set_user_password(
    user_id: int, body: Annotated[str, Body()], platform: PlatformOf, caller: Caller, state: StateOf
) -> wire.UserResponse:
    """The body is the new password, a JSON string."""
    changes = UserChanges(password=client_form(body, is_hashed=False))
    user = accounts.change_user(platform, user_id, changes, by=caller.acting)
    state.tokens.forget()
    return wire.UserResponse(user=user_message(user))


# ---------------------------------------------------------------------------------------------------------- tokens


@router.get("/api/v1/tokens", needs=needs.SIGNED_IN)
def get_access_tokens(
    platform: PlatformOf,
    caller: Caller,
    page: Paging,
    username: str = "",
    show_inactive: Annotated[bool, Query(alias="showInactive")] = False,
    token_ids: Annotated[
        list[int], Query(alias="tokenIds", description="Only these, expired and revoked ones too.")
    ] = [],  # noqa: B006
    order_by: Order = OrderBy.UNSPECIFIED,
) -> wire.GetAccessTokensResponse:
    sessions = accounts.access_tokens(platform, by=caller.acting)
    if username:
        with platform.store.read() as tx:
            owner = tx.users.by_name(username)
        sessions = [session for session in sessions if owner is not None and session.user_id == owner.id]
    now = platform.clock()
    if token_ids:
        sessions = [session for session in sessions if session.id in token_ids]
    elif not show_inactive:
        sessions = [session for session in sessions if not session.is_revoked and session.expires_at > now]
    sessions.sort(key=lambda session: session.id, reverse=is_descending(order_by))
    cut = page.cut(sessions)
    return wire.GetAccessTokensResponse(
        token_info=[token_message(session) for session in cut.items], pagination=pagination(cut, page)
    )


@router.post("/api/v1/tokens", needs=needs.SIGNED_IN)
def post_access_token(
    body: wire.PostAccessTokenRequest, platform: PlatformOf, caller: Caller
) -> wire.PostAccessTokenResponse:
    """The token itself is shown once, here."""
    token, session = accounts.create_access_token(
        platform,
        by=caller.acting,
        user_id=body.user_id or caller.user.id,
        description=body.description,
        life=_life(body.lifespan),
    )
    return wire.PostAccessTokenResponse(token=token, token_id=session.id)


@router.patch("/api/v1/tokens/{token_id}", needs=needs.SIGNED_IN)
def patch_access_token(
    token_id: int, body: wire.PatchAccessTokenRequest, platform: PlatformOf, caller: Caller, state: StateOf
) -> wire.PatchAccessTokenResponse:
    session = accounts.change_access_token(
        platform, token_id, by=caller.acting, description=body.description, revoke=body.set_revoked
    )
    state.tokens.forget()
    return wire.PatchAccessTokenResponse(token_info=token_message(session))


def _life(text: str) -> timedelta | None:
    if not text:
        return None
    if text == "-1":
        return accounts.LONGEST_TOKEN_LIFE
    hours = text.removesuffix("h")
    if not (hours.isascii() and hours.isdigit() and len(hours) <= _MAX_DIGITS):
        raise InvalidInput(
            f"lifespan: {text[:40]!r} is not a number of hours such as '720h', nor '-1' for the longest."
        )
    return timedelta(hours=int(hours))

"""Messages about people: login, accounts, tokens, settings. Pure."""

from resolute.spec.wire.base import Request, Time, Wire
from resolute.spec.wire.enums import TokenType
from resolute.spec.wire.paging import Pagination


class AgentUserGroup(Request):
    agent_uid: int | None = None
    agent_gid: int | None = None
    agent_user: str | None = None
    agent_group: str | None = None


class User(Wire):
    id: int = 0
    username: str = ""
    admin: bool = False
    active: bool = True
    remote: bool = False
    display_name: str = ""
    agent_user_group: AgentUserGroup | None = None
    modified_at: Time | None = None
    last_auth_at: Time | None = None


class LoginRequest(Request):
    username: str = ""
    password: str = ""
    is_hashed: bool = False


class LoginResponse(Wire):
    token: str
    user: User


class UserResponse(Wire):
    user: User


class GetUsersResponse(Wire):
    users: list[User] = []
    pagination: Pagination = Pagination()


class NewUser(Request):
    username: str = ""
    admin: bool = False
    active: bool = True
    remote: bool = False
    display_name: str = ""
    agent_user_group: AgentUserGroup | None = None


class PostUserRequest(Request):
    user: NewUser = NewUser()
    password: str = ""
    is_hashed: bool = False


class PatchUser(Request):
    username: str | None = None
    password: str | None = None
    is_hashed: bool = False
    active: bool | None = None
    admin: bool | None = None
    remote: bool | None = None
    display_name: str | None = None
    agent_user_group: AgentUserGroup | None = None


class PatchUsersRequest(Request):
    user_ids: list[int] = []
    activate: bool = True


class UserActionResult(Wire):
    id: int
    error: str = ""


class PatchUsersResponse(Wire):
    results: list[UserActionResult] = []


class UserWebSetting(Request):
    key: str
    storage_path: str = ""
    value: str = ""


class GetUserSettingResponse(Wire):
    settings: list[UserWebSetting] = []


class PostUserSettingRequest(Request):
    settings: list[UserWebSetting] = []
    setting: UserWebSetting | None = None


class TokenInfo(Wire):
    id: int
    user_id: int
    created_at: Time | None = None
    expiry: Time | None = None
    description: str = ""
    revoked: bool = False
    token_type: TokenType = TokenType.ACCESS_TOKEN


class GetAccessTokensResponse(Wire):
    token_info: list[TokenInfo] = []
    pagination: Pagination = Pagination()


class PostAccessTokenRequest(Request):
    user_id: int = 0
    description: str = ""
    lifespan: str = ""
    """Hours as `<n>h`, or `-1` for as long as this master allows; empty for the default of 30 days."""


class PostAccessTokenResponse(Wire):
    token: str
    token_id: int


class PatchAccessTokenRequest(Request):
    token_id: int = 0
    description: str | None = None
    set_revoked: bool = False


class PatchAccessTokenResponse(Wire):
    token_info: TokenInfo


class RoleAssignmentSummary(Wire):
    role_id: int = 0
    scope_workspace_ids: list[int] = []
    scope_cluster: bool = True


class GetPermissionsSummaryResponse(Wire):
    """Empty: this master has users and administrators, and no roles beyond them."""

    assignments: list[RoleAssignmentSummary] = []
    roles: list[RoleAssignmentSummary] = []

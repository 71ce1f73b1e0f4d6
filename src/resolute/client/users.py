"""Users and their passwords."""

from typing import Any
from urllib.parse import quote

from resolute.client.identity import hashed
from resolute.client.resource import part
from resolute.client.session import Session

Json = dict[str, Any]


class Users:
    def __init__(self, session: Session) -> None:
        self._session = session

    def me(self) -> Json:
        return part(self._session.get("/api/v1/me"), "user")

    def all(self) -> list[Json]:
        return list(self._session.pages("/api/v1/users", "users"))

    def get(self, username: str) -> Json:
        return part(self._session.get(f"/api/v1/users/{quote(username, safe='')}/by-username"), "user")

    def create(self, username: str, *, password: str = "", is_admin: bool = False) -> Json:
        user = {"username": username, "admin": is_admin, "active": True, "remote": False}
        body = {"user": user, "password": hashed(password), "isHashed": True}
        return part(self._session.post("/api/v1/users", body), "user")

    def update(self, username: str, /, **changes: Any) -> Json:
        return part(self._session.patch(f"/api/v1/users/{self.get(username)['id']}", changes), "user")

    def set_password(self, username: str, password: str) -> None:
        self.update(username, password=hashed(password), isHashed=True)

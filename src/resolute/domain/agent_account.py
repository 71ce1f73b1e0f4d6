"""As which account of a machine somebody's work runs there. Pure.

Numbers decide; names are for people and for variables such as USER.
"""

from dataclasses import dataclass

from resolute.domain.errors import InvalidInput

_MAX_ID = 2**32 - 2
"""Of a user or group: the number above means "leave it as it is" to the kernel."""
_MAX_NAME = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAccount:
    uid: int
    gid: int
    user: str = ""
    group: str = ""

    def __str__(self) -> str:
        return f"{self.user} (uid {self.uid})" if self.user else f"uid {self.uid}"


def checked_account(uid: int | None, gid: int | None, user: str | None, group: str | None) -> AgentAccount | None:
    """None when nothing is given. Raises InvalidInput for half an account."""
    given = {"agentUid": uid, "agentGid": gid, "agentUser": user or None, "agentGroup": group or None}
    if all(value is None for value in given.values()):
        return None
    if uid is None or gid is None:
        raise InvalidInput("agentUserGroup: agentUid and agentGid are both needed; the names alone decide nothing.")
    for name, number in (("agentUid", uid), ("agentGid", gid)):
        if not 0 <= number <= _MAX_ID:
            raise InvalidInput(f"agentUserGroup.{name}: {number} is none; give a number from 0 to {_MAX_ID}.")
    for name, text in (("agentUser", user or ""), ("agentGroup", group or "")):
        if len(text) > _MAX_NAME or not text.isprintable() or any(c in text for c in ":/ "):
            raise InvalidInput(f"agentUserGroup.{name}: {text[:40]!r} is not a name of an account.")
    return AgentAccount(uid=uid, gid=gid, user=user or "", group=group or "")

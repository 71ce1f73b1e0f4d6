"""`resolute user`: log in and out, and manage users."""

from typing import Annotated

import typer

from resolute.cli.command import Run, command, group
from resolute.cli.output import moment
from resolute.domain.errors import InvalidInput

app = group("Log in, and manage users.")

Username = Annotated[str, typer.Argument(metavar="USERNAME", help="Name of the user.")]
Password = Annotated[str | None, typer.Option(help="Asked for when it is not given; seen by others when it is.")]


@command(app, "login")
def login(run: Run, username: Username = "determined", password: Password = None) -> None:
    """Log in; later commands run as this user."""
    given = password if password is not None else _ask(f"Password for {username}")
    run.client.log_in(username, given)
    run.say(f"Logged in to {run.client.master} as {username}", {"master": run.client.master, "username": username})


@command(app, "logout")
def logout(run: Run) -> None:
    """End the login."""
    name = run.client.log_out()
    run.say(f"Logged out {name} from {run.client.master}", {"master": run.client.master, "username": name})


@command(app, "whoami")
def whoami(run: Run) -> None:
    """Print the user that commands run as."""
    me = run.client.users.me()
    run.say(f"You are logged in to {run.client.master} as {me['username']}", me)


@command(app, "list", "ls")
def list_users(run: Run) -> None:
    """List the users."""
    found = run.client.users.all()
    headers = ("Username", "Display name", "Active", "Admin", "Last login")
    rows = [
        (u["username"], u.get("displayName"), u.get("active"), u.get("admin"), moment(u.get("lastAuthAt")))
        for u in found
    ]
    run.show(headers, rows, found)


@command(app, "create")
def create(
    run: Run,
    username: Username,
    admin: Annotated[bool, typer.Option("--admin", help="May manage users and nodes.")] = False,
    password: Password = None,
) -> None:
    """Create a user."""
    chosen = _checked(password if password is not None else _ask_twice(username))
    user = run.client.users.create(username, password=chosen, is_admin=admin)
    run.say(f"Created user {username}", user)


@command(app, "change-password")
def change_password(
    run: Run,
    username: Annotated[str | None, typer.Argument(metavar="[USERNAME]", help="Yourself when left out.")] = None,
    password: Password = None,
) -> None:
    """Change a password."""
    name = username or run.client.username
    chosen = _checked(password if password is not None else _ask_twice(name))
    run.client.users.set_password(name, chosen)
    if name == run.client.username:
        run.client.log_in(name, chosen)
    run.say(f"Changed the password of {name}", {"username": name})


@command(app, "edit")
def edit(
    run: Run,
    username: Username,
    display_name: Annotated[str | None, typer.Option(help="Shown instead of the username.")] = None,
    new_username: Annotated[str | None, typer.Option("--username", help="Another username.")] = None,
    active: Annotated[bool | None, typer.Option(help="Whether the user may log in.")] = None,
    admin: Annotated[bool | None, typer.Option(help="Whether the user is an administrator.")] = None,
) -> None:
    """Change a user."""
    wanted: dict[str, object] = {
        "displayName": display_name,
        "username": new_username,
        "active": active,
        "admin": admin,
    }
    changes = {key: value for key, value in wanted.items() if value is not None}
    if not changes:
        raise InvalidInput("Nothing to change. Give --display-name, --username, --active or --admin.")
    run.say(f"Changed user {username}", run.client.users.update(username, **changes))


@command(app, "link-with-agent-user")
def link_with_agent_user(
    run: Run,
    username: Username,
    agent_uid: Annotated[int, typer.Option(help="Number of the account that the user's work runs as.")],
    agent_gid: Annotated[int, typer.Option(help="Number of its group.")],
    agent_user: Annotated[str, typer.Option(help="Name of the account.")] = "",
    agent_group: Annotated[str, typer.Option(help="Name of the group.")] = "",
) -> None:
    """Run a user's trials and models as an account of the machine. Needs a master that runs as root."""
    group = {"agentUid": agent_uid, "agentGid": agent_gid, "agentUser": agent_user, "agentGroup": agent_group}
    changed = run.client.users.update(username, agentUserGroup=group)
    run.say(f"Work of {username} runs as uid {agent_uid}", changed)


@command(app, "unlink-agent-user")
def unlink_agent_user(run: Run, username: Username) -> None:
    """Run a user's work as the master is configured again."""
    run.say(f"Work of {username} runs as the master says", run.client.users.update(username, agentUserGroup={}))


@command(app, "rename")
def rename(run: Run, username: Username, new_username: str) -> None:
    """Give a user another name."""
    run.say(f"Renamed user {username} to {new_username}", run.client.users.update(username, username=new_username))


@command(app, "activate")
def activate(run: Run, username: Username) -> None:
    """Let a user log in."""
    run.say(f"Activated user {username}", run.client.users.update(username, active=True))


@command(app, "deactivate")
def deactivate(run: Run, username: Username) -> None:
    """Keep a user from logging in."""
    run.say(f"Deactivated user {username}", run.client.users.update(username, active=False))


def _ask(question: str) -> str:
    return str(typer.prompt(question, default="", hide_input=True, show_default=False, err=True))


def _ask_twice(name: str) -> str:
    question = f"New password for {name}"
    return str(typer.prompt(question, hide_input=True, confirmation_prompt=True, err=True))


def _checked(password: str) -> str:
    has_all = any(map(str.isupper, password)) and any(map(str.islower, password)) and any(map(str.isdigit, password))
    if len(password) >= 8 and has_all:
        return password
    raise InvalidInput(
        "A password needs 8 characters or more, with an upper-case letter, a lower-case one and a digit."
    )

"""`resolute version`."""

from resolute.cli.command import Run, command, group
from resolute.domain.errors import ResoluteError
from resolute.version import __version__

app = group("Versions of this program and of the master.")


@command(app, "version")
def version(run: Run) -> None:
    """Print the versions of this program and, when it answers, of the master."""
    try:
        master = run.client.cluster.info().get("version")
    except ResoluteError:
        master = None
    facts = {"client": __version__, "master": master or f"none at {run.client.master}"}
    run.describe({"Client": facts["client"], "Master": facts["master"]}, facts)

"""`resolute data push | pull`: sets of files to and from stores."""

from resolute.cli.command import group

app = group("Sets of files to and from stores.")

"""`resolute data stats | filter | check | show | convert`: looking at labels and changing them."""

from resolute.cli.command import group

app = group("Look at labels and change them.")

"""`resolute data`: from raw imagery and labels to tiles, and back and forth between stores and formats."""

from resolute.cli import data_labels, data_prepare, data_transfer
from resolute.cli.command import group

app = group("Prepare imagery: RGB, labels, tiles, checks, formats, stores.")
app.registered_commands += [
    *data_prepare.app.registered_commands,
    *data_labels.app.registered_commands,
    *data_transfer.app.registered_commands,
]

"""The model registry through the official SDK, every call it has for it. Argument: the uuid of a checkpoint."""

import sys
import warnings

from determined.experimental import client

warnings.simplefilter("ignore")
(uuid,) = sys.argv[1:]

client.login(user="determined", password="")
model = client.create_model("judged model", description="d", metadata={"a": 1})
print("created", model.name, model.description, model.metadata, model.labels, model.username, model.workspace_id)

model.add_metadata({"b": [1, 2]})
model.remove_metadata(["a"])
model.set_labels(["sea", "air"])
model.set_description("other")
again = client.get_model("judged model")
print("changed", again.description, again.metadata, again.labels)
print("by id", client.get_model(model.model_id).name)
print("no version", model.get_version())

one = model.register_version(uuid)
two = model.register_version(uuid)
print("registered", one.model_version, two.model_version, one.checkpoint.uuid == uuid)
two.set_name("best")
two.set_notes("of the day")
two.reload()
print("version", two.name, two.notes, two.model_id == model.model_id)
print("latest", model.get_version().model_version, "first", model.get_version(1).model_version)
print("versions", [each.model_version for each in model.get_versions()])
print("ascending", [each.model_version for each in model.list_versions(client.OrderBy.ASC)])
print("metrics", list(two.iter_metrics("validation")))
print("steps", two.checkpoint.metadata["steps_completed"], two.checkpoint.training.validation_metrics is not None)

model.archive()
model.reload()
print("archived", model.archived)
model.unarchive()
model.reload()
print("archived", model.archived)

print("listed", [each.name for each in client.get_models(sort_by=client.ModelSortBy.NAME, name="judged")])
print("labels", sorted(client.get_model_labels()))
one.delete()
print("left", [each.model_version for each in model.list_versions()])
model.delete()
print("gone", [each.name for each in client.get_models(name="judged model")])

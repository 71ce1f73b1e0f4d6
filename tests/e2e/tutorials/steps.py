"""The 123 steps of the five tutorials that this platform is measured by: how each goes here, and which test types it.

The page is made from this table: `python tests/e2e/tutorials/steps.py > docs/tutorials-conformance.md`.
"""

import sys
from dataclasses import dataclass
from enum import StrEnum

SEEDS = {
    "000": "Object detection on satellite imagery (PyTorch container, notebook, experiments, KServe), in five parts",
    "001": "Part 4 as a notebook: experiments, eight slots, search over eight architectures",
    "002": "Iris: from one GPU to distributed training and search",
    "003": "The Kaptain SDK: MNIST from trainer to canary",
    "004": "Mask R-CNN on a Kubernetes cluster with Helm",
}


class How(StrEnum):
    AS_PRINTED = "as printed"
    OTHER_SPELLING = "other spelling"
    NOT_HERE = "not here"
    WAITS = "waits"
    """For another part of the platform: tasks, or the Kubernetes engine."""


MEANING = {
    How.AS_PRINTED: "what the tutorial prints works, with `resolute` or the official `det` in place of `det`",
    How.OTHER_SPELLING: "the same is done by another command, which is named",
    How.NOT_HERE: "there is nothing to do here, and why",
    How.WAITS: "for another part of the platform, which is named",
}


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    seed: str
    name: str
    how: How
    note: str
    test: str = ""
    """Path of the test file that types it; empty where none does."""


_P, _O, _N, _W = How.AS_PRINTED, How.OTHER_SPELLING, How.NOT_HERE, How.WAITS
_PARITY = "tests/contract/imagery/test_parity.py"
_DATA = "tests/contract/imagery/test_data_commands.py"
_DETECTION = "tests/e2e/vision/test_detection_training.py"
_CONFIGS = "tests/e2e/vision/test_tutorial_configs.py"
_COMMANDS = "tests/e2e/judge/test_official_command_line.py"
_SDK = "tests/e2e/judge/test_official_sdk.py"
_MODELS = "tests/e2e/judge/test_official_models.py"
_SERVING = "tests/e2e/tutorials/test_serving_tutorial.py"
_KAPTAIN = "tests/e2e/lifecycle/test_model_lifecycle.py"
_PREDICT = "tests/e2e/vision/test_predict.py"
_WEB = "tests/e2e/web/test_web_experiments.py"
_IRIS = "tests/e2e/training/test_examples_on_master.py"
_NO_CONTAINER = "Nothing needs a container: `pip install` and `resolute up` are the environment."
_TASKS = "Notebooks and TensorBoard are tasks."
_KUBERNETES = "Needs the Kubernetes engine."

STEPS = (
    Step(1, "000", "pull the container", _N, _NO_CONTAINER),
    Step(2, "000", "run the container", _N, _NO_CONTAINER),
    Step(3, "000", "run the container for preparation", _N, _NO_CONTAINER),
    Step(4, "000", "JupyterLab", _W, _TASKS),
    Step(5, "000", "install the tiler", _O, "`pip install 'resolute[imagery]'`; SAHI is not needed."),
    Step(6, "000", "download the images", _O, "`resolute data pull URL`; an expired address is reported as such."),
    Step(7, "000", "download the labels", _O, "`resolute data pull URL`."),
    Step(8, "000", "unpack", _P, "`tar`; the layout of folders is the tutorial's.", _PARITY),
    Step(9, "000", "TIFF to RGB", _O, "`resolute data rgb` with the script's flags; equal pixels.", _PARITY),
    Step(10, "000", "labels to COCO", _O, "`resolute data coco` with the script's flags; equal bytes.", _PARITY),
    Step(11, "000", "category mapping", _P, "The file is read as it is.", _PARITY),
    Step(12, "000", "class names", _P, "The file is read as it is.", _PARITY),
    Step(13, "000", "tiles", _O, "`resolute data tile` with the script's flags; equal bytes.", _PARITY),
    Step(14, "000", "negatives left out", _P, "The flag is the script's, and `False` means false.", _PARITY),
    Step(15, "000", "minimum area", _P, "The flag is the script's.", _PARITY),
    Step(16, "000", "upload to S3", _O, "`resolute data push FOLDER s3://...`; `aws s3 cp` works as well.", _DATA),
    Step(17, "000", "keep two classes", _O, "`resolute data filter`.", _DATA),
    Step(18, "000", "statistics", _O, "`resolute data stats`.", _DATA),
    Step(19, "000", "install the trainer's packages", _O, "`pip install 'resolute[vision]'`."),
    Step(20, "000", "train on several GPUs", _O, "`python -m resolute.vision.train` under torchrun.", _DETECTION),
    Step(21, "000", "hyperparameters", _O, "The same values as hyperparameters.", _DETECTION),
    Step(22, "000", "datasets", _O, "`resolute.vision.data`; the classes and their order are equal.", _DETECTION),
    Step(23, "000", "samplers", _O, "`aspect_ratio_group_factor`.", _DETECTION),
    Step(24, "000", "pick examples", _O, "`resolute data show`, or the dataset's page.", _DATA),
    Step(25, "000", "see the ground truth", _O, "`resolute.vision.drawing`."),
    Step(26, "000", "build the model", _O, "`resolute.vision.build_model`.", _DETECTION),
    Step(27, "000", "optimizer and schedule", _O, "Hyperparameters; an unknown name is refused.", _DETECTION),
    Step(28, "000", "epochs", _O, "The trainer's; a loss that is no number is skipped and told.", _DETECTION),
    Step(29, "000", "save", _O, "A checkpoint; the tutorial's own files are read.", _SERVING),
    Step(
        30, "000", "evaluate each epoch", _O, "COCO's twelve numbers and per-class AP at each validation.", _DETECTION
    ),
    Step(31, "000", "training time", _O, "Shown with the trial."),
    Step(32, "000", "reload and predict", _O, "`resolute predict --weights`; the overlay is drawn.", _PREDICT),
    Step(33, "000", "resume", _O, "By itself after a failure; `resolute experiment continue`.", _DETECTION),
    Step(34, "000", "measure only", _O, "`resolute evaluate`."),
    Step(
        35,
        "000",
        "shared batch norm, augmentation",
        _O,
        "Hyperparameters.",
        "tests/unit/vision/training/test_settings_take_effect.py",
    ),
    Step(36, "000", "sliced inference", _P, "Promised there, done here: `resolute predict`.", _PREDICT),
    Step(
        37,
        "001",
        "startup hook",
        _W,
        "`startup-hook.sh` runs; an environment layer of its own for `pip` is being built.",
    ),
    Step(38, "001", "where the data is", _O, "`train` and `val` are hyperparameters; no code is edited.", _CONFIGS),
    Step(39, "001", "connect", _P, "`DET_MASTER` and `user login`.", _COMMANDS),
    Step(40, "001", "experiment YAML", _P, "Every key is taken.", _CONFIGS),
    Step(41, "001", "create", _P, "`det e create`.", _COMMANDS),
    Step(42, "001", "eight GPUs", _P, "Only `slots_per_trial` changes.", _CONFIGS),
    Step(43, "001", "constants", _P, "As hyperparameters.", _CONFIGS),
    Step(44, "001", "length", _P, "`max_length`.", _CONFIGS),
    Step(45, "001", "reporting", _P, "`scheduling_unit`, `min_validation_period`.", _CONFIGS),
    Step(46, "001", "single searcher", _P, "The direction that contradicts mAP is warned of.", _CONFIGS),
    Step(47, "001", "grid over architectures", _P, "All eight build.", _CONFIGS),
    Step(48, "001", "launcher", _P, "`determined.launch.torch_distributed` is answered.", _CONFIGS),
    Step(49, "001", "environment variables", _P, "Passed to every rank.", _CONFIGS),
    Step(50, "001", "bind mount", _P, "Accepted; without containers paths are the machine's own.", _CONFIGS),
    Step(51, "001", "no retry", _P, "`max_restarts: 0`.", _CONFIGS),
    Step(52, "001", "profiling", _P, "`profiling`.", _CONFIGS),
    Step(53, "001", "best checkpoint", _P, "`top_checkpoint(sort_by=...)`.", _SDK),
    Step(
        54,
        "001",
        "load the weights",
        _O,
        "`resolute.vision.load_detector`; the tutorial's function builds another model.",
    ),
    Step(55, "001", "stream from S3", _P, "`backend: aws`.", "tests/unit/vision/data/test_stored_images.py"),
    Step(56, "001", "other backends", _P, "`gcs`, `aws`, `fake`, `local`.", _CONFIGS),
    Step(57, "002", "const.yaml", _P, "As it stands.", _IRIS),
    Step(58, "002", "create", _P, "`det experiment create`.", _COMMANDS),
    Step(59, "002", "list, describe", _P, "`det experiment list`, `describe`.", _COMMANDS),
    Step(60, "002", "best checkpoint", _P, "`det experiment list-checkpoints --best 1`.", _COMMANDS),
    Step(61, "002", "learning curve", _P, "Live in the web UI.", _WEB),
    Step(62, "002", "checkpoint policy", _P, "The defaults are equal."),
    Step(63, "002", "TensorBoard", _W, _TASKS),
    Step(64, "002", "notebook", _W, _TASKS),
    Step(65, "002", "list and end notebooks", _W, _TASKS),
    Step(66, "002", "Python client", _P, "The official SDK and `resolute.client`.", _SDK),
    Step(67, "002", "predict", _P, "From the checkpoint that was downloaded."),
    Step(68, "002", "two slots", _P, "`distributed.yaml`.", _IRIS),
    Step(69, "002", "search", _P, "`adaptive.yaml`; weak trials are stopped at the rungs.", _IRIS),
    Step(70, "002", "compare", _P, "Parallel plot, scatter plot, heat map.", _WEB),
    Step(71, "002", "the best trial's parameters", _P, "`det trial describe`.", _COMMANDS),
    Step(72, "000", "serving environment", _N, "KServe is not needed: `resolute[serving]`."),
    Step(73, "000", "cluster of one machine", _N, "`resolute up` is all."),
    Step(74, "000", "install the serving stack", _N, "The router and its replicas are part of the platform."),
    Step(75, "000", "domain", _P, "`<name>.<namespace>.example.com` is understood as it is.", _SERVING),
    Step(76, "000", "port forwarding", _O, "The router listens: `deploy describe` shows where.", _SERVING),
    Step(77, "000", "volume", _O, "A folder: `deploy create --volume task-pv-claim=FOLDER`.", _SERVING),
    Step(78, "000", "weights", _P, "The checkpoint is read as it is.", _SERVING),
    Step(79, "000", "strip", _O, "`resolute model strip` with the script's flags.", _SERVING),
    Step(
        80,
        "000",
        "archive",
        _O,
        "`resolute model package` with the flags of torch-model-archiver; its archives work too.",
        _SERVING,
    ),
    Step(81, "000", "layout", _P, "`config/` and `model-store/`.", _SERVING),
    Step(82, "000", "copy to the volume", _O, "`cp`; there is no pod between.", _SERVING),
    Step(
        83, "000", "deploy", _O, "`resolute deploy create -f torch-kserve-pvc.yaml`: the YAML as it stands.", _SERVING
    ),
    Step(84, "000", "request file", _P, "As it stands.", _SERVING),
    Step(85, "000", "predict", _P, "The tutorial's `Host` header and path.", _SERVING),
    Step(86, "000", "the client's check", _P, "Two keys, the class first.", _SERVING),
    Step(87, "000", "draw", _P, "From the answer.", _SERVING),
    Step(88, "003", "check the environment", _P, "`pip list`."),
    Step(89, "003", "registry credentials", _N, "No image is built; the file may be there and is not read."),
    Step(90, "003", "model file", _P, "As it stands.", _KAPTAIN),
    Step(91, "003", "the trainer's hooks", _P, "`MetadataUtil`, `ModelExportUtil`.", _KAPTAIN),
    Step(92, "003", "the trainer's flags", _P, "As it stands.", _KAPTAIN),
    Step(93, "003", "distributed trainer", _P, "torchrun's variables.", _KAPTAIN),
    Step(94, "003", "requirements", _P, "Become the trial's environment.", _KAPTAIN),
    Step(95, "003", "serving_config", _P, "As it stands.", _KAPTAIN),
    Step(96, "003", "Model(...)", _P, "`from kaptain.model.models import Model`.", _KAPTAIN),
    Step(97, "003", "train", _P, "As it stands.", _KAPTAIN),
    Step(98, "003", "quotas", _P, "What never fits is refused with the numbers.", _KAPTAIN),
    Step(99, "003", "list artefacts", _O, "`resolute model list-versions dev-mnist`, or `ls` of the storage."),
    Step(100, "003", "deploy", _P, "As it stands.", _KAPTAIN),
    Step(101, "003", "deploy again", _P, "`replace=True`; without it False and a sentence.", _KAPTAIN),
    Step(102, "003", "slow dependencies", _P, "A replica is ready when its model answers.", _KAPTAIN),
    Step(103, "003", "tune", _P, "As it stands; twelve trials of two settings are two, which is said.", _KAPTAIN),
    Step(104, "003", "progress line", _P, "As printed.", _KAPTAIN),
    Step(105, "003", "clean-up", _P, "The best trial's model is kept.", _KAPTAIN),
    Step(106, "003", "the rule of resources", _P, "Checked first; fewer trials at once are told.", _KAPTAIN),
    Step(107, "003", "canary", _P, "As it stands.", _KAPTAIN),
    Step(108, "003", "promote", _P, "As it stands.", _KAPTAIN),
    Step(109, "003", "request", _P, "The literal host.", _KAPTAIN),
    Step(110, "004", "stage COCO", _W, _KUBERNETES),
    Step(111, "004", "train TensorPack", _W, _KUBERNETES),
    Step(112, "004", "smaller GPU", _W, _KUBERNETES),
    Step(113, "004", "train the optimised one", _W, _KUBERNETES),
    Step(114, "004", "autoscaling", _W, _KUBERNETES),
    Step(115, "004", "follow the log", _W, _KUBERNETES),
    Step(116, "004", "logs on the shared file system", _W, _KUBERNETES),
    Step(117, "004", "uninstall", _W, _KUBERNETES),
    Step(118, "004", "password", _W, _TASKS),
    Step(119, "004", "test chart", _W, _TASKS),
    Step(120, "004", "Jupyter token", _W, _TASKS),
    Step(121, "004", "notebook", _W, _TASKS),
    Step(122, "004", "test chart of the optimised one", _W, _TASKS),
    Step(123, "004", "stage on EFS", _W, _KUBERNETES),
)


def page() -> str:
    """The table as Markdown."""
    counts = {how: sum(step.how is how for step in STEPS) for how in How}
    lines = [
        "# The tutorials, step by step",
        "",
        f"Five public tutorials, {len(STEPS)} steps. A test that is named types the step or holds what it promises.",
        "A step without one has not been held yet.",
        "",
        "| how | steps | |",
        "|---|---|---|",
        *(f"| {how.value} | {counts[how]} | {MEANING[how]} |" for how in How),
    ]
    for seed, title in SEEDS.items():
        lines += ["", f"## {title}", "", "| # | step | how | | test |", "|---|---|---|---|---|"]
        lines += [_row(step) for step in STEPS if step.seed == seed]
    return "\n".join(lines) + "\n"


def _row(step: Step) -> str:
    test = f"[{step.test.rpartition('/')[2]}](../{step.test})" if step.test else ""
    return f"| {step.number} | {step.name} | {step.how.value} | {step.note} | {test} |"


if __name__ == "__main__":
    sys.stdout.write(page())

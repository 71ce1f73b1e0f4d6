"""What a configuration says about the processes of its gang, whatever kind of task they belong to: their Python, their
variables, their mounts, and options for one engine.
"""

import io
import posixpath
import tarfile

from resolute.domain.errors import InvalidInput
from resolute.domain.node import DeviceType
from resolute.engine.ports.runner import EnvironmentSpec
from resolute.spec.environment import Environment
from resolute.spec.experiment import ExperimentConfig
from resolute.spec.task import TaskConfig

Config = ExperimentConfig | TaskConfig


def environment_spec(environment: Environment, context: bytes | None, device: DeviceType) -> EnvironmentSpec:
    return EnvironmentSpec(
        python=environment.python,
        requirements=required_packages(environment, context),
        image=_image(environment, device),
    )


def mounts_of(config: Config) -> tuple[tuple[str, str, bool], ...]:
    return tuple((mount.host_path, mount.container_path, mount.read_only) for mount in config.bind_mounts)


def user_variables(environment: Environment, device: DeviceType) -> dict[str, str]:
    """`environment_variables` as the user wrote them, for this kind of slot; what the platform itself sets wins."""
    given = environment.environment_variables
    pairs = {DeviceType.CPU: given.cpu, DeviceType.CUDA: given.cuda, DeviceType.ROCM: given.rocm}[device]
    return dict(pair.partition("=")[::2] for pair in pairs)


def native_options(config: Config) -> dict[str, object]:
    """What was written for one engine or another; a runner takes its own."""
    given: dict[str, object] = {
        "pod_spec": config.environment.pod_spec,
        "slurm": config.slurm.resolved(),
        "pbs": config.pbs.resolved(),
        "ray": config.ray,
    }
    return {name: options for name, options in given.items() if _says_something(options)}


def _says_something(options: object) -> bool:
    """Sections have every default filled in."""
    return any(options.values()) if isinstance(options, dict) else bool(options)


def required_packages(environment: Environment, context: bytes | None) -> tuple[str, ...]:
    """`environment.requirements`: the list itself, or the lines of the file in the context that it names."""
    given = environment.requirements or ()
    if not isinstance(given, str):
        return tuple(given)
    lines = (line.partition("#")[0].strip() for line in _context_file(context, given).splitlines())
    packages = tuple(line for line in lines if line)
    nested = [line for line in packages if line.startswith(("-r", "--requirement", "-c", "--constraint"))]
    if nested:
        raise InvalidInput(
            f"environment.requirements: {given} refers to another file ({nested[0]}); put all requirements into one."
        )
    return packages


def _context_file(context: bytes | None, path: str) -> str:
    wanted = posixpath.normpath(path)
    if context:
        with tarfile.open(fileobj=io.BytesIO(context), mode="r:gz") as archive:
            for member in archive:
                if posixpath.normpath(member.name) == wanted and member.isfile():
                    file = archive.extractfile(member)
                    return file.read().decode(errors="replace") if file else ""
    raise InvalidInput(
        f"environment.requirements: there is no file {path!r} in the uploaded folder; add it, or list the packages."
    )


def _image(environment: Environment, device: DeviceType) -> str | None:
    images = environment.image
    if images is None:
        return None
    return {DeviceType.CPU: images.cpu, DeviceType.CUDA: images.cuda, DeviceType.ROCM: images.rocm}[device]

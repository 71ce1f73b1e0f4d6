"""KServe V1: `{"instances": [...]}` in, `{"predictions": [...]}` or `{"explanations": [...]}` out.

Instances are counted and checked for syntax, but not decoded: they travel to the model process as they came.
"""

from dataclasses import dataclass

import msgspec

from resolute.domain.errors import InvalidInput
from resolute.serving.protocol.json_text import parse
from resolute.serving.worker_frames import Buffer

_WANTED = '{"instances": [...]}'
ANSWER_FIELDS = {"predict": b"predictions", "explain": b"explanations"}


@dataclass(frozen=True, slots=True)
class Instances:
    count: int
    json: bytes
    """One JSON array of all of them."""


class _Body(msgspec.Struct):
    instances: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET
    inputs: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET
    """KServe's other word for them."""


_body = msgspec.json.Decoder(_Body)


def read_instances(body: bytes) -> Instances:
    """Raises InvalidInput for anything but an object with a list that is not empty under `instances` or `inputs`."""
    given = parse(_body, body, wanted=_WANTED)
    if given.instances is not msgspec.UNSET and given.inputs is not msgspec.UNSET:
        raise InvalidInput(f'The request has "instances" and "inputs", which mean the same. Send {_WANTED}.')
    instances = given.inputs if given.instances is msgspec.UNSET else given.instances
    if instances is msgspec.UNSET:
        raise InvalidInput(f'The request has no "instances". Send {_WANTED}.')
    if not instances:
        raise InvalidInput('"instances" is empty. Send at least one instance.')
    return Instances(len(instances), b"[%b]" % b",".join(instances))


def write_answer(verb: str, answers: Buffer) -> list[Buffer]:
    """`answers` is the JSON array that came from the model process."""
    return [b'{"%b":' % ANSWER_FIELDS[verb], answers, b"}"]

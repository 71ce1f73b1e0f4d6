"""Secrets of a configuration: masked on the way out, restored on the way back, untouched everything else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidConfig
from resolute.spec.secrets import MASK, masked, masked_text, restored, without_storage_keys

URLS = [
    "DATABASE_URL=postgresql://ada:u1@db/x",
    "HTTPS_PROXY=http://proxy:3128",
    "DB_PASS=d1",
    "PATH=/bin",
    "PWD_DIR=/x",
]
CONFIG: dict[str, Any] = {
    "name": "keys",
    "checkpoint_storage": {"type": "s3", "bucket": "b", "access_key": "AKIA1", "secret_key": "hunter2"},
    "environment": {
        "registry_auth": {"username": "me", "password": "pw1"},
        "environment_variables": {"cpu": ["WANDB_API_KEY=w1", "HF_TOKEN=h1", "TOKENIZERS_PARALLELISM=0"], "cuda": URLS},
        "pod_spec": {"spec": {"containers": [{"env": [{"name": "DB_PASSWORD", "value": "p1"}]}]}},
    },
    "hyperparameters": {"token": {"type": "const", "val": "kept"}},
}
SECRETS = ("AKIA1", "hunter2", "pw1", "w1", "h1", "p1", "u1", "d1")


def test_every_secret_is_masked_and_nothing_else_is() -> None:
    shown = str(masked(CONFIG))

    assert not any(secret in shown for secret in SECRETS)
    for kept in (
        "'b'",
        "'me'",
        "TOKENIZERS_PARALLELISM=0",
        f"HF_TOKEN={MASK}",
        "kept",
        "http://proxy:3128",
        "PATH=/bin",
    ):
        assert kept in shown


def test_a_masked_configuration_gets_its_secrets_back() -> None:
    assert restored(masked(CONFIG), earlier=CONFIG) == CONFIG
    assert restored(CONFIG, earlier=None) == CONFIG


def test_a_mask_that_stands_for_nothing_known_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidConfig, match=r"checkpoint_storage.secret_key: \*{8} stands for a secret"):
        restored(masked(CONFIG), earlier={})


def test_a_client_that_opens_the_storage_itself_is_named_no_keys() -> None:
    assert without_storage_keys(CONFIG)["checkpoint_storage"] == {"type": "s3", "bucket": "b"}


@pytest.mark.parametrize(
    "text",
    [
        "# mine\ncheckpoint_storage: {type: s3, bucket: b, access_key: AKIA1, secret_key: hunter2}\n",
        "checkpoint_storage:\n  secret_key: 'hunter2'\n  access_key: |\n    AKIA1\n",
        'checkpoint_storage: {access_key: "AK\\x49A1", secret_key: "hun\\\n  ter2"}\n',
    ],
    ids=["plain", "block", "escaped"],
)
def test_the_text_as_written_shows_no_secret(text: str) -> None:
    shown = masked_text(text, CONFIG)

    assert "hunter2" not in shown
    assert "AKIA1" not in shown
    assert "AK\\x49A1" not in shown
    assert MASK in shown


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "value", "token", "environment_variables", "a"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["environment", "checkpoint_storage", "name"]), _json, max_size=3))
def test_masking_any_value_is_idempotent(config: dict[str, Any]) -> None:
    assert masked(masked(config)) == masked(config)

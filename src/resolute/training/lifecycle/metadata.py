"""`MetadataUtil`: what a trainer calls when it has measured something."""

import logging
from collections.abc import Mapping
from typing import Any

from resolute.training.lifecycle.session import current


class MetadataUtil:
    @staticmethod
    def record_metrics(metrics: Mapping[str, Any]) -> None:
        """Numbers, or texts of numbers. Each call is one more point of the trial's curves. Sent in the background."""
        logging.info("Record metrics.")
        session = current()
        if session is None:
            logging.warning("This is not a run of resolute.Model; the metrics are only shown: %s", dict(metrics))
            return
        session.record(metrics)
        logging.info("Metrics saved.")

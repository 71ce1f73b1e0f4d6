"""Iris species from four measurements: a small Keras 3 model, as a trial class.

The data is the classic table of 150 flowers (Anderson, 1935; Fisher, 1936): 120 rows to train on, 30 to validate.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from resolute import keras as resolute_keras  # Before keras: it picks the torch backend.

# isort: split
import keras

SPECIES = ("setosa", "versicolor", "virginica")
TRAIN_ROWS = 120
# Means and spreads of the four measurements over the whole table, in centimetres.
CENTRE = np.array([5.84, 3.06, 3.76, 1.20], dtype=np.float32)
SCALE = np.array([0.83, 0.44, 1.77, 0.76], dtype=np.float32)


def load_table() -> tuple[np.ndarray, np.ndarray]:
    """Measurements (centimetres) and one-hot species, shuffled the same way every time."""
    with (Path(__file__).parent / "iris.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    features = np.array([row[:4] for row in rows], dtype=np.float32)
    labels = np.array([SPECIES.index(row[4]) for row in rows])
    order = np.random.default_rng(0).permutation(len(rows))
    return features[order], np.eye(len(SPECIES), dtype=np.float32)[labels[order]]


class IrisTrial(resolute_keras.Trial):
    def build_model(self) -> keras.Model:
        get = self.context.get_hparam
        model = keras.Sequential(
            [
                keras.Input((4,)),
                keras.layers.Normalization(mean=CENTRE, variance=SCALE**2),
                keras.layers.Dense(get("layer1_dense_size"), activation="relu"),
                keras.layers.Dense(16, activation="relu"),
                keras.layers.Dense(len(SPECIES), activation="softmax"),
            ]
        )
        rate = keras.optimizers.schedules.InverseTimeDecay(get("learning_rate"), 1, get("learning_rate_decay"))
        model.compile(
            optimizer=keras.optimizers.RMSprop(rate),
            loss="categorical_crossentropy",
            metrics=[keras.metrics.CategoricalAccuracy()],
        )
        return model

    def build_training_data_loader(self) -> Any:
        features, labels = load_table()
        return features[:TRAIN_ROWS], labels[:TRAIN_ROWS]

    def build_validation_data_loader(self) -> Any:
        features, labels = load_table()
        return features[TRAIN_ROWS:], labels[TRAIN_ROWS:]

"""A `model.fit()` with Determined's Keras callback, as its users write it. Dies once, on its first run."""

import os

import determined as det
import numpy as np
from determined import keras as det_keras
from tensorflow import keras

EPOCHS = 4


class DieOnce(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1 and det.get_cluster_info().trial.trial_id and os.environ["DET_TRIAL_RUN_ID"] == "1":
            os._exit(3)


def main() -> None:
    info = det.get_cluster_info()
    dice = np.random.default_rng(0)
    inputs = dice.normal(size=(256, 4)).astype("float32")
    labels = (inputs.sum(axis=1) > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=keras.optimizers.Adam(0.05), loss="binary_crossentropy", metrics=["accuracy"])
    model.build((None, 4))
    with det.core.init() as core_context:
        callback = det_keras.DeterminedCallback(
            core_context, checkpoint=info.latest_checkpoint, continue_id=info.trial.trial_id
        )
        model.fit(
            inputs,
            labels,
            batch_size=32,
            epochs=EPOCHS,
            validation_data=(inputs, labels),
            callbacks=[callback, DieOnce()],
            verbose=0,
        )


if __name__ == "__main__":
    main()

"""Keras 3 inside a trial. The backend is torch unless KERAS_BACKEND says otherwise."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

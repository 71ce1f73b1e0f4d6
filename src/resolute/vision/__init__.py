"""Object detection: model zoo, data, training, COCO metrics, sliced inference. Comes with `resolute[vision]`."""
